"""Broken stick: keep components while each explains more than the i-th longest piece of a stick broken at random.

b_i = (1/m) sum_{j=i..m} 1/j for m pieces; keep i while share_i > b_i.
"""

from __future__ import annotations

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.verdict import percent


def pieces(count: int) -> np.ndarray:
    """Expected lengths of the pieces, longest first; they sum to 1.

    Examples
    --------
    >>> pieces(4).round(4)
    array([0.5208, 0.2708, 0.1458, 0.0625])
    """
    return np.cumsum(1.0 / np.arange(count, 0, -1))[::-1] / count


def by_broken_stick(e: Evidence) -> tuple[int | None, str]:
    expected = pieces(e.short)[: len(e.ratios)]
    above = e.ratios > expected
    k = len(above) if above.all() else int(np.argmin(above))
    if k == len(e.ratios) < e.short:
        return None, (
            f"All {k} computed components explain more than expected under the broken-stick model. There may be more."
        )
    if k == len(e.ratios):
        return k, f"All {k} components explain more than expected under the broken-stick model."
    return k, (
        f"Component {k + 1} explains {percent(e.ratios[k])}, less than the {percent(expected[k])} "
        "expected under the broken-stick model."
    )
