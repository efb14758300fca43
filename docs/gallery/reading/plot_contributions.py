"""
Contributions of columns
========================

Which columns shape the first component. The line marks an even contribution.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.contributions(d, 0)
