"""
Scree plot
==========

The scree plot shows the share of the variance that each component explains. Components below the broken-stick line
explain no more than chance would.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.scree(d)
