"""Kwok and Tsang: convert distances from P to its nearest points into distances between rows, which locate the row.

With C the neighbours about their mean (coordinates U S V^T) and d_i the wanted distances, |z - c_i|^2 = d_i^2 gives C z
= (|c_i|^2 - d_i^2) / 2 + constant, solved by the pseudo-inverse, without iteration or local minima.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.kernel_pca.constants import NEGLIGIBLE_SPREAD, NEIGHBOURS
from eckart.kernel_pca.preimage_fixed_point import dense, nearest_points

if TYPE_CHECKING:
    from eckart.kernel_pca.preimage import Expansion


def locate(expansion: Expansion, scores: np.ndarray) -> np.ndarray:
    """Rows located by their neighbours, or the nearest point itself if that is closer to P."""
    count = min(NEIGHBOURS, expansion.means.shape[0])
    near = nearest_points(expansion, scores, count)
    points = np.stack([dense(expansion.support, index) for index in near])
    wanted = _squared_distances(expansion, scores, near, points)
    mean = points.mean(axis=1, keepdims=True)
    centred = points - mean
    right = (np.einsum("ijk,ijk->ij", centred, centred) - wanted) / 2.0
    right -= right.mean(axis=1, keepdims=True)
    placed = (np.linalg.pinv(centred, rcond=NEGLIGIBLE_SPREAD) @ right[:, :, None])[:, :, 0]
    rows = placed + mean[:, 0]
    # A neighbour may be closer than its noise allows to locate.
    nearest = points[:, 0]
    worse = expansion.distances(rows, scores) > expansion.distances(nearest, scores)
    return np.where(worse[:, None], nearest, rows)


def _squared_distances(expansion: Expansion, scores: np.ndarray, near: np.ndarray, points: np.ndarray) -> np.ndarray:
    """|z - x_i|^2 from the values that the kernel would have."""
    kernel = expansion.kernel
    products = np.take_along_axis(expansion.products(scores), near, axis=1)
    squares = expansion.squares(scores)[:, None]
    if kernel.name == "rbf":
        # |phi(z)| = 1 for any length of P: 2 - 2 k = |phi(z) - phi(x)|^2.
        value = 1.0 - (squares + 1.0 - 2.0 * products) / 2.0
        return np.asarray(-np.log(np.clip(value, 1e-12, 1.0)) / max(kernel.gamma, 1e-300))
    inner = _inverse(expansion, products)
    own = np.maximum(_inverse(expansion, squares), 0.0)
    return np.asarray(np.maximum(own + np.einsum("ijk,ijk->ij", points, points) - 2.0 * inner, 0.0))


def _inverse(expansion: Expansion, values: np.ndarray) -> np.ndarray:
    """z.x from k(z, x) = f(z.x)."""
    kernel = expansion.kernel
    if kernel.name == "sigmoid":
        argument = np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))
    else:
        odd = float(kernel.degree).is_integer() and int(kernel.degree) % 2 == 1
        positive = np.abs(values) if odd else np.maximum(values, 0.0)
        argument = np.sign(values) ** (1 if odd else 0) * positive ** (1.0 / max(kernel.degree, 1e-300))
    return np.asarray((argument - kernel.coef0) / max(kernel.gamma, 1e-300))
