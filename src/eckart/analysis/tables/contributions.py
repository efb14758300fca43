"""Who makes an axis: 100 v_jk^2 of columns, 100 w_i t_ik^2 / sum_i w_i t_ik^2 of rows. Every axis sums to 100."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.analysis.measures import floats, left_vectors, of_columns, of_rows, parts_of_hundred, row_scores
from eckart.fitted import takes_fitted

if TYPE_CHECKING:
    from eckart.result import Decomposition
    from eckart.text import Table


@takes_fitted
def contributions(d: Decomposition, *, limit: int | None = None) -> Table:
    """Part of each column in each axis, 100 v_jk^2: every axis sums to 100."""
    caption = f"Percent of each axis; an even part would be {100 / max(d.columns, 1):.3g}."
    return of_columns(d, "Contributions of columns", parts_of_hundred(floats(d.right))[:limit], caption)


@takes_fitted
def row_contributions(d: Decomposition, *, limit: int | None = None) -> Table:
    """Part of each row in each axis, 100 u_ik^2 (weights are in u): every axis sums to 100."""
    caption = f"Percent of each axis; an even part would be {100 / max(d.rows, 1):.3g}."
    vectors = left_vectors(d) * (floats(d.values) > 0)
    return of_rows(d, "Contributions of rows", parts_of_hundred(vectors)[:limit], caption)


@takes_fitted
def scores(d: Decomposition, *, limit: int | None = None) -> Table:
    """Coordinates of the rows on the axes, T = U diag(s), whatever their weights."""
    return of_rows(d, "Scores", row_scores(d, slice(limit)), "Coordinates of the rows on the axes.")
