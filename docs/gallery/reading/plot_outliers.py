"""
Outlier map
===========

T2 measures how far a row is from the centre within the plane of the components, and Q measures how far it is from that
plane. Rows beyond a limit are unusual.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.outlier_map(d, k=2)
