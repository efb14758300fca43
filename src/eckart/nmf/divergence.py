"""Kullback-Leibler by Newton steps, with the Hessians of all rows computed as one matrix product.

For a row w of W, with m = w H and x the row of A, the objective sum_j m_j - x_j log m_j has

    gradient g = sums of H - H (x / m)      and      Hessian Q = H diag(x / m^2) H^T,

and the upper triangles of all Q together are (A / M^2) P, with P the products of two rows of H. d minimises 1/2 d Q d +
g d over w + d >= 0. With u = (d H) / m, a = -min(u, 0), s = -g d and c = d Q d, the inequality -log(1 + z) <= -z + z^2
/ (2 (1 + min z)) bounds the objective at w + t d by f - t s + t^2 c / (2 (1 - a t)). It does not rise for t <= 2 s / (c
+ 2 a s), however accurately the quadratic program was solved.

The code serves NumPy, and CuPy for dense matrices. On a GPU a tile is larger, and the quadratic programs have a kernel.
"""

from __future__ import annotations

import operator
from functools import cached_property

import numpy as np

from eckart.arrays import Array, from_numpy, to_numpy
from eckart.engine.backends.cuda.arrays import given_back
from eckart.engine.parallel import fold
from eckart.nmf import quadratic
from eckart.nmf.constants import (
    EXACT_FROM_STEP,
    FLOOR,
    HESSIANS,
    KEPT_ENTRIES,
    LEAST_DENOMINATOR,
    MOST_FINAL_STEPS,
    NEWTON_SWEEPS,
    POOL_FROM_PRODUCTS,
    TILE,
    UPDATES_FIRST,
    UPDATES_FIRST_SMALL,
)
from eckart.nmf.entries import of_the_mean
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, entry_segments, rounding_of, segments
from eckart.nmf.tiles import Numbers, Stored, Tile, module_of, summed, tiles_of


