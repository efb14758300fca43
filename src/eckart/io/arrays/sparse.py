"""The arrays of a saved sparse matrix, checked before SciPy uses their indices.

A stored index is an address: one out of range makes a product read foreign memory. Every index, pointer and length is
therefore checked against the shape first.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from eckart.arrays import Matrix
from eckart.engine.blocks.csr_check import numbers_of
from eckart.environment import check_fits
from eckart.errors import FileError

Arrays = dict[str, np.ndarray]


def sparse_matrix(kind: str, arrays: Arrays, name: str) -> Matrix:
    """A csr_array in canonical form: sorted, duplicates summed, no stored zeros."""
    from scipy import sparse

    shape = shape_of(arrays, name)
    if kind != "csr":  # it becomes csr
        check_fits((shape[0] + shape[1] + 2) * 8, name, f"a sparse matrix of shape {shape}")
    data = _numbers(_take(arrays, "data", name))
    if kind == "coo":
        matrix: Matrix = sparse.coo_array((data, _coordinates(arrays, data, shape, name)), shape=shape)
    elif kind == "dia":
        matrix = sparse.dia_array((data, _offsets(arrays, data, shape, name)), shape=shape)
    else:
        make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind]
        matrix = make((data, *_compressed(kind, arrays, data, shape, name)), shape=shape)
    return canonical(matrix)


def canonical(matrix: Matrix) -> Matrix:
    """Any sparse matrix as a csr_array of floats in canonical form."""
    from scipy import sparse

    rows = sparse.csr_array(matrix)
    if not all(part.flags.writeable for part in (rows.data, rows.indices, rows.indptr)):
        rows = rows.copy()
    if rows.dtype not in (np.float32, np.float64):
        rows = numbers_of(rows, np.dtype(np.float64))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def broken(name: str, what: str) -> NoReturn:
    raise FileError(f"{name} is a damaged sparse matrix: {what}. Save it again with scipy.sparse.save_npz.")


def _take(arrays: Arrays, key: str, name: str) -> np.ndarray:
    if key not in arrays:
        broken(name, f"the array {key!r} is missing")
    return arrays[key]


def _numbers(data: np.ndarray) -> np.ndarray:
    if data.dtype == bool:
        return np.array(data)
    return np.array(data, np.float32 if data.dtype.newbyteorder("=") == np.float32 else np.float64)


def check_indices(dtype: np.dtype, shape: tuple[int, ...], key: str, name: str) -> None:
    if dtype.kind not in "iu" or len(shape) != 1:
        broken(name, f"{key!r} has type {dtype} and shape {shape} instead of being a one-dimensional array of integers")


def whole_numbers(arrays: Arrays, key: str, name: str) -> np.ndarray:
    values = _take(arrays, key, name)
    check_indices(values.dtype, values.shape, key, name)
    if values.dtype.kind == "u" and values.size and values.max() > np.iinfo(np.int64).max:
        broken(name, f"{key!r} contains the entry {values.max()}")
    return values.astype(np.int64, copy=False)


def shape_of(arrays: Arrays, name: str) -> tuple[int, int]:
    sizes = whole_numbers(arrays, "shape", name)
    if sizes.size != 2 or (sizes < 1).any():
        broken(name, f"its shape is {tuple(sizes.tolist())}, but a matrix has at least one row and one column")
    return int(sizes[0]), int(sizes[1])


def check_range(indices: np.ndarray, bound: int, key: str, name: str, start: int = 0) -> None:
    """Refuse an index outside 0 to bound - 1; `start` is the position of the first one in the file."""
    wrong = np.flatnonzero((indices < 0) | (indices >= bound))
    if wrong.size:
        first = int(wrong[0])
        broken(name, f"entry {start + first} of {key!r} is {indices[first]}, outside 0 to {bound - 1}")


def _coordinates(arrays: Arrays, data: np.ndarray, shape: tuple[int, int], name: str) -> tuple[np.ndarray, np.ndarray]:
    row, col = whole_numbers(arrays, "row", name), whole_numbers(arrays, "col", name)
    if data.ndim != 1 or not len(row) == len(col) == len(data):
        broken(
            name,
            (
                f"it has {len(row)} row indices, {len(col)} column indices and {data.size} values, "
                "but these three numbers should be equal"
            ),
        )
    check_range(row, shape[0], "row", name)
    check_range(col, shape[1], "col", name)
    return row, col


def _offsets(arrays: Arrays, data: np.ndarray, shape: tuple[int, int], name: str) -> np.ndarray:
    offsets = whole_numbers(arrays, "offsets", name)
    if data.ndim != 2 or len(data) != len(offsets) or len(np.unique(offsets)) < len(offsets):
        broken(name, f"there are {len(offsets)} diagonals, but the array of values has shape {data.shape}")
    if data.shape[1] > shape[1]:
        broken(name, f"its diagonals have {data.shape[1]} entries, but the matrix has {shape[1]} columns")
    if offsets.size and (offsets.min() <= -shape[0] or offsets.max() >= shape[1]):
        broken(name, "a diagonal lies outside the matrix")
    return offsets


def _blocks(block: tuple[int, ...], shape: tuple[int, int], name: str) -> tuple[int, int]:
    """The shape of a bsr matrix counted in blocks."""
    high, wide = block
    if not high or not wide or shape[0] % high or shape[1] % wide:
        broken(name, f"blocks of {high} x {wide} do not fill a matrix of shape {shape}")
    return shape[0] // high, shape[1] // wide


def check_pointers(values: tuple[int, ...], indices: int, indptr: np.ndarray, rows: int, name: str) -> None:
    """The rules of csr that need neither values nor indices, only their shape and number."""
    if len(values) != 1:
        broken(name, f"its values have shape {values}")
    if len(indptr) != rows + 1:
        broken(name, f"'indptr' has {len(indptr)} entries instead of {rows + 1}")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any() or not indptr[-1] == indices == values[0]:
        broken(
            name,
            f"'indptr' should increase from 0 to {values[0]}, the number of values, and 'indices' should have the "
            "same number of entries",
        )


def _compressed(
    kind: str, arrays: Arrays, data: np.ndarray, shape: tuple[int, int], name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Rules of csr, csc and bsr: pointers increase from 0 to the number of entries, indices stay within the shape."""
    indices, indptr = whole_numbers(arrays, "indices", name), whole_numbers(arrays, "indptr", name)
    major, minor = shape[::-1] if kind == "csc" else shape
    if kind == "bsr":
        if data.ndim != 3:
            broken(name, f"its values have shape {data.shape}")
        major, minor = _blocks(data.shape[1:], shape, name)
    check_pointers(data.shape[:1] if kind == "bsr" else data.shape, len(indices), indptr, major, name)
    check_range(indices, minor, "indices", name)
    return indices, indptr
