"""Rows, columns and categories that were not fitted, placed on the components.

Rows: (x - mean) / scale right. Columns: correlations with the scores. Categories: means of the scores of their rows.
"""

from __future__ import annotations

from eckart.analysis.supplementary.categories import association, categories, category_cos2
from eckart.analysis.supplementary.columns import columns
from eckart.analysis.supplementary.rows import row_cos2, rows

__all__ = ["association", "categories", "category_cos2", "columns", "row_cos2", "rows"]
