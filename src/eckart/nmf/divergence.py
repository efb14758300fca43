"""Kullback-Leibler by Newton steps whose Hessians for all rows are one matrix product.

For a row w of W, with m = w H and x the row of A, the objective sum_j m_j - x_j log m_j has

    gradient g = sums of H - H (x / m)      and      Hessian Q = H diag(x / m^2) H^T,

and the upper triangles of all Q together are (A / M^2) P, with P the products of two rows of H. d minimises
1/2 d Q d + g d over w + d >= 0. With u = (d H) / m, a = -min(u, 0), s = -g d and c = d Q d, the inequality
-log(1 + z) <= -z + z^2 / (2 (1 + min z)) bounds the objective at w + t d by f - t s + t^2 c / (2 (1 - a t)): it does
not rise for t <= 2 s / (c + 2 a s), however exactly the quadratic program was solved.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from eckart.arrays import Array, from_numpy, is_array, to_numpy
from eckart.engine.parallel import fold
from eckart.nmf import quadratic
from eckart.nmf.entries import of_data_alone
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, entry_segments, rounding_of, segments
from eckart.nmf.tiles import Tile, tiles_of

MOST_PARTS = 64
"""Beyond, the Hessians take more time than the steps save."""
_TILE = 2**15
"""Entries of a tile."""
_POOL_FROM = 2**18
"""Entries from which on several threads pay."""
_SWEEPS, _SHARE = 8, 0.1
_END_STEPS = 50
"""Newton steps of a row that is solved to its tolerance: from the floor of W H, an entry doubles with each."""


class Divergence:
    """Every entry of a dense matrix is known; those that a CSR matrix does not store are zero."""

    penalties: Penalties
    row_tolerance: float
    floor: float
    constant: float
    rounding: float

    def __init__(self, matrix: Any, penalties: Penalties, k: int, *, prototype: Array, row_tolerance: float) -> None:
        self.penalties, self.row_tolerance = penalties, row_tolerance
        matrix = to_numpy(matrix) if is_array(matrix) else matrix
        self.floor, self.constant = of_data_alone(matrix)
        self.rounding = 16.0 * rounding_of(prototype) * abs(self.constant)
        rows, columns = matrix.shape
        dense = isinstance(matrix, np.ndarray)
        entries = rows * columns if dense else int(matrix.nnz)
        count = max(1, -(-entries // _TILE))
        pieces = segments(rows, count) if dense else entry_segments(matrix, count)
        self._tiles = tiles_of(matrix, pieces, self.floor)
        self._compiled = quadratic.compiles(rows + columns, k)
        self._workers = None if entries >= _POOL_FROM else 1

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        """One Newton step; with `sweeps` as many as each row needs, up to that number."""
        prototype = begin
        begin, other, old = (to_numpy(factor) for factor in (begin, other, old))
        penalty, right = self.penalties.rows, np.ascontiguousarray(other.T)
        pairs = quadratic.pairwise_products(right)
        new = np.empty_like(begin)

        def step(place: tuple[slice, Tile]) -> np.ndarray:
            part, tile = place
            moved, violation = self._steps(tile, begin[part], right, pairs, sweeps)
            new[part] = moved
            value = float(moved.sum(axis=0) @ right.sum(axis=1)) - tile.logarithms(tile.model(moved, right))
            return np.array([value + penalty.of(moved), violation])

        value, violation = fold(step, self._tiles, operator.add, workers=self._workers)
        return _half(prototype, new, old, extrapolation, float(value), float(violation))

    def _steps(
        self, tile: Tile, own: np.ndarray, right: np.ndarray, pairs: np.ndarray, limit: int | None
    ) -> tuple[np.ndarray, float]:
        """(rows of W after their steps, projected gradients before the first)."""
        if limit is None:
            moved, violation, _ = self._newton(tile, own, right, pairs, exact=False)
            return moved, violation
        result, first = own.copy(), 0.0
        going = np.arange(own.shape[0])
        for step in range(min(limit, _END_STEPS)):
            moved, violation, still = self._newton(tile, own, right, pairs, exact=step > 1)
            first = violation if step == 0 else first
            result[going] = moved
            if not still.any():
                break
            going, own = going[still], moved[still]
            if not still.all():
                tile = tile.take(np.flatnonzero(still))
        return result, first

    def _newton(
        self, tile: Tile, own: np.ndarray, right: np.ndarray, pairs: np.ndarray, *, exact: bool
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """(rows of W after one step, projected gradients before it, which rows still move).

        An error of the share e in a row costs about e^2 times the sum of the row, and s predicts what is left to gain.
        """
        penalty, begin = self.penalties.rows, np.ascontiguousarray(own.T)
        model = tile.model(own, right)
        ratio = tile.ratio(model)
        gradient = (right.sum(axis=1) + penalty.lasso)[:, None] + penalty.ridge * begin - tile.times(ratio, right)
        ratio /= model
        found = self._solve(tile.times(ratio, pairs), gradient, begin, penalty, exact=exact)
        length = _safe_length(found, tile.lowest(found.step.T, right, model, axis=1))
        moved = np.maximum(begin + length * found.step, 0.0)
        still = found.descent > self.row_tolerance**2 * (right.sum(axis=1) @ moved)
        return np.ascontiguousarray(moved.T), _violation(begin, gradient), still

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        """One Newton step: sums over tiles for gradient and Hessians, and a second pass for the safe lengths."""
        prototype = begin
        begin, other, old = (to_numpy(factor) for factor in (begin, other, old))
        penalty, right = self.penalties.columns, np.ascontiguousarray(begin.T)

        def gather(place: tuple[slice, Tile]) -> tuple[np.ndarray, np.ndarray]:
            part, tile = place
            own = np.ascontiguousarray(other[part].T)
            model = tile.model(other[part], right)
            ratio = tile.ratio(model)
            numerator = tile.transposed_times(ratio, own)
            ratio /= model
            return numerator, tile.transposed_times(ratio, quadratic.pairwise_products(own))

        numerator, triangles = fold(gather, self._tiles, _add, workers=self._workers)
        gradient = (other.sum(axis=0) + penalty.lasso)[:, None] + penalty.ridge * right - numerator
        found = self._solve(triangles, gradient, right, penalty)

        def lowest(place: tuple[slice, Tile]) -> np.ndarray:
            part, tile = place
            return tile.lowest(other[part], found.step, tile.model(other[part], right), axis=0)

        length = _safe_length(found, fold(lowest, self._tiles, np.minimum, workers=self._workers))
        new = np.ascontiguousarray(np.maximum(right + length * found.step, 0.0).T)
        return _half(prototype, new, old, extrapolation, 0.0, _violation(right, gradient))

    def _solve(
        self, triangles: np.ndarray, gradient: np.ndarray, begin: np.ndarray, penalty: Penalty, *, exact: bool = False
    ) -> quadratic.Steps:
        if penalty.ridge:
            triangles[quadratic.diagonal(begin.shape[0])] += penalty.ridge
        return quadratic.solve(
            triangles, gradient, begin, sweeps=_SWEEPS, share=_SHARE, exact=exact, compiled=self._compiled
        )


def _safe_length(found: quadratic.Steps, lowest: np.ndarray) -> np.ndarray:
    """The longest step up to 1 that cannot raise the objective."""
    twice = 2.0 * found.descent
    bound = found.curvature - lowest * twice
    return np.where(twice >= bound, 1.0, twice / np.where(bound > 0.0, bound, 1.0)).astype(found.step.dtype)


def _violation(own: np.ndarray, gradient: np.ndarray) -> float:
    """Sum of the projected gradients: zero at a stationary point."""
    return float(np.abs(np.where(own > 0.0, gradient, np.minimum(gradient, 0.0))).sum())


def _half(
    prototype: Array, new: np.ndarray, old: np.ndarray, extrapolation: float, value: float, violation: float
) -> FactorUpdate:
    ahead = new if extrapolation == 0.0 else np.maximum(new + extrapolation * (new - old), 0.0)
    return FactorUpdate(from_numpy(new, prototype), from_numpy(ahead, prototype), value, violation)


def _add(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.add(total, part, out=total) for total, part in zip(first, second, strict=True))
