"""Digest sums at memory speed, compiled on first use; `eckart.engine.digest` states the formula.

All functions release the GIL and return two 64-bit sums over the rows start..stop of an array whose row 0 is row
`first` of the whole matrix. Arrays must be C-contiguous, so that the loops can be vectorised.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.backends.digest import FIRST_MULTIPLIER, ROW_MULTIPLIER, SECOND_MULTIPLIER
from eckart.engine.compiled.waiting import njit

_ROW = np.uint64(ROW_MULTIPLIER)
_FIRST = np.uint64(FIRST_MULTIPLIER)
_SECOND = np.uint64(SECOND_MULTIPLIER)
_29, _32 = np.uint64(29), np.uint64(32)


@njit(nogil=True, inline="always")
def _added(one, two, word, row):  # type: ignore[no-untyped-def]
    """Both sums with the terms of one word, already combined with the key of its column."""
    v = word + row
    x = (v ^ (v >> _32)) * _FIRST
    y = (x ^ (x >> _29)) * _SECOND
    return one + x, two + (y ^ (y >> _32))


@njit(nogil=True, cache=True)
def rows_of_words(words, keys, start, stop, first):  # type: ignore[no-untyped-def]
    """Rows of 64-bit words."""
    one, two = np.uint64(0), np.uint64(0)
    for i in range(start, stop):
        row = np.uint64(first + i) * _ROW
        for j in range(words.shape[1]):
            one, two = _added(one, two, words[i, j] ^ keys[j], row)
    return one, two


@njit(nogil=True, cache=True)
def columns_of_words(words, keys, start, stop, first):  # type: ignore[no-untyped-def]
    """The transpose: words[j, i] is in row i and column j."""
    one, two = np.uint64(0), np.uint64(0)
    for j in range(words.shape[0]):
        key = keys[j]
        for i in range(start, stop):
            one, two = _added(one, two, words[j, i] ^ key, np.uint64(first + i) * _ROW)
    return one, two


@njit(nogil=True, cache=True)
def rows_of_halves(halves, keys, start, stop, first):  # type: ignore[no-untyped-def]
    """Rows of 32-bit halves; a last one without a partner is paired with zero."""
    one, two = np.uint64(0), np.uint64(0)
    pairs = halves.shape[1] // 2
    for i in range(start, stop):
        row = np.uint64(first + i) * _ROW
        for j in range(pairs):
            word = np.uint64(halves[i, 2 * j]) | np.uint64(halves[i, 2 * j + 1]) << _32
            one, two = _added(one, two, word ^ keys[j], row)
        if halves.shape[1] % 2:
            one, two = _added(one, two, np.uint64(halves[i, 2 * pairs]) ^ keys[pairs], row)
    return one, two


@njit(nogil=True, cache=True)
def columns_of_halves(halves, keys, start, stop, first):  # type: ignore[no-untyped-def]
    """The transpose of the same."""
    one, two = np.uint64(0), np.uint64(0)
    columns = halves.shape[0]
    for j in range((columns + 1) // 2):
        key, low = keys[j], halves[2 * j]
        high = halves[min(2 * j + 1, columns - 1)]
        used = np.uint64(0xFFFFFFFF if 2 * j + 1 < columns else 0)
        for i in range(start, stop):
            word = np.uint64(low[i]) | (np.uint64(high[i]) & used) << _32
            one, two = _added(one, two, word ^ key, np.uint64(first + i) * _ROW)
    return one, two


@njit(nogil=True, cache=True)
def stored(words, indices, indptr, keys, start, stop, first):  # type: ignore[no-untyped-def]
    """The stored entries of CSR rows."""
    one, two = np.uint64(0), np.uint64(0)
    for i in range(start, stop):
        row = np.uint64(first + i) * _ROW
        for p in range(indptr[i], indptr[i + 1]):
            one, two = _added(one, two, np.uint64(words[p]) ^ keys[indices[p]], row)
    return one, two
