"""Columns against axes: unit vectors v, and correlations v_jk s_k / sqrt(w - 1) / sd_j with the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.measures import check_centred, check_orthogonal, column_spread, floats, of_columns, ratio
from eckart.fitted import takes_fitted
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition


@takes_fitted
def loadings(d: Decomposition, *, limit: int | None = None) -> Table:
    """The unit vectors V: one row for each column of the data, or for the first `limit` of them."""
    right = floats(d.right)
    unit = np.allclose((right**2).sum(axis=0), 1.0, atol=1e-3)
    caption = f"Weights of the columns on each axis{'; the squares of an axis sum to 1' if unit else ''}."
    return of_columns(d, "Loadings", right[:limit], caption)


@takes_fitted
def correlations(d: Decomposition, *, limit: int | None = None) -> Table:
    """Correlation of each column with the scores of each axis: v_jk s_k / sqrt(w - 1) / sd_j."""
    caption = "Correlation of each column with the scores on each axis."
    return of_columns(d, "Correlations", correlation_matrix(d)[:limit], caption)


@takes_fitted
def column_cos2(d: Decomposition, *, limit: int | None = None) -> Table:
    """How well an axis shows a column: the squared correlation; the last number is what all kept axes show of it."""
    squares = correlation_matrix(d) ** 2
    table = of_columns(d, "Squared cosines of columns", squares[:limit], "")
    rows = tuple((*row, float(total)) for row, total in zip(table.rows, squares.sum(axis=1), strict=False))
    caption = f"Squared correlation of each column with each axis; 'all' is what the {d.k} axes show of the column."
    return Table(table.title, (*table.columns, "all"), rows, caption)


def correlation_matrix(d: Decomposition) -> NDArray[np.float64]:
    """Correlations as an array, columns x k; 0 for a column that does not vary."""
    check_centred(d)
    check_orthogonal(d, "Correlations of the columns")
    parts = floats(d.right) * (floats(d.values) / max(d.weight - 1.0, 1.0) ** 0.5)
    return np.clip(ratio(parts, column_spread(d)[:, None]), -1.0, 1.0)
