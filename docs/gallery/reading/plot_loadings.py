"""
Loadings
========

The weights of all columns on all components, as a heat map.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.loadings(d)
