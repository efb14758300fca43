"""Products with CSR rows, one pass each, densified only a few rows at a time.

Sparse rows need no shift before centring. For a column with a share p of stored entries, Cauchy-Schwarz gives mean^2 <=
p E[x^2], hence variance >= (1 - p) E[x^2]; at p <= 1/2 at most one bit is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.backends.csr_scipy import COMPILE_FROM, loops
from eckart.engine.backends.csr_scipy import gram as small_gram
from eckart.engine.backends.tall import mirrored
from eckart.engine.exponent import Exponent
from eckart.engine.operator import MomentsAndProduct, of_powers
from eckart.engine.parallel import each, fold
from eckart.engine.threads import threads

if TYPE_CHECKING:
    from eckart.arrays import Matrix
    from eckart.engine.rows import RowBlocks

_SEGMENTS = 8
_SEGMENT_ENTRIES = 2**16
"""Minimum number of stored entries for which a segment is worth a thread."""
_TILE_BYTES = 192
"""Bytes of the dense factor's columns per tile: three cache lines per gather."""
_PRODUCT_BYTES = 2**24
"""Size of the rows of A Q in memory at a time."""


def as_csr(matrix: Matrix) -> Matrix:
    """A canonical CSR array: sorted, without duplicates. The caller's matrix is unchanged."""
    from scipy import sparse

    result = sparse.csr_array(matrix)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def scale_rows(matrix: Matrix, factors: np.ndarray) -> Matrix:
    """diag(u) A with the pattern shared."""
    from scipy import sparse

    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr)).astype(matrix.dtype)
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def scale_columns(matrix: Matrix, factors: np.ndarray) -> Matrix:
    """A diag(f) with the pattern shared."""
    from scipy import sparse

    data = matrix.data * factors.astype(matrix.dtype)[matrix.indices]
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def times_power_of_two(matrix: Matrix, exponent: Exponent) -> Matrix:
    """2^e A, with one e or one for each column; the pattern is shared."""
    from scipy import sparse

    each_entry = exponent if isinstance(exponent, int) else exponent[matrix.indices]
    return sparse.csr_array((np.ldexp(matrix.data, each_entry), matrix.indices, matrix.indptr), shape=matrix.shape)


def largest(matrix: Matrix) -> float:
    """The largest modulus."""
    return float(np.fmax.reduce(np.abs(matrix.data), initial=0.0))  # missing values have no magnitude


def on_host(matrix: Matrix) -> Matrix:
    return matrix


def dense_rows(matrix: Matrix, index: slice) -> np.ndarray:
    """A few rows, densified."""
    return np.asarray(matrix[index].toarray(), dtype=np.float64)


def whole(matrix: Matrix) -> np.ndarray:
    """All of a small matrix."""
    return np.asarray(matrix.toarray(), dtype=np.float64)


def transposed(matrix: Matrix) -> Matrix:
    """A^T, rows first."""
    return as_csr(matrix.T)


def normal(op: RowBlocks, right: np.ndarray) -> np.ndarray:
    """A^T (A Q), fused: each row is gathered and scattered while it is in cache; by SciPy for small matrices."""
    matrix = op.matrix
    if matrix.nnz >= COMPILE_FROM:
        return _tiled(op, right, loops(matrix.nnz).normal)
    first, second = _by_rows(op) if right.shape[1] == 1 else _by_columns(op)
    product: np.ndarray = second @ (first @ right.astype(matrix.dtype, copy=False))
    return product.astype(np.float64, copy=False)


def _by_columns(op: RowBlocks) -> tuple[Matrix, Matrix]:
    """A and A^T by columns: SciPy multiplies columns with a few vectors faster than rows, whose sums wait."""
    if "by_columns" not in op.memo:
        op.memo["by_columns"] = op.matrix.tocsc(), op.matrix.T  # the second shares its entries
    layouts: tuple[Matrix, Matrix] = op.memo["by_columns"]
    return layouts


def _by_rows(op: RowBlocks) -> tuple[Matrix, Matrix]:
    """A and A^T by rows: faster with one vector, which is read out of order but stays in cache."""
    if "by_rows" not in op.memo:
        op.memo["by_rows"] = op.matrix, _by_columns(op)[0].T  # the second shares the entries of A by columns
    layouts: tuple[Matrix, Matrix] = op.memo["by_rows"]
    return layouts


def rmatmat(op: RowBlocks, left: np.ndarray) -> np.ndarray:
    """A^T Y."""
    return _tiled(op, left, loops(op.matrix.nnz).multiply_transposed)


def matmat(op: RowBlocks, right: np.ndarray) -> np.ndarray:
    """A Q."""
    matrix = op.matrix
    csr = loops(matrix.nnz)
    factor = np.ascontiguousarray(right, dtype=matrix.dtype)
    result = np.empty((matrix.shape[0], factor.shape[1]), matrix.dtype)

    def step(segment: tuple[int, int]) -> None:
        csr.multiply(matrix.indptr, matrix.indices, matrix.data, factor, *segment, result)

    each(step, segments(matrix), workers=op.workers)
    return result


