"""
Quality of representation (cos2)
================================

The squared cosine (cos2) measures how well the first two components represent a row. If it is low, the position of the
row in the plot is misleading. The plot shows the ten rows with the lowest values.
"""

import matplotlib.pyplot as plt

import eckart as ek

arrests = ek.datasets.load("usarrests")
d = ek.decompose(arrests.values, "pca", scale=True, left=True).named(arrests.row_names, arrests.column_names)

quality = ek.tables.cos2(d).to_pandas()
shown = quality.iloc[:, :2].sum(axis=1).sort_values()
worst = shown.head(10)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh(worst.index.astype(str), worst)
ax.set(xlabel="cos2 in the plane of PC1 and PC2", xlim=(0, 1), title="The ten states that the plane shows worst")
