"""Products with CSR rows that read each stored entry once, compiled on first use.

All functions release the GIL and process only rows start..stop, so that a thread can own its rows and its result. The
accumulator has the dtype of `result`.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning.
_FAST = {"contract", "reassoc", "nsz"}


@njit(nogil=True, inline="always", fastmath=_FAST)
def _gather(indptr, indices, data, right, i, product):  # type: ignore[no-untyped-def]
    """product = A[i] right."""
    width = right.shape[1]
    for t in range(width):
        product[t] = 0
    for p in range(indptr[i], indptr[i + 1]):
        entry = data[p]
        source = right[indices[p]]
        for t in range(width):
            product[t] += entry * source[t]


@njit(nogil=True, inline="always", fastmath=_FAST)
def _scatter(indptr, indices, data, product, i, result):  # type: ignore[no-untyped-def]
    """result += A[i]^T product."""
    width = product.shape[0]
    for p in range(indptr[i], indptr[i + 1]):
        entry = data[p]
        target = result[indices[p]]
        for t in range(width):
            target[t] += entry * product[t]


@njit(nogil=True, cache=True, fastmath=_FAST)
def normal(indptr, indices, data, right, start, stop, result):  # type: ignore[no-untyped-def]
    """result += A[start:stop]^T (A[start:stop] right): a row is multiplied and scattered while it is in cache."""
    product = np.empty(right.shape[1], result.dtype)
    for i in range(start, stop):
        _gather(indptr, indices, data, right, i, product)
        _scatter(indptr, indices, data, product, i, result)


@njit(nogil=True, cache=True, fastmath=_FAST)
def multiply(indptr, indices, data, right, start, stop, result):  # type: ignore[no-untyped-def]
    """result[i] = A[i] right for the rows start..stop."""
    width = right.shape[1]
    product = np.empty(width, result.dtype)
    for i in range(start, stop):
        _gather(indptr, indices, data, right, i, product)
        for t in range(width):
            result[i, t] = product[t]


@njit(nogil=True, cache=True, fastmath=_FAST)
def multiply_transposed(indptr, indices, data, left, start, stop, result):  # type: ignore[no-untyped-def]
    """result += A[start:stop]^T left[start:stop]."""
    for i in range(start, stop):
        _scatter(indptr, indices, data, left[i], i, result)


@njit(nogil=True, cache=True, fastmath=_FAST)
def gram(indptr, indices, data, first, last, result):  # type: ignore[no-untyped-def]
    """result += A^T A, rows first..last of its upper triangle, for sorted column indices.

    Rows of A are processed in order, so each entry of the result has the same bits for any first and last.
    """
    for i in range(indptr.shape[0] - 1):
        stop = indptr[i + 1]
        low, high = indptr[i], stop
        while low < high:  # the first entry in columns first..last
            middle = (low + high) // 2
            if indices[middle] < first:
                low = middle + 1
            else:
                high = middle
        for p in range(low, stop):
            if indices[p] >= last:
                break
            entry = data[p]
            target = result[indices[p]]
            for q in range(p, stop):
                target[indices[q]] += entry * data[q]


@njit(nogil=True, cache=True)
def gram_work(indptr, indices, work):  # type: ignore[no-untyped-def]
    """work[j] += the number of products in row j of the upper triangle of A^T A."""
    for i in range(indptr.shape[0] - 1):
        stop = indptr[i + 1]
        for p in range(indptr[i], stop):
            work[indices[p]] += stop - p


@njit(nogil=True, cache=True)
def column_sums(indptr, indices, data, roots, start, stop, result):  # type: ignore[no-untyped-def]
    """result[j] += (u^T A, sum of squares, weight of the stored entries) of column j; no u means ones.

    result[0, 3] += the squared length of every row, to the eighth power.
    """
    for i in range(start, stop):
        root = roots[i] if roots.shape[0] else 1.0
        length = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            entry, target = np.float64(data[p]), result[indices[p]]
            target[0] += root * entry
            target[1] += entry * entry
            target[2] += root * root
            length += entry * entry
        result[0, 3] += length**8


@njit(nogil=True, cache=True)
def column_squares(indptr, indices, data, roots, mean, start, stop, result):  # type: ignore[no-untyped-def]
    """result[j, 0] += sum over stored entries of (a - u mean)^2, rows start..stop."""
    for i in range(start, stop):
        root = roots[i] if roots.shape[0] else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            rest = data[p] - root * mean[indices[p]]
            result[indices[p], 0] += rest * rest
