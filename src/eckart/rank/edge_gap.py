"""Gap at the edge (Onatski, 2010): noise of any covariance has eigenvalues close to each other, signal stands apart.

Near its upper edge the spectrum of noise falls like a + b i^(2/3). With b fitted to five eigenvalues from place j on, k
is the last place whose distance to the next eigenvalue is at least 2 |b|; then j = k + 1, and both are repeated.
"""

from __future__ import annotations

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.verdict import percent

_FITTED = 5
_ROUNDS = 4


def by_gap(e: Evidence) -> tuple[int | None, str]:
    """The last component that is followed by a gap wider than those of noise."""
    known = e.shares if e.known is None else e.shares[: e.known]
    most = min(e.options.most or 40, len(known) - _FITTED - 1)
    if most < 1:
        return None, f"Needs at least {_FITTED + 2} components to fit the edge of the noise; there are {len(known)}."
    k, width = edge_gap(known, most)
    if k == most or e.falls_beyond(k):
        return None, f"Sees at most {most - 1} components here, and there are more."
    next_gap = float(known[k] - known[k + 1])
    return k, f"The gap after component {k + 1} is {percent(next_gap)}; gaps of noise are up to {percent(width)}."


def edge_gap(values: np.ndarray, most: int) -> tuple[int, float]:
    """(k, the width that a gap of noise does not reach), for falling eigenvalues.

    Examples
    --------
    >>> edge_gap(np.array([9.0, 8.0, 1.3, 1.2, 1.15, 1.1, 1.07, 1.05, 1.03, 1.0]), 4)[0]
    2
    """
    gaps = values[:-1] - values[1:]
    k, width, start = 0, 0.0, most
    for _ in range(_ROUNDS):
        places = np.arange(start, start + _FITTED) ** (2.0 / 3.0)
        slope = np.polyfit(places, values[start : start + _FITTED], 1)[0]
        width = 2.0 * abs(float(slope))
        wide = np.flatnonzero(gaps[:most] >= width)
        k = int(wide[-1]) + 1 if wide.size else 0
        if start == k:
            break
        start = k
    return k, width
