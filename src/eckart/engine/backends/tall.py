"""Products of tall blocks, with rows shared by our own threads, which sleep while they wait; BLAS threads spin.

M is stored as rows (d x n), so a tall block is a view of its transpose, and so are the results. BLAS is half as fast
again if all operands have the same layout. The sum over n is taken in fixed pieces.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import ceil, log2

import numpy as np

from eckart.arrays import Array, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends.written import put_product
from eckart.engine.parallel import each, fold

_PIECES = 8
_SERIAL_WORK = 4_000_000
_TERMS, _COPIED, _BATCHED = 128, 2**16, 64
"""Rows of a product in `gram`, rows whose products are formed together, and columns up to which that takes little
memory.
"""
_MIRRORED = 256
"""Rows of a triangle that are mirrored at a time."""


def inner(first: Array, second: Array, place: Array | None = None) -> Array:
    """A^T B for n x p and n x q, written to `place` if given."""
    if not _worth_it(first, second.shape[1]):
        return first.T @ second if place is None else put_product(first.T, second, place)

    def step(piece: slice) -> np.ndarray:
        return np.asarray(first[piece].T @ second[piece])

    def add(total: np.ndarray, part: np.ndarray) -> np.ndarray:
        total += part
        return total

    total = fold(step, _pieces(first.shape[0]), add)
    if place is None:
        return total
    place[...] = total
    return place


def squared_lengths(tall: Array) -> Array:
    """Of each column, summed as in `gram`."""
    if not is_host(tall):
        return namespace(tall).sum(tall * tall, axis=0)
    found = _pairwise_sum(to_numpy(tall), lambda groups: np.einsum("gij,gij->gj", groups, groups))
    return from_numpy(found, tall)


def gram(tall: Array) -> np.ndarray:
    """A^T A on the host, by products of 128 rows and pairwise sums of these.

    BLAS adds thousands of terms one after another. If columns are nearly constant, all of them are rounded in the same
    direction.
    """
    if not is_host(tall):
        return np.asarray(to_numpy(inner(tall, tall)))
    tall = to_numpy(tall)
    if tall.shape[1] > _BATCHED:
        return _by_halves(tall)
    return _pairwise_sum(tall, lambda groups: np.matmul(groups.transpose(0, 2, 1), groups))


def gram_additions(rows: int) -> int:
    """Maximum number of roundings of a term of `gram` on the host."""
    return min(rows, _TERMS) + ceil(log2(max(rows / _TERMS, 1.0))) + 2


def _by_halves(tall: np.ndarray) -> np.ndarray:
    count = len(tall)
    if count <= _TERMS:
        return np.asarray(tall.T @ tall)
    found = _by_halves(tall[: count // 2])
    found += _by_halves(tall[count // 2 :])
    return found


def _pairwise_sum(tall: np.ndarray, products: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The sum of `products` over groups of 128 rows, pairwise."""
    count, width = tall.shape
    whole = count - count % _TERMS
    sums = [products(tall[whole:][None])]
    for start in range(0, whole, _COPIED):
        rows = np.ascontiguousarray(tall[start : min(start + _COPIED, whole)])
        sums.append(_added_pairwise(products(rows.reshape(-1, _TERMS, width))))
    return np.asarray(_added_pairwise(np.concatenate(sums))[0])


def _added_pairwise(parts: np.ndarray) -> np.ndarray:
    """The sum along the first axis, which is kept, by halves: NumPy adds pairwise only along a contiguous axis."""
    while len(parts) > 1:
        half = len(parts) // 2
        parts[:half] += parts[len(parts) - half :]
        parts = parts[: len(parts) - half]
    return parts


def polished(vectors: Array, *, enough: float = 0.0) -> Array:
    """V (I - F / 2), F = V^T V - I: orthonormal to F^2, because (I + F)^-1/2 = I - F / 2 + O(F^2).

    V itself if no entry of F exceeds `enough`.
    """
    found = gram(vectors)
    if float(np.abs(found - np.eye(len(found))).max(initial=0.0)) <= enough:
        return vectors
    return times(vectors, from_numpy(1.5 * np.eye(len(found)) - 0.25 * (found + found.T), vectors))


def times(tall: Array, small: Array) -> Array:
    """A S for n x p and p x q."""
    if not _worth_it(tall, small.shape[1]):
        return tall @ small
    result = _tall(tall.shape[0], small.shape[1])

    def step(piece: slice) -> None:
        np.matmul(tall[piece], small, out=result[piece])

    each(step, _pieces(tall.shape[0]))
    return result


def without(tall: Array, basis: Array, coefficients: Array) -> Array:
    """Z - M C."""
    # A rank-two update is limited by memory bandwidth, so threads would not help.
    if basis.shape[1] <= 2 or not _worth_it(basis, coefficients.shape[1]):
        return tall - basis @ coefficients
    result = _tall(*tall.shape)

    def step(piece: slice) -> None:
        np.matmul(basis[piece], coefficients, out=result[piece])
        np.subtract(tall[piece], result[piece], out=result[piece])

    each(step, _pieces(tall.shape[0]))
    return result


def _tall(rows: int, columns: int) -> np.ndarray:
    return np.empty((columns, rows)).T


def _worth_it(tall: Array, width: int) -> bool:
    return isinstance(tall, np.ndarray) and tall.size * width >= _SERIAL_WORK


def _pieces(rows: int) -> list[slice]:
    edges = np.linspace(0, rows, _PIECES + 1).astype(int).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def mirrored(matrix: np.ndarray) -> np.ndarray:
    """The symmetric matrix with the upper triangle of a square matrix, in the same memory if that may be written to."""
    matrix = matrix if matrix.flags.writeable else matrix.copy()
    size = len(matrix)
    for first in range(0, size, _MIRRORED):
        rows = slice(first, min(first + _MIRRORED, size))
        corner = matrix[rows, rows]
        matrix[rows, rows] = np.triu(corner) + np.triu(corner, 1).T
        matrix[rows.stop :, rows] = matrix[rows, rows.stop :].T
    return matrix
