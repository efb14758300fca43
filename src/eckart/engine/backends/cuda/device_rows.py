"""CSR rows on a GPU: the functions of `host_csr`, by kernels that read each stored entry once.

The arrays are CuPy's, or PyTorch arrays viewed by CuPy without a copy. Results use the library of the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import Array, DType, Matrix
from eckart.engine.backends.csr import CsrArrays
from eckart.engine.backends.cuda.arrays import cupy as _cupy
from eckart.engine.backends.cuda.arrays import given_back as _given_back
from eckart.engine.backends.cuda.arrays import on_device_of
from eckart.engine.backends.cuda.arrays import seen_by_cupy as _seen
from eckart.engine.backends.cuda.constants import DENSE_BYTES, SEGMENTS, WIDEST_FACTOR
from eckart.engine.exponent import Exponent, steps_of
from eckart.engine.operator import MomentsAndProduct
from eckart.errors import InputError

if TYPE_CHECKING:
    from eckart.engine.rows import RowBlocks


@dataclass(frozen=True)
class DeviceCsr(CsrArrays):
    """A CSR matrix of CuPy arrays, with int32 indices; `prototype` determines the user's library."""

    prototype: Array

    def __post_init__(self) -> None:
        # CuPy and PyTorch may store eight bytes per index; the kernels read four.
        if self.indices.dtype != np.int32:
            if self.shape[1] > 2**31 - 1:
                raise InputError(
                    f"{self.shape[1]:,} columns are too many for a sparse matrix on a GPU (the maximum is 2^31 - 1)."
                )
            object.__setattr__(self, "indices", self.indices.astype(np.int32))

    @property
    def dtype(self) -> np.dtype:
        dtype: np.dtype = np.dtype(self.data.dtype)
        return dtype

    @property
    def nnz(self) -> int:
        return int(self.data.shape[0])

    def astype(self, dtype: DType) -> DeviceCsr:
        return replace(self, data=self.data.astype(dtype))

    def to_host(self) -> Matrix:
        from scipy import sparse

        parts = [_cupy().asnumpy(part) for part in (self.data, self.indices, self.indptr)]
        return sparse.csr_array(tuple(parts), shape=self.shape)

    def row_of_entry(self) -> Array:
        """The row of each stored entry."""
        cupy = _cupy()
        return cupy.searchsorted(self.indptr, cupy.arange(self.nnz), side="right") - 1

    def dense(self, start: int, stop: int) -> Array:
        """Some rows, densified, in float64."""
        from cupyx.scipy import sparse

        first, last = int(self.indptr[start]), int(self.indptr[stop])
        pointers = self.indptr[start : stop + 1] - first
        part = sparse.csr_matrix(
            (self.data[first:last].astype(np.float64), self.indices[first:last], pointers.astype(np.int32)),
            shape=(stop - start, self.shape[1]),
        )
        return part.toarray()


def as_device_csr(matrix: Array) -> DeviceCsr | None:
    """A CuPy sparse matrix or a sparse CSR tensor on a GPU; None for everything else."""
    module = type(matrix).__module__
    if module.startswith("cupyx.scipy.sparse"):
        csr = matrix.tocsr()
        csr.sum_duplicates()
        return DeviceCsr(csr.data, csr.indices, csr.indptr, (int(csr.shape[0]), int(csr.shape[1])), csr.data[:0])
    if module == "torch" and "sparse_csr" in str(getattr(matrix, "layout", "")) and matrix.device.type == "cuda":
        cupy = _cupy()
        data, indices, indptr = (
            cupy.asarray(part) for part in (matrix.values(), matrix.col_indices(), matrix.crow_indices())
        )
        shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        return DeviceCsr(data, indices, indptr, shape, matrix.values()[:0])
    return None


