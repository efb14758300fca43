"""A table as stored entries in CSR format, in NumPy or CuPy, for steps over known entries."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, is_array, is_host, to_numpy
from eckart.engine.backends.cuda import device_rows
from eckart.engine.backends.cuda.arrays import seen_by_cupy
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.nmf.constants import GATHERED_PIECE
from eckart.nmf.table import NonnegativeTable
from eckart.nmf.tiles import Numbers, Stored, module_of


def dense_entries(table: NonnegativeTable) -> Numbers:
    """A dense table as a NumPy or CuPy array."""
    return to_numpy(table.matrix) if is_host(table.matrix) else seen_by_cupy(table.matrix)


def stored_entries(table: NonnegativeTable) -> Stored:
    """The non-zero entries of dense data, or the non-NaN ones if unknown entries are left out."""
    matrix = table.matrix
    if is_array(matrix):
        return _of_dense(dense_entries(table), observed=table.observed)
    return Stored(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def both_ways(table: NonnegativeTable) -> tuple[Stored, Stored]:
    """(A, A^T) on a GPU, with int64 row pointers for the row kernels."""
    matrix = table.matrix
    if isinstance(matrix, DeviceCsr):
        transposed = device_rows.transposed(matrix)
        found = [Stored(m.data, m.indices, m.indptr, m.shape) for m in (matrix, transposed)]
    else:
        found = [_of_dense(m, observed=table.observed) for m in (dense_entries(table), dense_entries(table).T)]
    first, second = (Stored(m.data, m.indices, m.indptr.astype(np.int64), m.shape) for m in found)
    return first, second


def _of_dense(matrix: Array, *, observed: bool) -> Stored:
    xp = module_of(matrix)
    height = max(1, GATHERED_PIECE // matrix.shape[1])
    counts, indices, data = [], [], []
    for start in range(0, matrix.shape[0], height):
        block = xp.ascontiguousarray(matrix[start : start + height])
        given = ~xp.isnan(block) if observed else block != 0
        counts.append(given.sum(axis=1))
        indices.append(xp.nonzero(given)[1].astype(np.int32))
        data.append(block[given])
    indptr = xp.zeros(matrix.shape[0] + 1, np.int64)
    indptr[1:] = xp.cumsum(xp.concatenate(counts))
    return Stored(xp.concatenate(data), xp.concatenate(indices), indptr, matrix.shape)
