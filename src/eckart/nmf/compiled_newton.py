"""Newton steps of Kullback-Leibler over the stored entries of each row; `eckart.nmf.divergence` has the formulas.

One pass over the entries of a row gives the gradient of every coordinate. Those that can move (weight above zero, or
gradient downhill) are gathered contiguously and form the Hessian. Nothing of size entries x k is ever formed. The
function releases the GIL and processes only rows start..stop.

Values are assigned in loops, because slice assignment takes two seconds to compile. Divisions follow NumPy's rules: a
test for zero would prevent vectorisation. The entries of a row, their model and its inverse are passed together, as
`row`; Hessian, gradient and step as `program`.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit
from eckart.nmf.compiled_entries import add_objective, model_and_numerators

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning. Parts are inlined before that, so that the
# grouping is the same for fresh and cached compilations.
_FAST = {"contract", "reassoc", "nsz"}
_LANES = 16
"""Gathered rows are padded to a multiple of this, so that loops along entries have no remainder."""
_SWEEPS = 4
"""Sweeps over one quadratic program: those of `eckart.nmf.divergence`."""
_MORE_SWEEPS, _SHARE = 20, 1e-2
"""Maximum number of sweeps for rows solved to convergence, and the share of the first sweep at which they end."""
_ATTEMPTS = 4
"""How often coordinates that were left out may be added again, for rows solved to convergence."""


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _solve(program, own, active, sweeps, share):  # type: ignore[no-untyped-def]
    """min over d >= -w of 1/2 d Q d + g d by coordinate descent; rest is g on entry and g + Q d on return."""
    (hessian, rest, step), count = program, active.shape[0]
    first = 0.0
    for a in range(count):
        step[a] = 0.0
    for sweep in range(sweeps):
        change = 0.0
        for a in range(count):
            curve, lowest = hessian[a, a], -own[active[a]]
            new = max(step[a] - rest[a] / curve, lowest) if curve > 0.0 else lowest if rest[a] > 0.0 else step[a]
            move = new - step[a]
            if move != 0.0:
                step[a] = new
                change += move * move * curve
                for b in range(count):
                    rest[b] += move * hessian[a, b]
        if sweep == 0:
            first = change
        if change <= share * first:
            break


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _derivatives(row, parts, active, own, costs, ridge, program, weight):  # type: ignore[no-untyped-def]
    """The gradient in `rest` and in the last row of `hessian`, and the Hessian, of the coordinates that can move."""
    (x, _, inverse), (hessian, rest, _) = row, program
    size, count = x.shape[0], active.shape[0]
    for a in range(count):
        part, numerator = parts[a], 0.0
        for q in range(size):
            numerator += x[q] * inverse[q] * part[q]
        rest[a] = costs[active[a]] + ridge * own[active[a]] - numerator
        hessian[count, a] = rest[a]
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


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _advance(row, parts, active, own, costs, floor, program, weight):  # type: ignore[no-untyped-def]
    """Take the longest safe step; returns (s = -g d, the scale of the row's sum)."""
    (x, model, inverse), (hessian, rest, step) = row, program
    size, count = x.shape[0], active.shape[0]
    descent = curvature = 0.0
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
        lowest = change if change < lowest else lowest  # noqa: FURB136  (becomes vector instructions; min does not)
    bound = curvature - 2.0 * lowest * descent
    length = 1.0 if 2.0 * descent >= bound else 2.0 * descent / bound
    mass = 0.0
    for a in range(count):
        own[active[a]] = max(own[active[a]] + length * step[a], 0.0)
        mass += own[active[a]] * costs[active[a]]
    for q in range(size):
        model[q] = max(model[q] + length * weight[q], floor)
        inverse[q] = 1.0 / model[q]
    return descent, mass


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _gather(other, columns, active, parts):  # type: ignore[no-untyped-def]
    """Rows of `other`, coordinate by coordinate; zero beyond the last column."""
    size, count = columns.shape[0], active.shape[0]
    for q in range(parts.shape[1]):
        source = other[columns[q] if q < size else 0]
        for a in range(count):
            parts[a, q] = source[active[a]] if q < size else 0.0


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _load(row, stored):  # type: ignore[no-untyped-def]
    """The stored entries of a row, padded with zeros, and a model of ones."""
    x, model, inverse = row
    for q in range(x.shape[0]):
        x[q], model[q], inverse[q] = (stored[q] if q < stored.shape[0] else 0.0), 1.0, 1.0


@njit(nogil=True, error_model="numpy", inline="always", fastmath=_FAST)
def _extrapolate(own, old, extrapolation, ahead):  # type: ignore[no-untyped-def]
    """Put own + extrapolation (own - old), but no negative number, into `ahead`."""
    for t in range(own.shape[0]):
        ahead[t] = max(own[t] + extrapolation * (own[t] - old[t]), 0.0)


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def newton_rows(  # type: ignore[no-untyped-def]
    observed, indptr, indices, data, other, begin, sums, lasso, ridge, floor, steps, tol, old, extrapolation, score,
    start, stop, offset, new, ahead
):  # fmt: skip
    """At most `steps` Newton steps on rows start..stop of a CSR matrix (rows offset + start, ... of the factors).

    With `observed`, entries that are not stored are unknown; otherwise they are zero, and `sums` contains their cost.
    With more than one step, a row ends when the relative errors of its coordinates are about `tol`. Returns (objective
    if `score`, without the term of x alone; projected gradients before the first step).
    """
    k = other.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    longest = (longest + _LANES - 1) // _LANES * _LANES
    gathered, models, inverses, xs = np.empty((k, longest)), np.empty(longest), np.empty(longest), np.empty(longest)
    own, costs, numerators, totals, actives = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k, np.int64)
    program, weights = (np.empty((k + 1, k)), np.empty(k), np.empty(k)), np.empty(longest)
    most, share = (_SWEEPS, 0.0) if steps <= 1 else (_MORE_SWEEPS, _SHARE)
    value = violation = 0.0
    for i in range(start, stop):
        place, first, size = offset + i, indptr[i], indptr[i + 1] - indptr[i]
        padded = (size + _LANES - 1) // _LANES * _LANES
        x, model, inverse, weight = xs[:padded], models[:padded], inverses[:padded], weights[:padded]
        columns, parts = indices[first : first + size], gathered[:, :padded]
        own[:] = begin[place]
        row = (x, model, inverse)
        _load(row, data[first : first + size])
        for attempt in range(_ATTEMPTS):
            model_and_numerators(True, observed, row, columns, other, own, floor, numerators, totals)
            count, entering = 0, False
            for t in range(k):
                costs[t] = lasso + (totals[t] if observed else sums[t])
                slope = numerators[t] - costs[t] - ridge * own[t]
                if attempt == 0:
                    violation += abs(slope) if own[t] > 0.0 else max(slope, 0.0)
                if own[t] > 0.0 or slope > 0.0:
                    entering |= own[t] == 0.0 and slope > tol * costs[t]
                    actives[count] = t
                    count += 1
            if steps == 0 or (attempt > 0 and not entering):
                break
            active = actives[:count]
            _gather(other, columns, active, parts)
            for _ in range(steps):
                _derivatives(row, parts, active, own, costs, ridge, program, weight)
                _solve(program, own, active, most, share)
                descent, mass = _advance(row, parts, active, own, costs, floor, program, weight)
                if descent <= tol * tol * mass:
                    break
            if steps == 1:
                break
        if score:
            value = add_objective(value, True, x[:size], model, own, costs, ridge)
        new[place] = own
        _extrapolate(own, old[place], extrapolation, ahead[place])
    return value, violation
