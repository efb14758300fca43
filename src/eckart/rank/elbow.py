"""Kneedle (Satopaa and others, 2011): the elbow of the scree plot, and the components before it.

Both axes of the plot are scaled to 0..1 and the curve is flipped to rise. Its distance above the diagonal has an elbow
where it falls by more than `sensitivity` mean steps before it rises again.

On the curve of cumulative shares this would be Kaiser's rule: its distance above the diagonal grows while a component
is above the average. The rule therefore uses the scree plot itself.
"""

from __future__ import annotations

import numpy as np

from eckart.rank.evidence import Evidence


def kneedle(values: np.ndarray, sensitivity: float = 1.0) -> int | None:
    """Index of the first elbow of a decreasing curve, counted from 0; None without one.

    Examples
    --------
    >>> kneedle(np.array([9.0, 8.0, 1.0, 0.9, 0.8, 0.7]))
    2
    """
    count = len(values)
    if count < 3 or values[0] <= values[-1]:
        return None
    x = np.linspace(0.0, 1.0, count)
    distance = (values[0] - values) / (values[0] - values[-1]) - x
    step = np.diff(distance)
    peaks = set((np.flatnonzero((step[:-1] >= 0) & (step[1:] < 0)) + 1).tolist())
    peak, threshold = None, 0.0
    for i in range(1, count):
        if i in peaks:
            peak, threshold = i, distance[i] - sensitivity * float(np.mean(np.diff(x)))
        elif peak is not None and distance[i] < threshold:
            return peak
        elif i < count - 1 and step[i] > 0:
            threshold = 0.0  # it rises again: the next peak counts
    return peak


def by_elbow(e: Evidence) -> tuple[int | None, str]:
    """The components before the elbow of the scree plot of all known values; estimated values would add a bend."""
    known = e.ratios[: e.known]
    place = kneedle(known)
    if place is None:
        return None, "The scree plot has no elbow."
    seen = "all" if e.whole and e.known is None else f"the {len(known)} largest"
    return place, (
        f"The scree plot of {seen} eigenvalues has its elbow at component {place + 1}, where the flat part begins."
    )
