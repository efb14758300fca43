"""
Outlier map
===========

T2 measures the distance within the plane of the components, Q the distance from it. Rows beyond both limits are
unusual in both ways.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.outlier_map(d, k=2)
