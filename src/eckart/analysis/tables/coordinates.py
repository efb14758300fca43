"""Tables of the columns and of the rows: coordinates, contributions and squared cosines.

Columns have loadings v, contributions 100 v_jk^2, which sum to 100, and correlations v_jk s_k / (sqrt(w - 1) sd_j) with
the scores. Rows have scores t, contributions 100 w_i t_ik^2 / sum_i w_i t_ik^2, and cos2 = t_ik^2 / ||x_i||^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import row_labels
from eckart.analysis.measures import (
    check_centred,
    check_orthogonal,
    column_spread,
    complete,
    floats,
    left_vectors,
    of_columns,
    of_rows,
    parts_of_hundred,
    ratio,
    row_distances,
    row_scores,
)
from eckart.fitted import takes_fitted
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition


@takes_fitted
def loadings(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate the loadings of the columns.

    {Parameters: d, limit; Returns: Table}
        Loadings, one row per column of the data. The squared loadings of each component sum to 1.

    {Raises: ParameterError [no column weights]; See Also: correlations, eckart.plots.loadings}

    {Examples: arrests}
    >>> print(ek.tables.loadings(d).text().splitlines()[4])
    Murder    0.5359  -0.4182
    """
    right = floats(d.right)
    unit = np.allclose((right**2).sum(axis=0), 1.0, atol=1e-3)
    caption = f"Loadings of the columns{'; the squares of each component sum to 1' if unit else ''}."
    return of_columns(d, "Loadings", right[:limit], caption)


