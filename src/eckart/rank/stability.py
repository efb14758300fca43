"""Stability under resampling: how much of the space of k components two random halves of the rows share.

With the first k components V, W of the halves, ||V^T W||^2 of k directions are shared and k - ||V^T W||^2 lost. If k -
1 of them are shared and the last is random, 1 - 1/(columns - k + 1) of a direction is lost. k is the largest number for
which less than two thirds of that is lost.
"""

from __future__ import annotations

import numpy as np

from eckart.components.find import find_components
from eckart.formatting import counted
from eckart.rank.evidence import Evidence

_TOLERATED = 2.0 / 3.0


def by_stability(e: Evidence) -> tuple[int | None, str]:
    most = min(e.most, e.columns - 1, e.rows // 2 - 2)
    if most < 1:
        return None, (f"A table of {e.rows} x {e.columns} is too small to compare two halves of its rows.")
    repeats = max(5, e.repeats(20, 100) // 5)
    lost = lost_directions(e.table, most, center=e.center, rng=e.rng(5), repeats=repeats)
    chance = 1.0 - 1.0 / (e.columns - np.arange(1, most + 1) + 1.0)
    stable = np.flatnonzero(lost < _TOLERATED * chance)
    k = int(stable[-1]) + 1 if stable.size else 0
    if k == most < min(e.short, e.columns) - 1:
        return None, (
            f"Random halves of the rows agree on all {most} components that were considered. There may be more."
        )
    shared = f"{k - lost[k - 1]:.2f} of {counted(k, 'component')}" if k else "no component"
    beyond = f", and {k + 1 - lost[k]:.2f} of {k + 1}" if k < most else ""
    return k, f"On average over {repeats} random splits, the two halves of the rows agree on {shared}{beyond}."


def lost_directions(table: object, most: int, *, center: bool, rng: np.random.Generator, repeats: int) -> np.ndarray:
    """Mean of k - ||V_k^T W_k||^2 for k = 1..most over random splits of the rows."""
    shared = np.zeros(most)
    for _ in range(repeats):
        order = rng.permutation(table.shape[0])  # type: ignore[attr-defined]
        first, second = (_axes(table[np.sort(half)], most, center=center) for half in np.array_split(order, 2))  # type: ignore[index]
        squares = (first.T @ second) ** 2
        shared += np.diagonal(squares.cumsum(axis=0).cumsum(axis=1))
    return np.arange(1, most + 1) - shared / repeats


def _axes(rows: object, most: int, *, center: bool) -> np.ndarray:
    d = find_components(rows, "pca" if center else "svd", k=most, tol=1e-4)
    return np.asarray(d.right, dtype=np.float64)
