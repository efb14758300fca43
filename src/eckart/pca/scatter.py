"""S = sum (x - mean)(x - mean)^T of all rows seen, merged batch by batch (Chan, Golub and LeVeque, 1979).

S_ab = S_a + S_b + (n_a n_b / n)(mean_b - mean_a)(mean_b - mean_a)^T. While few rows were seen, S is kept as a factor, S
= F^T F, and as a matrix once there are more rows than columns. With too many columns for that, the factor is cut to its
leading directions and the lost part is accumulated: S = F^T F + E, where E has only non-negative eigenvalues.

Rounding. A mean is stored as c + r, where c is a row near it and r the mean of the rows after subtracting c. Its error
is then relative to the spread of the rows, however far from zero they are. With d for ||c + r - mean||,

    d <= gamma ||X - 1 c^T||_F / sqrt(n),        d_ab <= (n_a d_a + n_b d_b) / n + u (||mean_b - mean_a|| + ||r||),

the row of the merge, (n_a n_b / n)^1/2 (mean_b - mean_a), is off by that factor times d_a + d_b, and with F off by e,
F^T F is off by 2 e ||F||_F + e^2 + n d^2. `gamma` counts the roundings of a sum (Higham 2002, 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.arrays import Array, astype, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.cuda.gather import dense
from eckart.engine.exponent import times_power_of_two
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.rounding import ENTRY, UNIT, gamma, lapack_eigenvalue_error
from eckart.pca.constants import EXACT_COLUMNS, FACTOR_BYTES
from eckart.result import Certificate, Decomposition


@dataclass(frozen=True)
class Scatter:
    """S, with mean and S in units of 2^-exponent of the data, in float64, on the device of the data."""

    count: float
    """Number of rows, or the sum of their weights; an int if weights are whole numbers."""
    center: Array
    """c of the mean c + r."""
    rest: Array
    """r."""
    squares: Array
    """Diagonal of S, exact even if the factor has lost something."""
    factor: Array | None = None
    gram: Array | None = None
    exponent: int = 0
    rounding: float = 0.0
    """Bound of the rounding in S: of its norm, and of its trace."""
    mean_error: float = 0.0
    """Bound of ||c + r - mean||."""
    lost: float = 0.0
    """trace E."""
    lost_norm: float = 0.0
    """Bound of the largest eigenvalue of E."""
    failure_probability: float = 0.0
    """Of the bounds above: they may rest on those of a decomposition."""
    weighted_rows: int | None = None
    """Number of rows if they are weighted."""

    @property
    def rows(self) -> int:
        return round(self.count) if self.weighted_rows is None else self.weighted_rows

    @property
    def mean(self) -> Array:
        return self.center + self.rest

    @property
    def exact(self) -> bool:
        return self.lost == 0.0

    @property
    def zero(self) -> bool:
        """Whether all rows are zero, so that they have no magnitude and thus no exponent."""
        xp = namespace(self.center)
        return self.total == 0.0 and not bool(xp.any(self.center != 0.0)) and not bool(xp.any(self.rest != 0.0))

    @property
    def total(self) -> float:
        """trace S."""
        return float(namespace(self.squares).sum(self.squares))


def scatter_of(opened: Opened, k: int) -> Scatter:
    """The scatter of one batch in one pass, for dense and sparse rows. Missing and infinite entries are refused."""
    rows, columns = opened.matrix.shape
    with np.errstate(over="ignore", invalid="ignore"):
        if columns <= EXACT_COLUMNS and rows >= columns:
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
        refuse_not_finite(stored, opened.metadata)
    return replace(result, exponent=opened.exponent)


def weighted_scatter(opened: Opened, weights: np.ndarray, k: int) -> Scatter:
    """The scatter of one batch in memory with weighted rows sqrt(w) (x - mean)."""
    rows = _rows(opened.matrix.precise())
    xp = namespace(rows)
    total = math.fsum(weights.tolist())
    w = from_numpy(np.asarray(weights, dtype=np.float64), rows)[:, None]
    centred = _centred(rows, xp.sum(w * rows, axis=0) / total, lambda some: xp.sum(w * some, axis=0) / total)
    roots = xp.sqrt(w)
    result = _factor_of(centred, roots, int(total) if float(total).is_integer() else total)
    if not np.isfinite(result.total):
        refuse_not_finite(opened.matrix.matrix, opened.metadata)
    result = replace(result, exponent=opened.exponent, weighted_rows=int(rows.shape[0]))
    columns = int(rows.shape[1])
    if columns <= EXACT_COLUMNS and rows.shape[0] >= columns:
        return _with_matrix(result)
    return result if columns <= EXACT_COLUMNS else _shortened(result, k)


def fits(rows: int, columns: int, k: int) -> bool:
    """Whether the scatter of this many rows is exact."""
    return columns <= EXACT_COLUMNS or rows <= capacity(columns, k)


def scatter_from(d: Decomposition, opened: Opened) -> Scatter:
    """The leading part of S from a decomposition of the same rows: F = diag(values) right^T.

    With S V = V L + R for the right vectors V, the rest of S is V R^T + R V^T plus a part E without negative
    eigenvalues: R counts as rounding.
    """
    center, rest, squares, error, mean_error = _column_moments(opened.matrix.precise())
    xp = namespace(d.values)
    values = times_power_of_two(astype(d.values, xp.float64), opened.exponent)
    c = d.certificate
    assert c is not None
    lost = max(0.0, float(xp.sum(squares)) - float(xp.sum(values**2)))
    factor = values[:, None] * astype(d.right, xp.float64).T
    # E is at most its trace. The vectors were rounded to the dtype of the data.
    unit = float(np.finfo(opened.matrix.precision).eps)
    total = float(xp.sum(squares))
    return Scatter(
        d.rows, center, rest, squares, factor, exponent=opened.exponent,
        rounding=8.0 * unit * total + error + float(np.ldexp(_residual(c), 2 * opened.exponent)),
        mean_error=mean_error, lost=lost, lost_norm=lost, failure_probability=c.failure_probability,
    )  # fmt: skip


def _residual(c: Certificate) -> float:
    """Bound of ||R||_F, in the units of the data."""
    return float(np.linalg.norm(c.residuals)) * float(np.max(c.upper, initial=0.0)) ** 2


def merge(first: Scatter, second: Scatter, k: int) -> Scatter:
    """The scatter of the rows of both; if something must be dropped, k components stay reliable."""
    exponent = min((part.exponent for part in (first, second) if not part.zero), default=0)
    first, second = _rescaled(first, exponent), _rescaled(second, exponent)
    count = first.count + second.count
    xp = namespace(first.center)
    apart, rests = second.center - first.center, second.rest - first.rest
    difference = apart + rests
    factor_squared = first.count * second.count / count
    row = difference * factor_squared**0.5
    moved = difference * (second.count / count)
    rest = first.rest + moved
    length = _norm(difference)
    error = first.mean_error + second.mean_error + UNIT * (_norm(apart) + _norm(rests) + length)
    base = Scatter(
        count=count,
        center=first.center,
        rest=rest,
        squares=first.squares + second.squares + row**2,
        exponent=exponent,
        rounding=first.rounding + second.rounding + factor_squared * (2.0 * length * error + error**2),
        mean_error=max(first.mean_error, second.mean_error) + gamma(8) * (_norm(apart) + _norm(rests) + _norm(rest)),
        lost=first.lost + second.lost,
        lost_norm=first.lost_norm + second.lost_norm,
        failure_probability=first.failure_probability + second.failure_probability,
        weighted_rows=first.rows + second.rows,
    )
    base = replace(base, rounding=base.rounding + gamma(8) * base.total)
    columns = int(row.shape[0])
    if first.factor is not None and second.factor is not None:
        factor = xp.concat([first.factor, second.factor, row[None, :]])
        if columns > EXACT_COLUMNS:
            return _shortened(replace(base, factor=factor), k)
        if factor.shape[0] <= columns:
            return replace(base, factor=factor)
    # The matrix of the second is updated in place if it was created for this.
    total = _gram(second) if second.factor is not None else xp.asarray(second.gram, copy=True)
    total += row[:, None] * row[None, :]
    total += _gram(first)
    summed = max(0 if part.factor is None else int(part.factor.shape[0]) for part in (first, second))
    return replace(base, gram=total, rounding=base.rounding + gamma(summed + 8) * base.total)


def capacity(columns: int, k: int) -> int:
    """Maximum number of rows of the factor before it is cut: 256 MiB, and at least twice what k components need."""
    return max(FACTOR_BYTES // (8 * columns), 2 * (k + 10))


def _gram(scatter: Scatter) -> Array:
    if scatter.gram is not None:
        return scatter.gram
    assert scatter.factor is not None
    return scatter.factor.T @ scatter.factor


def _pieces(matrix: Any, step: int) -> Iterator[RowBlocks]:
    """At most `step` rows at a time, of a matrix in memory or read in blocks."""
    for block in [matrix] if matrix.resident else (block for _, block in matrix.pieces()):
        for start in range(0, block.shape[0], step):
            yield _slice(block, start, start + step)


def _slice(matrix: RowBlocks, start: int, stop: int) -> RowBlocks:
    piece = matrix.backend.rows_between(matrix.matrix, start, min(stop, matrix.shape[0]))
    return replace(matrix, matrix=piece, given=None)


def _rows(matrix: RowBlocks) -> Array:
    """All rows, prepared, dense, in float64, on their device."""
    if is_numpy(matrix.prototype):
        return matrix.dense()
    if matrix.sparse:
        return dense(matrix.matrix)
    return next(matrix.blocks(0, matrix.shape[0], matrix.shape[0]))[1]


def _as_factor(matrix: RowBlocks) -> Scatter:
    """Centred rows themselves."""
    rows = _rows(matrix.precise())
    xp = namespace(rows)
    return _factor_of(_centred(rows, xp.mean(rows, axis=0), lambda some: xp.mean(some, axis=0)), None, matrix.shape[0])


@dataclass(frozen=True)
class _Centred:
    """Rows minus c, and minus their mean r."""

    center: Array
    rest: Array
    once: Array
    twice: Array


def _centred(rows: Array, center: Array, mean: Callable[[Array], Array]) -> _Centred:
    """Centred twice, so that nothing of the mean is left; exact for columns without variance."""
    xp = namespace(rows)
    constant = xp.max(rows, axis=0) == xp.min(rows, axis=0)
    center = xp.where(constant, rows[0, :], center)
    once = rows - center
    rest = xp.where(constant, xp.zeros_like(center), mean(once))
    return _Centred(center, rest, once, once - rest)


def _factor_of(centred: _Centred, roots: Array | None, count: float) -> Scatter:
    """F: the centred rows, times the roots of their weights."""
    xp, rows = namespace(centred.once), int(centred.once.shape[0])
    factor = centred.twice if roots is None else centred.twice * roots
    once = _norm(centred.once if roots is None else centred.once * roots)
    squares = np.einsum("ij,ij->j", factor, factor) if xp is np else xp.sum(factor * factor, axis=0)
    size = float(xp.sum(squares)) ** 0.5
    mean_error = gamma(2 * rows + ENTRY) * once / float(count) ** 0.5
    apart = 4.0 * UNIT * (once + size)
    return Scatter(
        count, centred.center, centred.rest, squares, factor=factor if rows > 1 else factor[:0, :],
        rounding=2.0 * apart * size + apart**2 + float(count) * mean_error**2 + gamma(rows + 2) * size**2,
        mean_error=mean_error,
    )  # fmt: skip


def _with_matrix(scatter: Scatter) -> Scatter:
    """S as a matrix."""
    factor = scatter.factor
    assert factor is not None
    error = gamma(int(factor.shape[0]) + 2) * scatter.total
    return replace(scatter, factor=None, gram=factor.T @ factor, rounding=scatter.rounding + error)


def _as_matrix(given: RowBlocks) -> Scatter:
    """A^T A of rows shifted by a row near their mean, then corrected."""
    matrix, shift = near_mean(given)
    first = matrix.moments_and_product(gram=True)
    xp, weight = namespace(first.sums), first.weight
    offset = first.sums / weight
    trace = float(xp.linalg.trace(first.product))
    raw = first.product - weight * (offset[:, None] * offset[None, :])
    squares = xp.linalg.diagonal(raw)
    squares = xp.where(squares > 0.0, squares, 0.0 * squares)
    unit = gamma(max(matrix.additions(gram=True), matrix.additions(gram=False)) + ENTRY)
    near = np.flatnonzero(to_numpy(squares) <= 8.0 * unit * to_numpy(xp.linalg.diagonal(first.product)))
    constant = np.zeros(raw.shape[0], bool)
    constant[given.constant_columns(near)] = True
    center = from_numpy(shift, offset)
    if constant.any():
        here = xp.asarray(constant) if is_numpy(raw) else from_numpy(constant, raw)
        raw, squares = _without(_without(raw, here), here[:, None]), _without(squares, here)
        center = xp.where(here, _rows(_slice(given, 0, 1))[0, :], center)
        offset = _without(offset, here)
    if constant.all():
        return Scatter(given.shape[0], center, offset, squares, gram=raw)
    length, mean_error = _norm(offset), unit * (trace / weight) ** 0.5
    rounding = unit * trace * (1.0 + unit) + weight * (2.0 * length * mean_error + mean_error**2)
    return Scatter(
        given.shape[0], center, offset, squares, gram=raw,
        rounding=rounding + gamma(8) * (trace + weight * length**2), mean_error=mean_error,
    )  # fmt: skip


def _norm(array: Array) -> float:
    """Frobenius norm."""
    xp = namespace(array)
    return math.sqrt(float(xp.sum(array * array)))


def _without(array: Array, indices: Array) -> Array:
    """Zeros in these places."""
    xp = namespace(array)
    return xp.where(indices, xp.zeros_like(array), array) if bool(xp.any(indices)) else array


def near_mean(matrix: RowBlocks) -> tuple[RowBlocks, np.ndarray]:
    """Dense rows shifted by a row near their mean, and that row; sparse rows are not shifted."""
    if matrix.sparse:
        return matrix, np.zeros(matrix.shape[1])
    sample = matrix.sample()
    shift = to_numpy(namespace(sample).mean(sample, axis=0))
    return matrix.shifted(from_numpy(shift, matrix.prototype)), shift


def _column_moments(matrix: RowBlocks) -> tuple[Array, Array, Array, float, float]:
    """Column means as c and r, sums of squares about them, the error of their total, and that of the means: one pass.

    With D = A - 1 c^T, sums of squares are off by at most 3 gamma ||D||_F^2 (`case.total_error`), and means by gamma
    ||D||_F / sqrt(n).
    """
    matrix, shift = near_mean(matrix)
    first = matrix.moments_and_product()
    xp = namespace(first.sums)
    offset = first.sums / first.weight
    squares = first.squares - first.weight * offset**2
    raw, unit = float(xp.sum(first.squares)), gamma(matrix.additions(gram=False) + ENTRY)
    squares = xp.where(squares > 0.0, squares, 0.0 * squares)
    return from_numpy(shift, offset), offset, squares, 3.0 * unit * raw, unit * (raw / first.weight) ** 0.5


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
    noise = lapack_eigenvalue_error(rows, scatter.total) + gamma(rows + columns) * scatter.total
    lost = float(np.sum(dropped))
    shortened = replace(scatter, factor=kept, rounding=scatter.rounding + noise)
    if lost <= noise:
        return replace(shortened, rounding=shortened.rounding + lost)
    return replace(shortened, lost=scatter.lost + lost, lost_norm=scatter.lost_norm + float(dropped[-1]))


def _rescaled(scatter: Scatter, exponent: int) -> Scatter:
    step = exponent - scatter.exponent
    if step == 0:
        return scatter
    return replace(
        scatter,
        center=times_power_of_two(scatter.center, step),
        rest=times_power_of_two(scatter.rest, step),
        squares=times_power_of_two(scatter.squares, 2 * step),
        factor=None if scatter.factor is None else times_power_of_two(scatter.factor, step),
        gram=None if scatter.gram is None else times_power_of_two(scatter.gram, 2 * step),
        exponent=exponent,
        rounding=float(np.ldexp(scatter.rounding, 2 * step)),
        mean_error=float(np.ldexp(scatter.mean_error, step)),
        lost=float(np.ldexp(scatter.lost, 2 * step)),
        lost_norm=float(np.ldexp(scatter.lost_norm, 2 * step)),
    )
