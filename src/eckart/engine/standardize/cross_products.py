"""D^T 1 and D^T D of dense NumPy rows, D = A - 1 c^T, in float64 and in one pass over blocks that stay in cache.

Segments of rows are shared by threads and depend on the shape alone; so do the blocks within them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from eckart.engine.parallel import fold
from eckart.engine.threads import largest_unpacked_product

Edges = tuple[tuple[int, int], ...]
Sums = list[np.ndarray]

_BLOCK_ROWS, _BLOCK_ENTRIES, _CACHED = (520, 2500), 2**16, 400
"""Minimum and maximum rows of a block, minimum entries, and maximum columns for which a sum of products stays in cache.

Each product has as many roundings as the block has rows, so the error bound is proportional to them. With 2000 rows
instead of 520 the sums take up to 5 % less time, but the bound is too wide four times as soon. OpenBLAS splits the rows
into pieces of at most 384. Pieces of exactly 256, which result from 512 and 2048 rows, take 15 to 35 % longer
(processor times on AMD EPYC, 50 to 400 columns)."""
_NARROW, _PIECE = 112, 32
"""Up to this many columns, D^T D is formed in horizontal pieces of about a quarter of them, upper triangle only. A
symmetric product wastes much of its blocks on so few columns: pieces take 10 to 40 % less time where OpenBLAS
multiplies small matrices without copying them, but a quarter more where it does not.
"""
_TOGETHER = 1024
"""Numbers from which a means row is subtracted at a time."""
_SMALL_PRODUCT, _NARROW_ROWS = 10**6, 1500
"""Maximum multiplications of a product that OpenBLAS forms without copying its operands, and maximum rows of a block.
"""
_FACTOR_ENTRIES, _FACTOR_ROWS = 2**17, 128
"""Entries and rows, at least, of a block that is multiplied by few columns."""
_SEGMENT_WORK, _SEGMENT_ROWS = 2e7, 1024
"""Minimum multiplications and rows for which a segment is worth a thread."""
_SEGMENTS = (4, 8)
"""Maximum number of segments: the first number, up to the second if each has this many rows."""


def shifted_sums(data: np.ndarray, shift: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(D^T 1, D^T D) in float64."""
    rows, columns = data.shape
    narrow = columns <= _NARROW and largest_unpacked_product() > 0
    step = _narrow_step(data, shift) if narrow else _wide_step(data, shift)
    found = fold(step, segments(rows, columns), add_in_place)
    return found[0], _joined(found[1:], _pieces(columns), columns) if narrow else found[1]


def _narrow_step(data: np.ndarray, shift: np.ndarray | None) -> Callable[[tuple[int, int]], Sums]:
    """D^T 1, and rows i to j of D^T D from column i on, for each piece (i, j)."""
    columns = data.shape[1]
    size, pieces, rows = block_rows(columns), _pieces(columns), Converted(data, shift)

    def step(segment: tuple[int, int]) -> Sums:
        first, last = segment
        length = _even(last - first, size)
        buffer, ones = np.empty((length, columns)), np.ones(length)
        total: Sums = []
        products: Sums = []
        for start in range(first, last, length):
            block = rows.fill(buffer, start, min(start + length, last))
            if not total:
                total = [ones[: len(block)] @ block, *(block[:, i:j].T @ block[:, i:] for i, j in pieces)]
                continue
            # Reuse allocated memory: two threads that request new memory wait for each other.
            products = products or [np.empty_like(part) for part in total[1:]]
            total[0] += ones[: len(block)] @ block
            for (i, j), product, part in zip(pieces, products, total[1:], strict=True):
                np.matmul(block[:, i:j].T, block[:, i:], out=product)
                np.add(part, product, out=part)
        return total

    return step


