"""
How certain are the loadings?
=============================

The bootstrap draws samples of the rows with replacement and gives an interval for each loading. The plot shows the
loadings of the first component with their intervals.
"""

import matplotlib.pyplot as plt

import eckart as ek

arrests = ek.datasets.load("usarrests")
found = ek.bootstrap(arrests.values, k=2, scale=True, count=300).loadings().to_pandas().reset_index()
first = found[found["component"] == found["component"].iloc[0]]
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
middle, low, high = (first[name].to_numpy(float) for name in ("loading", "lower", "upper"))
ax.errorbar(arrests.column_names, middle, [middle - low, high - middle], fmt="o", capsize=4)
ax.axhline(0, color="k", linewidth=0.5)
ax.set_ylabel("loading on the first component")
