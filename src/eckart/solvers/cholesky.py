"""Randomly pivoted Cholesky: K ~ F^T F from a few rows of K, with the exact trace of what is missing.

F = L^-1 K[pivots, :], K[pivots, pivots] = L L^T. The next pivot is drawn in proportion to the diagonal of K - F^T F,
which is kept up to date; its sum is the error, since K - F^T F is positive semi-definite. Pivots are proposed in blocks
from the diagonal as it was, and accepted with the probability that makes them draws from the diagonal as it is, so a
block costs products of matrices and has the distribution of one draw at a time (Epperly, Tropp, Webber).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from eckart.operators.executors import each, fold
from eckart.solvers.symmetric import leading_pairs

_COLUMNS = 4096
_PROPOSALS = 128


class RowsOnDemand(Protocol):
    """A symmetric positive semi-definite matrix of which rows can be had."""

    size: int
    diagonal: np.ndarray

    def rows(self, index: np.ndarray, start: int, stop: int) -> np.ndarray: ...
    def block(self, index: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Factor:
    """F (rank x n), the pivots in the order in which they were taken, and the trace of K and of K - F^T F."""

    factor: np.ndarray
    pivots: np.ndarray
    trace: float
    error: float
    lowest: float
    """The most negative entry that the remaining diagonal had: rounding, unless K is indefinite."""


@dataclass(frozen=True)
class FactorAxes:
    """Eigenpairs of H F^T F H: values, coordinates U in the features F, and the mean of the features."""

    values: np.ndarray
    directions: np.ndarray
    mean: np.ndarray
    total: float
    """Trace of H F^T F H."""


def pivoted_cholesky(
    matrix: RowsOnDemand,
    *,
    error: float,
    most: int,
    rng: np.random.Generator,
    precision: str = "float32",
    least: int = 1,
) -> Factor:
    """F with trace(K - F^T F) <= error x trace(K), of rank `least` (where K has it) to `most`."""
    size = matrix.size
    left = matrix.diagonal.astype(np.float64)
    trace = float(left.sum())
    factor = np.empty((min(most, size), size), precision)
    pivots = np.empty(0, np.intp)
    lowest = 0.0
    nothing = 64 * float(np.finfo(precision).eps) * trace
    while len(pivots) < factor.shape[0] and left.sum() > (nothing if len(pivots) < least else error * trace):
        rank = len(pivots)
        proposals = _propose(left, min(_PROPOSALS, max(16, rank // 2)), rng)
        accepted, triangle = _accept(matrix, factor[:rank], proposals, rng, factor.shape[0] - rank)
        if not len(accepted):
            break
        _extend(matrix, factor, rank, accepted, triangle, left)
        pivots = np.append(pivots, accepted)
        left[pivots] = 0.0
        lowest = min(lowest, float(left.min()))
        np.maximum(left, 0.0, out=left)
    return Factor(factor[: len(pivots)], pivots, trace, float(left.sum()), lowest)


def _propose(left: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    edges = np.cumsum(left)
    return np.minimum(np.searchsorted(edges, rng.uniform(0.0, edges[-1], count), side="right"), len(left) - 1)


def _accept(
    matrix: RowsOnDemand, factor: np.ndarray, proposals: np.ndarray, rng: np.random.Generator, room: int
) -> tuple[np.ndarray, np.ndarray]:
    """(accepted proposals, Cholesky factor of what is left of K on them)."""
    known = factor[:, proposals].astype(np.float64)
    block = matrix.block(proposals) - known.T @ known
    before = np.diagonal(block).copy()
    floor = 1e-12 * float(before.max(initial=0.0))
    lower = np.zeros_like(block)
    chosen: list[int] = []
    for j, draw in enumerate(rng.uniform(size=len(proposals))):
        if len(chosen) < room and before[j] > floor and block[j, j] > max(draw * before[j], floor):
            column = block[:, j] / np.sqrt(block[j, j])
            lower[:, len(chosen)] = column
            block -= np.outer(column, column)
            chosen.append(j)
    return proposals[chosen], np.tril(lower[chosen, : len(chosen)])


def _extend(
    matrix: RowsOnDemand, factor: np.ndarray, rank: int, accepted: np.ndarray, triangle: np.ndarray, left: np.ndarray
) -> None:
    """The new rows of F, and the diagonal that they leave, a strip of columns at a time."""
    stop_rank = rank + len(accepted)
    weights = np.ascontiguousarray(factor[:rank, accepted].T)
    inverse = linalg.solve_triangular(triangle, np.eye(len(accepted)), lower=True).astype(factor.dtype)

    def step(start: int) -> None:
        stop = min(start + _COLUMNS, matrix.size)
        rows = matrix.rows(accepted, start, stop).astype(factor.dtype, copy=False) - weights @ factor[:rank, start:stop]
        new = inverse @ rows
        factor[rank:stop_rank, start:stop] = new
        left[start:stop] -= np.einsum("ij,ij->j", new, new, dtype=np.float64)

    each(step, list(range(0, matrix.size, _COLUMNS)))


def factor_axes(factor: np.ndarray, count: int) -> FactorAxes:
    """Leading eigenpairs of the covariance of the columns of F; products in its precision, sums in float64."""
    size = factor.shape[1]
    strips = [slice(start, min(start + _COLUMNS, size)) for start in range(0, size, _COLUMNS)]
    mean = np.asarray(factor.mean(axis=1, dtype=np.float64))

    def step(strip: slice) -> np.ndarray:
        piece = factor[:, strip] - mean[:, None].astype(factor.dtype)
        return np.asarray((piece @ piece.T), np.float64)

    def add(total: np.ndarray, part: np.ndarray) -> np.ndarray:
        total += part
        return total

    gram = fold(step, strips, add)
    values, directions = leading_pairs(gram, min(count, len(gram)))
    return FactorAxes(values, directions, mean, float(np.trace(gram)))


def factor_scores(factor: np.ndarray, axes: FactorAxes) -> np.ndarray:
    """(F - mean)^T U, n x k."""
    result = np.empty((factor.shape[1], len(axes.values)))
    turn = axes.directions.astype(factor.dtype)
    offset = axes.mean @ axes.directions

    def step(start: int) -> None:
        strip = slice(start, min(start + _COLUMNS, factor.shape[1]))
        result[strip] = factor[:, strip].T @ turn - offset

    each(step, list(range(0, factor.shape[1], _COLUMNS)))
    return result
