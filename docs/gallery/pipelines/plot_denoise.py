"""
Denoising with few components
=============================

Projecting rows onto the leading components and back removes most of the noise. The plot shows the original digits, the
noisy ones and the denoised ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import eckart as ek

digits = load_digits().data
noisy = digits + np.random.default_rng(0).normal(scale=4, size=digits.shape)
pca = ek.PCA(n_components=15).fit(noisy)
rebuilt = pca.inverse_transform(pca.transform(noisy[:8]))
fig, axes = plt.subplots(3, 8, figsize=(8, 3.2), layout="constrained")
for row, images in enumerate((digits[:8], noisy[:8], rebuilt)):
    for ax, image in zip(axes[row], images, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
