"""
Minor components find linear relations
======================================

The component with the least variance is a combination of columns that is nearly constant, so it reveals a linear
relation between the columns. Here it reveals that the half perimeter is the sum of length and width.
"""

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

rng = np.random.default_rng(0)
length, width = rng.normal(10, 2, 200), rng.normal(5, 1, 200)
half_perimeter = length + width + rng.normal(0, 0.01, 200)
table = np.column_stack([length, width, half_perimeter])
minor = ek.PCA(n_components=1, which="smallest").fit(table)
print("nearly constant:", (minor.components_[0] / abs(minor.components_[0]).max()).round(2))
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(["length", "width", "half perimeter"], minor.components_[0])
ax.set_ylabel("weight in the smallest component")
