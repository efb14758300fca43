"""Tables of a decomposition, which can be printed and converted to data frames or JSON.

The definitions use the decomposition A ~ U diag(s) V^T. Here x_i is row i, w is the sum of the row weights, sd_j is the
standard deviation of column j, and lambda_k is the variance of component k:

- scores T = U diag(s)
- correlations v_jk s_k / (sqrt(w - 1) sd_j)
- contributions in percent: 100 v_jk^2 for columns, 100 u_ik^2 for rows
- squared cosines t_ik^2 / ||x_i||^2
- T2 = sum_k t_ik^2 / lambda_k and Q = ||x_i||^2 - sum_k t_ik^2

Functions that also need the data are in `eckart.supplementary` and `eckart.bootstrap`.

Examples
--------
>>> import eckart as ek
>>> arrests = ek.datasets.load("usarrests")
>>> d = ek.decompose(arrests.values, "pca", k=2, scale=True, left=True).named(arrests.row_names, arrests.column_names)
>>> print(ek.tables.contributions(d).text(), end="")
Contributions of columns
<BLANKLINE>
column      PC1    PC2
--------  -----  -----
Murder    28.72  17.49
Assault   34.01   3.53
UrbanPop   7.74  76.18
Rape      29.53   2.80
Contributions to each component in percent. If all columns contributed equally,
each would contribute 25 %.
"""

from __future__ import annotations

from eckart.analysis.measures import complete, floats, row_scores
from eckart.analysis.tables.coordinates import (
    column_cos2,
    contributions,
    correlations,
    cos2,
    loadings,
    row_contributions,
    row_quality,
    scores,
)
from eckart.analysis.tables.describe import component_columns, describe, description
from eckart.analysis.tables.eigenvalues import eigenvalues, reconstruction_error, thresholds
from eckart.analysis.tables.outliers import outlier_columns, outlier_limits, outliers
from eckart.analysis.tables.rotation import rotated_loadings, rotated_scores, rotated_variances, varimax

__all__ = [
    "column_cos2",
    "complete",
    "component_columns",
    "contributions",
    "correlations",
    "cos2",
    "describe",
    "description",
    "eigenvalues",
    "floats",
    "loadings",
    "outlier_columns",
    "outlier_limits",
    "outliers",
    "reconstruction_error",
    "rotated_loadings",
    "rotated_scores",
    "rotated_variances",
    "row_contributions",
    "row_quality",
    "row_scores",
    "scores",
    "thresholds",
    "varimax",
]
