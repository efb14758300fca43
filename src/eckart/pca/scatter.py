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

from eckart.arrays import Array, astype, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.cuda.gather import dense
from eckart.engine.exponent import times_power_of_two
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.rows import RowBlocks
from eckart.result import Decomposition

COLUMNS = 4096
"""Up to this many columns S is exact: at most 128 MiB."""
_FACTOR_BYTES = 2**28
_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Scatter:
    """S, with mean and S in units of 2^-exponent of the data, in float64, where the data live."""

    count: float
    """Rows, or the sum of their weights; an int where weights are whole numbers."""
    mean: Array
    squares: Array
    """Diagonal of S, exact also where the factor has lost something."""
    factor: Array | None = None
    gram: Array | None = None
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
        return float(namespace(self.squares).sum(self.squares))


def scatter_of(opened: Opened, k: int) -> Scatter:
    """The scatter of one batch, in one pass; dense and sparse rows alike. Missing and infinite entries are refused."""
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
        refuse_not_finite(stored, opened.metadata.column_names)
    return replace(result, exponent=opened.exponent)


def weighted_scatter(opened: Opened, weights: np.ndarray, k: int) -> Scatter:
    """The scatter of one batch in memory whose rows count as often as their weights say: rows sqrt(w) (x - mean)."""
    rows = _rows(opened.matrix.precise())
    xp = namespace(rows)
    total = float(weights.sum())
    w = from_numpy(np.asarray(weights, dtype=np.float64), rows)[:, None]
    mean = xp.sum(w * rows, axis=0) / total
    rows = rows - mean
    rest = xp.sum(w * rows, axis=0) / total  # centred twice, so that nothing of the mean is left
    rows = rows - rest
    constant = xp.max(xp.abs(rows), axis=0) <= float(np.finfo(opened.matrix.precision).eps) * xp.abs(mean)
    rows = _without(rows, constant) * xp.sqrt(w)
    squares = xp.sum(rows * rows, axis=0)
    if not np.isfinite(float(xp.sum(squares))):
        refuse_not_finite(opened.matrix.matrix, opened.metadata.column_names)
    count = int(total) if float(total).is_integer() else total
    base = Scatter(count, mean + rest, squares, exponent=opened.exponent)
    columns = int(rows.shape[1])
    if columns <= COLUMNS and rows.shape[0] >= columns:
        return replace(base, gram=rows.T @ rows, rounding=4 * _UNIT * base.total)
    result = replace(base, factor=rows if rows.shape[0] > 1 else rows[:0, :])
    return result if columns <= COLUMNS else _shortened(result, k)


def fits(rows: int, columns: int, k: int) -> bool:
    """Whether the scatter of so many rows is exact."""
    return columns <= COLUMNS or rows <= capacity(columns, k)


def scatter_from(d: Decomposition, opened: Opened) -> Scatter:
    """The leading part of S by a decomposition of the same rows: F = diag(values) right^T."""
    mean, squares = _column_moments(opened.matrix.precise())
    xp = namespace(d.values)
    values = times_power_of_two(astype(d.values, xp.float64), opened.exponent)
    lost = max(0.0, float(xp.sum(squares)) - float(xp.sum(values**2)))
    factor = values[:, None] * astype(d.right, xp.float64).T
    # E is no larger than its trace.
    return Scatter(d.rows, mean, squares, factor, exponent=opened.exponent, lost=lost, lost_norm=lost)


def merge(first: Scatter, second: Scatter, k: int) -> Scatter:
    """The scatter of the rows of both; k components are to stay reliable where something must be lost."""
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
    columns, xp = int(row.shape[0]), namespace(row)
    if first.factor is not None and second.factor is not None:
        factor = xp.concat([first.factor, second.factor, row[None, :]])
        if columns > COLUMNS:
            return _shortened(replace(base, factor=factor), k)
        if factor.shape[0] <= columns:
            return replace(base, factor=factor)
    # The matrix of the second is added to in place where it was made for this.
    total = _gram(second) if second.factor is not None else xp.asarray(second.gram, copy=True)
    total += row[:, None] * row[None, :]
    total += _gram(first)
    return replace(base, gram=total, rounding=base.rounding + 4 * _UNIT * base.total)


