"""
Kernel PCA separates rings
==========================

No straight line separates two nested rings. Kernel PCA with an rbf kernel maps the points to new coordinates, in which
a straight line does separate the rings.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

import eckart as ek

X, ring = make_circles(400, factor=0.3, noise=0.05, random_state=0)
scores = ek.KernelPCA(n_components=2, kernel="rbf", gamma=10).fit_transform(X)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].scatter(*X.T, c=ring, s=12)
axes[1].scatter(*scores.T, c=ring, s=12)
axes[0].set(title="data", aspect="equal")
axes[1].set(title="kernel PCA", xlabel="PC1", ylabel="PC2")
