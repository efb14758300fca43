"""Digest sums by whole-array operations: the same numbers as the compiled loops, for any library with a bit view.

Arithmetic is in signed 64-bit integers, which wrap modulo 2^64 like unsigned ones; a logical right shift is an
arithmetic one with the sign bits masked off.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.arrays import Array, from_numpy, is_numpy, namespace

ROW_MULTIPLIER = 0xBF58476D1CE4E5B9
FIRST_MULTIPLIER = 0x9E3779B97F4A7C15
SECOND_MULTIPLIER = 0xD6E8FEB86659FD93
"""Odd constants of SplitMix64 and of related mixers (Steele, Lea and Flood 2014, OOPSLA)."""
_WORDS_AT_A_TIME = {True: 2**15, False: 2**22}
"""On the host what fits into cache; on a device what keeps it busy."""


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
    keys = _signed(column_keys(count, salt), block)
    step = max(1, _WORDS_AT_A_TIME[is_numpy(block)] // max(count, 1))
    total = (0, 0)
    for start in range(0, rows, step):
        part = block[start : start + step, :]
        row = _row_terms(np.arange(first + start, first + start + part.shape[0]), block)
        total = _added(total, _sums((_words(part) ^ keys) + row[:, None]))
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
        total = _added(total, _sums((words ^ keys[indices[piece]]) + row))
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
        return _host_sums(v.view(np.uint64))
    xp = namespace(v)
    v = (v ^ _shifted(v, 32)) * _wrapped(FIRST_MULTIPLIER)
    one = int(xp.sum(v, dtype=xp.int64))
    v = (v ^ _shifted(v, 29)) * _wrapped(SECOND_MULTIPLIER)
    return one, int(xp.sum(v ^ _shifted(v, 32), dtype=xp.int64))


def _host_sums(v: np.ndarray) -> tuple[int, int]:
    """The same in place, with logical shifts."""
    x = v >> np.uint64(32)
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


def _signed(numbers: np.ndarray, like: Array) -> Array:
    return from_numpy(numbers.view(np.int64), like)


def _row_terms(rows: np.ndarray, like: Array) -> Array:
    return _signed(rows.astype(np.uint64) * np.uint64(ROW_MULTIPLIER), like)


def _added(total: tuple[int, int], part: tuple[Any, Any]) -> tuple[int, int]:
    return (total[0] + int(part[0])) % 2**64, (total[1] + int(part[1])) % 2**64
