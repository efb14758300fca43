"""Randomly pivoted Cholesky: K ~ F^T F from a few rows of K, with the exact trace of the missing part.

F = L^-1 K[pivots, :], K[pivots, pivots] = L L^T. The next pivot is drawn in proportion to the diagonal of K - F^T F,
which is kept up to date. Its sum is the error, because K - F^T F is positive semi-definite. Pivots are proposed in
blocks from the old diagonal and accepted with the probability that makes them draws from the current one. A block thus
costs matrix products and has the distribution of one draw at a time (Epperly, Tropp, Webber).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from eckart.arrays import (
    Array,
    astype,
    empty_rows,
    from_numpy,
    is_host,
    is_numpy,
    namespace,
    to_numpy,
)  # fmt: skip
from eckart.engine.backends.select import backend_of
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.backends.written import less_product, put_product
from eckart.engine.parallel import each, fold
from eckart.kernel_pca.constants import (
    DEVICE_PROPOSALS,
    MANY_PROPOSALS_FROM,
    PROPOSALS,
    STRIP_BYTES,
    STRIP_COLUMNS,
    SUMMED_VALUES,
)
from eckart.kernel_pca.elementwise import subtract_squares


class RowsOnDemand(Protocol):
    """A symmetric positive semi-definite matrix whose rows can be computed."""

    size: int
    diagonal: Array

    def rows(self, index: Array, start: int, stop: int, out: Array | None = None) -> Array: ...
    def block(self, index: Array) -> Array: ...


@dataclass(frozen=True)
class Factor:
    """F (rank x n), the pivots in order, and the traces of K and of K - F^T F."""

    factor: Array
    pivots: np.ndarray
    trace: float
    error: float
    lowest: float
    """The most negative entry of the remaining diagonal: rounding, unless K is indefinite."""


@dataclass(frozen=True)
class FactorComponents:
    """Eigenpairs of H F^T F H: values, coordinates U in the features F, and the mean of the features."""

    values: np.ndarray
    directions: np.ndarray
    mean: np.ndarray
    total: float
    """Trace of H F^T F H."""
    gram: np.ndarray
    """(F - mean) (F - mean)^T, as computed."""


def pivoted_cholesky(
    matrix: RowsOnDemand,
    *,
    error: float,
    most: int,
    rng: np.random.Generator,
    precision: str = "float32",
    least: int = 1,
) -> Factor:
    """F with trace(K - F^T F) <= error x trace(K), of rank `least` (if K allows) to `most`."""
    size = matrix.size
    left = matrix.diagonal + 0.0
    xp = namespace(left)
    trace = missing = float(xp.sum(left))
    most = min(most, size)
    # In NumPy arrays, there is room above F for rows of K: see _extend_at_once.
    above = 0 if is_numpy(left) else min(PROPOSALS, most)
    whole = empty_rows(above + most, size, left, precision)
    factor = whole[above:, :]
    pivots = np.empty(0, np.intp)
    lowest = 0.0
    if trace == 0.0 and not bool(xp.any(left)):  # a row of zeros is the factor of a kernel of zeros
        factor[:1, :] = 0.0
        return Factor(factor[:1, :], np.zeros(1, np.intp), 0.0, 0.0, 0.0)
    nothing = 64 * float(np.finfo(precision).eps) * trace
    while len(pivots) < most and missing > (nothing if len(pivots) < least else error * trace):
        rank = len(pivots)
        proposals = _propose(left, rng.random(_count(left, rank)))
        known = astype(take_columns(factor[:rank, :], proposals), xp.float64)
        block = to_numpy(matrix.block(proposals) - known.T @ known)
        chosen, triangle = _accept(block, rng, min(PROPOSALS, most - rank))
        accepted = to_numpy(proposals)[chosen]
        if not len(accepted):
            break
        if is_numpy(left):
            _extend(matrix, factor, rank, accepted, triangle, left)
        else:
            _extend_at_once(matrix, whole, above, rank, accepted, triangle, left)
        pivots = np.append(pivots, accepted)
        left[from_numpy(pivots, left)] = 0.0
        least_left, left = xp.min(left), _not_negative(left)
        below, missing = to_numpy(xp.stack([least_left, xp.sum(left)])).tolist()
        lowest = min(lowest, below)
    return Factor(factor[: len(pivots), :], pivots, trace, missing, lowest)


def _count(left: Array, rank: int) -> int:
    """Number of proposals: few at first, when they are similar, unless a GPU has room for all of them."""
    large = not is_host(left) and left.shape[0] >= MANY_PROPOSALS_FROM
    return DEVICE_PROPOSALS if large else min(PROPOSALS, max(16, rank // 2))


def _propose(left: Array, draws: np.ndarray) -> Array:
    """Indices drawn in proportion to the remaining diagonal, one for each uniform number."""
    xp = namespace(left)
    edges = xp.cumsum(left, 0)
    indices = xp.searchsorted(edges, from_numpy(draws, left) * edges[-1], side="right")
    return xp.where(indices < left.shape[0], indices, left.shape[0] - 1)


def take_columns(factor: Array, index: Array) -> Array:
    return factor[:, index] if is_numpy(factor) else namespace(factor).take(factor, index, axis=1)


def _not_negative(left: Array) -> Array:
    if is_numpy(left):
        return np.maximum(left, 0.0, out=left)
    xp = namespace(left)
    return xp.where(left > 0.0, left, xp.zeros_like(left))


def _accept(block: np.ndarray, rng: np.random.Generator, room: int) -> tuple[np.ndarray, np.ndarray]:
    """(numbers of the accepted proposals, Cholesky factor of the residual of K on them); `block` is that of all."""
    from eckart.kernel_pca.compiled import accept

    size = len(block)
    floor = 1e-12 * float(np.diagonal(block).max(initial=0.0))
    lower, chosen = np.zeros((size, size)), np.empty(size, np.intp)
    count = accept(np.ascontiguousarray(block), rng.uniform(size=size), floor, room, lower, chosen)
    chosen = chosen[:count]
    return chosen, np.tril(lower[chosen, :count])


def _extend(
    matrix: RowsOnDemand, factor: Array, rank: int, accepted: np.ndarray, triangle: np.ndarray, left: Array
) -> None:
    """The new rows of F and the remaining diagonal, a strip of columns at a time."""
    stop_rank = rank + len(accepted)
    index = from_numpy(accepted, factor)
    weights = take_columns(factor[:rank, :], index).T
    weights = np.ascontiguousarray(weights) if is_numpy(weights) else weights
    small = linalg.solve_triangular(triangle, np.eye(len(accepted)), lower=True)
    inverse = astype(from_numpy(small, factor), factor.dtype)

    def step(strip: slice) -> None:
        rows = astype(matrix.rows(index, strip.start, strip.stop), factor.dtype)
        if rank:
            rows = less_product(rows, weights, factor[:rank, strip])
        new = put_product(inverse, rows, factor[rank:stop_rank, strip])
        subtract_squares(left[strip], new)

    each(step, _strips(factor, len(accepted)), workers=_workers(factor))


def _extend_at_once(
    matrix: RowsOnDemand, whole: Array, above: int, rank: int, accepted: np.ndarray, triangle: np.ndarray, left: Array
) -> None:
    """The same as one product, F_new = (L^-1, -L^-1 W^T) (K[accepted, :]; F): on a GPU each pass over rows counts.

    The rows of K are written just above F, which starts at row `above`, and the new rows of F just below it.
    """
    from eckart.kernel_pca.compiled import inverse_of_triangle

    xp, stop, count = namespace(left), above + rank, len(accepted)
    index = from_numpy(accepted, left)
    inverse = from_numpy(inverse_of_triangle(triangle), left).T
    weights = astype(take_columns(whole[above:stop, :], index), xp.float64)
    # Its transpose is contiguous in memory: cuBLAS is a tenth faster with it.
    turn = astype(xp.concat([inverse, -(weights @ inverse)], axis=0), whole.dtype)

    for strip in _strips(whole, count):
        matrix.rows(index, strip.start, strip.stop, out=whole[above - count : above, strip])
        new = put_product(turn.T, whole[above - count : stop, strip], whole[stop : stop + count, strip])
        subtract_squares(left[strip], new)


def _strips(factor: Array, rows: int) -> list[slice]:
    """Strips of columns: small enough for a cache, or large enough for a GPU."""
    size = factor.shape[1]
    width = STRIP_COLUMNS if is_host(factor) else max(STRIP_COLUMNS, STRIP_BYTES // (8 * max(rows, 1)))
    return [slice(start, min(start + width, size)) for start in range(0, size, width)]


def _workers(factor: Array) -> int | None:
    return None if is_numpy(factor) else 1


def factor_components(factor: Array, count: int, cross_products: Callable[[Array], Array]) -> FactorComponents:
    """Leading eigenpairs of the covariance of the columns of F; products in its precision, sums in float64.

    `cross_products` computes A^T A of a tall block. If doubles are as fast as floats, the products are in float64.
    """
    xp = namespace(factor)
    strips = _strips(factor, factor.shape[0])
    mean = _row_means(factor, strips)
    centre = astype(mean, xp.float64 if backend_of(factor).fast_float64 else factor.dtype)[:, None]

    def step(strip: slice) -> Array:
        return astype(cross_products((factor[:, strip] - centre).T), xp.float64)

    def add(total: Array, part: Array) -> Array:
        total += part
        return total

    gram = to_numpy(fold(step, strips, add, workers=_workers(factor)))
    values, directions = leading_pairs(gram, min(count, len(gram)), prototype=factor)
    return FactorComponents(values, directions, to_numpy(mean), float(np.trace(gram)), gram)


def _row_means(factor: Array, strips: list[slice]) -> Array:
    if is_numpy(factor):
        return factor.mean(axis=1, dtype=np.float64)
    return sum(_row_sums(factor[:, strip]) for strip in strips) / factor.shape[1]


def _row_sums(part: Array) -> Array:
    """Row sums in float64, over partial sums in the precision of the numbers, which halves the memory traffic."""
    xp, (rows, width) = namespace(part), part.shape
    whole = width - width % SUMMED_VALUES
    groups = xp.sum(xp.reshape(part[:, :whole], (rows, whole // SUMMED_VALUES, SUMMED_VALUES)), axis=2)
    total = xp.sum(astype(groups, xp.float64), axis=1)
    return total + xp.sum(astype(part[:, whole:], xp.float64), axis=1)
