"""Contributions to a component: 100 v_jk^2 of columns, 100 w_i t_ik^2 / sum_i w_i t_ik^2 of rows. They sum to 100."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.analysis.measures import floats, left_vectors, of_columns, of_rows, parts_of_hundred, row_scores
from eckart.fitted import takes_fitted

if TYPE_CHECKING:
    from eckart.result import Decomposition
    from eckart.text import Table


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
