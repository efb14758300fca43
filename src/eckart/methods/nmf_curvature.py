"""The second derivatives of Kullback-Leibler by the parts, from one block, and the step that they allow.

With W held, the divergence of column j has the Hessian sum_i (x_ij / (W H)_ij^2) w_i w_i^T, k x k: a sum over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.solvers.nmf_entries import entry_blocks, pieces_of

MOST_PARTS = 32
"""Beyond, the Hessians of all columns would take more room and time than the steps they save."""
_SWEEPS = 50
_SHRINK = 1e-3
"""No entry becomes smaller than this share of itself in one step: from nothing it could not come back."""


def curvature(matrix: Any, rows: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """columns x k(k+1)/2: the upper triangles of the Hessians."""
    from scipy import sparse

    first, second = np.triu_indices(parts.shape[0])
    total = np.zeros((parts.shape[1], len(first)))
    least = 1e-12 * max(float(rows.mean() * parts.mean() * parts.shape[0]), np.finfo(float).tiny)
    for piece in pieces_of(matrix):
        for indptr, indices, data, start, stop, offset in entry_blocks(matrix, piece, observed=False):
            columns = indices[indptr[start] : indptr[stop]]
            x = data[indptr[start] : indptr[stop]].astype(np.float64)
            index = np.repeat(np.arange(offset + start, offset + stop), np.diff(indptr[start : stop + 1]))
            model = np.full(x.shape, least)
            for t in range(parts.shape[0]):
                model += rows[index, t] * parts[t, columns]
            inside = indptr[start : stop + 1] - indptr[start]
            weights = sparse.csr_array((x / model**2, columns, inside), shape=(stop - start, matrix.shape[1]))
            here = rows[offset + start : offset + stop]
            total += weights.T @ (here[:, first] * here[:, second])
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
