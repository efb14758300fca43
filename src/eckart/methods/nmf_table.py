"""Data as users hold them -> a table without negative entries, ready for the solvers of NMF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.array_api import is_array, is_sparse, to_numpy
from eckart.errors import InputError
from eckart.operators.finite import refuse_not_finite
from eckart.operators.open_matrix import open_matrix
from eckart.operators.prepare import Convert
from eckart.operators.row_blocks import RowBlocks
from eckart.operators.sparse_rows import as_csr
from eckart.solvers.nmf_entries import given_values, squared_norm
from eckart.sources.base import About


@dataclass(frozen=True)
class Table:
    """A matrix (dense or CSR) times 2^exponent, and what is known beside its numbers."""

    matrix: Any
    about: About
    exponent: int
    observed: bool
    """Unknown entries are left out: NaN in dense data, entries that are not stored in sparse data."""
    mean: float
    squared_norm: float
    smallest: float
    """Smallest known entry; zero where a sparse matrix has entries that are not stored."""

    @property
    def dense(self) -> bool:
        return isinstance(self.matrix, np.ndarray)

    @property
    def dtype(self) -> Any:
        return self.matrix.dtype

    def operator(self) -> RowBlocks:
        """Products in float64, whatever the data: differences of losses need the digits."""
        steps = (Convert(np.dtype(np.float64)),) if self.dtype != np.float64 else ()
        return RowBlocks(self.matrix, precision="float64", steps=steps)


def open_table(data: Any, *, missing: str) -> Table:
    """Take `data` as it is where possible; refuse negative, missing and infinite entries, with their number."""
    masked = missing == "mask"
    if is_array(data):
        data = to_numpy(data)
    opened = open_matrix(_unknown_as_nan(data) if masked else data, stream=False)
    inside = isinstance(opened.matrix, RowBlocks)
    if not inside or not (is_array(opened.matrix.matrix) or is_sparse(opened.matrix.matrix)):
        raise InputError(
            "NMF works on a table in the memory of this machine, and these rows are elsewhere. Load them first, or "
            "hand them block by block to eckart.NMF(...).partial_fit."
        )
    matrix, exponent = opened.matrix.matrix, opened.exponent + opened.exponent % 2
    if is_sparse(matrix):
        if exponent != opened.exponent:
            matrix = matrix.copy()
            matrix.data = np.ldexp(matrix.data, exponent - opened.exponent)
    else:
        matrix = to_numpy(matrix)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
        if exponent:
            matrix = np.ldexp(matrix, exponent)
        matrix = np.ascontiguousarray(matrix)
    smallest = _checked(matrix, opened.about, masked=masked)
    squares = squared_norm(matrix)
    known = sum(values.size for values in given_values(matrix))
    sums = float(sum(values.sum() for values in given_values(matrix)))
    if is_sparse(matrix) and not masked:
        known = matrix.shape[0] * matrix.shape[1]
    if known == 0:
        raise InputError("Every entry is missing: there is nothing to factorise.")
    return Table(matrix, opened.about, exponent, masked, sums / known, squares, smallest)


def _unknown_as_nan(data: Any) -> Any:
    """Masked arrays with NaN where they are masked; sparse data that are nearly full as dense ones with NaN."""
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(data.astype(np.result_type(data.dtype, np.float32)), np.nan)
    if is_sparse(data) and data.ndim == 2 and data.nnz > data.shape[0] * data.shape[1] / 2:
        data = as_csr(data).tocoo()
        full = np.full(data.shape, np.nan, np.result_type(data.dtype, np.float32))
        full[data.coords] = data.data
        return full
    return data


def _checked(matrix: Any, about: About, *, masked: bool) -> float:
    """The smallest entry, once it is sure that none is negative, infinite or (unless masked) missing."""
    values = matrix.data if is_sparse(matrix) else matrix
    if values.size == 0:
        return 0.0
    with np.errstate(invalid="ignore"):
        low, high = (
            float(f(values)) for f in ((np.nanmin, np.nanmax) if masked and not _all_nan(values) else (np.min, np.max))
        )
    if not np.isfinite(high) or not np.isfinite(low):
        if masked and not is_sparse(matrix) and np.isnan(high):
            return 0.0
        refuse_not_finite(
            np.where(np.isnan(matrix), 0.0, matrix) if masked and not is_sparse(matrix) else matrix, about.column_names
        )
    if low < 0.0:
        _refuse_negative(matrix, low, about)
    full = not is_sparse(matrix) or masked or matrix.nnz == matrix.shape[0] * matrix.shape[1]
    return low if full else 0.0


def _all_nan(values: np.ndarray) -> bool:
    return bool(np.isnan(values).all())


def _refuse_negative(matrix: Any, low: float, about: About) -> None:
    if is_sparse(matrix):
        count = int((matrix.data < 0).sum())
        place = int(np.argmin(matrix.data))
        row, column = int(np.searchsorted(matrix.indptr, place, side="right")) - 1, int(matrix.indices[place])
    else:
        count = int((matrix < 0).sum())
        row, column = (int(i) for i in np.unravel_index(np.nanargmin(matrix), matrix.shape))
    name = "" if about.column_names is None else f" ({about.column_names[column]!r})"
    raise InputError(
        f"Negative values in data passed to NMF: {count:,} entr{'ies' if count > 1 else 'y'}, the smallest {low:.6g} "
        f"in row {row}, column {column}{name}. Parts can only be added: shift or clip the data, or use PCA or SVD."
    )
