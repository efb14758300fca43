"""
Varimax rotation
================

A varimax rotation makes loadings either large or close to 0, so each rotated component depends on fewer columns and is
easier to interpret.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import eckart as ek

wine = load_wine(as_frame=True)
d = ek.decompose(wine.data, "pca", k=3, scale=True)
before = ek.tables.loadings(d).to_pandas()
after = ek.tables.rotated_loadings(d).to_pandas()
fig, axes = plt.subplots(1, 2, figsize=(9, 5), sharey=True, layout="constrained")
for ax, table, title in zip(axes, (before, after), ("PCA", "varimax"), strict=True):
    values = table.select_dtypes("number").iloc[:, :3]
    ax.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    ax.set(title=title, xticks=range(3), yticks=range(len(wine.feature_names)), yticklabels=wine.feature_names)
