"""
Correlation circle
==================

Each arrow shows the correlations of a column with the first two components. If an arrow reaches the circle, the two
components represent the column completely.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.correlation_circle(d)
