"""What a factorisation explains, and what none with as many parts can exceed: from the certified SVD."""

from __future__ import annotations

import numpy as np

from eckart.formatting import counted, percent
from eckart.nmf.fit import Fitted
from eckart.nmf.options import Settings
from eckart.nmf.table import NonnegativeTable
from eckart.result import Certificate


def certificate_of(table: NonnegativeTable, settings: Settings, fitted: Fitted) -> Certificate | None:
    """Squares: what was explained, and what no factorisation with k parts can exceed. Other losses: none."""
    if not settings.squares or table.squared_norm == 0.0:
        return None
    # |A|^2 itself is a sum of as many squares as there are entries, in blocks.
    captured = max(0.0, 1.0 - 2.0 * (fitted.loss + fitted.rounding) / table.squared_norm - 1e-13)
    best, lower, upper, chance = 1.0, np.empty(0), np.empty(0), 0.0
    svd = fitted.svd
    known = None if svd is None else svd.certificate
    if svd is not None and known is not None:
        k = min(settings.k, svd.k)
        lower, upper, chance = known.lower[:k], known.upper[:k], known.failure_probability
        # What svd.k >= k components can explain bounds k of them as well.
        best = min(1.0, known.explained[1], float(upper @ upper) / table.squared_norm * (1.0 + 1e-13))
        # The components are those of the scaled table; outward by one unit, because subnormal numbers are rounded.
        lower = np.maximum(np.nextafter(np.ldexp(lower, -table.exponent), -np.inf), 0.0)
        upper = np.nextafter(np.ldexp(upper, -table.exponent), np.inf)
    best = max(best, captured)
    summary = f"{percent(captured, 2)} of the sum of squares is explained by {counted(settings.k, 'component')}"
    summary += (
        f"; no factorisation with as many can explain more than {percent(best, 2)}." if known is not None else "."
    )
    return Certificate(
        explained=(captured, best), lower=lower, upper=upper, residuals=np.array([fitted.outcome.violation]),
        angle=1.0, failure_probability=chance, tolerance=settings.tol, proved=fitted.outcome.converged,
        passes=fitted.outcome.iterations, summary=summary,
    )  # fmt: skip