@takes_fitted
def correlations(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate the correlation of each column with the scores of each component.

    {Parameters: d [centred], limit; Returns: Table}
        Correlations v_jk s_k / (sqrt(w - 1) sd_j), where v_jk are the loadings, s_k the singular values, w the sum of
        the row weights and sd_j the standard deviation of column j.

    {Raises: ParameterError [not centred]; See Also: loadings, eckart.plots.correlation_circle}

    {Examples: arrests}
    >>> [round(float(r), 3) for r in ek.tables.correlations(d).rows[0][1:]]
    [0.844, -0.416]
    """
    caption = "Correlation of each column with the scores of each component."
    return of_columns(d, "Correlations", correlation_matrix(d)[:limit], caption)


@takes_fitted
def column_cos2(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate how well each component represents each column.

    {Parameters: d [centred], limit; Returns: Table}
        Squared correlations of each column with the components, and their sum over all components.

    {Raises: ParameterError [not centred]; See Also: correlations, cos2}

    {Examples: arrests}
    >>> [round(float(r), 3) for r in ek.tables.column_cos2(d).rows[0][1:]]
    [0.712, 0.173, 0.885]
    """
    squares = correlation_matrix(d) ** 2
    table = of_columns(d, "Squared cosines of columns", squares[:limit], "")
    rows = tuple((*row, float(total)) for row, total in zip(table.rows, squares.sum(axis=1), strict=False))
    caption = "Squared correlation of each column with each component; 'all' is their sum."
    return Table(table.title, (*table.columns, "all"), rows, caption)


def correlation_matrix(d: Decomposition) -> NDArray[np.float64]:
    """Correlations as an array, columns x k; 0 for a column that does not vary."""
    check_centred(d)
    check_orthogonal(d, "Correlations of the columns")
    parts = floats(d.right) * (floats(d.values) / max(d.weight - 1.0, 1.0) ** 0.5)
    return np.clip(ratio(parts, column_spread(d)[:, None]), -1.0, 1.0)


@takes_fitted
def contributions(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate the contribution of each column to each component.

    {Parameters: d, limit; Returns: Table}
        Contributions in percent, 100 v_jk^2, where v_jk are the loadings. They sum to 100 for each component.

    {Raises: ParameterError [no column weights]; See Also: loadings, row_contributions, eckart.plots.contributions}

    {Examples: arrests}
    >>> ek.tables.contributions(d).to_pandas().round(2)
              PC1    PC2
    column
    Murder  28.72  17.49
    Assault  34.01  3.53
    UrbanPop  7.74  76.18
    Rape  29.53  2.80
    """
    caption = (
        "Contributions to each component in percent. If all columns contributed equally, each would contribute "
        f"{100 / max(d.columns, 1):.3g} %."
    )
    return of_columns(d, "Contributions of columns", parts_of_hundred(floats(d.right))[:limit], caption)


@takes_fitted
def scores(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate the scores of the rows.

    {Parameters: d [with rows], limit; Returns: Table}
        Scores T = U diag(s). They do not depend on the weight of the row.

    {Raises: ParameterError [left vectors]; See Also: eckart.project, eckart.plots.scores}

    {Examples: arrests}
    >>> print(ek.tables.scores(d, limit=2).text(), end="")
    Scores
    <BLANKLINE>
    row        PC1     PC2
    -------  -----  ------
    Alabama  0.976  -1.122
    Alaska   1.931  -1.062
    Coordinates of the rows on the components.
    """
    return of_rows(d, "Scores", row_scores(d, slice(limit)), "Coordinates of the rows on the components.")


@takes_fitted
def row_contributions(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate the contribution of each row to each component.

    {Parameters: d [with rows], limit; Returns: Table}
        Contributions in percent, 100 u_ik^2, where u_ik are the entries of the left vectors, which include the row
        weights. They sum to 100 for each component.

    {Raises: ParameterError [left vectors]; See Also: contributions, scores}

    {Examples: arrests}
    >>> [round(float(cell), 2) for cell in ek.tables.row_contributions(d).rows[0][1:]]
    [0.78, 2.6]
    """
    caption = (
        "Contributions to each component in percent. If all rows contributed equally, each would contribute "
        f"{100 / max(d.rows, 1):.3g} %."
    )
    vectors = left_vectors(d) * (floats(d.values) > 0)
    return of_rows(d, "Contributions of rows", parts_of_hundred(vectors)[:limit], caption)


@takes_fitted
def cos2(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate how well each component represents each row.

    {Parameters: d [with rows], limit; Returns: Table}
        Squared cosines t_ik^2 / ||x_i||^2 of each row. They are upper bounds if the lengths of the rows are unknown.

    {Raises: ParameterError [left vectors], ParameterError [not orthogonal]; See Also: row_quality, column_cos2}

    {Examples: arrests}
    >>> [round(float(r), 3) for r in ek.tables.cos2(d).rows[0][1:]]
    [0.392, 0.518]
    """
    cosines, exact = squared_cosines(d)
    if complete(d) or exact:
        caption = (
            "Squared cosine between each row and each component; 1 means that the component "
            "represents the row completely."
        )
    else:
        caption = (
            "Squared cosines, computed from these components only. They are upper bounds, because "
            "the full lengths of the rows are unknown."
        )
    return of_rows(d, "Squared cosines of rows", cosines[:limit], caption)


@takes_fitted
def row_quality(d: Decomposition, *, limit: int | None = None) -> Table:
    """Tabulate how well all components together represent each row.

    {Parameters: d [with rows], limit; Returns: Table}
        Distance of each row from the centre, and the share of its squared distance that the components explain.

    {Raises: ParameterError [left vectors]; See Also: cos2}

    {Examples: arrests}
    >>> [round(float(r), 3) for r in ek.tables.row_quality(d).rows[0][1:]]
    [1.558, 0.91]
    """
    cosines, exact = squared_cosines(d)
    distances = row_distances(d)
    known = distances if distances is not None else np.full(d.rows, np.nan)
    shown = cosines.sum(axis=1) if exact else np.full(d.rows, np.nan)
    lines = zip(row_labels(d), known.tolist(), shown.tolist(), strict=True)
    caption = "Share of each row that all components together explain (the sum of its squared cosines)."
    if not exact:
        caption = "The lengths of the rows were not stored, so the quality is unknown. Decompose again with left=True."
    rows = tuple(lines)[:limit]
    return Table("Quality of rows", ("row", "distance", "quality"), rows, caption, ("text", "number", "percent"))


def squared_cosines(d: Decomposition) -> tuple[NDArray[np.float64], bool]:
    """Squared cosines, rows x k, and whether the full lengths of the rows are known."""
    check_orthogonal(d, "Squared cosines")
    points = row_scores(d)
    distances = row_distances(d)
    largest = np.abs(points).max(axis=1, initial=0.0)  # scale to about 1 first, so that squares stay in range
    relative = ratio(points, largest[:, None])
    inside = np.sqrt((relative**2).sum(axis=1))
    length = inside if distances is None else np.maximum(ratio(distances, largest), inside)
    return ratio(relative, length[:, None]) ** 2, distances is not None
