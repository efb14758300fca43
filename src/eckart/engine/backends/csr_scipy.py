"""The loops of `eckart.engine.compiled.csr` in SciPy and NumPy, with the same arguments and without compilation.

Only `gram` takes a whole matrix. `host_csr.normal` has its own, because block Lanczos calls it in every step.

A fresh installation would spend seconds compiling for what takes milliseconds on small matrices.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from eckart.arrays import Array, Matrix

COMPILE_FROM = 2**18
"""From this many stored entries on, compiled loops are worth their compilation time."""
_PAIR, _DENSE_ROWS = 38, 3
"""Time for the product of two stored entries relative to that of a stored and a dense one (measured), and the number of
rows, relative to that of the columns, up to which they are densified: then they take no more memory than the choice of
the solver expects for a Gram matrix.
"""


def loops(entries: int) -> ModuleType:
    """The loops for a matrix with this many stored entries."""
    if entries >= COMPILE_FROM:
        from eckart.engine.compiled import csr

        return csr
    return sys.modules[__name__]


def multiply(
    indptr: Array, indices: Array, data: Array, right: Array, start: int, stop: int, result: np.ndarray
) -> None:
    """result[i] = A[i] right for the rows start..stop."""
    result[start:stop] = _rows(indptr, indices, data, start, stop, right.shape[0]) @ right


def multiply_transposed(
    indptr: Array, indices: Array, data: Array, left: Array, start: int, stop: int, result: np.ndarray
) -> None:
    """result += A[start:stop]^T left[start:stop]."""
    result += _rows(indptr, indices, data, start, stop, result.shape[0]).T @ left[start:stop]


def gram(matrix: Matrix) -> np.ndarray:
    """A^T A. The terms of both halves are added in the same order, so it is exactly symmetric.

    With many entries in a row, dense rows take less time than the pairs of stored entries.
    """
    rows = matrix.astype(np.float64, copy=False)
    height, columns = rows.shape
    many = rows.nnz * _PAIR > height * columns and height <= _DENSE_ROWS * columns
    product = rows.T @ rows.toarray() if many else (rows.T @ rows).toarray()
    return np.asarray(product)


def column_sums(
    indptr: Array, indices: Array, data: Array, roots: np.ndarray, start: int, stop: int, result: np.ndarray
) -> None:
    """result[j] += (u^T A, sum of squares, weight of the stored entries) of column j; no u means ones.

    result[0, 3] += the squared length of every row, to the eighth power.
    """
    columns, values, root = _entries(indptr, indices, data, roots, start, stop)
    count = result.shape[0]
    squares = values * values
    result[:, 0] += np.bincount(columns, values if root is None else root * values, count)
    result[:, 1] += np.bincount(columns, squares, count)
    result[:, 2] += np.bincount(columns, None if root is None else root * root, count)
    edges = indptr[start : stop + 1] - indptr[start]
    kept = np.flatnonzero(edges[1:] > edges[:-1])  # `reduceat` treats an empty row as one entry
    result[0, 3] += float(np.sum(np.add.reduceat(squares, edges[kept]) ** 8)) if kept.size else 0.0


def column_squares(
    indptr: Array, indices: Array, data: Array, roots: np.ndarray, mean: np.ndarray, start: int, stop: int,
    result: np.ndarray,
) -> None:  # fmt: skip
    """result[j, 0] += sum over stored entries of (a - u mean)^2, rows start..stop."""
    columns, values, root = _entries(indptr, indices, data, roots, start, stop)
    centre = mean[columns] if root is None else root * mean[columns]
    result[:, 0] += np.bincount(columns, (values - centre) ** 2, result.shape[0])


def _rows(indptr: Array, indices: Array, data: Array, start: int, stop: int, columns: int) -> Matrix:
    """Rows start..stop as a separate matrix."""
    from scipy import sparse

    if start == 0 and stop == len(indptr) - 1:
        parts = (data, indices, indptr)
    else:
        first, last = int(indptr[start]), int(indptr[stop])
        parts = (data[first:last], indices[first:last], indptr[start : stop + 1] - indptr[start])
    return sparse.csr_array(parts, shape=(stop - start, columns))


def _entries(
    indptr: Array, indices: Array, data: Array, roots: np.ndarray, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(columns, values in float64, roots of the weights or None for ones) of the stored entries."""
    first, last = int(indptr[start]), int(indptr[stop])
    values = data[first:last].astype(np.float64, copy=False)
    root = np.repeat(roots[start:stop], np.diff(indptr[start : stop + 1])) if roots.shape[0] else None
    return indices[first:last].astype(np.intp, copy=False), values, root  # `bincount` would convert them every time
