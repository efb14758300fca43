"""The sums of `engine.digest`: compiled loops over host memory, and whole-array operations of any library.

Both give the same numbers. Whole arrays are summed in signed 64-bit integers, which wrap modulo 2^64 like unsigned
ones. A logical right shift is an arithmetic one with the sign bits masked.
"""

from __future__ import annotations

import itertools
import sys
from functools import lru_cache

import numpy as np

from eckart.arrays import Array, Matrix, from_numpy, is_numpy, is_sparse, namespace
from eckart.engine.parallel import fold

ROW_MULTIPLIER = 0xBF58476D1CE4E5B9
FIRST_MULTIPLIER = 0x9E3779B97F4A7C15
SECOND_MULTIPLIER = 0xD6E8FEB86659FD93
"""Odd constants of SplitMix64 and of related mixers (Steele, Lea and Flood 2014, OOPSLA)."""
_WORDS_AT_A_TIME = {True: 2**15, False: 2**22}
"""On the host a block that fits in cache; on a GPU one that keeps it busy."""
COMPILE_FROM_BYTES = 2**23
"""From this many bytes on, importing Numba (half a second, once) is worthwhile."""
_ROW_CHUNKS = 16


@lru_cache(maxsize=8)
def column_keys(count: int, salt: int = 0) -> np.ndarray:
    """One pseudo-random 64-bit key for each column of words: SplitMix64 of its index."""
    v = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(salt << 40)) * np.uint64(FIRST_MULTIPLIER)
    v = (v ^ (v >> np.uint64(30))) * np.uint64(ROW_MULTIPLIER)
    v = (v ^ (v >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(v ^ (v >> np.uint64(31)))


def dense_sums(block: Array, first: int, salt: int = 0) -> tuple[int, int]:
    """Both sums over a dense float32 or float64 array whose row 0 is row `first` of the whole matrix."""
    rows, columns = block.shape
    count = (columns + 1) // 2 if "float32" in str(block.dtype) else columns
    step = max(1, _WORDS_AT_A_TIME[is_numpy(block)] // max(count, 1))
    total = (0, 0)
    if is_numpy(block):
        # Two buffers for all intermediate results: allocating new ones takes as long as filling them.
        mixed, other = np.empty((2, min(step, rows), count), np.uint64)
        for start in range(0, rows, step):
            words = _words(block[start : start + step]).view(np.uint64)
            row = np.arange(first + start, first + start + len(words)).astype(np.uint64) * np.uint64(ROW_MULTIPLIER)
            v = np.bitwise_xor(words, column_keys(count, salt), out=mixed[: len(words)])
            v += row[:, None]
            total = added(total, _host_sums(v, other[: len(words)]))
        return total
    keys = _signed(column_keys(count, salt), block)
    for start in range(0, rows, step):
        part = block[start : start + step, :]
        row = _row_terms(np.arange(first + start, first + start + part.shape[0]), block)
        total = added(total, _sums((_words(part) ^ keys) + row[:, None]))
    return total


def stored_sums(data: Array, indices: Array, rows: Array, columns: int, first: int) -> tuple[int, int]:
    """Both sums over stored entries, given the column and the row of each, in the library of the device."""
    total, step = (0, 0), _WORDS_AT_A_TIME[False]
    keys, xp = _signed(column_keys(columns), data), namespace(data)
    multiplier = _wrapped(ROW_MULTIPLIER)
    for start in range(0, data.shape[0], step):
        piece = slice(start, start + step)
        bits = data[piece].view(xp.int64 if "float64" in str(data.dtype) else xp.int32)
        words = xp.astype(bits, xp.int64) & (-1 if "float64" in str(data.dtype) else 0xFFFFFFFF)
        row = (xp.astype(rows[piece], xp.int64) + first) * multiplier
        total = added(total, _sums((words ^ keys[indices[piece]]) + row))
    return total


def _stored_sums_on_host(
    values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: int, first: int
) -> tuple[int, int]:
    """The same for CSR rows in host memory, in pieces that fit in cache."""
    words = values.view(np.uint64 if values.dtype == np.float64 else np.uint32)
    rows = np.arange(first, first + len(indptr) - 1).astype(np.uint64) * np.uint64(ROW_MULTIPLIER)
    terms, keys = np.repeat(rows, np.diff(indptr)), column_keys(columns)
    total, step = (0, 0), _WORDS_AT_A_TIME[True]
    other = np.empty(min(step, len(words)), np.uint64)
    for start in range(0, len(words), step):
        piece = slice(start, start + step)
        v = keys.take(indices[piece])
        v ^= words[piece]
        v += terms[piece]
        total = added(total, _host_sums(v, other[: len(v)]))
    return total


def _words(block: Array) -> Array:
    """The bit patterns as 64-bit words; float32 columns in pairs, the even one in the low half."""
    xp = namespace(block)
    if is_numpy(block):
        block = np.ascontiguousarray(block)
    elif hasattr(block, "contiguous"):
        block = block.contiguous()
    if "float64" in str(block.dtype):
        return block.view(xp.int64)
    if is_numpy(block) and block.shape[1] % 2 == 0 and sys.byteorder == "little":
        return block.view(np.int64)
    bits = block.view(np.int32 if is_numpy(block) else xp.int32)
    low = xp.astype(bits[:, 0::2], xp.int64) & 0xFFFFFFFF
    high = xp.astype(bits[:, 1::2], xp.int64) << 32
    low[:, : high.shape[1]] |= high
    return low


def _sums(v: Array) -> tuple[int, int]:
    """The two sums of the mixed words, as in `compiled.digest`."""
    if is_numpy(v):
        return _host_sums(v.view(np.uint64), np.empty(v.shape, np.uint64))
    xp = namespace(v)
    v = (v ^ _shifted(v, 32)) * _wrapped(FIRST_MULTIPLIER)
    one = int(xp.sum(v, dtype=xp.int64))
    v = (v ^ _shifted(v, 29)) * _wrapped(SECOND_MULTIPLIER)
    return one, int(xp.sum(v ^ _shifted(v, 32), dtype=xp.int64))


def _host_sums(v: np.ndarray, x: np.ndarray) -> tuple[int, int]:
    """The same in place, with logical shifts; x is overwritten as well."""
    np.right_shift(v, np.uint64(32), out=x)
    x ^= v
    x *= np.uint64(FIRST_MULTIPLIER)
    y = np.right_shift(x, np.uint64(29), out=v)
    y ^= x
    y *= np.uint64(SECOND_MULTIPLIER)
    one = int(np.add.reduce(x, axis=None))
    z = np.right_shift(y, np.uint64(32), out=x)
    z ^= y
    return one, int(np.add.reduce(z, axis=None))


def _shifted(v: Array, bits: int) -> Array:
    return (v >> bits) & ((1 << (64 - bits)) - 1)


def _wrapped(constant: int) -> int:
    """An unsigned 64-bit constant as the signed one with the same bits."""
    return constant - 2**64 if constant >= 2**63 else constant


def _signed(numbers: np.ndarray, prototype: Array) -> Array:
    return from_numpy(numbers.view(np.int64), prototype)


def _row_terms(rows: np.ndarray, prototype: Array) -> Array:
    return _signed(rows.astype(np.uint64) * np.uint64(ROW_MULTIPLIER), prototype)


def added(total: tuple[int, int], part: tuple[int, int]) -> tuple[int, int]:
    return (total[0] + int(part[0])) % 2**64, (total[1] + int(part[1])) % 2**64


# Host memory, by compiled loops


def host_sums(data: Matrix, first: int, workers: int | None) -> tuple[int, int]:
    """Both sums over a NumPy array or a SciPy CSR matrix."""
    if is_sparse(data):
        return _of_csr(data, first, workers)
    data = _as_float(data)
    if not data.size or (data.nbytes < COMPILE_FROM_BYTES and "numba" not in sys.modules):
        return dense_sums(data, first)
    return _of_dense(data, first, workers)


def _as_float(data: np.ndarray) -> np.ndarray:
    """float32 and float64 as they are; every other dtype as the products see it."""
    return data if data.dtype in (np.float32, np.float64) else data.astype(np.float64)


def _of_dense(data: np.ndarray, first: int, workers: int | None) -> tuple[int, int]:
    from eckart.engine.compiled import digest as compiled

    rows, columns = data.shape
    single = data.dtype == np.float32
    keys = column_keys((columns + 1) // 2 if single else columns)
    bits = np.uint32 if single and (columns % 2 or not data.flags.c_contiguous) else np.uint64
    by_columns = data.flags.f_contiguous and not data.flags.c_contiguous
    kernels = {
        (np.uint64, False): compiled.rows_of_words,
        (np.uint64, True): compiled.columns_of_words,
        (np.uint32, False): compiled.rows_of_halves,
        (np.uint32, True): compiled.columns_of_halves,
    }
    kernel = kernels[bits, by_columns]

    def step(piece: tuple[int, int]) -> tuple[int, int]:
        start, stop = piece
        if data.flags.forc:
            one, two = kernel((data.T if by_columns else data).view(bits), keys, start, stop, first)
        else:
            part = np.ascontiguousarray(data[start:stop]).view(bits)
            one, two = kernel(part, keys, 0, stop - start, first + start)
        return int(one), int(two)

    # Copies of rows that are not contiguous stay small.
    return fold(step, _pieces(rows, max(_ROW_CHUNKS, data.nbytes >> 22)), added, workers=workers)


def _of_csr(data: Matrix, first: int, workers: int | None) -> tuple[int, int]:
    values = _as_float(data.data)
    if values.nbytes < COMPILE_FROM_BYTES and "numba" not in sys.modules:
        return _stored_sums_on_host(values, data.indices, data.indptr, data.shape[1], first)
    from eckart.engine.compiled import digest as compiled

    words = values.view(np.uint64 if values.dtype == np.float64 else np.uint32)
    keys = column_keys(data.shape[1])

    def step(piece: tuple[int, int]) -> tuple[int, int]:
        one, two = compiled.stored(words, data.indices, data.indptr, keys, *piece, first)
        return int(one), int(two)

    return fold(step, _pieces(data.shape[0], _ROW_CHUNKS), added, workers=workers)


def _pieces(rows: int, count: int) -> list[tuple[int, int]]:
    edges = np.unique(np.linspace(0, rows, min(count, max(rows, 1)) + 1).astype(int)).tolist()
    return list(itertools.pairwise(edges))
