"""Leading eigenpairs of H K H, H = I - 1 1^T / n: a symmetric matrix about its mean, which is never formed explicitly.

H K H q = h(K h(q)), where h subtracts the mean of a column. Block Lanczos uses K in its stored precision. A final
float64 pass refines the values (the error of Rayleigh quotients is the square of that of the vectors), measures the
effect of the stored precision, and gives the row means for centring new points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eckart.arrays import EPSILON, Array, device, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.backends.symmetric import by_all, leading_pairs, spectrum_and_pairs
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Start, Target
from eckart.engine.solution import Request, Solution, count_for
from eckart.kernel_pca.rounding import COLUMNS, FAILURE, UNIT, measured

_WITHIN = 1e-3
"""Tiles whose rounding exceeds this share of the last wanted value are recomputed in float64."""
_SHARP = 1e-6
"""K v / l replaces v if its value is at least this share of the first."""
_LOWEST_PASSES = 40
"""Number of passes spent on the smallest eigenvalue of a kernel that may be indefinite."""
_DEVICE_SIZE = 512
"""From this size on, a GPU computes all eigenvectors faster than the host."""


class Symmetric(Protocol):
    """A symmetric matrix as this solver sees it."""

    size: int
    precision: str
    diagonal: Array
    prototype: Array
    """Determines the library and the device of all arrays."""

    def first(self, right: Array) -> tuple[Array, Array]: ...
    def matmat(self, right: Array) -> Array: ...
    def precise(self, right: Array, kept: int = 0) -> tuple[Array, float]: ...
    def length(self) -> float: ...
    def error(self) -> float: ...
    def reach(self, means: Array) -> float: ...
    def sharpen(self) -> None: ...
    def dense(self) -> Array: ...


@dataclass(frozen=True)
class Centred:
    """Eigenpairs of H K H (eigenvalues take the role of squared singular values), and the means for centring."""

    solution: Solution
    means: Array
    """K 1 / n."""
    total: float
    """Trace of H K H."""
    total_error: float = 0.0
    """Bound of the error of the trace."""
    smallest: float = 0.0
    """The smallest eigenvalue, or a lower bound of it."""
    negative: float = 0.0
    """Absolute negative eigenvalues as a share of all absolute values; |smallest| / largest if not all are known."""
    difference: float = 0.0
    """||K in float64 - K in use||_F."""


def off_mean(block: Array) -> Array:
    return block - namespace(block).mean(block, axis=0)


def solve_whole(matrix: Symmetric, request: Request, *, positive: bool = False) -> Centred:
    """All eigenvalues by LAPACK, keeping the wanted pairs; only these if K has no negative eigenvalues."""
    whole = matrix.dense()
    xp, size = namespace(whole), matrix.size
    means = xp.mean(whole, axis=1)
    whole -= means
    # Subtraction rounds in proportion to its result; the second one removes what rounding left of the mean.
    left = _norm(whole)
    whole -= (means - xp.mean(means))[:, None]
    for axis in (0, 1):
        whole -= xp.mean(whole, axis=axis, keepdims=True)
    trace = float(xp.linalg.trace(whole))
    few = positive and is_host(whole) and request.k is not None and not by_all(size, request.k + 1)
    whole = (whole + whole.T) / 2.0
    values, vectors = _leading(whole, (request.k or 0) + 1) if few else _eigenpairs(whole, request.k)
    norm = max(float(values[0]), -float(values[-1]))
    kernel = matrix.error()
    slack = kernel + 4.0 * EPSILON * (left + size**0.5 * norm)
    k = min(size, count_for(np.maximum(values, 0.0), trace, request))
    total_error = 3.0 * kernel + 4.0 * EPSILON * size**0.5 * left
    if few:
        solution = Solution(
            solver="direct", values=values[:k], vectors=vectors[:, :k], lower=values - slack, upper=values + slack,
            residuals=np.full(k, slack), rounding=2 * slack,
        )  # fmt: skip
        return Centred(solution, means, trace, total_error)
    moduli = float(np.abs(values).sum())
    solution = Solution(
        solver="direct", values=values[:k], vectors=vectors[:, :k], lower=values[:k] - slack, upper=values[:k] + slack,
        residuals=np.full(k, slack), spectrum=values, rounding=2 * slack,
    )  # fmt: skip
    negative = float(np.abs(values[values < 0]).sum()) / moduli if moduli else 0.0
    return Centred(solution, means, trace, total_error, float(values[-1]), negative)


def _norm(whole: Array) -> float:
    """||A||_F."""
    if isinstance(whole, np.ndarray):
        return math.sqrt(float(np.einsum("ij,ij->", whole, whole)))  # BLAS would use several threads for this
    xp = namespace(whole)
    return float(xp.sqrt(xp.sum(whole * whole)))


def _leading(whole: Array, count: int) -> tuple[np.ndarray, Array]:
    values, vectors = leading_pairs(whole, count)
    return values, from_numpy(np.ascontiguousarray(vectors), whole)


def _eigenpairs(whole: Array, count: int | None) -> tuple[np.ndarray, Array]:
    """All eigenvalues, decreasing, and at least the vectors of the first `count`, by the faster route."""
    xp, size = namespace(whole), whole.shape[0]
    if is_host(whole) or size < _DEVICE_SIZE:
        spectrum, _, vectors = spectrum_and_pairs(to_numpy(whole), size if count is None else min(count, size))
        return spectrum, from_numpy(vectors, whole)
    try:
        values, vectors = xp.linalg.eigh(whole)
    except RuntimeError as error:  # PyTorch's equivalent of NumPy's LinAlgError
        raise np.linalg.LinAlgError(str(error)) from error
    return to_numpy(values)[::-1], xp.flip(vectors, axis=1)


def _centred_trace(matrix: Symmetric, means: Array) -> float:
    """Trace of H K H, from the row means."""
    xp = namespace(means)
    return float(xp.sum(matrix.diagonal - 2.0 * means + xp.mean(means)))


def solve_few(
    matrix: Symmetric, request: Request, *, block: int, capacity: int, rng: np.random.Generator, positive: bool
) -> Centred:
    """The wanted pairs by block Lanczos; `positive` if K cannot have negative eigenvalues."""
    found = _solve_few(matrix, request, block, capacity, rng, positive)
    kept = float(found.solution.values[-1])
    lacking = not found.solution.proved and not found.solution.converged
    if matrix.precision != "float64" and (lacking or found.difference > _WITHIN * max(kept, 0.0)):
        matrix.sharpen()
        found = _solve_few(matrix, request, block, capacity, rng, positive)
    return found


def _solve_few(
    matrix: Symmetric, request: Request, block: int, capacity: int, rng: np.random.Generator, positive: bool
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
    below, smallest = (0.0, 0.0) if positive else _lowest(matrix, rng, block, request.max_passes)
    shift = max(0.0, -below)

    image, products = off_mean(image), ProductErrors(rng, single=matrix.precision == "float32")
    products.record(start, image)

    def apply(vectors: Array) -> Array:
        image = off_mean(matrix.matmat(off_mean(vectors)))
        products.record(vectors, image)
        return image + shift * vectors

    engine = Matrix(size, apply, start[:0, :0], lambda: (trace + shift * size, EPSILON * 16 * max(trace, 0.0)))
    target = Target(request.k, request.target_ratio, request.tolerance, request.failure_probability, request.max_passes)
    first = Start(start, image + shift * start, capacity)
    pairs = block_lanczos(engine, target, block=block, rng=lambda: rng, start=first)
    return _refined(matrix, pairs, products, shift, block, smallest)


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
        turn = from_numpy(self.rng.standard_normal((block.shape[1], COLUMNS)), block)
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
    product, difference = matrix.precise(wide, COLUMNS if combined else 0)
    means = product[:, k] / size
    image = off_mean(product[:, :k])
    inner = to_numpy(basis.T @ image)
    values, turn = np.linalg.eigh((inner + inner.T) / 2.0)
    values, turn = values[::-1], turn[:, ::-1]
    rotation, scale = from_numpy(turn, basis), from_numpy(values, basis)
    vectors, image = basis @ rotation, image @ rotation
    residuals = to_numpy(_lengths(image - vectors * scale))
    # K v / l is more accurate than v, and equals the projection of the same rows.
    sharp = from_numpy(values > _SHARP * values[0], basis)
    vectors[:, sharp] = image[:, sharp] / _lengths(image[:, sharp])
    kernel, reach = matrix.error(), matrix.reach(means)
    rounding = kernel + product_rounding(size, k) * (reach + abs(float(values[0])))
    errors = difference + products.bound(product[:, k + 1 :])
    upper = np.maximum.accumulate((pairs.upper - shift + errors + rounding)[::-1])[::-1]
    upper[:k] = np.maximum(upper[:k], values + rounding)
    solution = Solution(
        solver="lanczos", values=values, vectors=vectors, lower=values - rounding, upper=upper,
        residuals=_after_product(residuals, values, upper, rounding), proved=pairs.proved, converged=pairs.converged,
        failure_probability=pairs.failure_probability + (FAILURE if combined else 0.0), rounding=rounding,
        steps=pairs.steps, block=block, basis=pairs.basis, restarts=pairs.restarts, precision=matrix.precision,
        history=pairs.history,
    )  # fmt: skip
    negative = max(0.0, -smallest) / float(values[0]) if values[0] > 0 else float(smallest < 0)
    trace = _centred_trace(matrix, means)
    total_error = 3.0 * kernel + product_rounding(size, 1) * (reach + float(xp.sum(xp.abs(matrix.diagonal))))
    return Centred(solution, means, trace, total_error, smallest, negative, difference)


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
    return np.asarray(np.where(values > _SHARP * values[0], product, residuals + rounding))


def _lengths(columns: Array) -> Array:
    """Of each column."""
    if isinstance(columns, np.ndarray):
        return np.linalg.norm(columns, axis=0)
    xp = namespace(columns)
    return xp.sqrt(xp.sum(columns * columns, axis=0))


def _lowest(matrix: Symmetric, rng: np.random.Generator, block: int, most: int) -> tuple[float, float]:
    """(a lower bound, an upper estimate) of the smallest eigenvalue: the largest of c - H K H, c = ||K||_F."""
    size, ceiling = matrix.size, matrix.length()
    start = orthogonal.orthonormalize(off_mean(orthogonal.gaussian(rng, size, block, matrix.prototype)))
    xp = namespace(start)

    def apply(vectors: Array) -> Array:
        return ceiling * vectors - off_mean(matrix.matmat(off_mean(vectors)))

    trace = ceiling * size - float(xp.sum(matrix.diagonal)) + float(xp.sum(matrix.first(start)[1])) / size
    engine = Matrix(size, apply, start[:0, :0], lambda: (trace, EPSILON * 16 * ceiling))
    target = Target(1, tolerance=1e-4, max_passes=min(_LOWEST_PASSES, most))
    first_step = Start(start, apply(start), min(size, 48 * block))
    pairs = block_lanczos(engine, target, block=block, rng=lambda: rng, start=first_step)
    return ceiling - float(pairs.upper[0]), ceiling - float(pairs.values[0])
