"""Rows, columns and categories that took no part in the fit, placed on its axes.

Rows: (x - mean) / scale right. Columns: correlations with the scores. Categories: means of the scores of their rows.
"""

from __future__ import annotations

from eckart.supplementary.placed_categories import association, categories, category_cos2
from eckart.supplementary.placed_columns import columns
from eckart.supplementary.placed_rows import row_cos2, rows

__all__ = ["association", "categories", "category_cos2", "columns", "row_cos2", "rows"]
