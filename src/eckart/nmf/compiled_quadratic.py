"""Coordinate descent on the quadratic programs of many rows, compiled on first use."""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

# Sums may be regrouped for SIMD; NaN and infinity keep their meaning.
_FAST = {"contract", "reassoc", "nsz"}
_GROUP = 32
"""Rows that are swept together, one in each lane of the processor: their Hessians stay in cache."""


@njit(nogil=True, error_model="numpy", cache=True, fastmath=_FAST)
def descend(triangles, rest, begin, inverse, step, sweeps):  # type: ignore[no-untyped-def]
    """min over d >= -begin of 1/2 d Q d + g d; rest is g when called and g + Q d on return, step is d."""
    k, rows = begin.shape
    moves = np.empty(_GROUP, begin.dtype)
    for start in range(0, rows, _GROUP):
        size = min(_GROUP, rows - start)
        for _ in range(sweeps):
            for t in range(k):
                corner = t * k - t * (t - 1) // 2
                for r in range(size):
                    old = step[t, start + r]
                    new = max(old - rest[t, start + r] * inverse[t, start + r], -begin[t, start + r])
                    step[t, start + r] = new
                    moves[r] = new - old
                for s in range(k):
                    place = corner + s - t if s >= t else s * k - s * (s - 1) // 2 + t - s
                    for r in range(size):
                        rest[s, start + r] += triangles[place, start + r] * moves[r]
