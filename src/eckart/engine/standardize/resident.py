"""Dense NumPy rows in memory, at least as many as columns, for a Gram matrix in float64 without any preparation.

D = A - 1 c^T is formed block by block, with c the means of some rows, if those are not small relative to the spread;
the sums s = D^T 1 and D^T D come from the same blocks, and everything else is as in `tall`:

    B^T B = D^T D - s s^T / n,    error at most 4 gamma(m) ||D||_F^2, m the roundings that a term passes through.
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
"""Rows whose means are c: spread over the table, because the first rows of a series say little about its means."""
_SMALL_DATA = 2**16
"""Entries up to which a copy costs nothing worth saving."""
_BLOCK_ROWS, _BLOCK_ENTRIES, _CACHED = (520, 2000), 2**16, 400
"""Rows of a block, at least and at most; entries at least; and columns up to which a sum of products stays in cache.

Each product passes through as many roundings as the block has rows, so the error bound is proportional to them. With
2000 rows instead of 520 the sums take up to 5 % less time, but the bound is too wide four times as soon. OpenBLAS cuts
the rows into pieces of at most 384; pieces of exactly 256, which 512 rows and 2048 rows end in, take 15 to 35 % longer
(processor times on AMD EPYC, 50 to 400 columns)."""
_SEGMENT_WORK, _SEGMENT_ROWS = 2e7, 1024
"""Fewest multiplications and rows of a segment that is worth a thread."""
_SEGMENTS = (4, 8)
"""Segments at most: the first number, up to the second where each has this many rows."""
_OFFSET = 16.0
"""Squared mean, relative to the variance of the column, up to which the rows are multiplied as they are: rounding in
D^T D grows by this factor, but a copy of every block costs as much as a third of its product."""


class OutOfRangeError(ArithmeticError):
    """The sum of squares is zero, not finite, or so large or small that squares are not safe."""


def is_resident(opened: Opened) -> bool:
    """Whether `ResidentTall` applies: dense NumPy rows, not fewer than columns, of ordinary size."""
    matrix = opened.matrix
    if not isinstance(matrix, RowBlocks) or opened.exponent or not isinstance(matrix.matrix, np.ndarray):
        return False
    return matrix.shape[0] >= matrix.shape[1]


class ResidentTall(Tall):
    """B with the rows of A as its rows; the Gram matrix first, all other products as for any tall matrix."""

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
            # What rounding leaves of constant columns may hide that the squares of all others have vanished.
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
        """A constant column is its first entry, exactly: nothing is left of it."""
        if not constant.size:
            return
        if self._shift is None:
            self._shift = np.zeros(len(sums))
        self._shift[constant] = self._data[0, constant]
        sums[constant] = rest[constant] = 0.0
        products[constant] = products[:, constant] = 0.0

    @property
    def operator(self) -> Operator:
        """Made on demand: a Gram matrix that is accurate enough needs none."""
        if self._operator is None and self._ready:
            self._operator = self._wrapped(self._sums, float(self._given.shape[0]))
        return super().operator

    def _change_units(self) -> bool:
        return False  # data that need other units are refused (`OutOfRangeError`)

    def _better_shift(self) -> Array | None:
        moments = self.moments
        lost = self.center and bool((moments.raw > AMPLIFIED * moments.squares).any())
        return super()._better_shift() if lost else None

    def gram_error(self) -> float:
        return self._error(gram_additions(*self._given.shape))


def sampled_means(data: np.ndarray) -> np.ndarray | None:
    """Means of some rows; None where they are so small relative to the spread that nothing is lost without them.

    Subtracting costs a copy of each block, which is nothing for small data.
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
    """(D^T 1, D^T D) in float64, D = A - 1 c^T; the sums are zeros where they are not needed."""
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
            # Into memory that is in use already: two threads that ask for new memory wait for each other.
            np.matmul(block.T, block, out=product)
            products += product
        assert products is not None
        return sums, products

    found: tuple[np.ndarray, np.ndarray] = fold(step, edges, _add)
    return found


def _shifted(block: np.ndarray, shift: np.ndarray | None, into: np.ndarray) -> np.ndarray:
    into[...] = block  # conversion first: NumPy is slower at subtracting numbers of two kinds
    if shift is not None:
        np.subtract(into, shift, out=into)
    return into


def _add(first: Array, second: Array) -> Array:
    return first[0] + second[0], np.add(first[1], second[1], out=first[1])


@lru_cache(maxsize=256)
def _segments(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Row ranges that depend on the shape alone: the sums have the same bits for any number of threads."""
    few, many = _SEGMENTS
    # Fewer rows than half of the columns: summing the products of segments takes half as long as forming them.
    most = min(max(few, rows // _SEGMENT_ROWS), many, max(rows // 64, 1), max(2 * rows // columns, 1))
    count = int(min(max(rows * columns * columns // _SEGMENT_WORK, 1), most))
    count = 1 << count.bit_length() - 1  # a power of two: 2 or 4 threads finish together
    edges = [rows * place // count for place in range(count + 1)]
    return tuple(itertools.pairwise(edges))


def _block_rows(columns: int) -> int:
    least, most = _BLOCK_ROWS
    return min(max(_BLOCK_ENTRIES // columns, least, 2 * columns if columns > _CACHED else 0), most)


@lru_cache(maxsize=256)
def gram_additions(rows: int, columns: int) -> int:
    """Roundings that a term of D^T D passes through: within a block, over the blocks, and over the segments."""
    edges = _segments(rows, columns)
    longest, size = max(last - first for first, last in edges), _block_rows(columns)
    return min(size, longest) + -(-longest // size) + len(edges)
