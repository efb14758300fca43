"""
Missing values
==============

``fill_missing`` imputes missing values with a factor model and estimates a standard error for each of them. The plot
compares the imputed values with the true ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

rng = np.random.default_rng(0)
whole = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(150, 6))
gaps = rng.random(whole.shape) < 0.15
filled = ek.fill_missing(np.where(gaps, np.nan, whole))
fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.errorbar(whole[gaps], filled.values, 1.96 * filled.errors, fmt=".", alpha=0.5, label="imputed, 95 % interval")
ax.axline((0, 0), slope=1, color="k", linewidth=0.8)
ax.set(xlabel="true value", ylabel="imputed value")
ax.legend()
