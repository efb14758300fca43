"""Dense NumPy rows in memory, at least as many as columns, for a float64 Gram matrix without preparation.

D = A - 1 c^T is formed block by block, with c the means of some rows, unless these are small relative to the spread.
The sums s = D^T 1 and D^T D come from the same blocks. Everything else is as in `tall`:

    B^T B = D^T D - s s^T / n, with an error of at most 4 gamma(m) ||D||_F^2, where m is the number of roundings of a
    term.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array
from eckart.engine.operator import Operator
from eckart.engine.parallel import fold
from eckart.engine.prepare import Convert
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.case import AMPLIFIED, RANGE
from eckart.engine.standardize.moments import describe
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.standardize.tall import Tall

if TYPE_CHECKING:
    from eckart.engine.matrix import Opened

_SAMPLED_ROWS = 64
"""Number of rows whose means are c. They are spread over the table, because the first rows of a series say little about
its means.
"""
_SMALL_DATA = 2**16
"""Up to this many entries, a copy costs too little to avoid."""
_BLOCK_ROWS, _BLOCK_ENTRIES, _CACHED = (520, 2000), 2**16, 400
"""Minimum and maximum rows of a block, minimum entries, and maximum columns for which a sum of products stays in cache.

Each product has as many roundings as the block has rows, so the error bound is proportional to them. With 2000 rows
instead of 520 the sums take up to 5 % less time, but the bound is too wide four times as soon. OpenBLAS splits the rows
into pieces of at most 384. Pieces of exactly 256, which result from 512 and 2048 rows, take 15 to 35 % longer
(processor times on AMD EPYC, 50 to 400 columns)."""
_SEGMENT_WORK, _SEGMENT_ROWS = 2e7, 1024
"""Minimum multiplications and rows for which a segment is worth a thread."""
_SEGMENTS = (4, 8)
"""Maximum number of segments: the first number, up to the second if each has this many rows."""
_OFFSET = 16.0
"""Up to this squared mean, relative to the variance of the column, the rows are multiplied uncentred. Rounding in D^T D
grows by this factor, but a copy of every block costs a third of its product.
"""


class OutOfRangeError(ArithmeticError):
    """The sum of squares is zero, not finite, or so large or small that squares are not safe."""


def is_resident(opened: Opened) -> bool:
    """Whether `ResidentTall` applies: dense NumPy rows, at least as many as columns, of ordinary magnitude."""
    matrix = opened.matrix
    if not isinstance(matrix, RowBlocks) or opened.exponent or not isinstance(matrix.matrix, np.ndarray):
        return False
    return matrix.shape[0] >= matrix.shape[1]


class ResidentTall(Tall):
    """B with the rows of A as its rows: the Gram matrix first, all other products as for any tall matrix."""

    def __init__(self, given: RowBlocks, *, center: bool) -> None:
        if given.precision != "float64":  # as `precise` does, without its copies
            given = RowBlocks(given.matrix, "float64", (Convert(np.float64),), counter=given.counter)
        super().__init__(given, center=center, scale=False)
        self._data: np.ndarray = given.matrix
        self._ready = False

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        if not gram:
            self._ready = False
            return super()._first(right, gram=gram)
        data = self._data
        count = len(data)
        self._given.counter.passes += 1
        if self.center and not self._ready:
            self._shift = sampled_means(data)
        sums, products = shifted_sums(data, self._shift, center=self.center)
        raw = products.diagonal().copy()
        low, high = RANGE["float64"]
        if not low < float(np.maximum.reduce(raw)) < high:
            raise OutOfRangeError
        rest, squares = sums / count, raw
        if self.center:
            products -= sums[:, None] * rest
            squares = products.diagonal().copy()
        additions = gram_additions(*data.shape)
        constant = np.zeros(0, int)
        if self.center:
            near = (squares <= 8.0 * gamma(additions + ENTRY) * raw).nonzero()[0]
            constant = self._given.constant_columns(near)
            # The rounding of constant columns may hide that the squares of all others underflowed.
            if constant.size and not low < float(np.delete(raw, constant).max(initial=0.0)) < high:
                raise OutOfRangeError
            self._settle(constant, sums, rest, products)
        self._operator, self._arriving, self._ready = None, None, True
        self._moments = describe(
            center=self.center, scale=False, rest=rest, raw=raw, squares=squares, weight=float(count),
            constant=constant, shift=self._shift, additions=additions, units=self._units,
        )  # fmt: skip
        self._sums = sums
        return products

    def _settle(self, constant: np.ndarray, sums: np.ndarray, rest: np.ndarray, products: np.ndarray) -> None:
        """Set constant columns to their first entry exactly, so that nothing is left after centring."""
        if not constant.size:
            return
        if self._shift is None:
            self._shift = np.zeros(len(sums))
        self._shift[constant] = self._data[0, constant]
        sums[constant] = rest[constant] = 0.0
        products[constant] = products[:, constant] = 0.0

    @property
    def operator(self) -> Operator:
        """The operator, created on demand: an accurate Gram matrix does not need it."""
        if self._operator is None and self._ready:
            self._operator = self._wrapped(self._sums, float(self._given.shape[0]))
        return super().operator

    def _change_units(self) -> bool:
        return False  # data that need other units raise `OutOfRangeError`

    def _better_shift(self) -> Array | None:
        moments = self.moments
        lost = self.center and bool((moments.raw > AMPLIFIED * moments.squares).any())
        return super()._better_shift() if lost else None

    def gram_error(self) -> float:
        return self._error(gram_additions(*self._given.shape))


def sampled_means(data: np.ndarray) -> np.ndarray | None:
    """Means of some rows; None if they are so small relative to the spread that nothing is lost without them.

    Subtracting them copies each block, which costs nothing for small data.
    """
    rows = data[:: max(len(data) // _SAMPLED_ROWS, 1)][: 2 * _SAMPLED_ROWS].astype(np.float64)
    mean: np.ndarray = np.add.reduce(rows, axis=0)
    mean /= len(rows)
    if data.size > _SMALL_DATA:
        rows -= mean
        spread = np.einsum("ij,ij->j", rows, rows) / len(rows)
        if np.all(mean * mean <= _OFFSET * spread):
            return None
    return mean


def shifted_sums(data: np.ndarray, shift: np.ndarray | None, *, center: bool) -> tuple[np.ndarray, np.ndarray]:
    """(D^T 1, D^T D) in float64, D = A - 1 c^T; the sums are zeros if not needed."""
    converted = shift is not None or data.dtype != np.float64
    size, edges = _block_rows(data.shape[1]), _segments(*data.shape)
    width = data.shape[1]
    if len(data) <= size and len(edges) == 1:
        block = _shifted(data, shift, np.empty(data.shape)) if converted else data
        return (np.add.reduce(block, axis=0) if center else np.zeros(width)), block.T @ block

    def step(segment: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        first, last = segment
        buffer = np.empty((min(size, last - first), width)) if converted else None
        ones = np.ones(min(size, last - first))
        sums, products = np.zeros(width), None
        product = np.empty((width, width))
        for start in range(first, last, size):
            block = data[start : min(start + size, last)]
            if buffer is not None:
                block = _shifted(block, shift, buffer[: len(block)])
            if center:
                sums += ones[: len(block)] @ block
            if products is None:
                products = block.T @ block
                continue
            # Reuse allocated memory: two threads that request new memory wait for each other.
            np.matmul(block.T, block, out=product)
            products += product
        assert products is not None
        return sums, products

    found: tuple[np.ndarray, np.ndarray] = fold(step, edges, _add)
    return found


def _shifted(block: np.ndarray, shift: np.ndarray | None, into: np.ndarray) -> np.ndarray:
    into[...] = block  # convert first: NumPy is slower at subtracting mixed dtypes
    if shift is not None:
        np.subtract(into, shift, out=into)
    return into


def _add(first: Array, second: Array) -> Array:
    return first[0] + second[0], np.add(first[1], second[1], out=first[1])


@lru_cache(maxsize=256)
def _segments(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Row ranges that depend only on the shape, so the sums have the same bits for any number of threads."""
    few, many = _SEGMENTS
    # Fewer rows than half of the columns: summing the products of segments takes half as long as forming them.
    most = min(max(few, rows // _SEGMENT_ROWS), many, max(rows // 64, 1), max(2 * rows // columns, 1))
    count = int(min(max(rows * columns * columns // _SEGMENT_WORK, 1), most))
    count = 1 << count.bit_length() - 1  # a power of two, so that 2 or 4 threads finish together
    edges = [rows * place // count for place in range(count + 1)]
    return tuple(itertools.pairwise(edges))


def _block_rows(columns: int) -> int:
    least, most = _BLOCK_ROWS
    return min(max(_BLOCK_ENTRIES // columns, least, 2 * columns if columns > _CACHED else 0), most)


@lru_cache(maxsize=256)
def gram_additions(rows: int, columns: int) -> int:
    """Number of roundings of a term of D^T D: within a block, over the blocks, and over the segments."""
    edges = _segments(rows, columns)
    longest, size = max(last - first for first, last in edges), _block_rows(columns)
    return min(size, longest) + -(-longest // size) + len(edges)
