"""
A large offset
==============

Adding a large number to every value must not change the components. Formulas that subtract sums of squares lose all
digits in this case. Eckart does not use such formulas, so its error stays small.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import eckart as ek

iris = load_iris().data
offsets = [0, 1e4, 1e6, 1e8]
exact = ek.PCA().fit(iris).explained_variance_ratio_
errors = {"Eckart": [], "covariance from sums of squares": []}
for offset in offsets:
    table = iris + offset
    errors["Eckart"].append(np.abs(ek.PCA().fit(table).explained_variance_ratio_ - exact).max())
    mean = table.mean(0)
    naive = np.linalg.eigvalsh(table.T @ table / len(table) - np.outer(mean, mean))[::-1]
    errors["covariance from sums of squares"].append(np.abs(naive / naive.sum() - exact).max())
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, found in errors.items():
    ax.semilogy(range(4), np.maximum(found, 1e-17), "o-", label=name)
ax.set(
    xticks=range(4), xticklabels=[f"{offset:.0e}" for offset in offsets], xlabel="offset", ylabel="error of the shares"
)
ax.legend()