class Converted:
    """Blocks of D = A - 1 c^T in float64 (or in the dtype of the buffer, if c has the dtype of A)."""

    def __init__(self, data: np.ndarray, shift: np.ndarray | None) -> None:
        self._data, self._shift = data, shift
        # NumPy takes longer to begin a short row than to subtract it, so many rows are taken as one.
        self._together = max(1, _TOGETHER // data.shape[1]) if data.flags.c_contiguous else 1
        self._shifts = None if shift is None else shift[None].repeat(self._together, 0).ravel()

    def fill(self, buffer: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Rows start to stop, in the memory of the buffer."""
        rows, into = self._data[start:stop], buffer[: stop - start]
        if self._shift is None or self._shifts is None:
            into[...] = rows
            return into
        if rows.dtype != into.dtype:
            into[...] = rows  # convert first: NumPy is slower at subtracting mixed dtypes
            rows = into
        whole = len(rows) // self._together * self._together
        if whole and self._together > 1:
            width = self._together * rows.shape[1]
            np.subtract(rows[:whole].reshape(-1, width), self._shifts, out=into[:whole].reshape(-1, width))
            rows, rest = rows[whole:], into[whole:]
        else:
            rest = into
        np.subtract(rows, self._shift, out=rest)
        return into


def _joined(found: Sums, pieces: Edges, columns: int) -> np.ndarray:
    """The whole symmetric matrix from pieces of its upper triangle."""
    if len(pieces) == 1:
        return found[0]
    products = np.empty((columns, columns))
    for (i, j), part in zip(pieces, found, strict=True):
        products[i:j, i:] = part
        products[j:, i:j] = part[:, j - i :].T
    return products


def _wide_step(data: np.ndarray, shift: np.ndarray | None) -> Callable[[tuple[int, int]], Sums]:
    """D^T 1 and D^T D."""
    columns = data.shape[1]
    size = block_rows(columns)
    converted = Converted(data, shift) if shift is not None or data.dtype != np.float64 else None

    def step(segment: tuple[int, int]) -> Sums:
        first, last = segment
        length = _even(last - first, size)
        buffer = np.empty((length if converted else 0, columns))
        ones, total = np.ones(length), np.zeros(0)
        sums, product = np.zeros(columns), np.zeros(0)
        for start in range(first, last, length):
            stop = min(start + length, last)
            block = data[start:stop] if converted is None else converted.fill(buffer, start, stop)
            sums += ones[: len(block)] @ block
            if not total.size:
                total = block.T @ block
                continue
            product = product if product.size else np.empty_like(total)
            np.matmul(block.T, block, out=product)
            total += product
        return [sums, total]

    return step


def centred_products(
    data: np.ndarray, shift: np.ndarray | None, factor: np.ndarray, offset: np.ndarray | None
) -> np.ndarray:
    """(D Q - 1 o^T)^T (D Q - 1 o^T) in float64."""
    rows, columns = data.shape
    size = _factor_rows(rows, columns) if 3 * factor.shape[1] <= columns else block_rows(columns)
    converted = Converted(data, shift) if shift is not None or data.dtype != np.float64 else None

    def step(segment: tuple[int, int]) -> Sums:
        first, last = segment
        buffer = np.empty((min(size, last - first) if converted else 0, columns))
        total = np.zeros((factor.shape[1], factor.shape[1]))
        for start in range(first, last, size):
            stop = min(start + size, last)
            block = data[start:stop] if converted is None else converted.fill(buffer, start, stop)
            scores = block @ factor
            if offset is not None:
                scores -= offset
            total += scores.T @ scores
        return [total]

    return fold(step, segments(rows, columns), add_in_place)[0]


def add_in_place(first: Sums, second: Sums) -> Sums:
    """The sums of two segments, in the memory of the first."""
    for total, part in zip(first, second, strict=True):
        np.add(total, part, out=total)
    return first


@lru_cache(maxsize=256)
def segments(rows: int, columns: int) -> Edges:
    """Row ranges that depend only on the shape, so the sums have the same bits for any number of threads."""
    few, many = _SEGMENTS
    # Fewer rows than half of the columns: summing the products of segments takes half as long as forming them.
    most = min(max(few, rows // _SEGMENT_ROWS), many, max(rows // 64, 1), max(2 * rows // columns, 1))
    count = int(min(max(rows * columns * columns // _SEGMENT_WORK, 1), most))
    count = 1 << count.bit_length() - 1  # a power of two, so that 2 or 4 threads finish together
    edges = [rows * place // count for place in range(count + 1)]
    return tuple(itertools.pairwise(edges))


@lru_cache(maxsize=256)
def _pieces(columns: int) -> Edges:
    """Ranges of columns, multiples of eight because of vector registers."""
    width = 8 * max(1, round(columns / _PIECE))
    edges = [*range(0, max(columns - width // 2, 1), width), columns]
    return tuple(itertools.pairwise(edges))


@lru_cache(maxsize=256)
def block_rows(columns: int) -> int:
    """Maximum rows of a block."""
    if columns <= _NARROW:
        widest = max((j - i) * (columns - i) for i, j in _pieces(columns))
        return min(_SMALL_PRODUCT // widest, _NARROW_ROWS)
    least, most = _BLOCK_ROWS
    return min(max(_BLOCK_ENTRIES // columns, least, 5 * columns // 2 if columns > _CACHED else 0), most)


@lru_cache(maxsize=256)
def _factor_rows(rows: int, columns: int) -> int:
    """Rows of a block for products with few columns: it stays in cache, and sums are not longer than they must be."""
    longest = max(last - first for first, last in segments(rows, columns))
    return max(_FACTOR_ENTRIES // columns, _FACTOR_ROWS, math.isqrt(longest))


@lru_cache(maxsize=256)
def centred_additions(rows: int, columns: int) -> int:
    """Number of roundings of a term of `centred_products`: within a block, over the blocks, and over the segments."""
    edges = segments(rows, columns)
    longest = max(last - first for first, last in edges)
    sizes = _factor_rows(rows, columns), block_rows(columns)
    return max(min(size, longest) + -(-longest // size) for size in sizes) + len(edges)


def _even(rows: int, size: int) -> int:
    """Rows of a block: at most `size`, and about as many in the last block as in the others."""
    return -(-rows // -(-rows // size))


@lru_cache(maxsize=256)
def gram_additions(rows: int, columns: int) -> int:
    """Number of roundings of a term of D^T D: within a block, over the blocks, and over the segments."""
    edges, size = segments(rows, columns), block_rows(columns)
    longest = max(last - first for first, last in edges)
    return min(size, longest) + -(-longest // size) + len(edges)
