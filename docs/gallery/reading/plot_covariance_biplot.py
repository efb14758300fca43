"""
Covariance biplot
=================

A biplot shows rows as points and columns as arrows. In the covariance biplot, the angles between arrows show the
correlations between columns.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.biplot(d, "covariance")