class Divergence:
    """Every entry of a dense matrix is known; those that CSR rows do not store are zero, or unknown if `observed`.

    `matrix` is an array of NumPy or CuPy, or `Stored` rows of NumPy arrays.
    """

    penalties: Penalties
    row_tolerance: float
    observed: bool
    floor: float

    def __init__(
        self, matrix: Numbers | Stored, penalties: Penalties, k: int, *, row_tolerance: float, observed: bool = False
    ) -> None:
        self.penalties, self.row_tolerance, self.observed = penalties, row_tolerance, observed
        values = matrix.data if isinstance(matrix, Stored) else matrix
        self._values, self._count = values, int(values.size) if observed else int(np.prod(matrix.shape))
        some = values[values > 0]
        self.floor = FLOOR * summed(some) / max(int(some.size), 1) or FLOOR
        self._on_host = isinstance(values, np.ndarray)
        self._tiles = tiles_of(matrix, self._pieces(matrix, k, values.itemsize), self.floor, observed=observed)
        self._compiled = self._on_host and quadratic.compiles(sum(matrix.shape), k)
        self._workers = None if self._on_host and values.size >= POOL_FROM_PRODUCTS else 1

    @cached_property
    def constant(self) -> float:
        """Sum of x log x - x: the term of the objective that depends only on the data.

        Solving rows for a given H does not need it.
        """
        return _of_data_alone(self._values)

    @cached_property
    def reference(self) -> float:
        return of_the_mean(self.constant, summed(self._values), self._count)

    @cached_property
    def rounding(self) -> float:
        return 16.0 * rounding_of(self._values) * abs(self.constant)

    def _pieces(self, matrix: Numbers | Stored, k: int, itemsize: int) -> list[tuple[int, int]]:
        values = matrix.data if isinstance(matrix, Stored) else matrix
        place = "host" if self._on_host else "device"
        hessians = matrix.shape[0] * k * (k + 1) // 2 * itemsize
        count = max(1, -(-int(values.size) // TILE[place]), -(-hessians // HESSIANS[place]))
        if isinstance(matrix, Stored):
            return entry_segments(matrix, count)
        return segments(matrix.shape[0], count)

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        """One Newton step, or with `sweeps` as many as each row needs, up to that number and without the objective."""
        prototype = begin
        begin, other, old = (self._here(factor) for factor in (begin, other, old))
        xp, penalty = module_of(begin), self.penalties.rows
        right = xp.ascontiguousarray(other.T)
        pairs = quadratic.pairwise_products(right)
        new = xp.empty_like(begin)

        def step(place: tuple[slice, Tile]) -> np.ndarray:
            part, tile = place
            moved, violation = self._steps(tile, begin[part], right, pairs, sweeps)
            new[part] = moved
            if sweeps:  # rows solved to convergence, as in transform
                return np.array([0.0, violation])
            model = tile.model(moved, right)
            value = summed(model) if tile.observed else _total(moved, right)
            return np.array([value - tile.logarithms(model) + penalty.of(moved), violation])

        value, violation = fold(step, self._tiles, operator.add, workers=self._workers)
        return _half(prototype, new, old, extrapolation, float(value), float(violation))

    def _steps(
        self, tile: Tile, own: Numbers, right: Numbers, pairs: Numbers, limit: int | None
    ) -> tuple[Numbers, float]:
        """(rows of W after their steps, projected gradients before the first)."""
        if limit is None:
            moved, gradient, _ = self._newton(tile, own, right, pairs, exact=False)
            return moved, _violation(own.T, gradient)
        xp = module_of(own)
        if limit > 1:
            own = self._updated(tile, own, right)
        result, first = own.copy(), 0.0
        going = xp.arange(own.shape[0])
        for step in range(min(limit, MOST_FINAL_STEPS)):
            moved, gradient, still = self._newton(tile, own, right, pairs, exact=step >= EXACT_FROM_STEP)
            first = _violation(own.T, gradient) if step == 0 else first
            result[going] = moved
            if not bool(still.any()):
                break
            going, own = going[still], moved[still]
            if not bool(still.all()):
                tile = tile.take(xp.flatnonzero(still))
        return result, first

    def _updated(self, tile: Tile, own: Numbers, right: Numbers) -> Numbers:
        """Rows after a few multiplicative updates, which at first beat Newton steps at a fifth of the cost."""
        xp, penalty = module_of(own), self.penalties.rows
        begin = xp.ascontiguousarray(own.T)
        sums = tile.times(xp.ones_like(tile.model(own, right)), right) if tile.observed else right.sum(axis=1)[:, None]
        constant = sums + penalty.lasso
        for _ in range(UPDATES_FIRST if self._compiled or not self._on_host else UPDATES_FIRST_SMALL):
            cost = constant + penalty.ridge * begin if penalty.ridge else constant
            ratio = tile.ratio(tile.model(begin.T, right))
            begin = begin * (tile.times(ratio, right) / xp.where(cost > 0.0, cost, 1.0))
        return xp.ascontiguousarray(begin.T)

    def _newton(
        self, tile: Tile, own: Numbers, right: Numbers, pairs: Numbers, *, exact: bool
    ) -> tuple[Numbers, Numbers, Numbers]:
        """(rows of W after one step, gradients before it, mask of rows that still move).

        A relative error e in a row costs about e^2 times the sum of the row, and s predicts the remaining gain.
        """
        xp, penalty = module_of(own), self.penalties.rows
        begin = xp.ascontiguousarray(own.T)
        model = tile.model(own, right)
        ratio = tile.ratio(model)
        cost = tile.times(xp.ones_like(ratio), right) if tile.observed else right.sum(axis=1)[:, None]
        gradient = cost - tile.times(ratio, right)
        if penalty.lasso or penalty.ridge:
            gradient += penalty.lasso + penalty.ridge * begin
        ratio /= model
        found = self._solve(tile.times(ratio, pairs), gradient, begin, penalty, exact=exact)
        length = _safe_length(found, tile.lowest(found.step.T, right, model, axis=1))
        moved = xp.maximum(begin + length * found.step, 0.0)
        still = found.descent > self.row_tolerance**2 * (cost * moved).sum(axis=0)
        return xp.ascontiguousarray(moved.T), gradient, still

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        """One Newton step: sums over tiles for gradient and Hessians, and a second pass for the safe lengths."""
        prototype = begin
        begin, other, old = (self._here(factor) for factor in (begin, other, old))
        xp, penalty = module_of(begin), self.penalties.columns
        right = xp.ascontiguousarray(begin.T)
        kept = self._on_host and self._values.size <= KEPT_ENTRIES
        models: dict[int, Numbers] = {}

        def gather(place: tuple[slice, Tile]) -> tuple[Numbers, ...]:
            part, tile = place
            own = xp.ascontiguousarray(other[part].T)
            model = tile.model(other[part], right)
            if kept:
                models[part.start] = model
            ratio = tile.ratio(model)
            cost = [tile.transposed_times(xp.ones_like(ratio), own)] if tile.observed else []
            numerator = tile.transposed_times(ratio, own)
            ratio /= model
            return numerator, tile.transposed_times(ratio, quadratic.pairwise_products(own)), *cost

        numerator, triangles, *observed = fold(gather, self._tiles, _add, workers=self._workers)
        cost = observed[0] if observed else other.sum(axis=0)[:, None]
        gradient = cost + penalty.lasso + penalty.ridge * right - numerator
        found = self._solve(triangles, gradient, right, penalty)

        def lowest(place: tuple[slice, Tile]) -> Numbers:
            part, tile = place
            model = models.get(part.start) if kept else tile.model(other[part], right)
            return tile.lowest(other[part], found.step, model, axis=0)

        length = _safe_length(found, fold(lowest, self._tiles, xp.minimum, workers=self._workers))
        new = xp.ascontiguousarray(xp.maximum(right + length * found.step, 0.0).T)
        return _half(prototype, new, old, extrapolation, 0.0, _violation(right, gradient))

    def _solve(
        self, triangles: Numbers, gradient: Numbers, begin: Numbers, penalty: Penalty, *, exact: bool = False
    ) -> quadratic.Steps:
        if penalty.ridge:
            triangles[module_of(begin).asarray(quadratic.diagonal(begin.shape[0]))] += penalty.ridge
        return quadratic.solve(triangles, gradient, begin, sweeps=NEWTON_SWEEPS, exact=exact, compiled=self._compiled)

    def _here(self, factor: Array) -> Numbers:
        """A factor as a NumPy or CuPy array."""
        if self._on_host:
            return to_numpy(factor)
        from eckart.nmf.cuda.kernels import contiguous

        return contiguous(factor)


def _safe_length(found: quadratic.Steps, lowest: Numbers) -> Numbers:
    """The longest step up to 1 that cannot raise the objective."""
    xp = module_of(lowest)
    twice = 2.0 * found.descent
    bound = found.curvature - lowest * twice
    return xp.minimum(twice / xp.maximum(bound, LEAST_DENOMINATOR), 1.0).astype(found.step.dtype, copy=False)


def _violation(own: Numbers, gradient: Numbers) -> float:
    """Sum of the projected gradients: zero at a stationary point."""
    xp = module_of(own)
    return summed(xp.abs(xp.where(own > 0.0, gradient, xp.minimum(gradient, 0.0))))


def _half(
    prototype: Array, new: Numbers, old: Numbers, extrapolation: float, value: float, violation: float
) -> FactorUpdate:
    ahead = new if extrapolation == 0.0 else module_of(new).maximum(new + extrapolation * (new - old), 0.0)
    back = from_numpy if isinstance(new, np.ndarray) else given_back
    return FactorUpdate(back(new, prototype), back(ahead, prototype), value, violation)


def _total(own: Numbers, right: Numbers) -> float:
    """Sum of all entries of W H."""
    return float(own.sum(axis=0, dtype=np.float64) @ right.sum(axis=1, dtype=np.float64))


def _of_data_alone(values: Numbers) -> float:
    """Sum of x log x - x over the known entries, a piece at a time."""
    xp = module_of(values)
    constant = 0.0
    height = max(1, 2**22 // max(1, int(np.prod(values.shape[1:]))))
    for start in range(0, values.shape[0], height):
        piece = values[start : start + height]
        positive = piece[piece > 0].astype(np.float64, copy=False)
        constant += float(xp.dot(positive, xp.log(positive)) - positive.sum())
    return constant


def _add(first: tuple[Array, ...], second: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(module_of(total).add(total, part, out=total) for total, part in zip(first, second, strict=True))
