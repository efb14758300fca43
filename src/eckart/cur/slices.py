"""One pass over A for chosen columns J and a product: A[:, J], A Q, ||A||^2, in slices of rows.

Slices are float64 and on the device of the data. Of sparse rows, only the chosen columns and A Q become dense.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from eckart.arrays import Array, Matrix, from_numpy, is_numpy, namespace, to_numpy
from eckart.cur.constants import DENSE_BYTES, DEVICE_BYTES, SLICE_SEGMENTS, SPARSE_ROWS
from eckart.engine.backends import host_csr as sparse_rows
from eckart.engine.backends.csr_scipy import loops
from eckart.engine.backends.cuda import device_rows, gather
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.parallel import fold
from eckart.engine.rows import RowBlocks

Result = TypeVar("Result")

_SUMMED, _PIECES = 128, 64
"""Products of dense rows sum at least this many terms at a time, in at most so many pieces, so that few roundings
accumulate.
"""


@dataclass(frozen=True)
class Slice:
    """Some rows of A: their entries in the chosen columns (as stored, and dense), A Q, and sums of squares."""

    stored: Matrix
    """None on a GPU, where the columns can be collected at the end."""
    chosen: Array
    image: Array
    squares: float
    outside: float
    """||A - A Q Q^T||^2 of these rows, formed entry by entry; NaN unless requested."""


def fold_slices(
    matrix: object,
    columns: np.ndarray,
    right: Array,
    step: Callable[[Slice], Result],
    add: Callable[[Result, Result], Result],
    *,
    outside: bool = False,
) -> Result:
    """add(... step(slice) ...) over all rows in order, in one pass; `right` is columns x b, orthonormal."""
    total: Result | None = None
    for piece in _in_memory(matrix):
        walk = _walk(piece)

        def over(segment: tuple[int, int], piece: RowBlocks = piece, walk: Matrix = walk) -> Result:
            return _joined(map(step, walk(piece, columns, right, segment, outside)), add)

        found = fold(over, _segments(piece), add)
        total = found if total is None else add(total, found)
    assert total is not None
    return total


def squares_both_ways(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares of each row and of each column, in float64, in one pass."""
    rows: list[np.ndarray] = []
    columns = np.zeros(matrix.shape[1])
    for piece in _in_memory(matrix):
        if isinstance(piece.matrix, DeviceCsr):
            found = gather.squares_both_ways(piece.matrix)
            rows.append(found[0])
            columns += found[1]
            continue
        if piece.sparse:
            stored = piece.matrix
            squares = stored.data.astype(np.float64) ** 2
            lines = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
            rows.append(np.bincount(lines, weights=squares, minlength=stored.shape[0]))
            columns += np.bincount(stored.indices, weights=squares, minlength=stored.shape[1])
            continue
        for _, block in piece.precise().blocks(0, piece.shape[0]):
            xp, squares = namespace(block), block * block
            rows.append(to_numpy(xp.sum(squares, axis=1)))
            columns += to_numpy(xp.sum(squares, axis=0))
    return np.concatenate(rows), columns


def _in_memory(matrix: Matrix) -> Iterator[RowBlocks]:
    """The matrix itself, or its blocks in turn if it is read from a file; one pass."""
    if isinstance(matrix, RowBlocks):
        matrix.counter.passes += 1
        yield matrix
    else:
        for _, piece in matrix.pieces():
            yield piece


def _joined(results: Iterable[Result], add: Callable[[Result, Result], Result]) -> Result:
    iterator = iter(results)
    total = next(iterator)
    for result in iterator:
        total = add(total, result)
    return total


