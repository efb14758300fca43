"""Row by row over given entries: min over w >= 0 of sum_j d(x_j, w . h_j) + costs . w + ridge/2 |w|^2.

d is the Kullback-Leibler divergence or half the square. One pass over the entries of a row gives the gradient of every
coordinate. Those that can move (weight above zero, or gradient downhill) are gathered contiguously and swept several
times while they are in cache. Nothing of size entries x k is ever formed. All functions release the GIL and process
only rows start..stop. Values are assigned in loops, because slice assignment takes two seconds to compile. The entries
of a row, their model and its inverse are passed together, as `row`.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning. Parts are inlined before that, so that the
# grouping is the same for fresh and cached compilations.
_FAST = {"contract", "reassoc", "nsz"}
_SAFE = 0.683802
"""Newton decrement up to which a full step cannot raise a self-concordant function (Hien and Gillis, 2021)."""


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _divergence_step(x, part, inverse, weight, cost, ridge, concord):  # type: ignore[no-untyped-def]
    """(downhill gradient, Newton step, damped if it could overshoot)."""
    numerator = curve = 0.0
    for q in range(x.shape[0]):
        ratio = part[q] * inverse[q]
        scaled = x[q] * ratio
        numerator += scaled
        curve += scaled * ratio
    slope = numerator - cost - ridge * weight
    curve += ridge
    if curve <= 0.0:
        return slope, -weight if slope < 0.0 else 0.0
    move = slope / curve
    decrement = concord * abs(move) * np.sqrt(curve)
    if move < 0.0 and decrement > _SAFE:
        # A multiplicative update never raises the objective either, so take the longer of the two safe steps.
        multiplicative = weight * (numerator / (cost + ridge * weight) - 1.0)
        damped = -1.0 / (1.0 / abs(move) + concord * np.sqrt(curve))
        move = min(damped, multiplicative)
    return slope, move


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _squares_step(x, part, model, weight, cost, ridge):  # type: ignore[no-untyped-def]
    """(downhill gradient, step to the minimum of the parabola)."""
    slope = -cost - ridge * weight
    curve = ridge
    for q in range(x.shape[0]):
        slope += (x[q] - model[q]) * part[q]
        curve += part[q] * part[q]
    return slope, slope / curve if curve > 0.0 else 0.0


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _descend(divergence, row, parts, active, own, penalty, floor, concord, sweeps, share):  # type: ignore[no-untyped-def]
    """Sweep over the active coordinates of one row until a sweep gains less than `share` of the first."""
    (x, model, inverse), (costs, ridge) = row, penalty
    first = 0.0
    for sweep in range(sweeps):
        change = 0.0
        for a in range(active.shape[0]):
            t, part = active[a], parts[a]
            weight = own[t]
            if divergence:
                slope, move = _divergence_step(x, part, inverse, weight, costs[t], ridge, concord)
            else:
                slope, move = _squares_step(x, part, model, weight, costs[t], ridge)
            move = max(move, -weight)
            if move == 0.0:
                continue
            own[t] = weight + move
            change += abs(slope * move)
            for q in range(x.shape[0]):
                model[q] = max(model[q] + move * part[q], floor)
            if divergence:
                for q in range(x.shape[0]):
                    inverse[q] = 1.0 / model[q]
        if sweep == 0:
            first = change
        if change <= share * first:
            break


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def model_and_numerators(divergence, observed, row, columns, other, own, floor, slopes, totals):  # type: ignore[no-untyped-def]
    """One pass: model = other own + floor, and for each coordinate its numerator and the sum of its part."""
    x, model, inverse = row
    k = own.shape[0]
    for t in range(k):
        slopes[t] = 0.0
        totals[t] = 0.0
    for q in range(columns.shape[0]):
        source = other[columns[q]]
        fitted = floor
        for t in range(k):
            fitted += own[t] * source[t]
        model[q] = fitted
        if divergence:
            inverse[q] = 1.0 / fitted
            numerator = x[q] * inverse[q]
        else:
            numerator = x[q] - fitted
        for t in range(k):
            slopes[t] += numerator * source[t]
        if observed:
            for t in range(k):
                totals[t] += source[t]


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def add_objective(value, divergence, x, model, own, costs, ridge):  # type: ignore[no-untyped-def]
    """`value` plus the objective of one row, without the part of x alone for divergences."""
    for t in range(own.shape[0]):
        value += own[t] * (costs[t] + 0.5 * ridge * own[t])
    for q in range(x.shape[0]):
        if divergence:
            if x[q] > 0.0:
                value -= x[q] * np.log(model[q])
        else:
            rest = x[q] - model[q]
            value += 0.5 * rest * rest
    return value


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def rows(  # type: ignore[no-untyped-def]
    divergence, observed, indptr, indices, data, other, begin, sums, lasso, ridge, floor, sweeps, share, old,
    extrapolation, score, start, stop, offset, new, ahead
):  # fmt: skip
    """Rows start..stop of a CSR matrix, which are rows offset + start, ... of the factors.

    With `observed`, entries that are not stored are unknown; otherwise they are zero, and `sums` contains their cost.
    Returns (objective if `score`, projected gradients before the first step).
    """
    k = other.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    gathered, models, inverses, xs = np.empty(k * longest), np.empty(longest), np.empty(longest), np.empty(longest)
    own, costs, slopes, totals, actives = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k, np.int64)
    value = violation = 0.0
    for i in range(start, stop):
        place, size, least = offset + i, indptr[i + 1] - indptr[i], np.inf
        x, model, inverse, columns = xs[:size], models[:size], inverses[:size], indices[indptr[i] : indptr[i + 1]]
        for t in range(k):
            own[t] = begin[place, t]
        for q in range(size):
            x[q] = data[indptr[i] + q]
            if x[q] > 0.0:
                least = min(least, x[q])
        row = (x, model, inverse)
        model_and_numerators(divergence, observed, row, columns, other, own, floor, slopes, totals)
        count = 0
        for t in range(k):
            costs[t] = lasso
            if divergence:
                costs[t] += totals[t] if observed else sums[t]
            slope = slopes[t] - costs[t] - ridge * own[t]
            violation += abs(slope) if own[t] > 0.0 else max(slope, 0.0)
            if own[t] > 0.0 or slope > 0.0:
                actives[count] = t
                count += 1
        parts = gathered[: count * size].reshape(count, size)
        for q in range(size):
            source = other[columns[q]]
            for a in range(count):
                parts[a, q] = source[actives[a]]
        _descend(
            divergence, row, parts, actives[:count], own, (costs, ridge), floor, 1.0 / np.sqrt(least), sweeps, share
        )
        if score:
            value += add_objective(0.0, divergence, x, model, own, costs, ridge)
        for t in range(k):
            onward = own[t] + extrapolation * (own[t] - old[place, t])
            new[place, t] = own[t]
            ahead[place, t] = max(onward, 0.0)
    return value, violation


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def multiplicative_rows(  # type: ignore[no-untyped-def]
    observed, indptr, indices, data, other, begin, sums, lasso, ridge, floor, score, start, stop, offset, new
):  # fmt: skip
    """Multiplicative updates for Kullback-Leibler: w <- w ((x / w H) H^T) / (sums of H). Returns the old objective."""
    k = other.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    models, inverses, xs = np.empty(longest), np.empty(longest), np.empty(longest)
    own, costs, numerators, totals = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    value = 0.0
    for i in range(start, stop):
        place, size = offset + i, indptr[i + 1] - indptr[i]
        x, model, inverse, columns = xs[:size], models[:size], inverses[:size], indices[indptr[i] : indptr[i + 1]]
        for t in range(k):
            own[t] = begin[place, t]
        for q in range(size):
            x[q] = data[indptr[i] + q]
        model_and_numerators(True, observed, (x, model, inverse), columns, other, own, floor, numerators, totals)
        for t in range(k):
            costs[t] = lasso + (totals[t] if observed else sums[t])
        if score:
            value += add_objective(0.0, True, x, model, own, costs, ridge)
        for t in range(k):
            cost = costs[t] + ridge * own[t]
            new[place, t] = own[t] * numerators[t] / cost if cost > 0.0 else 0.0
    return value
