"""The fewest components that explain a share of the variance, of the energy, or of the singular values.

variance, energy: sum_{i<=k} l_i >= share sum l_i.  Linear energy: sum_{i<=k} sqrt(l_i) >= share sum sqrt(l_i).
"""

from __future__ import annotations

import numpy as np

from eckart.formatting import counted, percent
from eckart.rank.evidence import Evidence


def by_variance(e: Evidence) -> tuple[int | None, str]:
    """Share of the variance, which for an uncentred matrix is the same as the energy."""
    return _fewest(e, "variance" if e.center else "sum of squares")


def by_energy(e: Evidence) -> tuple[int | None, str]:
    """Energy, the sum of squared singular values."""
    k, reason = _fewest(e, "energy (squared singular values)")
    return (
        k,
        f"{reason} This equals the share of variance, because the column means are subtracted." if e.center else reason,
    )


def by_linear_energy(e: Evidence) -> tuple[int | None, str]:
    """The rule of some lecture notes, with singular values that are not squared."""
    if not e.whole:
        known = f"the decomposition has only {len(e.ratios):,}"
        return None, f"This rule needs the sum of all {e.short:,} singular values, but {known}."
    roots = np.sqrt(e.ratios)
    held = np.cumsum(roots) / max(float(roots.sum()), 1e-300)
    k = count_for(held, e.options.explain)
    components = counted(k, "component explains", "components explain")
    wanted = percent(e.options.explain, 0)
    return k, f"{components} {percent(held[k - 1])} of the sum of the singular values; the target is {wanted}."


def _fewest(e: Evidence, what: str) -> tuple[int | None, str]:
    held = np.cumsum(e.ratios)
    explain = e.options.explain
    if not held.size or held[-1] <= 0.0:
        return 0, "The data have no variance."
    if held[-1] < explain * (1.0 - 1e-12) and not e.whole:
        return (
            None,
            (
                f"The {len(held)} known components explain only {percent(held[-1])} of the {what}, so "
                "more components are needed."
            ),
        )
    k = count_for(held, explain)
    before = f", and {k - 1} explain{'s' * (k == 2)} {percent(held[k - 2])}" if k > 1 else ""
    components = counted(k, "component explains", "components explain")
    return k, f"{components} {percent(held[k - 1])} of the {what}{before}; the target is {percent(explain, 0)}."


def count_for(held: np.ndarray, explain: float) -> int:
    """The smallest k with held[k - 1] >= share, up to rounding."""
    target = min(explain, float(held[-1])) * (1.0 - 1e-12)
    return int(np.searchsorted(held, target, side="left")) + 1
