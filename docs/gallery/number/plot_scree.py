"""
Scree plot
==========

The scree plot shows the share of the variance that each component explains. The broken-stick line shows the shares that
you would expect by chance, so components below the line are not worth keeping.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.scree(d)
