"""The share that a factorisation explains, and the most that any with as many parts can: from the certified SVD."""

from __future__ import annotations

import numpy as np

from eckart.formatting import counted, percent
from eckart.nmf.fit import Fitted
from eckart.nmf.options import Settings
from eckart.nmf.table import NonnegativeTable
from eckart.result import Certificate


def certificate_of(table: NonnegativeTable, settings: Settings, fitted: Fitted, moved: float) -> Certificate | None:
    """For squares, the explained share and its upper limit for k parts; None for other losses.

    `moved` bounds how far rounding to the dtype of the data moves W H, in the units of the table.
    """
    if not settings.squares or table.squared_norm == 0.0:
        return None
    # |A|^2 itself is a sum over all entries, in blocks.
    error = float(np.sqrt(2.0 * (fitted.loss + fitted.rounding))) + moved
    captured = max(0.0, 1.0 - error**2 / table.squared_norm - 1e-13)
    best, lower, upper, chance = 1.0, np.empty(0), np.empty(0), 0.0
    svd = fitted.svd
    known = None if svd is None else svd.certificate
    if svd is not None and known is not None:
        k = min(settings.k, svd.k)
        lower, upper, chance = known.lower[:k], known.upper[:k], known.failure_probability
        # What svd.k >= k components can explain also bounds k of them.
        best = min(1.0, known.explained[1], float(upper @ upper) / table.squared_norm * (1.0 + 1e-13))
        # The components are those of the scaled table; rounded outwards by one unit, because subnormal numbers are
        # rounded.
        lower = np.maximum(np.nextafter(np.ldexp(lower, -table.exponent), -np.inf), 0.0)
        upper = np.nextafter(np.ldexp(upper, -table.exponent), np.inf)
    best = max(best, captured)
    limit = None if known is None else best
    return Certificate(
        explained=(captured, best), lower=lower, upper=upper, residuals=np.array([fitted.outcome.violation]),
        angle=1.0, failure_probability=chance, tolerance=settings.tol, proved=fitted.outcome.converged,
        passes=fitted.outcome.iterations, summary=summary(settings.k, captured, limit, observed=table.observed),
    )  # fmt: skip


def moved_by_rounding(lengths: np.ndarray, dtype: object, exponent: int = 0) -> float:
    """How far rounding to the dtype of the data moves W H, in units of 2^-exponent, given the lengths of the parts.

    Three factors are rounded by half a unit each, which moves W H by at most 3/2 units of the sum of the lengths. A
    length that is subnormal in the units of the data is off by half the smallest number.
    """
    limits = np.finfo(dtype)  # type: ignore[call-overload]
    smallest = float(np.ldexp(float(limits.smallest_subnormal), exponent))
    return 2.0 * float(limits.eps) * float(lengths.sum()) + len(lengths) * smallest


def summary(k: int, captured: float, limit: float | None, *, observed: bool = False) -> str:
    """The certificate in a sentence, with the upper limit of the share if it is known."""
    explained = f"{counted(k, 'component explains', 'components explain')} {percent(captured, 2)} of the sum of squares"
    known = " of the known entries" if observed else ""
    end = "" if limit is None else f"; no other factorisation of this size can explain more than {percent(limit, 2)}"
    return f"{explained}{known}{end}."
