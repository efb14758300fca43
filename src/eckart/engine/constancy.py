"""Which columns are constant: entries are compared exactly; no variance is compared with a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from eckart.arrays import Matrix


def differing(columns: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """Whether any entry of each column differs from the first (or from that of `reference`)."""
    reference = columns[0] if reference is None else reference
    rows = len(columns)
    found = (columns[[0, rows // 3, 2 * rows // 3, rows - 1]] != reference).any(axis=0)
    # By now nearly every column has shown two values.
    left = np.flatnonzero(~found)
    if left.size:
        found[left] = (columns[:, left] != reference[left]).any(axis=0)
    return np.asarray(found)


def differing_stored(rows: Matrix, reference: np.ndarray) -> np.ndarray:
    """The same for rows of a SciPy sparse matrix."""
    entries = rows.tocsr()
    columns, count = entries.indices, len(reference)
    found = np.bincount(columns, weights=entries.data != reference[columns], minlength=count)
    stored = np.bincount(columns, minlength=count)
    return np.asarray((found > 0) | ((stored < entries.shape[0]) & (reference != 0.0)))
