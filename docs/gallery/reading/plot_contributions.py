"""
Contributions of columns
========================

The plot shows how much each column contributes to the first component. The line marks the contribution that each column
would have if all contributed equally.
"""

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

ek.plots.contributions(d, 0)
