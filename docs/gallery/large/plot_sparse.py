"""
Sparse matrices stay sparse
===========================

PCA subtracts the column means, which would make a sparse matrix dense. Eckart therefore leaves the matrix as it is.
Instead, every product with the matrix accounts for the means.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import eckart as ek

rng = np.random.default_rng(0)
counts = sparse.random(3000, 800, density=0.01, random_state=0, format="csr")
topic = sparse.csr_array(np.outer(rng.random(3000) < 0.1, rng.random(800) < 0.05).astype(float))
matrix = sparse.csr_array(counts + topic)
pca = ek.PCA(n_components=10).fit(matrix)
low, high = pca.certificate_.explained
print(f"explained: {low:.6f} to {high:.6f}; stored entries: {matrix.nnz:,} of {np.prod(matrix.shape):,}")
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.bar(range(1, 11), pca.explained_variance_ratio_)
ax.set(xlabel="component", ylabel="explained variance ratio")
