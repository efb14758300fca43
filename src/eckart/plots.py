"""Plots of a decomposition with matplotlib: each draws into `ax` (or a new figure) and returns the axes.

Their numbers come from `eckart.tables`. Signs and groups differ in shape or hatching as well as in colour.

Examples
--------
>>> import eckart as ek
>>> table = ek.datasets.load("usarrests")
>>> d = ek.decompose(table.values, k=2, scale=True, left=True).named(table.row_names, table.column_names)
>>> ax = ek.plots.biplot(d)
>>> ax.get_xlabel()
'PC1 (62.0 %)'
"""

from __future__ import annotations

from eckart.analysis.plots.columns import contributions, correlation_circle, loadings
from eckart.analysis.plots.components import cumulative, reconstruction, scree
from eckart.analysis.plots.drawing import save
from eckart.analysis.plots.outliers import outlier_map
from eckart.analysis.plots.rows import biplot, scores

__all__ = [
    "biplot",
    "contributions",
    "correlation_circle",
    "cumulative",
    "loadings",
    "outlier_map",
    "reconstruction",
    "save",
    "scores",
    "scree",
]
