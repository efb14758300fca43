"""Leading eigenpairs of H K H by block Lanczos, with K in its stored precision.

A final float64 pass refines the values (the error of Rayleigh quotients is the square of that of the vectors), measures
the effect of the stored precision, and gives the row means for centring new points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eckart.arrays import EPSILON, Array, device, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Start, Target
from eckart.engine.solution import RATIO_SLACK, Request, Solution, smallest_count
from eckart.kernel_pca.centered import Centred, Symmetric, centred_dense, off_mean, solve_whole
from eckart.kernel_pca.constants import (
    CHOLESKY_SIZE,
    FAILURE_PROBABILITY,
    FIRST_COMPONENTS,
    INDEFINITE_SHARE,
    LOWEST_PASSES,
    MEASURED_SUMS,
    ROUNDING_SHARE,
    SHARPENED_SHARE,
    SINGLE_RESIDUAL,
    SINGLE_UP_TO,
)
from eckart.kernel_pca.positive_part import (
    Known,
    PositivePart,
    definite_within,
    estimate_negative,
    of_bounds,
    of_trace,
    random_columns,
)  # fmt: skip
from eckart.kernel_pca.rounding import UNIT, measured


def _centred_trace(matrix: Symmetric, means: Array) -> float:
    """Trace of H K H, from the row means."""
    xp = namespace(means)
    return float(xp.sum(matrix.diagonal - 2.0 * means + xp.mean(means)))


@dataclass(frozen=True)
class Lowest:
    """The smallest eigenvalue of a kernel that may be indefinite: bounds, and ||K||_F."""

    bound: float = 0.0
    ritz: float = 0.0
    length: float = 0.0
    failure_probability: float = 0.0


def solve_few(
    matrix: Symmetric, request: Request, *, block: int, capacity: int, rng: np.random.Generator, positive: bool,
    whole: bool = False,
) -> Centred:  # fmt: skip
    """The wanted pairs by block Lanczos; `positive` if K cannot have negative eigenvalues.

    `whole` if all eigenvalues may be computed instead: for a share of an indefinite kernel they must be known.
    """
    run = _Few(matrix, block, capacity, rng, positive)
    if positive:
        return run.solve(request)
    lowest = _lowest(matrix, rng, block, request.max_passes)
    indefinite = lowest.ritz < -INDEFINITE_SHARE * lowest.length
    if whole and (indefinite or request.target_ratio is not None):
        return solve_whole(matrix, request)
    return run.solve(request, lowest) if request.k is not None else run.share(request, lowest)


@dataclass(frozen=True)
class _Few:
    matrix: Symmetric
    block: int
    capacity: int
    rng: np.random.Generator
    positive: bool

    def solve(self, request: Request, lowest: Lowest | None = None) -> Centred:
        """The wanted pairs; in float64 if the stored precision is not enough."""
        lowest = lowest or Lowest()
        found = _solve_few(self.matrix, request, self.block, self.capacity, self.rng, lowest)
        kept = float(found.solution.values[-1])
        lacking = not found.solution.proved
        if self.matrix.precision != "float64" and (lacking or found.difference > ROUNDING_SHARE * max(kept, 0.0)):
            self.matrix.sharpen()
            if not self.positive:
                lowest = _lowest(self.matrix, self.rng, self.block, request.max_passes)
            found = _solve_few(self.matrix, request, self.block, self.capacity, self.rng, lowest)
        if self.positive:
            return found
        chance = found.solution.failure_probability + lowest.failure_probability
        solution = replace(found.solution, failure_probability=chance)
        return replace(found, solution=solution, part=self._part(found, lowest))

    def share(self, request: Request, lowest: Lowest) -> Centred:
        """The smallest number of components that reaches a share of the positive part, by trying more and more.

        Lanczos shifts an indefinite kernel to make it positive, so shares of the shifted trace are not those wanted.
        """
        target, k = request.target_ratio or 1.0, min(FIRST_COMPONENTS, self.matrix.size)
        while True:
            found = self.solve(replace(request, k=k, target_ratio=None), lowest)
            count = smallest_count(found.solution.values, found.part.total, target)
            if count is not None or k == self.matrix.size:
                return _first(found, count or k, target)
            k = min(4 * k, self.matrix.size)

    def _part(self, found: Centred, lowest: Lowest) -> PositivePart:
        """Bounds of the positive part, and an estimate between them."""
        matrix, k = self.matrix, len(found.solution.values)
        error, size = matrix.error(), matrix.size
        xp = namespace(found.means)
        means = float(xp.mean(found.means))
        length = lowest.length * (1.0 + (size + 1024) * UNIT) + found.difference + error
        # ||H K H||^2 = ||K||^2 - 2 n |m|^2 + (n mean m)^2 for the means m = K 1 / n
        squares = length**2 - 2.0 * size * float(xp.sum(found.means**2)) + (size * means) ** 2
        known = Known(
            size=size, trace=found.part.total, trace_error=found.part.total - found.part.low,
            length=(max(squares, 0.0) + 8.0 * (size + 1024) * UNIT * length**2) ** 0.5,
            lower=found.solution.lower[:k], upper=found.solution.upper[:k],
            lowest=lowest.bound - found.difference - error, ritz=lowest.ritz + found.difference + error,
        )  # fmt: skip
        definite = None
        if size <= CHOLESKY_SIZE and lowest.ritz >= -INDEFINITE_SHARE * lowest.length:
            centred, _, left = centred_dense(matrix)
            definite = definite_within(to_numpy(centred), error + 4.0 * EPSILON * left)
        estimate = 0.0
        if definite is None:
            start = off_mean(random_columns(self.rng, size, matrix.prototype))
            estimate = estimate_negative(lambda block: off_mean(matrix.matmat(off_mean(block))), start)
        return of_bounds(known, estimate, definite)


def _first(found: Centred, count: int, target: float) -> Centred:
    """The first `count` pairs; undecided if the bounds of the positive part allow another count."""
    full = found.solution
    solution = replace(
        full, values=full.values[:count], vectors=full.vectors[:, :count], lower=full.lower[:count],
        upper=full.upper[: count + 1], residuals=full.residuals[:count],
    )  # fmt: skip
    enough = float(np.maximum(solution.lower, 0.0).sum()) >= (target - RATIO_SLACK) * found.part.high
    fewer = float(np.maximum(full.upper[: count - 1], 0.0).sum()) < target * found.part.low
    return replace(found, solution=solution, undecided=not (enough and fewer))


def _solve_few(
    matrix: Symmetric, request: Request, block: int, capacity: int, rng: np.random.Generator, lowest: Lowest
) -> Centred:
    size, unit = matrix.size, float(np.finfo(matrix.precision).eps)
    start = orthogonal.orthonormalize(off_mean(orthogonal.gaussian(rng, size, block, matrix.prototype)))
    image, sums = matrix.first(start)
    xp = namespace(sums)
    whole = float(xp.sum(sums)) / size
    if not np.isfinite(whole):
        raise np.linalg.LinAlgError("the kernel is not finite")
    # The sums are those of the tiles in use: the bounds allow for 64 units of rounding in their precision.
    trace = float(xp.sum(matrix.diagonal)) - whole + 64 * unit * abs(whole) + 3.0 * matrix.error()
    shift = max(0.0, -lowest.bound)

    image, products = off_mean(image), ProductErrors(rng, single=matrix.precision == "float32")
    products.record(start, image)

    # Tensors in host memory are NumPy arrays to the iteration, so that results do not depend on the library.
    single = is_host(start) and request.k is not None and matrix.precision == "float64" and size <= SINGLE_UP_TO
    as_iterated = to_numpy if single else (lambda array: array)

    def apply(vectors: Array) -> Array:
        given = from_numpy(vectors, matrix.prototype) if single else vectors
        image = off_mean(matrix.matmat(off_mean(given)))
        products.record(given, image)
        return as_iterated(image + shift * given)

    begin, product = as_iterated(start), as_iterated(image + shift * start)
    engine = Matrix(size, apply, begin[:0, :0], lambda: (trace + shift * size, EPSILON * 16 * max(trace, 0.0)))
    target = Target(request.k, request.target_ratio, request.tolerance, request.failure_probability, request.max_passes)
    first = Start(begin, product, capacity, single=single, residual=SINGLE_RESIDUAL)
    pairs = block_lanczos(engine, target, block=block, rng=lambda: rng, start=first)
    if single:
        pairs = replace(pairs, vectors=from_numpy(np.asarray(pairs.vectors), matrix.prototype))
    return _refined(matrix, pairs, products, shift, block, lowest.ritz)


class ProductErrors:
    """Errors of all products of a float32 run, E = G Q - Y for all blocks Q and products Y, by random combinations.

    Z is drawn after each product. (G Q - Y) Z, summed over all blocks, is (E_1, E_2, ...) times one standard normal
    matrix, so `rounding.measured` bounds the norm of all errors together. By Davis, Kahan and Weinberger, some
    symmetric matrix within that norm of G has exactly these products.
    """

    rng: np.random.Generator
    single: bool

    def __init__(self, rng: np.random.Generator, *, single: bool) -> None:
        self.rng, self.single = rng, single
        self.sums: tuple[Array, Array] | None = None

    def record(self, block: Array, image: Array) -> None:
        if not self.single:
            return
        turn = from_numpy(self.rng.standard_normal((block.shape[1], MEASURED_SUMS)), block)
        now = (block @ turn, image @ turn)
        self.sums = now if self.sums is None else (self.sums[0] + now[0], self.sums[1] + now[1])

    @property
    def combined(self) -> list[Array]:
        """Q Z, if it was recorded."""
        return [] if self.sums is None else [off_mean(self.sums[0])]

    def bound(self, product: Array) -> float:
        """||E|| from G Q Z."""
        return 0.0 if self.sums is None else measured(to_numpy(off_mean(product) - self.sums[1]))


def _refined(
    matrix: Symmetric, pairs: Pairs, products: ProductErrors, shift: float, block: int, smallest: float
) -> Centred:
    """Values and vectors by Rayleigh-Ritz with K in float64."""
    size, k = matrix.size, len(pairs.values)
    basis = pairs.vectors
    xp = namespace(basis)
    ones = xp.ones((size, 1), dtype=basis.dtype, device=device(basis))
    combined = products.combined
    wide = xp.concat([off_mean(basis), ones, *combined], axis=1)
    product, difference = matrix.precise(wide, MEASURED_SUMS if combined else 0)
    means = product[:, k] / size
    image = off_mean(product[:, :k])
    inner = to_numpy(basis.T @ image)
    values, turn = np.linalg.eigh((inner + inner.T) / 2.0)
    values, turn = values[::-1], turn[:, ::-1]
    rotation, scale = from_numpy(turn, basis), from_numpy(values, basis)
    vectors, image = basis @ rotation, image @ rotation
    residuals = to_numpy(_lengths(image - vectors * scale))
    # K v / l is more accurate than v, and equals the projection of the same rows.
    sharp = from_numpy(values > SHARPENED_SHARE * values[0], basis)
    vectors[:, sharp] = image[:, sharp] / _lengths(image[:, sharp])
    kernel, reach = matrix.error(), matrix.reach(means)
    rounding = kernel + product_rounding(size, k) * (reach + abs(float(values[0])))
    errors = difference + products.bound(product[:, k + 1 :])
    upper = np.maximum.accumulate((pairs.upper - shift + errors + rounding)[::-1])[::-1]
    upper[:k] = np.maximum(upper[:k], values + rounding)
    solution = Solution(
        solver="lanczos", values=values, vectors=vectors, lower=values - rounding, upper=upper,
        residuals=_after_product(residuals, values, upper, rounding), proved=pairs.proved, converged=pairs.converged,
        failure_probability=pairs.failure_probability + (FAILURE_PROBABILITY if combined else 0.0), rounding=rounding,
        steps=pairs.steps, block=block, basis=pairs.basis, restarts=pairs.restarts, precision=matrix.precision,
        history=pairs.history,
    )  # fmt: skip
    trace = _centred_trace(matrix, means)
    total_error = 3.0 * kernel + product_rounding(size, 1) * (reach + float(xp.sum(xp.abs(matrix.diagonal))))
    return Centred(solution, means, of_trace(trace, total_error), smallest, difference)


def product_rounding(size: int, columns: int) -> float:
    """Rounding of `columns` products with H K H in float64, relative to the norm of |K|.

    Sums within a tile, over tiles, and for two means: each at most (number of terms) u, in any order.
    """
    return (2 * size + 1024 + size / 512) * UNIT * float(np.sqrt(columns))


def _after_product(residuals: np.ndarray, values: np.ndarray, upper: np.ndarray, rounding: float) -> np.ndarray:
    """Residuals of G v / |G v| from those of v: ||G r|| / l with r orthogonal to all v, ||G r|| <= (s + |R|) ||r||.

    s bounds the eigenvalues beyond the basis: the upper bound after the last value, or the first if there is none.
    Rounding of G v may lie along the first vector, where G multiplies it by the first value.
    """
    k = len(values)
    beyond = float(upper[k]) if len(upper) > k else float(upper[0])
    outside = min(float(upper[0]), max(beyond, 0.0) + float(np.linalg.norm(residuals)))
    reached = np.maximum(values - residuals, np.finfo(np.float64).tiny)
    product = residuals * np.maximum(1.0, outside / reached) + rounding * np.maximum(1.0, float(upper[0]) / reached)
    return np.asarray(np.where(values > SHARPENED_SHARE * values[0], product, residuals + rounding))


def _lengths(columns: Array) -> Array:
    """Of each column."""
    if isinstance(columns, np.ndarray):
        return np.linalg.norm(columns, axis=0)
    xp = namespace(columns)
    return xp.sqrt(xp.sum(columns * columns, axis=0))


def _lowest(matrix: Symmetric, rng: np.random.Generator, block: int, most: int) -> Lowest:
    """Bounds of the smallest eigenvalue: the largest of c - H K H, c = ||K||_F."""
    size, ceiling = matrix.size, matrix.length()
    start = orthogonal.orthonormalize(off_mean(orthogonal.gaussian(rng, size, block, matrix.prototype)))
    xp = namespace(start)

    def apply(vectors: Array) -> Array:
        return ceiling * vectors - off_mean(matrix.matmat(off_mean(vectors)))

    trace = ceiling * size - float(xp.sum(matrix.diagonal)) + float(xp.sum(matrix.first(start)[1])) / size
    engine = Matrix(size, apply, start[:0, :0], lambda: (trace, EPSILON * 16 * ceiling))
    target = Target(1, tolerance=1e-4, max_passes=min(LOWEST_PASSES, most))
    first_step = Start(start, apply(start), min(size, 48 * block))
    pairs = block_lanczos(engine, target, block=block, rng=lambda: rng, start=first_step)
    lower, upper = ceiling - float(pairs.upper[0]), ceiling - float(pairs.values[0])
    return Lowest(lower, upper, ceiling, pairs.failure_probability)
