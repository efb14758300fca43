"""Coordinate descent on the quadratic programs of many rows, compiled on first use."""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning.
_FAST = {"contract", "reassoc", "nsz"}
_GROUP = 256
"""Number of rows swept together, one in each SIMD lane: their Hessians stay in cache."""


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def descend(triangles, rest, begin, inverse, step, sweeps):  # type: ignore[no-untyped-def]
    """min over d >= -begin of 1/2 d Q d + g d; rest is g on entry and g + Q d on return, step is d.

    Loops run over views: a sum as an index, which could be negative, would prevent vectorisation.
    """
    k, rows = begin.shape
    moves = np.empty(_GROUP, begin.dtype)
    for start in range(0, rows, _GROUP):
        stop = min(start + _GROUP, rows)
        for _ in range(sweeps):
            for t in range(k):
                corner = t * k - t * (t - 1) // 2
                own, slope, scale, most = (
                    step[t, start:stop], rest[t, start:stop], inverse[t, start:stop], begin[t, start:stop]
                )  # fmt: skip
                for r in range(own.shape[0]):
                    new = own[r] - slope[r] * scale[r]
                    new = new if new > -most[r] else -most[r]  # noqa: FURB136  (becomes vector instructions)
                    moves[r] = new - own[r]
                    own[r] = new
                for s in range(k):
                    place = corner + s - t if s >= t else s * k - s * (s - 1) // 2 + t - s
                    column, other = triangles[place, start:stop], rest[s, start:stop]
                    for r in range(other.shape[0]):
                        other[r] += column[r] * moves[r]
