"""
Correlation circle
==================

Each arrow is the correlation of a column with the first two components. Arrows that reach the circle are fully
represented in this plane.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.correlation_circle(d)
