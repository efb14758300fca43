"""Products of a basis with random columns, accurate to the last digits: how far it is from orthonormal, and E Z.

What rounding leaves of I - M^T M is itself as small as the rounding of a product with M, so an ordinary product would
show a hundred times as much. There, leading parts of both factors are multiples of powers of two so large that BLAS
rounds nothing (Ozaki et al. 2012, Numer. Algorithms 59): entries of M are multiples of 2^-24 and those of a column
of length l < 2^e multiples of 2^(e - 25), so a product is one of 2^(e - 49), and no partial sum exceeds 2^(e + 3) as
long as ||M|| <= 8. The products with what is left are smaller by 2^-25 sqrt(n), and so is their rounding. For E, it
is enough to sum few products at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import Array, from_numpy, namespace, to_numpy
from eckart.engine.standardize.rounding import gamma

_GRID = 2.0**24
_DIGITS = 25
_LEAST_ROWS, _PIECE = 256, 2**17
"""Rows processed at a time on the host, at least, and entries of M, whose parts then stay in cache."""
_SUMMED = 64
"""Columns of M whose products with W are summed at a time."""
_LENGTH = 1.05
"""||M|| at most; if it is more, a loss of a tenth or more is seen, of which rounding is a negligible part."""


@dataclass(frozen=True)
class Residue:
    """Y, W, R and Z' of E Z = Y - M W - R Z'."""

    product: Array
    expected: np.ndarray
    expected_error: float
    rest: Array | None
    rest_length: float
    """||R||_F."""
    tail: np.ndarray


class _Factor:
    """Columns S as a sum of a part on a grid, one for each column, and a rest."""

    def __init__(self, columns: np.ndarray, prototype: Array) -> None:
        self.lengths = np.sqrt(np.add.reduce(columns * columns, axis=0))
        self.steps = _steps(self.lengths)
        high = np.rint(columns / self.steps) * self.steps
        self.whole, self.high = from_numpy(columns, prototype), from_numpy(high, prototype)
        self.low = from_numpy(columns - high, prototype)
        self.rest = float(np.linalg.norm(columns - high))

    def times(self, high: Array, low: Array) -> Array:
        return high @ self.high + (high @ self.low + low @ self.whole)


def _steps(lengths: np.ndarray) -> np.ndarray:
    return np.asarray(np.ldexp(1.0, np.frexp(lengths)[1] - _DIGITS))


def _on_grid(xp: Any, numbers: Array, step: float | Array, inverse: float | Array) -> tuple[Array, Array]:
    """The multiples of powers of two `step` nearest to the numbers, and the rest."""
    if xp is not np:
        high = xp.round(numbers * inverse) * step
        return high, numbers - high
    high = numbers * inverse
    np.rint(high, out=high)
    high *= step
    return high, numbers - high


def loss(parts: tuple[Array, ...], random: np.ndarray) -> tuple[np.ndarray, float]:
    """((M^T M - I) Z for M = (M_1, M_2, ...), bound of its rounding), one piece of rows after another."""
    counts, size = [int(part.shape[1]) for part in parts], int(parts[0].shape[0])
    xp, prototype = namespace(parts[0]), parts[0]
    pieces = np.split(random, np.cumsum(counts)[:-1])
    factors = [_Factor(piece, prototype) for piece in pieces]
    # ||M z|| <= 1.05 ||z||, so that all pieces share one grid, and their sums are exact as well.
    found = _steps(_LENGTH * np.sqrt(np.add.reduce(random * random, axis=0)))
    steps, inverse = from_numpy(found, prototype), from_numpy(1.0 / found, prototype)
    exact: list[Any] = [0.0] * len(parts)
    rest: list[Any] = [0.0] * len(parts)
    rows = _rows(size, sum(counts), xp)
    for start in range(0, size, rows):
        chosen = slice(start, min(start + rows, size))
        split = [_on_grid(xp, part[chosen, :], 1.0 / _GRID, _GRID) for part in parts]
        image = sum(factor.times(*both) for factor, both in zip(factors, split, strict=True))
        high_image, low_image = _on_grid(xp, image, steps, inverse)
        for index, (high, low) in enumerate(split):
            exact[index] = exact[index] + high.T @ high_image
            rest[index] = rest[index] + (high.T @ low_image + low.T @ image)
    seen = [(to_numpy(one) - piece) + to_numpy(two) for one, two, piece in zip(exact, rest, pieces, strict=True)]
    return np.concatenate(seen), _loss_rounding(random, size, sum(counts), min(rows, size))


def error_gram(vectors: Array, residue: Residue) -> tuple[np.ndarray, float]:
    """((E Z)^T (E Z), bound of the rounding of E Z in the Frobenius norm), likewise."""
    (size, count), xp = vectors.shape, namespace(vectors)
    expected, tail = from_numpy(residue.expected, vectors), from_numpy(residue.tail, vectors)
    gram: Any = 0.0
    rows = _rows(size, count, xp)
    for start in range(0, size, rows):
        chosen = slice(start, min(start + rows, size))
        error = residue.product[chosen, :]
        for first in range(0, count, _SUMMED):
            together = slice(first, min(first + _SUMMED, count))
            error = error - vectors[chosen, together] @ expected[together, :]
        if residue.rest is not None:
            error = error - residue.rest[chosen, :] @ tail
        gram = gram + error.T @ error
    return to_numpy(gram), _error_rounding(residue)


def _rows(size: int, count: int, xp: Any) -> int:
    return max(_LEAST_ROWS, _PIECE // max(count, 1)) if xp is np else size


def _low(size: int, count: int) -> float:
    """Bound of the Frobenius norm of what is not on the grid of M."""
    return 0.5 / _GRID * math.sqrt(size * count)


def _image_rounding(length: float, rest: float, size: int, count: int) -> float:
    """Of M S: of the products that are not exact, and of their sums."""
    inexact = _LENGTH * math.sqrt(count) * rest + _low(size, count) * length
    return gamma(count + 2) * inexact + gamma(4) * _LENGTH * length


def _loss_rounding(random: np.ndarray, size: int, count: int, rows: int) -> float:
    """M^T times the rounding of M Z, and the rounding of M^T (M Z) beyond its exact part."""
    length = float(np.linalg.norm(random))
    image = 0.5**_DIGITS * 2.0 * _LENGTH * length * math.sqrt(size)
    additions = rows + -(-size // rows) + 3
    rest = 0.5**_DIGITS * 2.0 * length * math.sqrt(count)
    own = gamma(additions) * (_LENGTH * math.sqrt(count) * image + _low(size, count) * _LENGTH * length)
    return _LENGTH * _image_rounding(length, rest, size, count) + own


def _error_rounding(residue: Residue) -> float:
    """Of M W, of R Z', and of the differences from Y.

    || |M| |W| ||_F is at most the sum of ||m_j|| ||w_j|| over the columns of M and the rows of W, which decrease with
    the values that the columns of M capture.
    """
    count = len(residue.expected)
    lengths = np.sqrt(np.add.reduce(residue.expected * residue.expected, axis=1))
    additions = min(count, _SUMMED) + -(-count // _SUMMED) + 2
    own = gamma(additions) * _LENGTH * float(np.add.reduce(lengths)) + _LENGTH * residue.expected_error
    beyond = residue.rest_length * float(np.linalg.norm(residue.tail))
    size = _LENGTH * float(np.linalg.norm(residue.expected)) + beyond
    return own + gamma(residue.tail.shape[0] + 3) * beyond + gamma(additions + 2) * 2.0 * size
