"""From user data to a non-negative table for the solvers of NMF."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eckart.arrays import (
    Array,
    DType,
    Matrix,
    astype,
    dtype_name,
    is_array,
    is_host,
    is_numpy,
    is_sparse,
    namespace,
    to_numpy,
)  # fmt: skip
from eckart.engine.backends.cuda.arrays import given_back
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.host_csr import as_csr
from eckart.engine.blocks.source import Metadata
from eckart.engine.finite import refuse_not_finite
from eckart.engine.prepare import Convert
from eckart.engine.rows import RowBlocks
from eckart.errors import InputError
from eckart.io.open_matrix import open_matrix
from eckart.nmf.constants import SUMMED_ENTRIES
from eckart.nmf.entries import squared_norm


@dataclass(frozen=True)
class NonnegativeTable:
    """A matrix (dense, CSR, or CSR on a GPU) times 2^exponent, and its metadata."""

    matrix: Matrix
    metadata: Metadata
    exponent: int
    observed: bool
    """Unknown entries are left out: NaN in dense data, entries that are not stored in sparse data."""
    known: int
    """Number of known entries: the stored ones for sparse data."""
    mean: float
    smallest: float
    """Smallest known entry; zero if a sparse matrix has entries that are not stored."""

    @cached_property
    def squared_norm(self) -> float:
        """Sum of the squares of the known entries."""
        if is_numpy(self.matrix) or is_sparse(self.matrix):
            return squared_norm(self.matrix)
        return _sums_elsewhere(self.matrix, squares=True)[1]

    @property
    def dense(self) -> bool:
        return is_array(self.matrix)

    @property
    def prototype(self) -> Array:
        """An empty array in the library and on the device of the data."""
        if self.dense:
            return self.matrix[:0, :0]
        return self.matrix.prototype if isinstance(self.matrix, DeviceCsr) else np.empty(0)

    @property
    def precision(self) -> str:
        """Precision of the data, and so of the result."""
        return dtype_name(self.matrix)

    @property
    def dtype(self) -> DType:
        """The same in the library of the data."""
        return getattr(namespace(self.prototype), self.precision)

    @property
    def working(self) -> Matrix:
        """dtype of the factors during the iteration: float64 on the host, that of the data on a GPU."""
        return getattr(namespace(self.prototype), "float64" if is_host(self.prototype) else self.precision)

    def operator(self) -> RowBlocks:
        """Products in float64 for all data, because differences of losses need the digits.

        On a GPU, where memory bandwidth determines the time, in the precision of the data.
        """
        if not is_host(self.prototype):
            return RowBlocks(self.matrix, precision=self.precision)
        steps = (Convert(self.working),) if self.precision != "float64" else ()
        return RowBlocks(self.matrix, precision="float64", steps=steps)

    def on_host(self) -> NonnegativeTable:
        """The same for NumPy; raises for data on a GPU."""
        if not is_host(self.prototype):
            raise InputError(
                "On a GPU, NMF supports the squared error with every solver, and the "
                "Kullback-Leibler divergence with solver='auto'. Other settings need the data on the "
                "host. Copy the data to the host first with X.cpu() or cupy.asnumpy(X)."
            )
        return replace(self, matrix=to_numpy(self.matrix)) if self.dense else self

    def without_parts(self) -> Array:
        """Mask of rows without a positive entry (dense) or without a stored one (CSR)."""
        if is_numpy(self.matrix) and not self.observed:
            return self.matrix.max(axis=1) <= 0
        if self.dense:
            return ~namespace(self.prototype).any(self.matrix > 0, axis=1)
        counts = self.matrix.indptr[1:] - self.matrix.indptr[:-1]
        return given_back(counts == 0, self.prototype) if isinstance(self.matrix, DeviceCsr) else counts == 0

    def as_given(self) -> Matrix:
        """The matrix as other methods take it."""
        if not isinstance(self.matrix, DeviceCsr):
            return self.matrix
        from cupyx.scipy import sparse

        parts = (self.matrix.data, self.matrix.indices, self.matrix.indptr)
        return sparse.csr_matrix(parts, shape=self.matrix.shape)


def open_nonnegative(data: object, *, missing: str) -> NonnegativeTable:
    """Use `data` unchanged if possible; refuse negative, missing and infinite entries, with their number."""
    masked = missing == "mask"
    opened = open_matrix(_unknown_as_nan(data) if masked else data, stream=False)
    inside = isinstance(opened.matrix, RowBlocks)
    if not inside:
        raise InputError(
            "These data are not in memory, but this NMF needs the whole table at once. Load the rows first, or pass "
            "them block by block to eckart.NMF(...).partial_fit."
        )
    matrix, exponent = opened.matrix.matrix, opened.exponent + opened.exponent % 2
    if is_sparse(matrix):
        if exponent != opened.exponent:
            matrix = matrix.copy()
            matrix.data = np.ldexp(matrix.data, exponent - opened.exponent)
    elif isinstance(matrix, DeviceCsr):
        if exponent != opened.exponent:
            matrix = replace(matrix, data=matrix.data * matrix.dtype.type(2.0) ** (exponent - opened.exponent))
    else:
        matrix = _dense(matrix, exponent)
    smallest = _checked(matrix, opened.metadata, masked=masked)
    known, sums = _sums(matrix, masked=masked)
    count = known if is_array(matrix) or masked else matrix.shape[0] * matrix.shape[1]
    if count == 0:
        raise InputError("All entries are missing, so there is nothing to factorise.")
    return NonnegativeTable(matrix, opened.metadata, exponent, masked, known, sums / count, smallest)


def _dense(matrix: Array, exponent: int) -> Array:
    """As float32 or float64, times 2^exponent."""
    if hasattr(matrix, "detach"):
        matrix = matrix.detach()
    if dtype_name(matrix) not in ("float32", "float64"):
        matrix = astype(matrix, namespace(matrix).float64)
    if exponent:
        matrix = Convert(matrix.dtype, exponent).apply(0, matrix)
    return np.ascontiguousarray(matrix) if is_numpy(matrix) else matrix


def _sums(matrix: Matrix, *, masked: bool) -> tuple[int, float]:
    """(number, sum) of the known entries."""
    if is_sparse(matrix) or (is_numpy(matrix) and not masked):
        values = matrix if is_numpy(matrix) else matrix.data
        return int(values.size), float(values.sum(dtype=np.float64))
    if is_numpy(matrix):
        known = ~np.isnan(matrix)
        return int(known.sum()), float(np.nansum(matrix, dtype=np.float64))
    return _sums_elsewhere(matrix, squares=False)


def _sums_elsewhere(matrix: Array, *, squares: bool) -> tuple[int, float]:
    """(number, sum of the known entries or of their squares) in other libraries, piece by piece."""
    values = matrix.data if isinstance(matrix, DeviceCsr) else matrix
    xp = namespace(values)
    known, sums = 0, 0.0
    height = max(1, SUMMED_ENTRIES // (1 if values.ndim == 1 else values.shape[1]))
    for start in range(0, values.shape[0], height):
        piece = astype(values[start : min(start + height, values.shape[0]), ...], xp.float64)
        given = ~xp.isnan(piece)
        piece = xp.where(given, piece, 0.0)
        known += int(xp.sum(astype(given, xp.int64)))
        sums += float(xp.sum(piece * piece if squares else piece))
    return known, sums


def _unknown_as_nan(data: Matrix) -> Matrix:
    """Masked arrays with NaN for masked entries; nearly full sparse data as dense arrays with NaN."""
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(data.astype(np.result_type(data.dtype, np.float32)), np.nan)
    if is_sparse(data) and data.ndim == 2 and data.nnz > data.shape[0] * data.shape[1] / 2:
        data = as_csr(data).tocoo()
        full = np.full(data.shape, np.nan, np.result_type(data.dtype, np.float32))
        full[data.coords] = data.data
        return full
    return data


def _checked(matrix: Matrix, metadata: Metadata, *, masked: bool) -> float:
    """The smallest entry, after checking that none is negative, infinite or (unless masked) missing."""
    values = matrix if is_array(matrix) else matrix.data
    if 0 in values.shape:
        return 0.0
    low, high = _range(values, masked=masked)
    gaps = masked and is_array(matrix)
    if gaps and np.isnan(high):  # no entry is known
        return 0.0
    if not np.isfinite([low, high]).all():
        refuse_not_finite(_without_gaps(matrix, gaps=gaps), metadata)
    if low < 0.0:
        _refuse_negative(matrix, low, metadata)
    return low if masked or _is_full(matrix) else 0.0


def _is_full(matrix: Matrix) -> bool:
    """Whether every entry is stored."""
    return is_array(matrix) or bool(matrix.nnz == math.prod(matrix.shape))


def _without_gaps(matrix: Matrix, *, gaps: bool) -> Matrix:
    """The matrix with 0 for NaN, if NaN marks unknown entries (`gaps`)."""
    if not gaps:
        return matrix
    xp = namespace(matrix)
    return xp.where(xp.isnan(matrix), 0.0, matrix)


def _range(values: Array, *, masked: bool) -> tuple[float, float]:
    """(smallest, largest); NaN entries are ignored if masked, unless all are."""
    xp = namespace(values)
    gaps = xp.isnan(values) if masked else None
    if gaps is None or bool(xp.all(gaps)):
        return float(xp.min(values)), float(xp.max(values))
    return float(xp.min(xp.where(gaps, xp.inf, values))), float(xp.max(xp.where(gaps, -xp.inf, values)))


def _refuse_negative(matrix: Matrix, low: float, metadata: Metadata) -> None:
    matrix = matrix.to_host() if isinstance(matrix, DeviceCsr) else to_numpy(matrix) if is_array(matrix) else matrix
    if is_sparse(matrix):
        count = int((matrix.data < 0).sum())
        place = int(np.argmin(matrix.data))
        row, column = int(np.searchsorted(matrix.indptr, place, side="right")) - 1, int(matrix.indices[place])
    else:
        count = int((matrix < 0).sum())
        row, column = (int(i) for i in np.unravel_index(np.nanargmin(matrix), matrix.shape))
    name = "" if metadata.column_names is None else f" ({metadata.column_names[column]!r})"
    raise InputError(
        f"Negative values in data passed to NMF: {count:,} entr{'ies' if count > 1 else 'y'}. The "
        f"smallest is {low:.6g}, in row {row + 1}, column {column + 1}{name} (counted from 1). Shift "
        "or clip the data, or use PCA or SVD."
    )
