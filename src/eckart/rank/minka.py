"""Number of signal components: the Laplace approximation of the evidence of probabilistic PCA (Minka, NIPS 2000).

For rank r of p columns and n rows, with l the variances, v the mean of those after r, m = r p - r (r + 1) / 2:

log p(data | r) = log p(U) - n/2 sum_{i<=r} log l_i - n (p - r)/2 log v + (m + r)/2 log 2 pi - log|A| / 2 - r/2 log n,
log|A| = sum_{i<=r, i<j} log n (1/l^_j - 1/l^_i)(l_i - l_j), where l^_j is l_j up to r and v after it.

The double sums are prefix sums of p x p tables, so that all ranks together cost p^2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from eckart.formatting import counted
from eckart.rank.evidence import Evidence

_FLOOR = 1e-15
"""Differences and variances below this share of the largest count as rounding."""


def minka_rank(variances: np.ndarray, rows: int) -> int:
    """The rank from 1 to p - 1 of the largest evidence.

    Examples
    --------
    >>> import numpy as np
    >>> minka_rank(np.array([9.0, 5.0, 0.11, 0.1, 0.09]), rows=1000)
    2
    """
    size = len(variances)
    if size < 2 or variances[0] <= 0.0:
        return 1
    # Scaling the data changes the evidence by a constant, so the largest variance is set to 1.
    evidence = log_evidence(np.asarray(variances, dtype=np.float64) / float(variances[0]), rows)
    return int(np.argmax(evidence)) + 1


def log_evidence(spectrum: np.ndarray, rows: int) -> np.ndarray:
    """log p(data | r) for r = 1 .. p - 1; minus infinity if the last variance is rounding."""
    size = len(spectrum)
    rank = np.arange(1, size)
    clipped = np.maximum(spectrum, _FLOOR)
    tail = np.maximum((np.sum(spectrum) - np.cumsum(spectrum)[:-1]) / (size - rank), _FLOOR)
    pairs = size * rank - rank * (rank + 1) / 2.0
    freedom = (size - rank + 1) / 2.0
    rotation = np.cumsum(gammaln(freedom) - math.log(math.pi) * freedom) - rank * math.log(2.0)
    fit = -rows / 2.0 * (np.cumsum(np.log(clipped))[:-1] + (size - rank) * np.log(tail))
    volume = _log_hessian(clipped, tail) + pairs * math.log(rows)
    evidence = (
        rotation + fit + math.log(2.0 * math.pi) * (pairs + rank) / 2.0 - volume / 2.0 - rank * math.log(rows) / 2.0
    )
    return np.where(spectrum[:-1] < _FLOOR, -np.inf, evidence)


def _log_hessian(spectrum: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """sum_{i<=r, i<j} log (1/l^_j - 1/l^_i)(l_i - l_j) for each r."""
    size = len(spectrum)
    inverse = 1.0 / spectrum
    above = np.triu(np.ones((size, size), dtype=bool), 1)
    differences = np.where(above, np.log(np.maximum(spectrum[:, None] - spectrum, _FLOOR)), 0.0)
    inside = np.where(above, np.log(np.maximum(inverse - inverse[:, None], _FLOOR)), 0.0)
    # Entry (i, r): direction i < r against the common variance of the directions after r.
    across = np.where(above.T[1:, :-1] | np.eye(size - 1, dtype=bool),
                      np.log(np.maximum((1.0 / tail)[:, None] - inverse[:-1], _FLOOR)), 0.0)  # fmt: skip
    rank = np.arange(1, size)
    result: np.ndarray = (
        np.cumsum(differences.sum(axis=1))[:-1]
        + np.cumsum(inside.sum(axis=0))[:-1]
        + (size - rank) * across.sum(axis=1)
    )
    return result


def by_evidence(e: Evidence) -> tuple[int | None, str]:
    """The rank of the largest evidence, for tables with at least as many rows as columns."""
    if e.rows < e.columns:
        return None, (f"This rule needs at least as many rows as columns, but the table is {e.rows:,} x {e.columns:,}.")
    if not e.whole or e.known is not None:
        return None, f"This rule needs the variances of all {e.short:,} components, but only the largest are known."
    ratios = np.concatenate([e.ratios, np.zeros(e.columns - len(e.ratios))])
    if len(ratios) < 2:
        return None, "This rule needs at least two columns."
    evidence = log_evidence(ratios / float(ratios[0]), e.rows)
    k = int(np.argmax(evidence)) + 1
    others = np.delete(evidence, k - 1)
    margin = float(evidence[k - 1] - others.max()) if others.size else float("inf")
    return k, f"The log evidence is largest for {counted(k, 'component')}, by a margin of {margin:.3g}."
