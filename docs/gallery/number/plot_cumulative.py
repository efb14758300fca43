"""
Cumulative variance
===================

The plot shows how many components explain 80, 90 or 95 % of the variance.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.cumulative(d)