def gram(op: RowBlocks, right: np.ndarray | None = None) -> np.ndarray:
    """A^T A (dense, columns x columns), or (A Q)^T (A Q)."""
    if right is not None:
        return _gram_of_product(op.precise(), right)
    matrix = op.matrix
    if matrix.nnz < COMPILE_FROM:
        return small_gram(matrix)
    csr = loops(matrix.nnz)
    columns = matrix.shape[1]
    result = np.zeros((columns, columns))

    def step(part: tuple[int, int]) -> None:
        csr.gram(matrix.indptr, matrix.indices, matrix.data, *part, result)

    # Each worker owns some rows of the shared result, so there are no partial sums, and the bits do not depend on their
    # number.
    each(step, _gram_rows(matrix, op.workers or threads()), workers=op.workers)
    return mirrored(result)


def _gram_of_product(op: RowBlocks, right: np.ndarray) -> np.ndarray:
    """(A Q)^T (A Q), a few rows of A Q at a time: all of them may take far more memory than A."""
    rows, width = op.matrix.shape[0], right.shape[1]
    size = max(_PRODUCT_BYTES // (8 * max(width, 1)), 64)
    total = np.zeros((width, width))
    for start in range(0, rows, size):
        whole = size >= rows
        product = matmat(op if whole else replace(op, matrix=op.matrix[start : start + size]), right)
        total += product.T @ product
    return total


def _gram_rows(matrix: Matrix, count: int) -> list[tuple[int, int]]:
    """Ranges of rows of the upper triangle of A^T A with about equal work."""
    columns, csr = matrix.shape[1], loops(matrix.nnz)
    if count <= 1:
        return [(0, columns)]
    work = np.zeros(columns, np.int64)
    csr.gram_work(matrix.indptr, matrix.indices, work)
    done = np.cumsum(work)
    inner = np.searchsorted(done, np.linspace(0, done[-1], count + 1)[1:-1])
    edges = np.unique(np.concatenate(([0], inner, [columns]))).astype(int).tolist()
    return list(itertools.pairwise(edges))


_gram_of = gram  # `moments_and_product` has an argument of this name


def moments_and_product(op: RowBlocks, right: np.ndarray | None, *, gram: bool) -> MomentsAndProduct:
    """u^T A, sums of squares and a product: several sweeps over memory, one pass over the data."""
    if _is_small(op):
        sums, squares, stored, powers = _small_column_sums(op)
    else:
        sums, squares, stored, powers = _over_segments(op, "column_sums", ())
    weight = float(op.matrix.shape[0]) if op.weight_roots is None else float(np.sum(op.weight_roots**2))
    product = _gram_of(op) if gram else None if right is None else normal(op, right)
    return MomentsAndProduct(sums, squares, weight, product, stored, of_powers(powers[:1]))


def squares_about_mean(op: RowBlocks, moments_and_product: MomentsAndProduct) -> np.ndarray:
    """Sum of (a - mean)^2 by column, without cancellation."""
    mean = moments_and_product.sums / moments_and_product.weight
    metadata = _small_squares_about(op, mean) if _is_small(op) else _over_segments(op, "column_squares", (mean,))[0]
    # Entries that are not stored are zeros, each at distance `mean` from the mean.
    absent = np.maximum(moments_and_product.weight - np.asarray(moments_and_product.stored), 0.0)
    return np.asarray(metadata + absent * mean**2)


def _is_small(op: RowBlocks) -> bool:
    """Whether sums are formed from the columns that SciPy's products need anyway."""
    return op.weight_roots is None and 0 < op.matrix.nnz < COMPILE_FROM


def _small_column_sums(op: RowBlocks) -> tuple[np.ndarray, ...]:
    """The sums of `csr_scipy.column_sums` without weights; the longest sums are a by-product."""
    matrix, columns = op.matrix, _by_columns(op)[0]
    stored, entries = np.diff(columns.indptr), columns.data.astype(np.float64, copy=False)
    lengths, by_rows = np.diff(matrix.indptr), matrix.data.astype(np.float64, copy=False)
    op.memo["longest"] = int(lengths.max()), int(stored.max())
    powers = np.sum(_sums_between(by_rows * by_rows, matrix.indptr, lengths) ** 8, keepdims=True)
    sums, squares = (_sums_between(part, columns.indptr, stored) for part in (entries, entries * entries))
    return sums, squares, stored.astype(np.float64), powers


def _small_squares_about(op: RowBlocks, mean: np.ndarray) -> np.ndarray:
    """The sums of `csr_scipy.column_squares` without weights."""
    columns = _by_columns(op)[0]
    stored = np.diff(columns.indptr)
    return _sums_between((columns.data - np.repeat(mean, stored)) ** 2, columns.indptr, stored)


def _sums_between(values: np.ndarray, edges: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums of consecutive values; `reduceat` treats an empty range as one entry."""
    result = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    result[filled] = np.add.reduceat(values, edges[filled])
    return result


def squares_about(
    matrix: Matrix, left: np.ndarray, right: np.ndarray, factor: np.ndarray, *, across: bool
) -> np.ndarray:
    """sum a (a - 2 l r) f over the stored entries of each row, or of each column with `across`."""
    from scipy import sparse

    data, indices = matrix.data.astype(np.float64), matrix.indices
    entries = data * (data - 2.0 * np.repeat(left, np.diff(matrix.indptr)) * right[indices]) * factor[indices]
    if across:
        return np.bincount(indices, weights=entries, minlength=matrix.shape[1])
    return np.asarray(sparse.csr_array((entries, indices, matrix.indptr), shape=matrix.shape).sum(axis=1))


def longest_sums(matrix: Matrix) -> tuple[int, int]:
    """(most stored entries in a row, most in a column)."""
    counts = np.bincount(matrix.indices, minlength=1)
    return int(np.diff(matrix.indptr).max(initial=0)), int(counts.max(initial=0))


def stored_counts(matrix: Matrix, counted: np.ndarray | None = None) -> np.ndarray:
    """Stored entries of each column, in all rows or in those `counted`."""
    weights = None if counted is None else np.repeat(counted, np.diff(matrix.indptr))
    return np.bincount(matrix.indices, weights=weights, minlength=matrix.shape[1])


def shift_full_columns(op: RowBlocks, shift: np.ndarray) -> Matrix:
    """diag(u) (A - 1 c^T), where c is nonzero only on full columns: the sparsity pattern is unchanged.

    Entries are shifted before they are weighted: a weighted entry is rounded, and a large mean would expose the
    rounding.
    """
    from scipy import sparse

    matrix = op.matrix
    given = matrix if op.stored is None else op.stored
    data = given.data.astype(np.float64) - shift[matrix.indices]
    if op.weight_roots is not None:
        data *= np.repeat(op.weight_roots, np.diff(matrix.indptr))
    data = data.astype(matrix.dtype)
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _over_segments(op: RowBlocks, kernel: str, extra: tuple[np.ndarray, ...]) -> np.ndarray:
    """Column sums by a kernel of `compiled.csr`, segment by segment; the sums of a column share a cache line."""
    matrix = op.matrix
    csr = loops(matrix.nnz)
    roots = np.zeros(0) if op.weight_roots is None else op.weight_roots

    def step(segment: tuple[int, int]) -> np.ndarray:
        result = np.zeros((matrix.shape[1], 4))
        getattr(csr, kernel)(matrix.indptr, matrix.indices, matrix.data, roots, *extra, *segment, result)
        return result

    sums = fold(step, segments(matrix), np.add, workers=op.workers)
    return np.ascontiguousarray(sums.T)


def segments(matrix: Matrix, count: int | None = None) -> list[tuple[int, int]]:
    """Row ranges with equal numbers of stored entries, one for small matrices."""
    rows = matrix.shape[0]
    count = min(_SEGMENTS, max(1, int(matrix.nnz) // _SEGMENT_ENTRIES)) if count is None else count
    if count == 1:
        return [(0, rows)]
    targets = np.linspace(0, matrix.nnz, count + 1)[1:-1]
    inner = np.searchsorted(matrix.indptr, targets)
    edges = np.unique(np.concatenate(([0], inner, [rows]))).astype(int).tolist()
    return list(itertools.pairwise(edges)) or [(0, rows)]


def _tiled(op: RowBlocks, factor: np.ndarray, kernel: Callable[..., None]) -> np.ndarray:
    """Sum over segments of kernel(rows, tile of the factor), with a small accumulator per thread."""
    matrix = op.matrix
    width = max(1, _TILE_BYTES // matrix.dtype.itemsize)
    factor = np.asarray(factor, dtype=matrix.dtype)
    pieces = [
        _sum_segments(op, np.ascontiguousarray(factor[:, first : first + width]), kernel)
        for first in range(0, factor.shape[1], width)
    ]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


def _sum_segments(op: RowBlocks, factor: np.ndarray, kernel: Callable[..., None]) -> np.ndarray:
    matrix = op.matrix

    def step(segment: tuple[int, int]) -> np.ndarray:
        result = np.zeros((matrix.shape[1], factor.shape[1]), matrix.dtype)
        kernel(matrix.indptr, matrix.indices, matrix.data, factor, *segment, result)
        return result

    def add(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        first = first.astype(np.float64, copy=False)
        first += second
        return first

    total: np.ndarray = fold(step, segments(matrix, _accumulators(matrix)), add, workers=op.workers)
    return total.astype(np.float64, copy=False)


def _accumulators(matrix: Matrix) -> int:
    """Number of segments with their own sum: as many as have enough work to pay for clearing and adding it."""
    if matrix.nnz < COMPILE_FROM:
        return 1
    return max(2, min(32, int(matrix.nnz) // (64 * max(int(matrix.shape[1]), 1))))
