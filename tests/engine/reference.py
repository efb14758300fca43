"""Singular values of standardised matrices, centred in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

import eckart as ek

ACCURACY = 5e-14
"""Of a float64 SVD, relative to the largest singular value: what a bound may seem to be violated by."""


def standardized(
    table: Any, *, center: bool = True, scale: bool = False, weights: np.ndarray | None = None
) -> np.ndarray:
    """B in float64, from means and deviations in extended precision."""
    dense = np.asarray(table.toarray() if hasattr(table, "toarray") else table).astype(np.longdouble)
    w = np.ones(len(dense), np.longdouble) if weights is None else np.asarray(weights, np.longdouble)
    if center:
        dense = dense - (w[:, None] * dense).sum(axis=0) / w.sum()
        dense = dense - (w[:, None] * dense).sum(axis=0) / w.sum()
        original = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
        dense[:, (original == original[0]).all(axis=0)] = 0.0
    if scale:
        deviation = np.sqrt((w[:, None] * dense**2).sum(axis=0) / max(w.sum() - 1, 1))
        dense = dense / np.where(deviation > 0, deviation, 1)
    return np.asarray(dense * np.sqrt(w)[:, None], np.float64)


def true_values(table: Any, **how: Any) -> np.ndarray:
    return np.asarray(linalg.svdvals(standardized(table, **how)))


def violation(d: ek.Decomposition, true: np.ndarray, *, smallest: bool = False) -> float:
    """By how much of the largest singular value some bound of a value or of the share is wrong; negative if none is."""
    c = d.certificate
    assert c is not None
    wanted = true[::-1][: d.k] if smallest else true[: d.k]
    largest = max(float(true[0]), np.finfo(float).tiny)
    total = float(np.sum((true / largest) ** 2))
    best = float(np.sum((wanted / largest) ** 2)) / total if total else 0.0
    share = max(c.explained[0] - best, 0.0 if smallest else best - c.explained[1])
    outside = max(float(np.max(c.lower - wanted)), float(np.max(wanted - c.upper))) / largest
    return max(outside, share)