def capacity(columns: int, k: int) -> int:
    """Rows of the factor that are kept before it is cut: 256 MiB, and at least twice what k components need."""
    return max(_FACTOR_BYTES // (8 * columns), 2 * (k + 10))


def _gram(scatter: Scatter) -> Array:
    if scatter.gram is not None:
        return scatter.gram
    assert scatter.factor is not None
    return scatter.factor.T @ scatter.factor


def _pieces(matrix: Any, step: int) -> Iterator[RowBlocks]:
    """At most `step` rows at a time, of a matrix in memory or one that is read in blocks."""
    for block in [matrix] if matrix.resident else (block for _, block in matrix.pieces()):
        for start in range(0, block.shape[0], step):
            yield _slice(block, start, start + step)


def _slice(matrix: RowBlocks, start: int, stop: int) -> RowBlocks:
    piece = matrix.backend.rows_between(matrix.matrix, start, min(stop, matrix.shape[0]))
    return replace(matrix, matrix=piece, given=None)


def _rows(matrix: RowBlocks) -> Array:
    """All rows, prepared, dense, in float64, where they live."""
    if is_numpy(matrix.prototype):
        return matrix.dense()
    if matrix.sparse:
        return dense(matrix.matrix)
    return next(matrix.blocks(0, matrix.shape[0], matrix.shape[0]))[1]


def _as_factor(matrix: RowBlocks) -> Scatter:
    """Centred rows themselves, centred twice so that nothing of the mean is left."""
    rows = _rows(matrix.precise())
    xp = namespace(rows)
    mean = xp.mean(rows, axis=0)
    rows = rows - mean
    rest = xp.mean(rows, axis=0)
    rows -= rest
    # The variance of a column is not known better than its mean.
    constant = xp.max(xp.abs(rows), axis=0) <= float(np.finfo(matrix.precision).eps) * xp.abs(mean)
    rows = _without(rows, constant)
    factor = rows if rows.shape[0] > 1 else rows[:0, :]
    squares = np.einsum("ij,ij->j", rows, rows) if xp is np else xp.sum(rows * rows, axis=0)
    return Scatter(matrix.shape[0], mean + rest, squares, factor=factor)


def _as_matrix(matrix: RowBlocks) -> Scatter:
    """A^T A of rows shifted by a row near their mean, then corrected."""
    matrix, shift = near_mean(matrix)
    first = matrix.moments_and_product(gram=True)
    xp, weight = namespace(first.sums), first.weight
    offset = first.sums / weight
    trace = float(xp.linalg.trace(first.product))
    raw = first.product - weight * (offset[:, None] * offset[None, :])
    squares = xp.linalg.diagonal(raw)
    squares = xp.where(squares > 0.0, squares, 0.0 * squares)
    mean = from_numpy(shift, offset) + offset
    constant = squares <= weight * (_UNIT * xp.abs(mean)) ** 2
    raw = _without(_without(raw, constant), constant[:, None])
    return Scatter(matrix.shape[0], mean, _without(squares, constant), gram=raw, rounding=4 * _UNIT * trace)


def _without(array: Array, indices: Array) -> Array:
    """Zeros in these places."""
    xp = namespace(array)
    return xp.where(indices, xp.zeros_like(array), array) if bool(xp.any(indices)) else array


def near_mean(matrix: RowBlocks) -> tuple[RowBlocks, np.ndarray]:
    """Dense rows shifted by a row near their mean, and that row; sparse rows need no shift."""
    if matrix.sparse:
        return matrix, np.zeros(matrix.shape[1])
    sample = matrix.sample()
    shift = to_numpy(namespace(sample).mean(sample, axis=0))
    return matrix.shifted(from_numpy(shift, matrix.prototype)), shift


def _column_moments(matrix: RowBlocks) -> tuple[Array, Array]:
    """Column means and sums of squares about them, in one pass."""
    matrix, shift = near_mean(matrix)
    first = matrix.moments_and_product()
    xp = namespace(first.sums)
    offset = first.sums / first.weight
    squares = first.squares - first.weight * offset**2
    return from_numpy(shift, offset) + offset, xp.where(squares > 0.0, squares, 0.0 * squares)


def _shortened(scatter: Scatter, k: int) -> Scatter:
    """Half of a full factor: U^T F for the leading directions U of F F^T."""
    factor = scatter.factor
    assert factor is not None
    rows, columns = factor.shape
    limit = capacity(columns, k)
    if rows <= limit:
        return scatter
    values, vectors = namespace(factor).linalg.eigh(factor @ factor.T)
    dropped = np.maximum(to_numpy(values[: rows - limit // 2]), 0.0)
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
        mean=times_power_of_two(scatter.mean, step),
        squares=times_power_of_two(scatter.squares, 2 * step),
        factor=None if scatter.factor is None else times_power_of_two(scatter.factor, step),
        gram=None if scatter.gram is None else times_power_of_two(scatter.gram, 2 * step),
        exponent=exponent,
        rounding=float(np.ldexp(scatter.rounding, 2 * step)),
        lost=float(np.ldexp(scatter.lost, 2 * step)),
        lost_norm=float(np.ldexp(scatter.lost_norm, 2 * step)),
    )
