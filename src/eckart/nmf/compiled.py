"""Least squares with non-negative coefficients, row by row: coordinate descent on 1/2 w G w^T - q w^T, w >= 0.

Rows go together in groups that stay in cache: the rest q - G w of the whole group is corrected coordinate by
coordinate, one row of the group in each lane of the processor. All functions release the GIL and work on rows
start..stop only.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning.
_FAST = {"contract", "reassoc", "nsz"}
_GROUP = 64


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def _descend(target, own, rest, step, size, gram, inverse, sweeps, share):  # type: ignore[no-untyped-def]
    """Sweeps over the coordinates of a group of rows until a sweep brings less than `share` of the first.

    Returns the sum of the projected gradients that were met in the first sweep. On return rest = target - G own.
    """
    k = gram.shape[0]
    for s in range(k):  # in loops: assigning a slice to a slice takes two seconds to compile
        for r in range(size):
            rest[s, r] = target[s, r]
    for t in range(k):
        for s in range(k):
            entry = gram[t, s]
            for r in range(size):
                rest[s, r] -= own[t, r] * entry
    violation = first = 0.0
    for sweep in range(sweeps):
        change = 0.0
        for t in range(k):
            weight, divisor = gram[t, t], inverse[t]
            if weight <= 0.0:
                continue
            if sweep == 0:
                for r in range(size):
                    violation += abs(rest[t, r]) if own[t, r] > 0.0 else max(rest[t, r], 0.0)
            squares = 0.0
            for r in range(size):
                move = max(rest[t, r] * divisor, -own[t, r])
                step[r] = move
                own[t, r] += move
                squares += move * move
            change += squares * weight
            for s in range(k):
                entry = gram[t, s]
                for r in range(size):
                    rest[s, r] -= step[r] * entry
        if sweep == 0:
            first = change
        if change <= share * first:
            break
    return violation


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def _finish(i, size, target, own, rest, old, extrapolation, new, ahead):  # type: ignore[no-untyped-def]
    """Write a group of rows and their extrapolation max(0, new + push (new - old)); returns their objective."""
    value = 0.0
    for r in range(size):
        for t in range(new.shape[1]):
            entry = own[t, r]
            value -= 0.5 * entry * (target[t, r] + rest[t, r])
            onward = entry + extrapolation * (entry - old[i + r, t])
            new[i + r, t] = entry
            ahead[i + r, t] = max(onward, 0.0)
    return value


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def _gather(indptr, indices, data, other, row, product):  # type: ignore[no-untyped-def]
    """product = A[row] other, four entries at a time so that four rows of `other` are on their way from memory."""
    k = other.shape[1]
    begin, end = indptr[row], indptr[row + 1]
    for t in range(k):
        product[t] = 0.0
    whole = begin + (end - begin) // 4 * 4
    for p in range(begin, whole, 4):
        a, b, c, d = data[p], data[p + 1], data[p + 2], data[p + 3]
        first, second, third, fourth = (
            other[indices[p]],
            other[indices[p + 1]],
            other[indices[p + 2]],
            other[indices[p + 3]],
        )
        for t in range(k):
            product[t] += (a * first[t] + b * second[t]) + (c * third[t] + d * fourth[t])
    for p in range(whole, end):
        a, first = data[p], other[indices[p]]
        for t in range(k):
            product[t] += a * first[t]


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def dense_rows(products, begin, gram, inverse, lasso, sweeps, share, old, extrapolation, start, stop, new, ahead):  # type: ignore[no-untyped-def]
    """Rows start..stop for given products A other (rows x k); returns (objective, projected gradients)."""
    k = gram.shape[0]
    target, own, rest = np.empty((k, _GROUP)), np.empty((k, _GROUP)), np.empty((k, _GROUP))
    step = np.empty(_GROUP)
    value = violation = 0.0
    for i in range(start, stop, _GROUP):
        size = min(_GROUP, stop - i)
        for r in range(size):
            for t in range(k):
                target[t, r] = products[i + r, t] - lasso
                own[t, r] = begin[i + r, t]
        violation += _descend(target, own, rest, step, size, gram, inverse, sweeps, share)
        value += _finish(i, size, target, own, rest, old, extrapolation, new, ahead)
    return value, violation


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def sparse_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, other, begin, gram, inverse, lasso, sweeps, share, old, extrapolation, start, stop, new,
    ahead, scattered
):  # fmt: skip
    """Rows start..stop of a CSR matrix in one pass: gather A other, solve, extrapolate, scattered += A^T ahead."""
    k = gram.shape[0]
    target, own, rest = np.empty((k, _GROUP)), np.empty((k, _GROUP)), np.empty((k, _GROUP))
    step, product = np.empty(_GROUP), np.empty(k)
    value = violation = 0.0
    for i in range(start, stop, _GROUP):
        size = min(_GROUP, stop - i)
        for r in range(size):
            _gather(indptr, indices, data, other, i + r, product)
            for t in range(k):
                target[t, r] = product[t] - lasso
                own[t, r] = begin[i + r, t]
        violation += _descend(target, own, rest, step, size, gram, inverse, sweeps, share)
        value += _finish(i, size, target, own, rest, old, extrapolation, new, ahead)
        if scattered.shape[0] == 0:
            continue
        for row in range(i, i + size):
            weights = ahead[row]
            for p in range(indptr[row], indptr[row + 1]):
                entry = data[p]
                goal = scattered[indices[p]]
                for t in range(k):
                    goal[t] += entry * weights[t]
    return value, violation
