"""Plots of a decomposition with matplotlib.

Each function draws on `ax`, or on a new figure, and returns the axes. The numbers come from `eckart.tables`. Signs and
groups differ not only in colour but also in shape or hatching.

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
