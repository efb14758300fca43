"""
Covariance biplot
=================

In the covariance biplot, angles between arrows show correlations between columns.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.biplot(d, "covariance")
