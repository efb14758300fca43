"""
Scree plot
==========

The share of variance that each component explains, with the usual thresholds. Bars that fall below the
broken-stick line explain no more than chance.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.scree(d)
