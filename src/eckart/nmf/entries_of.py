"""A table on a GPU as stored entries, by rows and by columns: what the row kernel of NMF takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.engine.backends.cuda import device_rows
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.errors import require
from eckart.nmf.table import NonnegativeTable

_PIECE = 2**26


@dataclass(frozen=True)
class Stored:
    """CSR rows as CuPy arrays: indices int32, indptr int64."""

    data: Any
    indices: Any
    indptr: Any


def stored_entries(table: NonnegativeTable) -> tuple[Stored, Stored]:
    """(A, A^T). Of dense data, what is not zero, or not NaN where unknown entries are left out."""
    matrix = table.matrix
    if isinstance(matrix, DeviceCsr):
        return _as_stored(matrix), _as_stored(device_rows.transposed(matrix))
    matrix = require("cupy", purpose="NMF on a GPU").asarray(matrix)
    return _of_dense(matrix, observed=table.observed), _of_dense(matrix.T, observed=table.observed)


def _as_stored(matrix: DeviceCsr) -> Stored:
    return Stored(matrix.data, matrix.indices, matrix.indptr.astype(np.int64))


def _of_dense(matrix: Any, *, observed: bool) -> Stored:
    cupy = require("cupy", purpose="NMF on a GPU")
    height = max(1, _PIECE // matrix.shape[1])
    counts, indices, data = [], [], []
    for start in range(0, matrix.shape[0], height):
        block = cupy.ascontiguousarray(matrix[start : start + height])
        given = ~cupy.isnan(block) if observed else block != 0
        counts.append(given.sum(axis=1))
        indices.append(cupy.nonzero(given)[1].astype(cupy.int32))
        data.append(block[given])
    indptr = cupy.zeros(matrix.shape[0] + 1, cupy.int64)
    indptr[1:] = cupy.cumsum(cupy.concatenate(counts))
    return Stored(cupy.concatenate(data), cupy.concatenate(indices), indptr)
