"""
Components of single-cell counts
================================

Most genes are not detected in most cells, so single-cell counts are stored as sparse matrices. In this tutorial you
compute their principal components without making them dense. The counts are simulated. To analyse your own file, pass
its name: ``ek.decompose("cells.h5ad")``.
"""

# %%
# Simulate three cell types
# -------------------------
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import eckart as ek

rng = np.random.default_rng(0)
kind = rng.integers(3, size=600)
rates = rng.gamma(0.3, 1.0, size=(3, 500))
counts = sparse.csr_array(rng.poisson(rates[kind]).astype(np.float32))
print(f"{counts.nnz / np.prod(counts.shape):.0%} of the entries are not zero")

# %%
# Normalise and decompose
# -----------------------
# As is common for such data, we divide by the total count of each cell and take logarithms. Then we compute ten
# components.
per_cell = np.asarray(counts.sum(axis=1)).ravel()
normalised = counts.multiply(1e4 / np.maximum(per_cell, 1)[:, None]).tocsr()
normalised.data = np.log1p(normalised.data)
pca = ek.PCA(n_components=10)
scores = pca.fit_transform(normalised)
print(pca.certificate_.explained)

# %%
# The types separate
# ------------------
# In the plot of the first two components, the three cell types form separate groups.
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(*scores[:, :2].T, c=kind, s=10)
ax.set(xlabel="PC1", ylabel="PC2")
