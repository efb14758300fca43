"""Check matrices and wrap them for products: arrays and sparse matrices as RowBlocks, sources of rows as StackedBlocks.

`eckart.io.open_matrix` opens everything else.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import Array, Matrix, dtype_name, is_sparse, namespace
from eckart.budget import block_bytes
from eckart.engine.backends.host_csr import as_csr
from eckart.engine.backends.select import backend_of
from eckart.engine.blocks.csr_check import check_sparse
from eckart.engine.blocks.dask_rows import DaskRows
from eckart.engine.blocks.edges import edges_for, largest_block
from eckart.engine.blocks.rounded import EXACT, ROUNDED, is_long
from eckart.engine.blocks.source import Metadata, RowSource
from eckart.engine.blocks.stacked import StackedBlocks
from eckart.engine.exponent import SAFE, safe_exponent
from eckart.engine.prepare import Convert
from eckart.engine.rows import RowBlocks
from eckart.environment import check_fits
from eckart.errors import DataWarning, InputError, MissingValuesError
from eckart.formatting import counted
from eckart.mapped import in_memory, is_mapped, sparse_in_memory


@dataclass(frozen=True)
class Opened:
    """A matrix ready for products, its metadata, and the power of two that it was scaled by."""

    matrix: Any
    """RowBlocks or StackedBlocks."""
    metadata: Metadata
    exponent: int = 0


def _small_as_dense(data: Matrix) -> np.ndarray | None:
    """A small sparse matrix as an array; None for other data."""
    if not is_sparse(data) or data.ndim != 2 or data.shape[0] * data.shape[1] > SMALL_DENSE:
        return None
    data = sparse_in_memory(data)
    check_sparse(data)
    dense: np.ndarray = data.toarray(order="C")
    if is_long(dense.dtype):
        _warn_if_rounded(dense)
    return dense.astype(np.float64) if dense.dtype.kind in "biu" else dense


def unprepared(data: Matrix) -> Opened | None:
    """A NumPy array of float32 or float64 numbers, not searched for extreme magnitudes; None for other data.

    Small sparse matrices become arrays: LAPACK finishes before an iterative solver has started.
    """
    if type(data) is not np.ndarray:  # testing for sparse matrices takes longer
        data = _small_as_dense(data)
    if data is None or data.ndim != 2 or data.dtype not in (np.float32, np.float64) or not data.size:
        return None
    if is_mapped(data):
        return None
    precision = "float32" if data.dtype == np.float32 else "float64"
    return Opened(RowBlocks(data, precision, (Convert(data.dtype.type),)), _UNNAMED)


_UNNAMED = Metadata(name="X")
SMALL_DENSE = 2**17
"""Maximum number of entries for which a sparse matrix is processed as dense: one megabyte."""
_MANY_COLUMNS, _VECTORS = 10**7, 24
"""From this size on, check that this many vectors with one number per column fit into memory: sums, sums of squares,
means and their partial sums, measured on sparse rows with one component.
"""


def bytes_read_at_once(matrix: Any) -> int:
    """Bytes of the largest block in memory; 0 for a matrix that is already in memory."""
    return 0 if matrix.resident else largest_block(matrix.source, matrix.edges)


def open_blocks(source: RowSource, memory: int | None = None, *, size: int | None = None) -> Opened:
    """A matrix whose rows are read in blocks of about `size` bytes."""
    _check_shape(source.shape)
    precision = str(source.dtype)
    whole_chunks = source.edges if isinstance(source, DaskRows) else None
    edges = whole_chunks or edges_for(source, block_bytes(memory) if size is None else size)
    matrix = StackedBlocks(source, edges, precision)
    exponent = safe_exponent(float(np.fmax.reduce(np.abs(matrix.sample()), axis=None, initial=0.0)), precision)
    return Opened(StackedBlocks(source, edges, precision, exponent), source.metadata, exponent)


def as_given(opened: Opened) -> Matrix:
    """The matrix in memory as given: opening sparse rows scales them by a power of two."""
    given = opened.matrix.given
    return opened.matrix.matrix if given is None else given


def stored(opened: Opened) -> Matrix:
    """The numbers as stored, or the blocks that read them."""
    return opened.matrix.matrix if opened.matrix.resident else opened.matrix


def open_sparse(data: Matrix, metadata: Metadata) -> Opened:
    """A SciPy matrix of any format, or CSR rows on another device."""
    _check_shape(data.shape)
    if is_sparse(data):
        data = sparse_in_memory(data)
        check_sparse(data)
        data = as_csr(data)
        if data.dtype.kind == "c":
            raise InputError("Complex data not supported: use the real and imaginary parts as separate columns.")
        if data.dtype.itemsize >= 8:
            _warn_if_rounded(data.data)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    if is_sparse(data) and data.nnz > data.shape[0] * data.shape[1] / 2:
        # More than half full: a dense array takes less memory, and an offset costs no digits.
        return open_dense(data.toarray(), metadata)
    csr = backend_of(data).csr
    exponent, given = safe_exponent(csr.largest(data), str(data.dtype)), data
    if exponent:
        data = csr.times_power_of_two(data, exponent)
    return Opened(RowBlocks(data, precision=str(data.dtype), given=given), metadata, exponent)


def open_dense(data: Array, metadata: Metadata) -> Opened:
    data = _check_array(data)
    _check_shape(data.shape)
    precision = "float32" if dtype_name(data) == "float32" else "float64"
    dtype = getattr(namespace(data), precision)
    exponent = safe_exponent(backend_of(data).largest(data, *SAFE[precision]), precision)
    return Opened(RowBlocks(data, precision=precision, steps=(Convert(dtype, exponent),)), metadata, exponent)


def _check_array(data: object) -> Array:
    if not isinstance(data, np.ndarray):
        if "complex" in dtype_name(data):
            raise InputError("Complex data not supported: use the real and imaginary parts as separate columns.")
        return data
    data = in_memory(data)
    if isinstance(data, np.ma.MaskedArray):
        data = _without_mask(data)
    if isinstance(data, np.matrix):
        raise TypeError(
            "np.matrix is not supported, because its * operator is the matrix product. Convert it with np.asarray."
        )
    kind = data.dtype.kind
    if kind == "c":
        raise InputError("Complex data not supported: use the real and imaginary parts as separate columns.")
    if kind == "O":
        return from_objects(data)
    if kind not in "fiub":
        meaning = {"M": "dates", "m": "time differences", "U": "text", "S": "text", "V": "records with named fields"}
        remedy = "in a unit of your choice first" if kind in "mM" else "first, for example with astype(float)"
        raise InputError(
            f"The data are {meaning.get(kind, 'not numbers')} (dtype {data.dtype}), but a decomposition needs numbers. "
            f"Convert them to numbers {remedy}."
        )
    if data.dtype.itemsize >= 8:
        _warn_if_rounded(data)
    return data


def _without_mask(data: np.ma.MaskedArray) -> np.ndarray:
    count = int(np.ma.getmaskarray(data).sum())
    if count:
        raise MissingValuesError(
            f"Input X has {counted(count, 'masked value')}, but a decomposition needs all values. "
            "Impute the masked values first."
        )
    return data.data


def _warn_if_rounded(data: np.ndarray) -> None:
    if data.dtype.kind == "f" and data.dtype.itemsize > 8:
        warnings.warn("Numbers in extended precision are rounded to float64.", DataWarning, stacklevel=5)
    if is_long(data.dtype) and max(int(data.max(initial=0)), -int(data.min(initial=0))) > EXACT:
        warnings.warn(f"{ROUNDED}.", DataWarning, stacklevel=5)


def from_objects(data: np.ndarray) -> np.ndarray:
    """Numbers stored as Python objects, such as decimals and fractions, as float64."""
    try:
        return data.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    for place in np.ndindex(*data.shape):
        try:
            float(data[place])
        except OverflowError as error:
            raise InputError(f"An entry in row {place[0] + 1} is too large for float64 (beyond 1.8e308).") from error
        except (TypeError, ValueError) as error:
            where = ", ".join(f"{axis} {index + 1}" for axis, index in zip(("row", "column"), place, strict=False))
            raise InputError(
                f"{data[place]!r} in {where} (counted from 1) is not a number. Remove columns of "
                "text, or encode them as numbers."
            ) from error
    raise InputError("The data contain objects that are not numbers. Convert them to numbers, or leave them out.")


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        remedy = {
            0: "Pass a table with rows and columns.",
            1: "Reshape one row to (1, -1), or one column to (-1, 1).",
        }.get(len(shape), "Reshape the stack of tables to two dimensions.")
        seen = f"{len(shape)}D array of shape {shape}" if shape else "scalar"
        raise InputError(f"Expected 2D array, got {seen} instead. {remedy}")
    if shape[0] == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required: the table has no rows."
        )
    if shape[1] == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required: the table has no columns."
        )
    if shape[1] > _MANY_COLUMNS:
        # A sparse file of a few bytes may claim any number of columns.
        check_fits(8 * _VECTORS * shape[1], "The table", f"working on its {shape[1]:,} columns")
