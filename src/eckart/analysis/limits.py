"""Limits of T2 and Q at confidence c, for normal rows.

T2: k (n - 1) / (n - k) F_c(k, n - k). Q: Jackson and Mudholkar where all axes left out are known, else g chi2_c(h) with
g and h from the mean and variance of the Q of the fitted rows (Box), without those that are beyond all doubt by the
quartiles: one gross outlier would else spoil the limit for all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

_BEYOND_DOUBT = 0.9999
_NO_SPREAD = 1e-20
_WIDEST = 1e6
"""Quartiles farther apart than this are not those of a chi-squared law."""


def t2_limit(k: int, weight: float, confidence: float) -> float:
    """k (n - 1) / (n - k) F_c(k, n - k); infinite where there are no more rows than axes."""
    from scipy.special import fdtri

    if weight <= k or k == 0:
        return math.inf
    return float(k * (weight - 1) / (weight - k) * fdtri(k, weight - k, confidence))


def jackson_mudholkar(left_out: Matrix, confidence: float) -> float:
    """Limit of Q from the variances of the axes left out; NaN where the approximation has no power."""
    from scipy.special import ndtri

    first, second, third = (float((left_out**i).sum()) for i in (1, 2, 3))
    if second <= 0:
        return math.nan
    power = 1 - 2 * first * third / (3 * second**2)
    inner = (
        float(ndtri(confidence)) * math.sqrt(2 * second) * power / first + 1 + second * power * (power - 1) / first**2
    )
    return first * inner ** (1 / power) if power > 0 and inner > 0 else math.nan


def box(beside: Matrix, weights: Matrix, confidence: float) -> float:
    """g chi2_c(h) with the mean g h and the variance 2 g^2 h of Q, over the rows that are not far out beyond doubt."""
    from scipy.special import gammaincinv

    kept = beside <= by_quartiles(beside, weights, _BEYOND_DOUBT)
    q, w = beside[kept], weights[kept]
    mean = float(w @ q / w.sum())
    variance = float(w @ (q - mean) ** 2 / max(w.sum() - 1.0, 1.0))
    if variance <= _NO_SPREAD * mean**2:
        return mean
    return float(variance / mean * gammaincinv(mean**2 / variance, confidence))


def by_quartiles(beside: Matrix, weights: Matrix, confidence: float) -> float:
    """g chi2_c(h) through the quartiles of Q; infinite where they are not those of a chi-squared law."""
    from scipy.optimize import brentq
    from scipy.special import gammaincinv

    low, middle, high = (quantile(beside, weights, share) for share in (0.25, 0.5, 0.75))
    if low <= 0 or high >= _WIDEST * low:
        return math.inf

    def excess(log_shape: float) -> float:
        shape = math.exp(log_shape)
        return float(math.log(gammaincinv(shape, 0.75) / gammaincinv(shape, 0.25)) - math.log(high / low))

    shape = math.exp(brentq(excess, math.log(0.05), math.log(1e8))) if high > low else 1e8
    return float(middle / gammaincinv(shape, 0.5) * gammaincinv(shape, confidence))


def quantile(values: Matrix, weights: Matrix, share: float) -> float:
    """A quantile when each value counts as often as its weight says; between two where the share falls there."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = share * reached[-1]
    lower = np.searchsorted(reached, wanted * (1 - 1e-12))
    upper = min(np.searchsorted(reached, wanted * (1 + 1e-12)), len(values) - 1)
    return float(values[order[lower]] + values[order[upper]]) / 2
