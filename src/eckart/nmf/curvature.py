"""The Newton step of the parts (`eckart.nmf.statistics` computes the sums over rows)."""

from __future__ import annotations

import numpy as np

from eckart.nmf.constants import CURVATURE_SWEEPS, MOST_SHRINKING


def newton_step(begin: np.ndarray, gradient: np.ndarray, triangles: np.ndarray, ridge: float) -> np.ndarray:
    """The non-negative H (transposed, columns x k) that minimises the second-order model, entry by entry."""
    columns, k = begin.shape
    first, second = np.triu_indices(k)
    hessian = np.empty((columns, k, k))
    hessian[:, first, second] = hessian[:, second, first] = triangles
    hessian[:, np.arange(k), np.arange(k)] += ridge
    slope, new, lowest = gradient.copy(), begin.copy(), MOST_SHRINKING * begin
    for _ in range(CURVATURE_SWEEPS):
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
