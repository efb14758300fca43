"""Least squares with non-negative coefficients, row by row: coordinate descent on 1/2 w G w^T - q w^T, w >= 0.

Rows are processed in groups that stay in cache. The residual q - G w of the whole group is updated coordinate by
coordinate, with one row of the group in each SIMD lane. All functions release the GIL and process only rows
start..stop.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning. Parts are inlined, so they are compiled once.
_FAST = {"contract", "reassoc", "nsz"}
_GROUP = 64


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _descend(target, own, rest, step, size, gram, inverse, sweeps, share):  # type: ignore[no-untyped-def]
    """Sweep over the coordinates of a group of rows until a sweep gains less than `share` of the first.

    Returns the sum of the projected gradients in the first sweep. On return rest = target - G own.
    """
    k = gram.shape[0]
    for s in range(k):  # in loops, because slice assignment takes two seconds to compile
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


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _finish(i, size, target, own, rest, old, extrapolation, new, ahead):  # type: ignore[no-untyped-def]
    """Write rows and their extrapolation, max(0, new + extrapolation (new - old)); returns their objective."""
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
