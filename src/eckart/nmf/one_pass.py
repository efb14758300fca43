"""1/2 |A - W H|^2 of a dense matrix in memory: an iteration reads it once.

The step of H needs A^T W for the new W, and a few rows of A are still in cache when their rows of W have been solved.
So the step of W forms A^T W too, and that of H uses it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eckart.arrays import Array
from eckart.engine.parallel import fold
from eckart.nmf.constants import BLOCK_ENTRIES, END_SHARE, LEAST_BLOCK_ROWS, ONE_PASS_SEGMENTS, POOL_FROM
from eckart.nmf.problem import FactorUpdate, Penalties, segments
from eckart.nmf.squares import Product, Squares, gram_of, inverse_diagonal, solve_rows

_Sums = tuple[float, float, np.ndarray | None]


class OnePassSquares(Squares):
    """The squared error of a NumPy array; products are in float64, for float32 data block by block."""

    matrix: np.ndarray

    def __init__(
        self, matrix: np.ndarray, matmat: Product, rmatmat: Product, squared_norm: float, penalties: Penalties, *,
        sweeps: int, compiled: bool, end: float = END_SHARE,
    ) -> None:  # fmt: skip
        super().__init__(matmat, rmatmat, squared_norm, penalties, sweeps=sweeps, compiled=compiled, end=end)
        self.matrix = matrix
        shared = matrix.size >= POOL_FROM
        self._workers: int | None = None if shared else 1
        self._height = max(LEAST_BLOCK_ROWS, BLOCK_ENTRIES // max(matrix.shape[1], 1))
        self._pieces = segments(matrix.shape[0], ONE_PASS_SEGMENTS if shared else 1)
        self._last: tuple[Array, np.ndarray] | None = None
        """W of the last step and A^T W."""

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        penalty, effort = self.penalties.rows, self._effort(sweeps)
        gram = gram_of(other, penalty)
        inverse = inverse_diagonal(gram) if self.compiled else gram  # used by compiled loops only
        new, ahead = np.empty_like(begin), np.empty_like(begin)

        def step(piece: tuple[int, int]) -> _Sums:
            value, violation, cross = 0.0, 0.0, None
            for part, block in self._blocks(piece):
                given = (block @ other, gram, inverse, begin[part], old[part], penalty.lasso, extrapolation, *effort)
                found = solve_rows(*given, new[part], ahead[part], compiled=self.compiled)
                value, violation = value + found[0], violation + found[1]
                if sweeps is None:
                    product = block.T @ ahead[part]
                    cross = product if cross is None else np.add(cross, product, out=cross)
            return value, violation, cross

        value, violation, cross = fold(step, self._pieces, _add, workers=self._workers)
        self._last = None if cross is None else (ahead, cross)
        return FactorUpdate(new, ahead, value, violation)

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        last = self._last
        if last is None or other is not last[0]:
            return super().columns(begin, other, old, extrapolation)
        return self._step(lambda _: last[1], self.penalties.columns, begin, other, old, extrapolation, None)

    def _blocks(self, piece: tuple[int, int]) -> Iterator[tuple[slice, np.ndarray]]:
        start, stop = piece
        for first in range(start, stop, self._height):
            part = slice(first, min(first + self._height, stop))
            yield part, self.matrix[part].astype(np.float64, copy=False)


def _add(first: _Sums, second: _Sums) -> _Sums:
    cross = None if first[2] is None or second[2] is None else np.add(first[2], second[2], out=first[2])
    return first[0] + second[0], first[1] + second[1], cross
