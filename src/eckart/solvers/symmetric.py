"""Leading eigenpairs of a symmetric matrix that is in memory, by LAPACK, in falling order."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from eckart.threads import one_blas_thread

_SUBSET = 96
"""From this size on, computing a few pairs is cheaper than computing all."""


_ONE_THREAD = 640
"""Up to this size a second BLAS thread gains nothing."""


def leading_pairs(matrix: np.ndarray, count: int, *, smallest: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The `count` largest eigenvalues, falling, and their vectors; or the smallest, rising."""
    if matrix.shape[0] <= _ONE_THREAD:
        with one_blas_thread():
            return _pairs(matrix, count, smallest=smallest)
    return _pairs(matrix, count, smallest=smallest)


def _pairs(matrix: np.ndarray, count: int, *, smallest: bool) -> tuple[np.ndarray, np.ndarray]:
    size = matrix.shape[0]
    found = None
    if size >= _SUBSET and 2 * count < size:
        found = _subset(matrix, count, vectors=True, smallest=smallest)
    values, vectors = found if found is not None else np.linalg.eigh(matrix)
    if smallest:
        return values[:count], vectors[:, :count]
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def leading_values(matrix: np.ndarray, count: int) -> np.ndarray:
    """The `count` largest eigenvalues, falling."""
    if matrix.shape[0] <= _ONE_THREAD:
        with one_blas_thread():
            return _values(matrix, count)
    return _values(matrix, count)


def _values(matrix: np.ndarray, count: int) -> np.ndarray:
    size = matrix.shape[0]
    found = _subset(matrix, count, vectors=False) if size >= _SUBSET and 2 * count < size else None
    values = found[0] if found is not None else np.linalg.eigvalsh(matrix)
    return np.asarray(values[::-1][:count])


def _subset(
    matrix: np.ndarray, count: int, *, vectors: bool, smallest: bool = False
) -> tuple[np.ndarray, np.ndarray] | None:
    """LAPACK's subset driver; None where it gives up or leaves some of many equal values out."""
    size = matrix.shape[0]
    index = [0, count - 1] if smallest else [size - count, size - 1]
    solve: Any = linalg.eigh if vectors else linalg.eigvalsh
    try:
        result: Any = solve(matrix, subset_by_index=index, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    values, found = result if vectors else (result, np.zeros((size, 0)))
    return (values, found) if len(values) == count else None
