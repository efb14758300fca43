"""The step of the parts that their second derivatives allow (`eckart.nmf.statistics` has the sums over rows)."""

from __future__ import annotations

import numpy as np

MOST_PARTS = 32
"""Beyond, the Hessians of all columns would take more room and time than the steps they save."""
_SWEEPS = 12
_SHRINK = 1e-3
"""A step shrinks an entry at most to this share of itself: from zero it could not grow again."""


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
