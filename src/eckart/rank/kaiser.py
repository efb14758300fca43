"""Kaiser's rule: keep components with more variance than a column has on average, l_i / (n - 1) > total / columns."""

from __future__ import annotations

from eckart.formatting import counted
from eckart.rank.evidence import Evidence
from eckart.rank.verdict import percent


def by_average(e: Evidence) -> tuple[int | None, str]:
    """Components above the average; for scaled columns, eigenvalues of the correlation matrix above 1."""
    average = 1.0 / e.columns
    k = int((e.ratios > average * (1.0 + 1e-12)).sum())
    if k == len(e.ratios) < e.short:
        return None, (
            f"All {k} computed components explain more than the average share of {percent(average)}. There may be more."
        )
    what = (
        "an eigenvalue above 1 (in the correlation matrix)"
        if e.scale
        else f"an explained share above the average of {percent(average)}"
    )
    nearest = f"; the next explains {percent(e.ratios[k])}" if k < len(e.ratios) else ""
    return k, f"{counted(k, 'component has', 'components have')} {what}{nearest}."
