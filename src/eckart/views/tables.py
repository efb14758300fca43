"""Tables of a decomposition, as values that print, become data frames or JSON.

With A ~ U diag(s) V^T, weight w and column spread sd: scores T = U diag(s), correlations v_jk s_k / sqrt(w - 1) / sd_j,
contributions 100 v_jk^2 of columns and 100 u_ik^2 of rows, cos2 t_ik^2 / sum_k t_ik^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from eckart.array_api import to_numpy
from eckart.errors import ParameterError
from eckart.views.table import Table
from eckart.views.words import (
    axis_labels,
    certified_shares,
    column_labels,
    explained,
    interval,
    row_labels,
    total_word,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.decomposition import Decomposition

    Matrix = NDArray[np.float64]

_COMPLETE = 1e-9
"""Share of ||A||^2 below which what the axes leave over counts as nothing."""


def eigenvalues(d: Decomposition) -> Table:
    """Variance (for uncentred data: singular value), share, cumulative share and certified bounds of each axis."""
    centred = d.mean is not None
    size = floats(d.variances if centred else d.values)
    shares = floats(d.shares)
    unknown = np.full(d.k, np.nan)
    lower, upper = certified_shares(d) or (unknown, unknown)
    columns = ("axis", "variance" if centred else "singular value", "share", "cumulative", "lower", "upper")
    rows = zip(axis_labels(d), *(a.tolist() for a in (size, shares, shares.cumsum(), lower, upper)), strict=True)
    together = f"The {d.k} axes together carry {interval(*explained(d))} of the {total_word(d)}"
    sure = "certified" if d.certificate is not None else "no certificate was made"
    kinds = ("text", "number", "percent", "percent", "floor", "ceiling")
    return Table("Axes", columns, tuple(rows), f"{together} ({sure}).", kinds)


def loadings(d: Decomposition, *, limit: int | None = None) -> Table:
    """The unit vectors V: one row for each column of the data, or for the first `limit` of them."""
    caption = "Weights of the columns on each axis; the squares of an axis sum to 1."
    return _of_columns(d, "Loadings", floats(d.right)[:limit], caption)


def correlations(d: Decomposition) -> Table:
    """Correlation of each column with the scores of each axis: v_jk s_k / sqrt(w - 1) / sd_j."""
    if d.mean is None:
        message = "The columns were not centred, so correlations with the axes are not known. Decompose with 'pca'."
        raise ParameterError(message)
    spread = _column_spread(d)
    parts = floats(d.right) * np.sqrt(floats(d.variances))
    correlation = np.divide(parts, spread[:, None], out=np.zeros_like(parts), where=spread[:, None] > 0)
    caption = "Correlation of each column with the scores on each axis."
    return _of_columns(d, "Correlations", correlation, caption)


def contributions(d: Decomposition, *, limit: int | None = None) -> Table:
    """Part of each column in each axis, 100 v_jk^2: every axis sums to 100."""
    caption = f"Percent of each axis; an even part would be {100 / max(d.columns, 1):.3g}."
    return _of_columns(d, "Contributions of columns", _parts(floats(d.right))[:limit], caption)


def scores(d: Decomposition, *, limit: int | None = None) -> Table:
    """Coordinates of the rows on the axes, T = U diag(s)."""
    return _of_rows(d, "Scores", row_scores(d, slice(limit)), "Coordinates of the rows on the axes.")


def row_contributions(d: Decomposition) -> Table:
    """Part of each row in each axis, 100 u_ik^2: every axis sums to 100."""
    caption = f"Percent of each axis; an even part would be {100 / max(d.rows, 1):.3g}."
    return _of_rows(d, "Contributions of rows", _parts(row_scores(d)), caption)


def cos2(d: Decomposition) -> Table:
    """How well an axis shows a row: t_ik^2 / ||row i||^2; unless all axes are kept an upper bound, and said so."""
    squares = row_scores(d) ** 2
    total = squares.sum(axis=1, keepdims=True)
    cosines = np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)
    if complete(d):
        caption = "Squared cosine between each row and each axis; 1 means that the axis shows all of the row."
    else:
        caption = f"Squared cosines within the {d.k} kept axes: upper bounds, as what lies outside them was not kept."
    return _of_rows(d, "Squared cosines of rows", cosines, caption)


def row_scores(d: Decomposition, rows: slice = slice(None), axes: slice | list[int] = slice(None)) -> Matrix:
    """T = U diag(s) in float64, rows x k; refused when the left vectors were not kept."""
    if d.left is None:
        _refuse_without_left()
    return floats(to_numpy(d.left)[rows, axes]) * floats(d.values)[axes]


def complete(d: Decomposition) -> bool:
    """Whether the axes hold all of the matrix, so that norms of rows and columns follow from them."""
    return d.norm == 0 or abs(float(floats(d.shares).sum()) - 1) <= _COMPLETE


def _refuse_without_left() -> NoReturn:
    message = "This decomposition was made without keeping the rows' coordinates (left is None), so nothing is known "
    raise ParameterError(message + "of single rows. Decompose again and keep the left vectors.")


def _column_spread(d: Decomposition) -> Matrix:
    """Standard deviation of each decomposed column."""
    if d.scale is not None:
        return np.ones(d.columns)
    if not complete(d):
        message = f"The {d.k} axes do not hold all of the variance and the columns were not scaled, so the columns' "
        raise ParameterError(message + "standard deviations are not known. Scale the columns, or keep every axis.")
    spread: Matrix = np.sqrt(floats(d.right) ** 2 @ floats(d.variances))
    return spread


def _parts(vectors: Matrix) -> Matrix:
    """100 x^2 / sum x^2 down each column, zero for a zero column."""
    squares = (vectors / np.maximum(np.abs(vectors).max(axis=0, initial=0), np.finfo(float).tiny)) ** 2
    total = squares.sum(axis=0)
    parts: Matrix = np.divide(100 * squares, total, out=np.zeros_like(squares), where=total > 0)
    return parts


def floats(array: object) -> Matrix:
    """The numbers in float64 on the host."""
    return to_numpy(array).astype(np.float64)


def _of_columns(d: Decomposition, title: str, numbers: Matrix, caption: str) -> Table:
    rows = tuple((name, *line) for name, line in zip(column_labels(d), numbers.tolist(), strict=False))
    return Table(title, ("column", *axis_labels(d)), rows, caption)


def _of_rows(d: Decomposition, title: str, numbers: Matrix, caption: str) -> Table:
    rows = tuple((name, *line) for name, line in zip(row_labels(d), numbers.tolist(), strict=False))
    return Table(title, ("row", *axis_labels(d)), rows, caption)
