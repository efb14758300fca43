"""Tables of the columns: loadings v, contributions 100 v_jk^2, which sum to 100, and correlations with the scores.

The correlations are v_jk s_k / (sqrt(w - 1) sd_j).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.measures import (
    check_centred,
    check_orthogonal,
    column_spread,
    floats,
    of_columns,
    parts_of_hundred,
    ratio,
)
from eckart.fitted import takes_fitted
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition
    from eckart.text import Table


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
