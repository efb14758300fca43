"""Which columns do not vary: entries are compared exactly, and no variance is compared with a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.arrays import Array, from_numpy, is_host, is_numpy, is_sparse, namespace, to_numpy
from eckart.engine.backends.cuda.device_rows import DeviceCsr


def differing(columns: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """Whether some entry of each column differs from the first (or from that of `reference`)."""
    reference = columns[0] if reference is None else reference
    rows = len(columns)
    found = (columns[[0, rows // 3, 2 * rows // 3, rows - 1]] != reference).any(axis=0)
    # Nearly every column has shown two values by now.
    left = np.flatnonzero(~found)
    if left.size:
        found[left] = (columns[:, left] != reference[left]).any(axis=0)
    return np.asarray(found)


def varying_among(matrix: Any, columns: np.ndarray) -> np.ndarray:
    """The same for some columns of a whole matrix of any storage on any device."""
    if isinstance(matrix, DeviceCsr):
        matrix = matrix.to_host()
    if is_sparse(matrix):
        return np.asarray(varying_columns(matrix, matrix[:1].toarray()[0])[columns])
    index = columns if is_numpy(matrix) else from_numpy(columns, matrix)
    return differing(to_numpy(matrix[:, index]))


def varying_columns(block: Any, reference: np.ndarray) -> np.ndarray:
    """The same for rows of any storage on any device."""
    if isinstance(block, DeviceCsr):
        block = block.to_host()
    if is_sparse(block):
        entries = block.tocsr()
        columns, count = entries.indices, len(reference)
        found = np.bincount(columns, weights=entries.data != reference[columns], minlength=count)
        stored = np.bincount(columns, minlength=count)
        return np.asarray((found > 0) | ((stored < entries.shape[0]) & (reference != 0.0)))
    return differing(to_numpy(block), reference) if is_host(block) else to_numpy(_any_differs(block, reference))


def _any_differs(block: Array, reference: np.ndarray) -> Array:
    xp = namespace(block)
    return xp.any(block != from_numpy(reference, block), axis=0)
