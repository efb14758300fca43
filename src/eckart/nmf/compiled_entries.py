"""Row by row over given entries: min over w >= 0 of sum_j d(x_j, w . h_j) + costs . w + ridge/2 |w|^2.

d is the Kullback-Leibler divergence or half the square. One pass over the entries of a row gives the slope of every
coordinate; those that can move (weight above zero, or slope downhill) are gathered, coordinate by coordinate in memory.
Half the square, and the divergence with very many coordinates, are swept one coordinate at a time. Otherwise the
divergence takes Newton steps (`eckart.nmf.divergence` has the formulas) with the Hessian of the coordinates that can
move. Nothing of size entries x k is ever formed. All functions release the GIL and work on rows start..stop only.

Values are assigned in loops: assigning a slice to a slice would add two seconds to the time to compile.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning. Parts are inlined before that, so that the
# grouping is the same whether they were compiled a moment ago or loaded from the cache.
_FAST = {"contract", "reassoc", "nsz"}
_LANES = 16
"""Gathered rows are padded to a multiple of this, so that loops along entries have no remainder."""
_NEWTON_PARTS = 64
"""Coordinates up to which Newton steps are taken: their Hessian grows with the square."""
_INNER, _INNER_SHARE = 20, 1e-3
"""Sweeps over one quadratic program, and the share of the first at which they end."""
_ATTEMPTS = 4
_SAFE = 0.683802
"""Newton decrement up to which a full step cannot raise a self-concordant function (Hien and Gillis, 2021)."""


@njit(nogil=True, inline="always", fastmath=_FAST)
def _divergence_step(x, part, inverse, weight, cost, ridge, concord):  # type: ignore[no-untyped-def]
    """(downhill slope, step of Newton's method, damped where it leads down so far that it could overshoot)."""
    pull = curve = 0.0
    for q in range(x.shape[0]):
        ratio = part[q] * inverse[q]
        scaled = x[q] * ratio
        pull += scaled
        curve += scaled * ratio
    slope = pull - cost - ridge * weight
    curve += ridge
    if curve <= 0.0:
        return slope, -weight if slope < 0.0 else 0.0
    move = slope / curve
    decrement = concord * abs(move) * np.sqrt(curve)
    if move < 0.0 and decrement > _SAFE:
        # A multiplicative update never raises the objective either: the longer of the two safe steps.
        taught = weight * (pull / (cost + ridge * weight) - 1.0)
        damped = -1.0 / (1.0 / abs(move) + concord * np.sqrt(curve))
        move = min(damped, taught)
    return slope, move


@njit(nogil=True, inline="always", fastmath=_FAST)
def _squares_step(x, part, model, weight, cost, ridge):  # type: ignore[no-untyped-def]
    """(downhill slope, step to the minimum of the parabola)."""
    slope = -cost - ridge * weight
    curve = ridge
    for q in range(x.shape[0]):
        slope += (x[q] - model[q]) * part[q]
        curve += part[q] * part[q]
    return slope, slope / curve if curve > 0.0 else 0.0


@njit(nogil=True, inline="always", fastmath=_FAST)
def _descend(divergence, x, parts, model, inverse, active, own, costs, ridge, floor, concord, sweeps, share):  # type: ignore[no-untyped-def]
    """Sweeps over the active coordinates of one row until one brings less than `share` of the first."""
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


@njit(nogil=True, inline="always", fastmath=_FAST)
def _program(hessian, rest, own, active, count, step):  # type: ignore[no-untyped-def]
    """min over d >= -w of 1/2 d Q d + g d by coordinate descent; rest is g when called and g + Q d on return."""
    first = 0.0
    for a in range(count):
        step[a] = 0.0
    for sweep in range(_INNER):
        change = 0.0
        for a in range(count):
            curve, lowest = hessian[a, a], -own[active[a]]
            if curve > 0.0:
                new = max(step[a] - rest[a] / curve, lowest)
            else:
                new = lowest if rest[a] > 0.0 else step[a]
            move = new - step[a]
            if move == 0.0:
                continue
            step[a] = new
            change += move * move * curve
            for b in range(count):
                rest[b] += move * hessian[a, b]
        if sweep == 0:
            first = change
        if change <= _INNER_SHARE * first:
            break


@njit(nogil=True, inline="always", fastmath=_FAST)
def _newton(x, parts, count, model, inverse, active, own, costs, ridge, floor, most, tol, hessian, rest, step, weight):  # type: ignore[no-untyped-def]
    """Newton steps of one row, at most `most`, until errors of its coordinates are about `tol` of them."""
    size = x.shape[0]
    for _ in range(most):
        for q in range(size):
            weight[q] = x[q] * inverse[q]
        for a in range(count):
            part, pull = parts[a], 0.0
            for q in range(size):
                pull += weight[q] * part[q]
            rest[a] = costs[active[a]] + ridge * own[active[a]] - pull
        for a in range(count):
            part = parts[a]
            for q in range(size):
                weight[q] = x[q] * inverse[q] * inverse[q] * part[q]
            for b in range(a + 1):
                other, total = parts[b], 0.0
                for q in range(size):
                    total += weight[q] * other[q]
                hessian[a, b] = total
                hessian[b, a] = total
            hessian[a, a] += ridge
        # s = -g d and c = d Q d, from g before and g + Q d after.
        descent = curvature = 0.0
        for a in range(count):
            hessian[count, a] = rest[a]
        _program(hessian, rest, own, active, count, step)
        for a in range(count):
            descent -= hessian[count, a] * step[a]
            curvature += (rest[a] - hessian[count, a]) * step[a]
        for q in range(size):
            weight[q] = 0.0
        for a in range(count):
            part, move = parts[a], step[a]
            for q in range(size):
                weight[q] += move * part[q]
        lowest = 0.0
        for q in range(size):
            change = weight[q] * inverse[q] if x[q] > 0.0 else 0.0
            lowest = min(lowest, change)
        bound = curvature - 2.0 * lowest * descent
        length = 1.0 if 2.0 * descent >= bound else 2.0 * descent / bound
        mass = 0.0
        for a in range(count):
            own[active[a]] = max(own[active[a]] + length * step[a], 0.0)
            mass += own[active[a]] * costs[active[a]]
        for q in range(size):
            model[q] = max(model[q] + length * weight[q], floor)
            inverse[q] = 1.0 / model[q]
        if descent <= tol * tol * mass:
            break


@njit(nogil=True, inline="always", fastmath=_FAST)
def _survey(divergence, observed, x, columns, other, own, floor, model, inverse, slopes, totals):  # type: ignore[no-untyped-def]
    """One pass: model = other own + floor, and for each coordinate the pull of the entries and the sum of its part."""
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
            pull = x[q] * inverse[q]
        else:
            pull = x[q] - fitted
        for t in range(k):
            slopes[t] += pull * source[t]
        if observed:
            for t in range(k):
                totals[t] += source[t]


@njit(nogil=True, inline="always", fastmath=_FAST)
def _value(divergence, x, model, own, costs, ridge):  # type: ignore[no-untyped-def]
    """Objective of one row, without the part of x alone for divergences."""
    value = 0.0
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


@njit(nogil=True, cache=True, fastmath=_FAST)
def rows(  # type: ignore[no-untyped-def]
    divergence, observed, indptr, indices, data, other, begin, sums, lasso, ridge, floor, sweeps, share, tol, old, push,
    score, start, stop, offset, new, ahead
):  # fmt: skip
    """Rows start..stop of a CSR matrix, which are rows offset + start.. of the factors.

    `observed`: entries that are not stored are unknown; otherwise they are zero, and `sums` has what they cost.
    `sweeps` is the number of sweeps, which end at the `share` of the first, or of Newton steps, which end at `tol`.
    Returns (objective if `score`, projected gradients before the first step).
    """
    k = other.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    longest = (longest + _LANES - 1) // _LANES * _LANES
    gathered, models, inverses, xs = np.empty(k * longest), np.empty(longest), np.empty(longest), np.empty(longest)
    own, costs, slopes, totals, actives = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k, np.int64)
    most = min(k, _NEWTON_PARTS) + 1
    hessian, rest, step, weight = np.empty((most, most)), np.empty(most), np.empty(most), np.empty(longest)
    value = violation = 0.0
    for i in range(start, stop):
        row, size, least = offset + i, indptr[i + 1] - indptr[i], np.inf
        padded = (size + _LANES - 1) // _LANES * _LANES
        x, model, inverse, columns = xs[:padded], models[:padded], inverses[:padded], indices[indptr[i] : indptr[i + 1]]
        for t in range(k):
            own[t] = begin[row, t]
        for q in range(size):
            x[q] = data[indptr[i] + q]
            if x[q] > 0.0:
                least = min(least, x[q])
        for q in range(size, padded):
            x[q], model[q], inverse[q] = 0.0, 1.0, 1.0
        for attempt in range(_ATTEMPTS):
            _survey(divergence, observed, x, columns, other, own, floor, model, inverse, slopes, totals)
            count, entering = 0, False
            for t in range(k):
                costs[t] = lasso
                if divergence:
                    costs[t] += totals[t] if observed else sums[t]
                slope = slopes[t] - costs[t] - ridge * own[t]
                if attempt == 0:
                    violation += abs(slope) if own[t] > 0.0 else max(slope, 0.0)
                if own[t] > 0.0 or slope > 0.0:
                    entering |= own[t] == 0.0 and slope > tol * costs[t]
                    actives[count] = t
                    count += 1
            # After Newton steps to the end, coordinates that were left out may still want to come in.
            if sweeps == 0 or (attempt > 0 and not (entering and divergence and sweeps > 1 and count < most)):
                break
            parts = gathered[: count * padded].reshape(count, padded)
            for q in range(size):
                source = other[columns[q]]
                for a in range(count):
                    parts[a, q] = source[actives[a]]
            for a in range(count):
                for q in range(size, padded):
                    parts[a, q] = 0.0
            if divergence and count < most:
                _newton(
                    x, parts, count, model, inverse, actives, own, costs, ridge, floor, sweeps, tol, hessian, rest,
                    step, weight,
                )  # fmt: skip
            else:
                _descend(
                    divergence, x[:size], parts[:, :size], model, inverse, actives[:count], own, costs, ridge, floor,
                    1.0 / np.sqrt(least), sweeps, share,
                )  # fmt: skip
            if not divergence or sweeps == 1 or count >= most:
                break
        if score:
            value += _value(divergence, x[:size], model, own, costs, ridge)
        for t in range(k):
            onward = own[t] + push * (own[t] - old[row, t])
            new[row, t] = own[t]
            ahead[row, t] = max(onward, 0.0)
    return value, violation


