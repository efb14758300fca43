"""
Cumulative variance
===================

The plot shows the cumulative share of the variance that the components explain. The lines mark 80, 90 and 95 %.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.cumulative(d)
