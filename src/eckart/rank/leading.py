"""Approximate leading squared singular values of a host table, for the many tables that a rule draws."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.components.find import find_components
from eckart.engine.backends.symmetric import leading_values

_GRAM = 1500


def leading_squares(table: Matrix, count: int, *, center: bool, seed: int = 0) -> np.ndarray:
    """The `count` largest squared singular values, to three digits or better."""
    rows, columns = table.shape
    if not is_sparse(table) and min(rows, columns) <= _GRAM:
        matrix = table - table.mean(axis=0) if center else table
        gram = matrix.T @ matrix if rows >= columns else matrix @ matrix.T
        return np.asarray(np.maximum(leading_values(gram.astype(np.float64, copy=False), count), 0.0))
    d = find_components(table, "pca" if center else "svd", k=min(count, rows, columns), tol=1e-3, rng=seed)
    return np.asarray(d.values, dtype=np.float64) ** 2
