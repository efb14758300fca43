"""
Loadings
========

The heat map shows the loadings, which are the weights of all columns in all components.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.loadings(d)
