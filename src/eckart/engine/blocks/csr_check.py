"""Check that compiled loops, which trust every index as an address, can safely process a sparse matrix.

CSR stores row i in data[indptr[i]:indptr[i+1]] with columns indices[indptr[i]:indptr[i+1]]. A loop over it stays in
memory exactly if indptr starts at 0, never decreases and ends within `data` and `indices`, and 0 <= indices < columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.errors import InputError

if TYPE_CHECKING:
    from eckart.arrays import Array, Matrix

_INT32 = np.iinfo(np.int32).max


def csr_fault(data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> str | None:
    """Why these arrays are unsafe as a CSR matrix of `shape`, or None."""
    parts = {"data": data, "indices": indices, "indptr": indptr}
    for name, part in parts.items():
        if part.ndim != 1:
            return f"{name} has {part.ndim} dimensions instead of 1"
    for name in ("indices", "indptr"):
        if parts[name].dtype.kind not in "iu":
            return f"{name} contains {parts[name].dtype} values instead of integers"
    if len(indptr) != shape[0] + 1:
        return f"indptr has {len(indptr):,} entries, but {shape[0]:,} rows need {shape[0] + 1:,}"
    if len(indices) != len(data):
        return f"there are {len(indices):,} column indices but {len(data):,} values"
    if int(indptr[0]) != 0 or int(indptr[-1]) > len(data):
        return f"indptr runs from {int(indptr[0]):,} to {int(indptr[-1]):,}, but there are {len(data):,} values"
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        return f"indptr decreases after row {int(falls.argmax()) + 1:,}"
    return _range_fault(indices, shape[1])


def _range_fault(indices: Array, bound: int) -> str | None:
    if not len(indices):
        return None
    least, most = int(indices.min()), int(indices.max())
    if least < 0 or most >= bound:
        return f"a column index is {least if least < 0 else most}, outside 0 to {bound - 1}"
    return None


def csr_block(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int], dtype: np.dtype
) -> Matrix:
    """A csr_array of `dtype` from checked arrays, with 32-bit indices if they fit, otherwise 64-bit.

    Raises ValueError.
    """
    from scipy import sparse

    fault = csr_fault(data, indices, indptr, shape)
    if fault is None and int(indptr[-1]) != len(data):
        fault = f"indptr ends at {int(indptr[-1]):,}, but there are {len(data):,} values"
    if fault:
        raise ValueError(fault)
    kind = np.int32 if max(shape[1] - 1, len(data)) <= _INT32 else np.int64
    values = data if data.dtype == bool else data.astype(dtype, copy=False)
    arrays = (values, indices.astype(kind, copy=False), indptr.astype(kind, copy=False))
    return numbers_of(sparse.csr_array(arrays, shape=shape), dtype)


def numbers_of(matrix: Matrix, dtype: np.dtype) -> Matrix:
    """A CSR array with its values as `dtype`; entries of truth values that occur twice count once, as in SciPy."""
    if matrix.dtype == bool:
        parts = (matrix.data, matrix.indices, matrix.indptr)
        matrix = matrix if all(part.flags.writeable for part in parts) else matrix.copy()
        matrix.sum_duplicates()
    return matrix.astype(dtype, copy=False)


def _coordinates(matrix: Matrix) -> tuple[Array, ...]:
    return tuple(matrix.coords) if matrix.format == "coo" else ()


def _fault(matrix: Matrix) -> str | None:
    """Why the indices of a SciPy matrix are unsafe, or None; formats without arrays of indices are safe."""
    if matrix.format == "csr":
        return csr_fault(matrix.data, matrix.indices, matrix.indptr, matrix.shape)
    if matrix.format == "csc":
        return csr_fault(matrix.data, matrix.indices, matrix.indptr, matrix.shape[::-1])
    if matrix.format == "bsr":
        height, width = matrix.blocksize
        blocks = (matrix.shape[0] // height, matrix.shape[1] // width)
        return csr_fault(matrix.data[:, 0, 0], matrix.indices, matrix.indptr, blocks)
    return _coordinates_fault(matrix) if matrix.format == "coo" else None


def _coordinates_fault(matrix: Matrix) -> str | None:
    coordinates = _coordinates(matrix)
    if any(len(index) != len(matrix.data) for index in coordinates):
        return "the number of coordinates is not equal to the number of values"
    faults = [_range_fault(index, size) for index, size in zip(coordinates, matrix.shape, strict=True)]
    return next(filter(None, faults), None)


def check_sparse(matrix: Matrix) -> None:
    """Refuse a SciPy matrix with an index outside its shape, before any conversion uses it."""
    fault = _fault(matrix)
    if fault:
        raise InputError(
            f"The sparse matrix is damaged: {fault}. Computing with it would read invalid memory. "
            "Build the matrix again."
        )