@njit(nogil=True, cache=True, fastmath=_FAST)
def taught_rows(  # type: ignore[no-untyped-def]
    observed, indptr, indices, data, other, begin, sums, lasso, ridge, floor, score, start, stop, offset, new
):  # fmt: skip
    """Multiplicative updates for Kullback-Leibler: w <- w ((x / w H) H^T) / (sums of H). Returns the old objective."""
    k = other.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    models, inverses, xs = np.empty(longest), np.empty(longest), np.empty(longest)
    own, costs, pulls, totals = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    value = 0.0
    for i in range(start, stop):
        row, size = offset + i, indptr[i + 1] - indptr[i]
        x, model, inverse, columns = xs[:size], models[:size], inverses[:size], indices[indptr[i] : indptr[i + 1]]
        for t in range(k):
            own[t] = begin[row, t]
        for q in range(size):
            x[q] = data[indptr[i] + q]
        _survey(True, observed, x, columns, other, own, floor, model, inverse, pulls, totals)
        for t in range(k):
            costs[t] = lasso + (totals[t] if observed else sums[t])
        if score:
            value += _value(True, x, model, own, costs, ridge)
        for t in range(k):
            cost = costs[t] + ridge * own[t]
            new[row, t] = own[t] * pulls[t] / cost if cost > 0.0 else 0.0
    return value
