"""Supplementary rows, columns and categories, which were not used in the fit.

The coordinates of a row are its scores, ((x - mean) / scale) @ right. Those of a column are its correlations with the
scores. Those of a category are the mean scores of its rows.
"""

from __future__ import annotations

from eckart.analysis.supplementary.categories import association, categories, category_cos2
from eckart.analysis.supplementary.columns import columns
from eckart.analysis.supplementary.rows import row_cos2, rows

__all__ = ["association", "categories", "category_cos2", "columns", "row_cos2", "rows"]
