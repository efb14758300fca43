"""Pictures of kernel PCA for the documentation: two rings, a ball in a sphere, digits with noise.

Each function draws one figure; the page names them.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_circles

import eckart as ek

BLUE, ORANGE = "#1f5a8a", "#c8561b"


def circles() -> None:
    """Two rings, which a straight line separates only in the coordinates of kernel PCA."""
    points, ring = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    color = np.where(ring == 1, ORANGE, BLUE)
    panels = {
        "the points": points,
        "PCA": ek.PCA(2).fit_transform(points),
        r"kernel PCA (rbf, $\gamma$ = 3)": ek.KernelPCA(2, kernel="rbf", gamma=3).fit_transform(points),
    }
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for panel, (title, indices) in zip(axes, panels.items(), strict=True):
        panel.scatter(*indices.T, c=color, s=9)
        panel.set(title=title, xlabel="component 1", ylabel="component 2")
    figure.align_ylabels()


def sphere() -> None:
    """A ball inside a sphere, in three dimensions."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((600, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    inside = np.arange(600) < 300
    points = directions * np.where(inside, 0.35 * rng.uniform(size=600) ** (1 / 3), 1.0)[:, None]
    color = np.where(inside, ORANGE, BLUE)
    figure = plt.figure(figsize=(11, 3.8), layout="constrained")
    space = figure.add_subplot(1, 3, 1, projection="3d")
    space.scatter(*points.T, c=color, s=5)
    space.set(title="the points")
    for place, title, scores in (
        (2, "PCA", ek.PCA(2).fit_transform(points)),
        (3, r"kernel PCA (rbf, $\gamma$ = 2)", ek.KernelPCA(2, kernel="rbf", gamma=2).fit_transform(points)),
    ):
        panel = figure.add_subplot(1, 3, place)
        panel.scatter(*scores.T, c=color, s=7)
        panel.set(title=title, xlabel="component 1", ylabel="component 2")


def digits() -> None:
    """Digits with noise, and their reconstructions from 32 components of PCA and of kernel PCA."""
    clean = load_digits().data
    train, wanted = clean[:1297], clean[1297:]
    noisy = wanted + np.random.default_rng(0).normal(0.0, 4.0, wanted.shape)
    pca = ek.PCA(32).fit(train)
    kernel = ek.KernelPCA(32, kernel="rbf", gamma=5e-4, preimage="fixed_point").fit(train)
    shown = np.arange(10)
    panels = {
        "as written": wanted[shown],
        "with noise": noisy[shown],
        "PCA": pca.inverse_transform(pca.transform(noisy[shown])),
        "kernel PCA": kernel.inverse_transform(kernel.transform(noisy[shown])),
    }
    _, axes = plt.subplots(len(panels), len(shown), figsize=(9, 4), layout="constrained")
    for line, (title, images) in zip(axes, panels.items(), strict=True):
        error = np.mean((images - wanted[shown]) ** 2)
        for panel, image in zip(line, images, strict=True):
            panel.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
            panel.set(xticks=[], yticks=[])
        line[0].set_ylabel(f"{title}\n{error:.1f}" if title != "as written" else title, fontsize=8)
