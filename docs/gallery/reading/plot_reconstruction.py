"""
Reconstruction from few components
==================================

The left plot shows the error of the reconstruction from 1, 2, ... components. The right plot compares one row with its
reconstructions.
"""

import matplotlib.pyplot as plt

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ek.plots.reconstruction(d, axes[0])
ek.plots.reconstruction(d, axes[1], row="Alaska", values=arrests.values[list(arrests.row_names).index("Alaska")])
