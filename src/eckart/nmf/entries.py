"""Losses summed entry by entry: Kullback-Leibler, and either loss if some entries are unknown.

Kullback-Leibler: sum over stored entries of x log(x / wh) - x, plus sum_k (sum_i w_ik) (sum_j h_kj) for all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from eckart.arrays import Array, Matrix, from_numpy, is_array, to_numpy
from eckart.engine.parallel import fold
from eckart.nmf.constants import (
    END_SHARE,
    ENTRIES_SHARE,
    ENTRY_BLOCK_BYTES,
    FLOOR,
    LEAST_PIECE,
    MOST_NEWTON_STEPS,
    PIECES,
)
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, entry_segments, segments, total


class Entries:
    """Steps over the known entries of a dense (NaN: unknown) or CSR matrix (`observed`: not stored is unknown)."""

    divergence: bool
    observed: bool
    sweeps: int
    matrix: Matrix
    transposed: Matrix
    floor: float
    constant: float
    rounding: float

    def __init__(self, matrix: Matrix, penalties: Penalties, *, divergence: bool, observed: bool, sweeps: int) -> None:
        self.penalties = penalties
        self.divergence, self.observed, self.sweeps = divergence, observed, sweeps
        matrix = to_numpy(matrix) if is_array(matrix) else matrix
        self.matrix, self.transposed = matrix, transposed(matrix)
        self.floor, self.constant, self.reference = 0.0, 0.0, 0.0
        if divergence:
            self.floor, self.constant, total = of_data_alone(matrix)
            count = known_entries(matrix) if observed else matrix.shape[0] * matrix.shape[1]
            self.reference = of_the_mean(self.constant, total, count)
        size = abs(self.constant) if divergence else squared_norm(matrix)
        self.reference = self.reference if divergence else 0.5 * size
        self.rounding = 16.0 * float(np.finfo(np.float64).eps) * size

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        return self._step(self.matrix, self.penalties.rows, begin, other, old, extrapolation, score=True, sweeps=sweeps)

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        return self._step(self.transposed, self.penalties.columns, begin, other, old, extrapolation, score=False)

    def _step(
        self, matrix: object, penalty: Penalty, begin: Array, other: Array, old: Array, extrapolation: float, *,
        score: bool, sweeps: int | None = None,
    ) -> FactorUpdate:  # fmt: skip
        prototype = begin
        begin, other, old = (to_numpy(factor) for factor in (begin, other, old))
        new, ahead, sums = np.empty_like(begin), np.empty_like(begin), other.sum(axis=0)
        kernel, effort = self._kernel(sweeps)

        def step(piece: tuple[int, int]) -> list[tuple[float, float]]:
            return [
                kernel(
                    self.observed, *block[:3], other, begin, sums, penalty.lasso, penalty.ridge, self.floor, *effort,
                    old, extrapolation, score, *block[3:], new, ahead,
                )
                for block in entry_blocks(matrix, piece, observed=self.observed)
            ]  # fmt: skip

        found = total(fold(step, pieces_of(matrix), list.__add__))
        return FactorUpdate(from_numpy(new, prototype), from_numpy(ahead, prototype), *found)

    def _kernel(self, sweeps: int | None) -> tuple[Callable[..., tuple[float, float]], tuple[int, float]]:
        """The compiled loop and its effort: maximum sweeps, and the share of the first at which they end."""
        from eckart.nmf.compiled_entries import rows

        return partial(rows, self.divergence), (self.sweeps, ENTRIES_SHARE) if sweeps is None else (sweeps, END_SHARE)


class NewtonEntries(Entries):
    """Kullback-Leibler by Newton steps, one per call, or as many as a row needs."""

    def __init__(self, matrix: object, penalties: Penalties, *, observed: bool, row_tolerance: float) -> None:
        super().__init__(matrix, penalties, divergence=True, observed=observed, sweeps=1)
        self.row_tolerance = row_tolerance

    def _kernel(self, sweeps: int | None) -> tuple[Callable[..., tuple[float, float]], tuple[int, float]]:
        from eckart.nmf.compiled_newton import newton_rows

        return newton_rows, (1 if sweeps is None else min(sweeps, MOST_NEWTON_STEPS), self.row_tolerance)


def transposed(matrix: Matrix) -> Matrix:
    """A^T as rows: a view for dense, a copy of the size of the matrix for CSR."""
    return matrix.T if isinstance(matrix, np.ndarray) else matrix.T.tocsr()


def pieces_of(matrix: Matrix) -> list[tuple[int, int]]:
    """Rows in pieces of about equally many entries; fewer pieces for few entries."""
    dense = isinstance(matrix, np.ndarray)
    count = min(PIECES, 1 + int(matrix.size if dense else matrix.nnz) // LEAST_PIECE)
    return segments(matrix.shape[0], count) if dense else entry_segments(matrix, count)


def entry_blocks(
    matrix: Matrix, piece: tuple[int, int], *, observed: bool
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int, int, int]]:
    """(indptr, indices, data, start, stop, offset): CSR rows unchanged, dense rows a few at a time."""
    start, stop = piece
    if not isinstance(matrix, np.ndarray):
        yield matrix.indptr, matrix.indices, matrix.data, start, stop, 0
        return
    height = max(1, ENTRY_BLOCK_BYTES // (8 * matrix.shape[1]))
    for first in range(start, stop, height):
        block = np.ascontiguousarray(matrix[first : min(first + height, stop)])
        given = ~np.isnan(block) if observed else block != 0
        counts = np.zeros(block.shape[0] + 1, np.int32)
        np.cumsum(given.sum(axis=1), out=counts[1:])
        yield counts, np.nonzero(given)[1].astype(np.int32), block[given], 0, block.shape[0], first


def given_values(matrix: Matrix) -> Iterator[np.ndarray]:
    """The known entries in float64, piece by piece."""
    for start, stop in pieces_of(matrix):
        if isinstance(matrix, np.ndarray):
            block = matrix[start:stop]
            yield block[~np.isnan(block)].astype(np.float64, copy=False)
        else:
            yield matrix.data[matrix.indptr[start] : matrix.indptr[stop]].astype(np.float64, copy=False)


def squared_norm(matrix: object) -> float:
    """Sum of the squares of the known entries."""
    return float(sum(np.vdot(values, values) for values in given_values(matrix)))


def known_entries(matrix: object) -> int:
    """How many entries are given."""
    return sum(values.size for values in given_values(matrix))


def of_data_alone(matrix: object) -> tuple[float, float, float]:
    """(floor of W H, sum of x log x - x, sum of x)."""
    count, sums, constant = 0, 0.0, 0.0
    for values in given_values(matrix):
        positive = values[values > 0]
        count += positive.size
        sums += float(positive.sum())
        constant += float(np.dot(positive, np.log(positive)) - positive.sum())
    return FLOOR * sums / max(count, 1) or FLOOR, constant, sums


def of_the_mean(constant: float, total: float, count: int) -> float:
    """The divergence from `count` entries that are all equal to the mean: sum of x log(x / mean)."""
    return constant + total - total * float(np.log(total / count)) if total > 0.0 else 0.0
