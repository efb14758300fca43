"""Tables with their structure destroyed: shuffled columns, random signs."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eckart.arrays import Matrix, is_sparse


def permuted(table: Matrix, rng: np.random.Generator) -> Matrix:
    """Each column in its own random order; the entries of a sparse column move to random rows."""
    if not is_sparse(table):
        return rng.permuted(table, axis=0)
    columns = sparse.csc_array(table)
    counts = np.diff(columns.indptr)
    positions = [rng.choice(table.shape[0], int(count), replace=False, shuffle=False) for count in counts]
    indices = np.concatenate([np.sort(place) for place in positions]) if positions else columns.indices
    data = columns.data.copy()
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        rng.shuffle(data[start:stop])
    return sparse.csr_array(sparse.csc_array((data, indices, columns.indptr), shape=table.shape))


def flipped(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each entry with a random sign."""
    return np.asarray(table * _signs(table.size, rng).reshape(table.shape))


def _signs(count: int, rng: np.random.Generator) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), np.uint8), count=count)
    return np.asarray(2 * bits.astype(np.int8) - 1)
