"""Tables of the rows: scores t, contributions 100 w_i t_ik^2 / sum_i w_i t_ik^2, and cos2 = t_ik^2 / ||x_i||^2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import row_labels
from eckart.analysis.measures import (
    check_orthogonal,
    complete,
    floats,
    left_vectors,
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