def _there(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function of a matrix on its device and on the stream of its library."""

    @wraps(function)
    def run(op: RowBlocks, *arguments: Any, **options: Any) -> Any:
        with on_device_of(op.matrix.prototype):
            return function(op, *arguments, **options)

    return run


@_there
def normal(op: RowBlocks, right: Array) -> Array:
    """A^T (A Q), fused."""
    return _summed(op, "normal", right)


@_there
def rmatmat(op: RowBlocks, left: Array) -> Array:
    """A^T Y."""
    return _summed(op, "multiply_transposed", left)


@_there
def matmat(op: RowBlocks, right: Array) -> Array:
    """A Q."""
    from eckart.engine.backends.cuda import csr as cuda

    matrix, cupy = op.matrix, _cupy()
    pieces = []
    for tile in _tiles(_seen(right)):
        factor, width = _padded(tile, matrix.dtype)
        result = cupy.empty((matrix.shape[0], factor.shape[1]), matrix.dtype)
        cuda.run("multiply", matrix, factor, result, 0, matrix.shape[0])
        pieces.append(result[:, :width])
    return _given_back(pieces[0] if len(pieces) == 1 else cupy.concatenate(pieces, axis=1), matrix.prototype)


@_there
def gram(op: RowBlocks, right: Array | None = None) -> Array:
    """A^T A (dense), or (A Q)^T (A Q)."""
    matrix, cupy = op.matrix, _cupy()
    if right is not None:
        product = _seen(matmat(op.precise(), right))
        return _given_back(product.T @ product, matrix.prototype)
    rows, columns = matrix.shape
    size = max(1, DENSE_BYTES // (8 * columns))
    total = cupy.zeros((columns, columns))
    for start in range(0, rows, size):
        block = matrix.dense(start, min(start + size, rows))
        total += block.T @ block
    return _given_back(total, matrix.prototype)


_gram_of = gram


@_there
def moments_and_product(op: RowBlocks, right: Array | None, *, gram: bool) -> MomentsAndProduct:
    """u^T A, sums of squares and a product."""
    from eckart.engine.backends.cuda import csr as cuda

    matrix, cupy = op.matrix, _cupy()
    sums = cupy.zeros((matrix.shape[1], 3))
    roots = None if op.weight_roots is None else _seen(op.weight_roots)
    longest = cupy.zeros(1)
    cuda.column_sums(matrix, roots, sums, longest)
    weight = float(matrix.shape[0]) if roots is None else float((roots * roots).sum())
    product = _gram_of(op) if gram else None if right is None else normal(op, right)
    parts = [_given_back(sums[:, i].copy(), matrix.prototype) for i in range(3)]
    return MomentsAndProduct(parts[0], parts[1], weight, product, parts[2], _given_back(longest, matrix.prototype))


@_there
def squares_about_mean(op: RowBlocks, moments_and_product: MomentsAndProduct) -> np.ndarray:
    """Sum of (a - u mean)^2 by column, without cancellation."""
    matrix, cupy = op.matrix, _cupy()
    mean = _seen(moments_and_product.sums) / moments_and_product.weight
    shift = mean[matrix.indices]
    if op.weight_roots is not None:
        shift = shift * _seen(op.weight_roots)[matrix.row_of_entry()]
    rest = matrix.data.astype(np.float64) - shift
    metadata = cupy.bincount(matrix.indices, weights=rest * rest, minlength=matrix.shape[1])
    absent = cupy.maximum(moments_and_product.weight - _seen(moments_and_product.stored), 0.0)
    return np.asarray(cupy.asnumpy(metadata + absent * mean**2))


def squares_about(
    matrix: DeviceCsr, left: np.ndarray, right: np.ndarray, factor: np.ndarray, *, across: bool
) -> np.ndarray:
    """sum a (a - 2 l r) f over the stored entries of each row, or of each column with `across`; on the host."""
    cupy = _cupy()
    with on_device_of(matrix.prototype):
        row, data = matrix.row_of_entry(), matrix.data.astype(np.float64)
        offset = cupy.asarray(left)[row] * cupy.asarray(right)[matrix.indices]
        terms = data * (data - 2.0 * offset) * cupy.asarray(factor)[matrix.indices]
        place, count = (matrix.indices, matrix.shape[1]) if across else (row, matrix.shape[0])
        return np.asarray(cupy.asnumpy(cupy.bincount(place, weights=terms, minlength=count)))


def largest(matrix: DeviceCsr) -> float:
    """The largest modulus."""
    with on_device_of(matrix.prototype):
        return float(abs(matrix.data).max()) if matrix.nnz else 0.0


def times_power_of_two(matrix: DeviceCsr, exponent: Exponent) -> DeviceCsr:
    """2^e A, with one e or one for each column."""
    with on_device_of(matrix.prototype):
        for factors in steps_of(np.broadcast_to(exponent, matrix.shape[1])):
            matrix = scale_columns(matrix, factors)
        return matrix


def on_host(matrix: DeviceCsr) -> Matrix:
    """The same rows as a SciPy matrix."""
    return matrix.to_host()


def scale_rows(matrix: DeviceCsr, factors: np.ndarray) -> DeviceCsr:
    roots = _cupy().asarray(factors)[matrix.row_of_entry()]
    return replace(matrix, data=matrix.data * roots.astype(matrix.dtype))


def scale_columns(matrix: DeviceCsr, factors: np.ndarray) -> DeviceCsr:
    factor = _cupy().asarray(factors)[matrix.indices]
    return replace(matrix, data=matrix.data * factor.astype(matrix.dtype))


def longest_sums(matrix: DeviceCsr) -> tuple[int, int]:
    """(most stored entries in a row, most in a column)."""
    cupy = _cupy()
    with on_device_of(matrix.prototype):
        rows, counts = cupy.diff(matrix.indptr), cupy.bincount(matrix.indices, minlength=1)
        return int(rows.max()), int(counts.max())


def stored_counts(matrix: DeviceCsr, counted: np.ndarray | None = None) -> np.ndarray:
    """Stored entries of each column, in all rows or in those `counted`."""
    cupy = _cupy()
    with on_device_of(matrix.prototype):
        weights = None if counted is None else cupy.asarray(counted, np.float64)[matrix.row_of_entry()]
        return np.asarray(cupy.asnumpy(cupy.bincount(matrix.indices, weights=weights, minlength=matrix.shape[1])))


@_there
def shift_full_columns(op: RowBlocks, shift: np.ndarray) -> DeviceCsr:
    matrix: DeviceCsr = op.matrix
    given: DeviceCsr = matrix if op.stored is None else op.stored
    data = given.data.astype(np.float64) - _cupy().asarray(shift)[matrix.indices]
    if op.weight_roots is not None:  # after the shift, because a weighted entry is rounded
        data = data * _seen(op.weight_roots)[matrix.row_of_entry()]
    return replace(matrix, data=data.astype(matrix.dtype))


def transposed(matrix: DeviceCsr) -> DeviceCsr:
    from cupyx.scipy import sparse

    transposed = sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape).T.tocsr()
    shape = (matrix.shape[1], matrix.shape[0])
    return DeviceCsr(transposed.data, transposed.indices, transposed.indptr, shape, matrix.prototype)


def dense_rows(matrix: DeviceCsr, index: slice) -> np.ndarray:
    """A few rows, on the host."""
    start, stop, step = index.indices(matrix.shape[0])
    rows = [matrix.dense(i, i + 1) for i in range(start, stop, step)]
    return np.asarray(_cupy().asnumpy(_cupy().concatenate(rows)))


def whole(matrix: DeviceCsr) -> np.ndarray:
    """All of a small matrix, on the host."""
    return np.asarray(_cupy().asnumpy(matrix.dense(0, matrix.shape[0])))


def _summed(op: RowBlocks, kernel: str, factor: Array) -> Array:
    matrix = op.matrix
    pieces = [_summed_tile(matrix, kernel, tile) for tile in _tiles(_seen(factor))]
    return _given_back(pieces[0] if len(pieces) == 1 else _cupy().concatenate(pieces, axis=1), matrix.prototype)


def _tiles(factor: Array) -> list[Array]:
    return [factor[:, start : start + WIDEST_FACTOR] for start in range(0, factor.shape[1], WIDEST_FACTOR)]


def _summed_tile(matrix: DeviceCsr, kernel: str, factor: Array) -> Array:
    from eckart.engine.backends.cuda import csr as cuda

    cupy = _cupy()
    seen, width = _padded(factor, matrix.dtype)
    total = cupy.zeros((matrix.shape[1], seen.shape[1]))
    edges = np.linspace(0, matrix.shape[0], SEGMENTS + 1).astype(int).tolist()
    part = cupy.empty((matrix.shape[1], seen.shape[1]), matrix.dtype)
    for start, stop in itertools.pairwise(edges):
        if stop > start:
            part.fill(0)
            cuda.run(kernel, matrix, seen, part, start, stop)
            total += part
    return total[:, :width]


def _padded(factor: Array, dtype: DType) -> tuple[Array, int]:
    """The factor in the dtype of the data, with columns of zeros up to a multiple of four; and its own width."""
    cupy = _cupy()
    width = int(factor.shape[1])
    wide = -(-width // 4) * 4
    if wide == width:
        return cupy.ascontiguousarray(factor, dtype=dtype), width
    result = cupy.zeros((factor.shape[0], wide), dtype)
    result[:, :width] = factor
    return result, width
