"""Chosen rows and columns of CSR rows on a GPU, and sums over their entries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import Array, Matrix
from eckart.engine.backends.cuda.arrays import cupy as _cupy
from eckart.engine.backends.cuda.arrays import given_back, on_device_of
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.exponent import times_power_of_two
from eckart.errors import require


def take_rows(matrix: DeviceCsr, indices: np.ndarray) -> DeviceCsr:
    """A[places, :]."""
    with on_device_of(matrix.prototype):
        return _stored_rows(matrix, indices)


def take_columns(matrix: DeviceCsr, indices: np.ndarray) -> DeviceCsr:
    """A[:, places]; no index occurs twice."""
    with on_device_of(matrix.prototype):
        return _stored_columns(matrix, indices)


def rows_between(matrix: DeviceCsr, start: int, stop: int) -> DeviceCsr:
    """Rows start..stop, entries shared."""
    with on_device_of(matrix.prototype):
        first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
        return replace(
            matrix,
            data=matrix.data[first:last],
            indices=matrix.indices[first:last],
            indptr=matrix.indptr[start : stop + 1] - first,
            shape=(stop - start, matrix.shape[1]),
        )


def dense_columns(matrix: DeviceCsr, indices: np.ndarray) -> Array:
    """A[:, places], dense, in the dtype and the library of the data."""
    with on_device_of(matrix.prototype):
        row, place, data = _entries_in(matrix, indices)
        result = _cupy().zeros((matrix.shape[0], len(indices)), matrix.dtype)
        result[row, place] = data
        return given_back(result, matrix.prototype)


def dense(matrix: DeviceCsr) -> Array:
    """All of it, dense, in float64, in the library of the data."""
    with on_device_of(matrix.prototype):
        return given_back(matrix.dense(0, matrix.shape[0]), matrix.prototype)


def squares_both_ways(matrix: DeviceCsr) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares of the rows and of the columns, on the host."""
    cupy = _cupy()
    with on_device_of(matrix.prototype):
        squares = matrix.data.astype(np.float64) ** 2
        rows = cupy.bincount(matrix.row_of_entry(), weights=squares, minlength=matrix.shape[0])
        columns = cupy.bincount(matrix.indices, weights=squares, minlength=matrix.shape[1])
        return np.asarray(cupy.asnumpy(rows)), np.asarray(cupy.asnumpy(columns))


def entries_per_row(matrix: DeviceCsr) -> np.ndarray:
    """How many stored entries of each row are not 0, on the host."""
    cupy = _cupy()
    with on_device_of(matrix.prototype):
        there = (matrix.data != 0).astype(np.float64)
        counts = cupy.bincount(matrix.row_of_entry(), weights=there, minlength=matrix.shape[0])
        return np.asarray(cupy.asnumpy(counts)).astype(np.int64)


def squares_about(matrix: DeviceCsr, exponent: int, factor: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """sum (a f - s)^2 over the columns of each row: sum (a f)(a f - 2 s) where stored, and sum s^2; on the host.

    The entries a are 2^-exponent times what is stored.
    """
    cupy = _cupy()
    with on_device_of(matrix.prototype):
        entries = times_power_of_two(matrix.data.astype(np.float64), -exponent)
        scaled = entries * cupy.asarray(factor)[matrix.indices]
        terms = scaled * (scaled - 2.0 * cupy.asarray(shift)[matrix.indices])
        sums = cupy.asnumpy(cupy.bincount(matrix.row_of_entry(), weights=terms, minlength=matrix.shape[0]))
        return np.maximum(np.asarray(sums) + float(shift @ shift), 0.0)


def sum_of_squares(matrix: DeviceCsr) -> float:
    with on_device_of(matrix.prototype):
        return float((matrix.data.astype(np.float64) ** 2).sum())


def all_finite(matrix: DeviceCsr) -> bool:
    with on_device_of(matrix.prototype):
        return bool(_cupy().isfinite(matrix.data).all())


def as_sparse(matrix: DeviceCsr) -> Matrix:
    """A sparse matrix in the user's library: CuPy csr_matrix or PyTorch sparse CSR tensor."""
    with on_device_of(matrix.prototype):
        if type(matrix.prototype).__module__.partition(".")[0] == "cupy":
            from cupyx.scipy import sparse

            parts = (matrix.data, matrix.indices, matrix.indptr.astype(np.int32, copy=False))
            return sparse.csr_matrix(parts, shape=matrix.shape)
        pointers, indices = (
            given_back(part.astype(np.int64), matrix.prototype) for part in (matrix.indptr, matrix.indices)
        )
        values = given_back(matrix.data, matrix.prototype)
        return require("torch").sparse_csr_tensor(pointers, indices, values, size=matrix.shape)


def _stored_rows(matrix: DeviceCsr, indices: np.ndarray) -> DeviceCsr:
    cupy = _cupy()
    index = cupy.asarray(np.asarray(indices, np.int64))
    starts = matrix.indptr[index].astype(np.int64)
    pointers = cupy.zeros(len(index) + 1, np.int64)
    pointers[1:] = cupy.cumsum(matrix.indptr[index + 1].astype(np.int64) - starts)
    entry = cupy.arange(int(pointers[-1]), dtype=np.int64)
    row = cupy.searchsorted(pointers[1:], entry, side="right")
    source = entry - pointers[row] + starts[row]
    return replace(
        matrix,
        data=matrix.data[source],
        indices=matrix.indices[source],
        indptr=pointers.astype(matrix.indptr.dtype),
        shape=(len(indices), matrix.shape[1]),
    )


def _stored_columns(matrix: DeviceCsr, indices: np.ndarray) -> DeviceCsr:
    cupy = _cupy()
    row, place, data = _entries_in(matrix, indices)
    order = cupy.argsort(row * len(indices) + place)  # in increasing order within each row
    pointers = cupy.searchsorted(row, cupy.arange(matrix.shape[0] + 1, dtype=row.dtype))
    return replace(
        matrix,
        data=data[order],
        indices=place[order].astype(np.int32),
        indptr=pointers.astype(matrix.indptr.dtype),
        shape=(matrix.shape[0], len(indices)),
    )


def _entries_in(matrix: DeviceCsr, indices: np.ndarray) -> tuple[Array, Array, Array]:
    """(row, position in `indices`, entry) of the stored entries in these columns, in increasing order of rows."""
    cupy = _cupy()
    number = cupy.full(matrix.shape[1], -1, np.int64)
    number[cupy.asarray(np.asarray(indices, np.int64))] = cupy.arange(len(indices), dtype=np.int64)
    place = number[matrix.indices]
    kept = place >= 0
    return matrix.row_of_entry()[kept].astype(np.int64), place[kept], matrix.data[kept]