def _segments(piece: RowBlocks) -> list[tuple[int, int]]:
    """Row ranges that depend on the matrix alone."""
    if isinstance(piece.matrix, DeviceCsr):
        return [(0, piece.shape[0])]
    if piece.sparse:
        return sparse_rows.segments(piece.matrix)
    rows = piece.shape[0]
    count = max(1, min(SLICE_SEGMENTS if is_numpy(piece.prototype) else 1, rows // 64))
    return list(itertools.pairwise(np.linspace(0, rows, count + 1).astype(int).tolist()))


def _walk(piece: RowBlocks) -> Matrix:
    if isinstance(piece.matrix, DeviceCsr):
        return _device_slices
    return _sparse_slices if piece.sparse else _dense_slices


def _dense_slices(
    piece: RowBlocks, columns: np.ndarray, right: Array, segment: tuple[int, int], outside: bool
) -> Iterator[Slice]:
    precise = piece.precise()
    factor: Array = from_numpy(right, precise.prototype) if is_numpy(right) else right
    size = max(precise.rows_per_block, 4 * (len(columns) + int(right.shape[1])))
    indices: Array = from_numpy(columns, precise.prototype)
    xp = namespace(precise.prototype)
    for _, block in precise.blocks(*segment, size):
        image = _product(block, factor)
        rest = float(xp.sum((block - image @ factor.T) ** 2)) if outside else np.nan
        chosen = xp.take(block, indices, axis=1)
        yield Slice(chosen if xp is np else None, chosen, image, float(xp.sum(block * block)), rest)


def _product(block: Array, factor: Array) -> Array:
    """The product, summed in pieces: see `additions`."""
    columns, width = block.shape[1], _width(block.shape[1])
    if columns <= width:
        return block @ factor
    pieces = ((start, min(start + width, columns)) for start in range(0, columns, width))
    products = (block[:, start:stop] @ factor[start:stop, :] for start, stop in pieces)
    return functools.reduce(operator.iadd, products)


def _width(columns: int) -> int:
    return max(_SUMMED, -(-columns // _PIECES))


def additions(columns: int, *, sparse: bool) -> int:
    """The largest number of roundings of a term in an entry of A Q."""
    width = _width(columns)
    return columns if sparse else min(columns, width) + -(-columns // width)


def _sparse_slices(
    piece: RowBlocks, columns: np.ndarray, right: np.ndarray, segment: tuple[int, int], outside: bool
) -> Iterator[Slice]:
    matrix = piece.matrix
    csr = loops(matrix.nnz)
    right = np.ascontiguousarray(right)
    size = max(1, min(SPARSE_ROWS, DENSE_BYTES // (8 * matrix.shape[1]))) if outside else SPARSE_ROWS
    for start in range(*segment, size):
        stop = min(start + size, segment[1])
        rows = _rows_between(matrix, start, stop)
        image = np.empty((stop - start, right.shape[1]))
        csr.multiply(rows.indptr, rows.indices, rows.data, right, 0, stop - start, image)
        rest = float(np.sum((rows.toarray() - image @ right.T) ** 2)) if outside else np.nan
        stored = rows[:, columns]
        squares = float(np.sum(rows.data.astype(np.float64) ** 2))
        yield Slice(stored, stored.toarray().astype(np.float64), image, squares, rest)


def _device_slices(
    piece: RowBlocks, columns: np.ndarray, right: Array, segment: tuple[int, int], outside: bool
) -> Iterator[Slice]:
    width = piece.shape[1] if outside else len(columns) + int(right.shape[1])
    size = max(1, DEVICE_BYTES // (8 * width))
    xp = namespace(right)
    for start in range(*segment, size):
        stop = min(start + size, segment[1])
        rows = replace(piece, matrix=gather.rows_between(piece.matrix, start, stop)).precise()
        image = device_rows.matmat(rows, right)
        rest = float(xp.sum((gather.dense(rows.matrix) - image @ right.T) ** 2)) if outside else np.nan
        chosen, squares = gather.dense_columns(rows.matrix, columns), gather.sum_of_squares(rows.matrix)
        yield Slice(None, chosen, image, squares, rest)


def _rows_between(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Rows start..stop of a CSR array, entries shared."""
    from scipy import sparse

    first, last = matrix.indptr[start], matrix.indptr[stop]
    parts = (matrix.data[first:last], matrix.indices[first:last], matrix.indptr[start : stop + 1] - first)
    return sparse.csr_array(parts, shape=(stop - start, matrix.shape[1]))
