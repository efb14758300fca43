"""S = sum (x - mean)(x - mean)^T of all rows seen, merged batch by batch (Chan, Golub and LeVeque, 1979).

S_ab = S_a + S_b + (n_a n_b / n)(mean_b - mean_a)(mean_b - mean_a)^T. While few rows were seen, S is kept as a factor,
S = F^T F; once there are more rows than columns, as a matrix. With too many columns for that, the factor is cut to its
leading directions, and what it lost is added up: S = F^T F + E, where E has only non-negative eigenvalues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.array_api import from_numpy, namespace, to_numpy
from eckart.decomposition import Decomposition
from eckart.operators.finite import refuse_not_finite
from eckart.operators.open_matrix import Opened
from eckart.operators.row_blocks import RowBlocks

COLUMNS = 4096
"""Up to this many columns S is exact: at most 128 MiB."""
_FACTOR_BYTES = 2**28
_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Scatter:
    """S, with mean and S in units of 2^-exponent of the data."""

    count: int
    mean: np.ndarray
    squares: np.ndarray
    """Diagonal of S, exact also where the factor has lost something."""
    factor: np.ndarray | None = None
    gram: np.ndarray | None = None
    exponent: int = 0
    rounding: float = 0.0
    """Bound of the rounding in S."""
    lost: float = 0.0
    """trace E."""
    lost_norm: float = 0.0
    """Bound of the largest eigenvalue of E."""

    @property
    def exact(self) -> bool:
        return self.lost == 0.0

    @property
    def total(self) -> float:
        """trace S."""
        return float(np.sum(self.squares))


def scatter_of(opened: Opened, k: int) -> Scatter:
    """The scatter of one batch, in one read; dense and sparse rows alike. Missing and infinite entries are refused."""
    rows, columns = opened.matrix.shape
    with np.errstate(over="ignore", invalid="ignore"):
        if columns <= COLUMNS and rows >= columns:
            result = _as_matrix(opened.matrix.precise())
        else:
            step = max(1, capacity(columns, k) // 2)
            pieces = _pieces(opened.matrix, step)
            result = _as_factor(next(pieces))
            for piece in pieces:
                result = merge(result, _as_factor(piece), k)
        finite = np.isfinite(result.total)
    if not finite:
        stored = opened.matrix.matrix if opened.matrix.resident else opened.matrix
        refuse_not_finite(stored, opened.about.column_names)
    return replace(result, exponent=opened.exponent)


def fits(rows: int, columns: int, k: int) -> bool:
    """Whether the scatter of so many rows is exact."""
    return columns <= COLUMNS or rows <= capacity(columns, k)


def scatter_from(d: Decomposition, opened: Opened) -> Scatter:
    """The leading part of S by a decomposition of the same rows: F = diag(values) right^T."""
    mean, squares = _column_moments(opened.matrix.precise())
    values = np.ldexp(to_numpy(d.values).astype(np.float64), opened.exponent)
    lost = max(0.0, float(np.sum(squares)) - float(np.sum(values**2)))
    factor = values[:, None] * to_numpy(d.right).astype(np.float64).T
    # E is no larger than its trace.
    return Scatter(d.rows, mean, squares, factor, exponent=opened.exponent, lost=lost, lost_norm=lost)


def merge(first: Scatter, second: Scatter, k: int) -> Scatter:
    """The scatter of the rows of both; k axes are to stay reliable where something must be lost."""
    exponent = min(first.exponent, second.exponent)
    first, second = _rescaled(first, exponent), _rescaled(second, exponent)
    count = first.count + second.count
    difference = second.mean - first.mean
    row = difference * (first.count * second.count / count) ** 0.5
    base = Scatter(
        count=count,
        mean=first.mean + difference * (second.count / count),
        squares=first.squares + second.squares + row**2,
        exponent=exponent,
        rounding=first.rounding + second.rounding,
        lost=first.lost + second.lost,
        lost_norm=first.lost_norm + second.lost_norm,
    )
    columns = len(row)
    if first.factor is not None and second.factor is not None:
        factor = np.concatenate([first.factor, second.factor, row[None, :]])
        if columns > COLUMNS:
            return _shortened(replace(base, factor=factor), k)
        if len(factor) <= columns:
            return replace(base, factor=factor)
    # The matrix of the second is added to in place where it was made for this.
    total = _gram(second) if second.factor is not None else np.array(second.gram)
    total += np.outer(row, row)
    total += _gram(first)
    return replace(base, gram=total, rounding=base.rounding + 4 * _UNIT * base.total)


def capacity(columns: int, k: int) -> int:
    """Rows of the factor that are kept before it is cut: 256 MiB, and at least twice what k axes need."""
    return max(_FACTOR_BYTES // (8 * columns), 2 * (k + 10))


def _gram(scatter: Scatter) -> np.ndarray:
    if scatter.gram is not None:
        return scatter.gram
    assert scatter.factor is not None
    return np.asarray(scatter.factor.T @ scatter.factor)


def _pieces(matrix: Any, step: int) -> Iterator[RowBlocks]:
    """At most `step` rows at a time, of a matrix in memory or one that is read in blocks."""
    for block in [matrix] if matrix.resident else (block for _, block in matrix.pieces()):
        for start in range(0, block.shape[0], step):
            yield _slice(block, start, start + step)


def _slice(matrix: RowBlocks, start: int, stop: int) -> RowBlocks:
    return replace(matrix, matrix=matrix.matrix[start : min(stop, matrix.shape[0]), :])


def _as_factor(matrix: RowBlocks) -> Scatter:
    """Centred rows themselves, centred twice so that nothing of the mean is left."""
    rows = matrix.precise().dense()
    mean = rows.mean(axis=0)
    rows = rows - mean
    rest = rows.mean(axis=0)
    rows -= rest
    # The variance of a column is not known better than its mean.
    rows[:, np.abs(rows).max(axis=0) <= np.finfo(matrix.precision).eps * np.abs(mean)] = 0.0
    factor = rows if len(rows) > 1 else rows[:0]
    return Scatter(len(rows), mean + rest, np.einsum("ij,ij->j", rows, rows), factor=factor)


def _as_matrix(matrix: RowBlocks) -> Scatter:
    """A^T A of rows shifted by a row near their mean, then corrected."""
    matrix, shift = near_mean(matrix)
    survey = matrix.survey(gram=True)
    offset = to_numpy(survey.sums) / survey.weight
    raw = np.array(to_numpy(survey.product))
    trace = float(np.trace(raw))
    raw -= survey.weight * np.outer(offset, offset)
    squares = np.maximum(np.diagonal(raw), 0.0)
    mean = shift + offset
    constant = squares <= survey.weight * (_UNIT * np.abs(mean)) ** 2
    raw[constant, :] = 0.0
    raw[:, constant] = 0.0
    return Scatter(matrix.shape[0], mean, np.where(constant, 0.0, squares), gram=raw, rounding=4 * _UNIT * trace)


def near_mean(matrix: RowBlocks) -> tuple[RowBlocks, np.ndarray]:
    """Dense rows shifted by a row near their mean, and that row; sparse rows need no shift."""
    if matrix.sparse:
        return matrix, np.zeros(matrix.shape[1])
    sample = matrix.sample()
    shift = to_numpy(namespace(sample).mean(sample, axis=0))
    return matrix.shifted(from_numpy(shift, matrix.like)), shift


def _column_moments(matrix: RowBlocks) -> tuple[np.ndarray, np.ndarray]:
    """Column means and sums of squares about them, in one read."""
    matrix, shift = near_mean(matrix)
    survey = matrix.survey()
    offset = to_numpy(survey.sums) / survey.weight
    return shift + offset, np.maximum(to_numpy(survey.squares) - survey.weight * offset**2, 0.0)


def _shortened(scatter: Scatter, k: int) -> Scatter:
    """Half of a full factor: U^T F for the leading directions U of F F^T."""
    factor = scatter.factor
    assert factor is not None
    rows, columns = factor.shape
    limit = capacity(columns, k)
    if rows <= limit:
        return scatter
    values, vectors = np.linalg.eigh(factor @ factor.T)
    dropped = np.maximum(values[: rows - limit // 2], 0.0)
    kept = vectors[:, rows - limit // 2 :].T @ factor
    noise = 4 * _UNIT * scatter.total
    lost = float(np.sum(dropped))
    if lost <= noise:
        return replace(scatter, factor=kept, rounding=scatter.rounding + noise)
    return replace(
        scatter, factor=kept, lost=scatter.lost + lost, lost_norm=scatter.lost_norm + float(dropped[-1]) + noise
    )


def _rescaled(scatter: Scatter, exponent: int) -> Scatter:
    step = exponent - scatter.exponent
    if step == 0:
        return scatter
    return replace(
        scatter,
        mean=np.ldexp(scatter.mean, step),
        squares=np.ldexp(scatter.squares, 2 * step),
        factor=None if scatter.factor is None else np.ldexp(scatter.factor, step),
        gram=None if scatter.gram is None else np.ldexp(scatter.gram, 2 * step),
        exponent=exponent,
        rounding=float(np.ldexp(scatter.rounding, 2 * step)),
        lost=float(np.ldexp(scatter.lost, 2 * step)),
        lost_norm=float(np.ldexp(scatter.lost_norm, 2 * step)),
    )
