"""The second derivatives of Kullback-Leibler by the parts, from one block, and the step that they allow.

With W held, the divergence of column j has the Hessian sum_i (x_ij / (W H)_ij^2) w_i w_i^T, k x k: a sum over rows.
"""

from __future__ import annotations

import numpy as np

from eckart.nmf.statistics import fitted_entries

MOST_PARTS = 32
"""Beyond, the Hessians of all columns would take more room and time than the steps they save."""
_SWEEPS = 50
_SHRINK = 1e-3
"""No entry becomes smaller than this share of itself in one step: from nothing it could not come back."""


def curvature(matrix: object, rows: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """columns x k(k+1)/2: the upper triangles of the Hessians."""
    first, second = np.triu_indices(parts.shape[0])
    total = np.zeros((parts.shape[1], len(first)))
    for entries, model, own in fitted_entries(matrix, rows, parts):
        entries.data = entries.data / model**2
        total += entries.T @ (own[:, first] * own[:, second])
    return total


def newton_step(begin: np.ndarray, gradient: np.ndarray, triangles: np.ndarray, ridge: float) -> np.ndarray:
    """H (turned, columns x k) that makes the second-order model smallest, entry by entry, nothing negative."""
    columns, k = begin.shape
    first, second = np.triu_indices(k)
    hessian = np.empty((columns, k, k))
    hessian[:, first, second] = hessian[:, second, first] = triangles
    hessian[:, np.arange(k), np.arange(k)] += ridge
    slope, new, lowest = gradient.copy(), begin.copy(), _SHRINK * begin
    for _ in range(_SWEEPS):
        moved = 0.0
        for t in range(k):
            bend = hessian[:, t, t]
            step = np.divide(-slope[:, t], bend, out=np.zeros(columns), where=bend > 0.0)
            step = np.maximum(new[:, t] + step, lowest[:, t]) - new[:, t]
            new[:, t] += step
            slope += step[:, None] * hessian[:, t]
            moved = max(moved, float(np.abs(step).max(initial=0.0)))
        if moved <= 1e-10 * float(np.abs(new).max(initial=0.0)):
            break
    return new
