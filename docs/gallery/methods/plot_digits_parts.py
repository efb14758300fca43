"""
Parts of digits by NMF
======================

NMF describes images as sums of non-negative parts, such as strokes. The components of PCA also have negative entries,
which are red in the plot, so they are harder to interpret as parts.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import eckart as ek

digits = load_digits().data
nmf = ek.NMF(n_components=10, random_state=0).fit(digits)
pca = ek.PCA(n_components=10).fit(digits)
fig, axes = plt.subplots(2, 10, figsize=(10, 2.4), layout="constrained")
for row, (name, components) in enumerate({"NMF": nmf.components_, "PCA": pca.components_}.items()):
    for ax, component in zip(axes[row], components, strict=True):
        ax.imshow(component.reshape(8, 8), cmap="gray_r" if name == "NMF" else "RdBu")
        ax.set(xticks=[], yticks=[])
    axes[row, 0].set_ylabel(name)
