"""A priori bounds of ||A - C U R|| from theory, for the number of columns and rows chosen.

Additive: ||A - C U R|| <= ||A - A_k|| + eps ||A|| with probability 1 - delta, for c columns and r rows drawn by squared
norms (Drineas, Kannan, Mahoney 2006): with d = delta / 2 and h = 1 + sqrt(8 log(1/d)), eps = (4 k h^2 / c)^(1/4) + (k /
(d^2 r))^(1/2). Relative: ||A - C U R|| <= (2 + eps) ||A - A_k|| with probability .98, for k log(k) / eps^2 columns and
rows drawn by leverage with replacement. Lecture notes do not state the constant. Here it is 1, and columns are drawn
without replacement, so this bound is a guide and not proved. Volume: E ||A - C U R||^2 <= 2 (k + 1) ||A - A_k||^2
(Cortinovis, Kressner 2024), k columns and k rows, best core. Pivot: ||A - C U R|| <= (||V_J^-1||^2 +
||U_I^-1||^2)^(1/2) ||A - A_k||, known once the pivots are (Sorensen, Embree 2016).

The theorems are about exact C, U and R. Proved bounds also contain the rounding of those that are returned.
"""

from __future__ import annotations

import numpy as np

from eckart.cur.constants import FAILURE_PROBABILITY, TAUGHT_SHARE
from eckart.cur.details import Bound


def additive(k: int, columns: int, rows: int, best: float, norm: float, rounding: float, *, drawn: bool) -> Bound:
    """||A - A_k|| + eps ||A||; `drawn`: by squared norms, and joined by the pseudo-inverses."""
    half = FAILURE_PROBABILITY / 2
    spread = 1.0 + np.sqrt(8.0 * np.log(1.0 / half))
    eps = float((4.0 * k * spread**2 / columns) ** 0.25 + (k / (half**2 * rows)) ** 0.5)
    expected = float((4.0 * k / columns) ** 0.25 + (k / rows) ** 0.5)
    return Bound(
        bound=best + eps * norm + rounding,
        eps=eps,
        delta=FAILURE_PROBABILITY,
        applies=drawn,
        proved=drawn,
        expected_eps=expected,
        statement=f"||A - A_k|| + eps ||A|| with eps = {eps:.3g} (with probability {1 - FAILURE_PROBABILITY:.2f})"
        + ("" if eps < 1.0 else " (eps is 1 or more, so this bound is not useful; choose more columns and rows)"),
    )


def relative(k: int, columns: int, rows: int, best: float, *, drawn: bool) -> Bound:
    """(2 + eps) ||A - A_k||; `drawn`: by leverage."""
    eps = float(np.sqrt(k * max(np.log(k), 1.0) / min(columns, rows)))
    return Bound(
        bound=(2.0 + eps) * best,
        eps=eps,
        delta=1.0 - TAUGHT_SHARE,
        applies=drawn,
        proved=False,
        statement=(
            f"(2 + eps) ||A - A_k|| with eps = {eps:.3g} (with probability {TAUGHT_SHARE}, if the constant in "
            "the theorem is 1; not proved)"
        ),
    )


def volume(k: int, best: float, rounding: float) -> Bound:
    """sqrt(2 (k + 1)) ||A - A_k||, for the root mean squared error over all draws."""
    factor = float(np.sqrt(2.0 * (k + 1)))
    statement = f"{factor:.3g} ||A - A_k|| (root mean square over all random choices)"
    return Bound(bound=factor * best + rounding, factor=factor, applies=True, proved=True, statement=statement)


def pivot(right: np.ndarray, left: np.ndarray, best: float, rounding: float) -> Bound:
    """The bound from V_J and U_I, the rows of the singular vectors (k columns each) at the chosen indices."""
    least = [float(np.linalg.svd(part, compute_uv=False)[-1]) for part in (right, left)]
    factor = float(np.sqrt(sum(1.0 / max(value, 1e-300) ** 2 for value in least)))
    return Bound(
        bound=factor * best + rounding,
        factor=factor,
        applies=True,
        proved=True,
        statement=f"{factor:.3g} ||A - A_k|| (always)",
    )
