"""Rules that describe the spectrum and assume nothing about noise: share, elbow, Kaiser's rule, broken stick."""

from __future__ import annotations

import numpy as np

from eckart.formatting import counted, percent, precise_percent
from eckart.rank.evidence import Evidence


def by_variance(e: Evidence) -> tuple[int | None, str]:
    """The fewest k with sum_{i<=k} l_i >= share sum l_i; for an uncentred matrix the same as the energy."""
    return _fewest(e, "variance" if e.center else "sum of squares")


def by_energy(e: Evidence) -> tuple[int | None, str]:
    """Energy, the sum of squared singular values."""
    k, reason = _fewest(e, "energy (squared singular values)")
    return (
        k,
        f"{reason} This equals the share of variance, because the column means are subtracted." if e.center else reason,
    )


def by_linear_energy(e: Evidence) -> tuple[int | None, str]:
    """The rule of some lecture notes, which do not square: sum_{i<=k} sqrt(l_i) >= share sum sqrt(l_i)."""
    if not e.whole:
        known = f"the decomposition has only {len(e.ratios):,}"
        return None, f"This rule needs the sum of all {e.short:,} singular values, but {known}."
    roots = np.sqrt(e.ratios)
    held = np.cumsum(roots) / max(float(roots.sum()), 1e-300)
    k = count_for(held, e.options.explain)
    components = counted(k, "component explains", "components explain")
    wanted = f"{100 * e.options.explain:g} %"
    return k, f"{components} {percent(held[k - 1])} of the sum of the singular values; the target is {wanted}."


def _fewest(e: Evidence, what: str) -> tuple[int | None, str]:
    held = np.cumsum(e.ratios)
    explain = e.options.explain
    if not held.size or held[-1] <= 0.0:
        return 0, "The data have no variance."
    if held[-1] < explain * (1.0 - 1e-12) and not e.whole:
        return (
            None,
            f"The {len(held)} known components explain only {percent(held[-1])} of the {what}, so more are needed.",
        )
    k = count_for(held, explain)
    before = f", and {k - 1} explain{'s' * (k == 2)} {percent(held[k - 2])}" if k > 1 else ""
    components = counted(k, "component explains", "components explain")
    return k, f"{components} {percent(held[k - 1])} of the {what}{before}; the target is {100 * explain:g} %."


def count_for(held: np.ndarray, explain: float) -> int:
    """The smallest k with held[k - 1] >= share, up to rounding."""
    target = min(explain, float(held[-1])) * (1.0 - 1e-12)
    return int(np.searchsorted(held, target, side="left")) + 1


def kneedle(values: np.ndarray) -> int | None:
    """Index of the first elbow of a decreasing curve, counted from 0; None without one (Satopaa and others, 2011).

    Both axes are scaled to 0..1 and the curve is flipped to rise. Its distance above the diagonal has an elbow where it
    falls by more than a mean step before it rises again.

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
            peak, threshold = i, distance[i] - float(np.mean(np.diff(x)))
        elif peak is not None and distance[i] < threshold:
            return peak
        elif i < count - 1 and step[i] > 0:
            threshold = 0.0  # it rises again: the next peak counts
    return peak


def by_elbow(e: Evidence) -> tuple[int | None, str]:
    """The components before the elbow of the scree plot of all known values; estimated values would add a bend.

    On the curve of cumulative shares this would be Kaiser's rule: its distance above the diagonal grows while a
    component is above the average. The rule therefore uses the scree plot itself.
    """
    known = e.ratios[: e.known]
    place = kneedle(known)
    if place is None:
        return None, "The scree plot has no elbow."
    seen = "all" if e.whole and e.known is None else f"the {len(known)} largest"
    return place, (
        f"The scree plot of {seen} eigenvalues has its elbow at component {place + 1}, where the flat part begins."
    )


def by_average(e: Evidence) -> tuple[int | None, str]:
    """Kaiser's rule: components with more variance than a column has on average, l_i / (n - 1) > total / columns.

    For scaled columns these are the eigenvalues of the correlation matrix above 1.
    """
    average = 1.0 / e.columns
    k = int((e.ratios > average * (1.0 + 1e-12)).sum())
    if k == len(e.ratios) < e.short:
        return None, (
            f"All {k} computed components explain more than the average share of {precise_percent(average)}. There may "
            "be more."
        )
    what = (
        "an eigenvalue above 1 (in the correlation matrix)"
        if e.scale
        else f"an explained share above the average of {precise_percent(average)}"
    )
    nearest = f"; the next explains {precise_percent(e.ratios[k])}" if k < len(e.ratios) else ""
    return k, f"{counted(k, 'component has', 'components have')} {what}{nearest}."


def pieces(count: int) -> np.ndarray:
    """Expected lengths of the m pieces of a stick broken at random, longest first: b_i = (1/m) sum_{j=i..m} 1/j.

    Examples
    --------
    >>> pieces(4).round(4)
    array([0.5208, 0.2708, 0.1458, 0.0625])
    """
    return np.cumsum(1.0 / np.arange(count, 0, -1))[::-1] / count


def by_broken_stick(e: Evidence) -> tuple[int | None, str]:
    """Components while each explains more than the piece of its number, share_i > b_i."""
    expected = pieces(e.short)[: len(e.ratios)]
    above = e.ratios > expected
    k = len(above) if above.all() else int(np.argmin(above))
    if k == len(e.ratios) < e.short:
        every = "The computed component explains" if k == 1 else f"All {k} computed components explain"
        return None, f"{every} more than expected under the broken-stick model. There may be more."
    if k == len(e.ratios):
        every = "The only component explains" if k == 1 else f"All {k} components explain"
        return k, f"{every} more than expected under the broken-stick model."
    return k, (
        f"Component {k + 1} explains {precise_percent(e.ratios[k])}, less than the {precise_percent(expected[k])} "
        "expected under the broken-stick model."
    )
