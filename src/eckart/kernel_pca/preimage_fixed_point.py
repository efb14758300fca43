"""Mika's fixed point: where the gradient of ||phi(z) - P||^2 is zero, z is a weighted mean of the support.

rbf:  z = sum_i gamma_i k(z, x_i) x_i / sum_i gamma_i k(z, x_i);
f(x.y): z = sum_i gamma_i f'(z.x_i) x_i / f'(z.z).

A step is kept only if it brings phi(z) closer, and is shortened otherwise. If the divisor vanishes, the iteration
restarts from another close point of the support. The result is never farther than the starting point.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.kernel_pca.constants import FIXED_POINT_STARTS, FIXED_POINT_STEPS, SHORTEST_STEP, STILL_SHARE

if TYPE_CHECKING:
    from eckart.arrays import Array
    from eckart.kernel_pca.preimage import Expansion


def iterate(expansion: Expansion, scores: np.ndarray) -> np.ndarray:
    """The best of a few runs, each started at a close point of the support."""
    weights = expansion.weights(scores)
    nearest = nearest_points(expansion, scores, min(FIXED_POINT_STARTS, expansion.means.shape[0]))
    best = np.full(len(scores), np.inf)
    result = dense(expansion.support, nearest[:, 0])
    for start in range(nearest.shape[1]):
        start_rows = dense(expansion.support, nearest[:, start])
        rows, distances = _run(expansion, scores, weights, start_rows)
        better = distances < best
        result[better], best[better] = rows[better], distances[better]
    return result


def nearest_points(expansion: Expansion, scores: np.ndarray, count: int) -> np.ndarray:
    """Indices of the points of the support whose images are nearest to P, nearest first."""
    farness = expansion.kernel.diagonal(expansion.support) - 2.0 * expansion.products(scores)
    chosen = np.argpartition(farness, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(farness, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1)


def dense(support: Array, index: np.ndarray) -> np.ndarray:
    rows = support[index]
    return np.array(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)


def _run(
    expansion: Expansion, scores: np.ndarray, weights: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    distances = expansion.distances(rows, scores, weights)
    step = np.ones(len(rows))
    active = np.arange(len(rows))
    for _ in range(FIXED_POINT_STEPS):
        target, usable = _target(expansion, weights[active], rows[active])
        active, target = active[usable], target[usable]
        if not active.size:
            break
        trial = rows[active] + step[active, None] * (target - rows[active])
        reached = expansion.distances(trial, scores[active], weights[active])
        nearer = reached < distances[active]
        moved = np.linalg.norm(trial - rows[active], axis=1)
        still = moved <= STILL_SHARE * (np.linalg.norm(trial, axis=1) + 1e-300)
        rows[active[nearer]], distances[active[nearer]] = trial[nearer], reached[nearer]
        step[active] = np.where(nearer, np.minimum(1.0, 2.0 * step[active]), step[active] / 2.0)
        active = active[~still & (step[active] >= SHORTEST_STEP)]
    return rows, distances


def _target(expansion: Expansion, weights: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the weighted mean, whether its divisor is far enough from zero)."""
    kernel = expansion.kernel
    if kernel.name == "rbf":
        pulls = weights * expansion.compared(rows)
        divisor = pulls.sum(axis=1)
        size = np.abs(pulls).sum(axis=1)
    else:
        slope, own = _slopes(expansion, rows)
        pulls, divisor, size = weights * slope, own, np.ones(len(rows))
    usable = np.abs(divisor) > 1e-6 * size
    return np.asarray(pulls @ expansion.support) / np.where(usable, divisor, 1.0)[:, None], usable


def _slopes(expansion: Expansion, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f'(z.x_i) and f'(z.z), up to a constant factor."""
    kernel = expansion.kernel
    if kernel.name == "sigmoid":
        return 1.0 - expansion.compared(rows) ** 2, 1.0 - kernel.diagonal(rows) ** 2
    lower = replace(kernel, degree=kernel.degree - 1.0)
    return expansion.compared(rows, lower), lower.diagonal(rows)
