"""Deterministic parallel analysis (Dobriban and Owen, 2019): the edge of noise whose columns differ in variance.

Noise of column variances h has its largest eigenvalue near the upper edge of the generalised Marchenko-Pastur law,
z = min over 0 < x < 1/max(h) of 1/x + g mean(h / (1 - h x)), g = columns / rows. The first axis is compared with it,
taken out of the variances, and so on (deflation), so that strong axes do not hide weak ones. k axes taken out leave
noise of rows - k times columns - k degrees of freedom.

The largest eigenvalue of pure noise varies about the edge like the Tracy-Widom law (El Karoui, 2007); its 95 % point is
added, so that pure noise passes in one table of twenty and not in one of six.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from eckart.rank.evidence import Evidence
from eckart.rank.tracy_widom import tracy_widom
from eckart.rank.verdict import percent

_FEWEST = 8


def upper_edge(variances: np.ndarray, rows: int, quantile: float = 0.0, *, taken: int = 0) -> float:
    """Where the eigenvalues of noise with these column variances end, for `rows` rows; and so many deviations more.

    `taken` directions of the columns are no longer free.

    Examples
    --------
    >>> round(upper_edge(np.ones(50), 200), 6)  # (1 + sqrt(50 / 200))^2
    2.25
    """
    h = variances[variances > 0.0]
    if not h.size or rows < 1:
        return 0.0
    largest = float(h.max())
    h = h / largest
    ratio = max(len(h) - taken, 0) / len(h) / rows

    def slope(x: float) -> float:
        return ratio * float(np.sum((h * x / (1.0 - h * x)) ** 2)) - 1.0

    x = float(optimize.brentq(slope, 1e-12, 1.0 - 1e-12)) if slope(1.0 - 1e-12) > 0.0 else 1.0 - 1e-12
    weight = h * x / (1.0 - h * x)
    edge = (1.0 + ratio * float(np.sum(weight))) / x
    deviation = (1.0 + ratio * float(np.sum(weight**3))) ** (1.0 / 3.0) / x
    return float(largest * (edge + quantile * deviation * rows ** (-2.0 / 3.0)))


def by_edge(e: Evidence) -> tuple[int | None, str]:
    """Axes above the edge of noise with the variances that the axes before them leave to the columns."""
    if e.column_ratios is None:
        return None, "Needs the variance of each column: the data, or a decomposition with all axes."
    quantile = tracy_widom(e.options.level)
    if e.short < _FEWEST:
        return None, f"The law of the edge needs at least {_FEWEST} components, and there are {e.short}."
    left = e.column_ratios.copy()
    count = min(len(e.ratios), e.right.shape[1], e.short - 1)
    edges = np.zeros(count)
    for k in range(count):
        free = left * e.columns / (e.columns - k) if k < e.columns else left
        edges[k] = upper_edge(free, e.free_rows - k, quantile, taken=k)
        left = np.maximum(left - e.ratios[k] * e.right[:, k] ** 2, 0.0)
    above = np.flatnonzero(e.ratios[:count] > edges)
    # The last, not the first that fails: strong components of equal size hide each other in the edge.
    k = int(above[-1]) + 1 if above.size else 0
    if k == count:
        return None, f"All {count} components known are above the edge of the noise; there may be more."
    if (more := e.falls_beyond(k)) is not None:
        return None, f"{more} components of similar size hide each other: they make up the variances of the columns."
    reached = f"noise of what is left would reach {percent(edges[k])}"
    return k, f"Component {k + 1} explains {percent(e.ratios[k])}; {reached}."
