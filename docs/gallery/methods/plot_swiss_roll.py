"""
Isomap unrolls the Swiss roll
=============================

The points of the Swiss roll lie on a rolled-up surface. PCA projects the layers of the roll on top of each other.
Isomap measures distances along the surface and unrolls it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

import eckart as ek

X, position = make_swiss_roll(800, random_state=0)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].scatter(*ek.PCA(n_components=2).fit_transform(X).T, c=position, s=10)
axes[1].scatter(*ek.Isomap(n_components=2, n_neighbors=10).fit_transform(X).T, c=position, s=10)
axes[0].set_title("PCA")
axes[1].set_title("Isomap")
