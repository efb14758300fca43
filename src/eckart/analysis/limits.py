"""Limits of T2 and Q at confidence c for normal rows, given the variances of all components.

The left singular vectors of normal rows are uniformly distributed (the law of Z S^(1/2) does not change when Z is
rotated from the left), whatever the covariance. A fitted row is therefore (n - 1) / n times a uniform point of the unit
sphere in n - 1 dimensions, and given the variances l_a of the sample:

T2 ~ (n - 1)^2 / n Beta(k / 2, (n - 1 - k) / 2)  (Tracy, Young and Mason, 1992),
Q  ~ (n - 1)^2 / n sum_{a > k} l_a g_a^2 / sum g^2 with g standard normal in n - 1 dimensions (exact, by Imhof, 1961).

A new row has another law, and its limits are wider: see `new_rows`. Without centring n - 1 dimensions are n, and the
factor (n - 1)^2 / n is n - 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from eckart.arrays import Floats

_BEYOND_DOUBT = 0.9999
_WIDEST = 1e6
"""Quartiles farther apart than this do not come from a chi-squared distribution."""
_LARGEST_SHAPE = 1e8
"""Shape of the gamma distribution of rows whose Q are equal, such as those of a two-level design."""
_SINGLE = 20
"""This many of the largest left-out variances are kept individually; the others are averaged in as many groups."""


@dataclass(frozen=True)
class Spectrum:
    """Variances of the kept components and of those left out, and the number n of rows."""

    kept: Floats
    left_out: Floats
    """In decreasing order; averaged within groups if there are many."""
    counts: Floats
    """How many components each entry of `left_out` stands for."""
    rows: float
    """n, or the sum of the row weights."""
    centred: bool

    @property
    def freedom(self) -> float:
        """Dimensions of the sphere that the rows lie on."""
        return self.rows - 1 if self.centred else self.rows

    @property
    def mean_q(self) -> float:
        """The mean Q of the fitted rows."""
        return float((self.rows - 1) * self.scale * (self.counts @ self.left_out) / self.freedom)

    @property
    def scale(self) -> float:
        """Squared length of a row's left singular vectors over all dimensions."""
        return (self.rows - 1) / self.rows if self.centred else 1.0


def spectrum(kept: Floats, left_out: Floats, rows: float, *, centred: bool) -> Spectrum:
    """The spectrum with a long tail averaged in groups, and directions without variance dropped."""
    left_out = np.sort(left_out[left_out > 0])[::-1]
    single, others = left_out[:_SINGLE], left_out[_SINGLE:]
    groups = np.array_split(others, min(_SINGLE, len(others))) if len(others) else []
    values = np.concatenate([single, [group.mean() for group in groups]])
    counts = np.concatenate([np.ones(len(single)), [float(len(group)) for group in groups]])
    return Spectrum(kept, values, counts, rows, centred)


def t2_fitted(k: int, rows: float, confidence: float, *, centred: bool = True) -> float:
    """Limit of T2 for the fitted rows; infinite if there are no more rows than components."""
    from scipy.special import betaincinv

    freedom, scale = (rows - 1, (rows - 1) / rows) if centred else (rows, 1.0)
    if k == 0 or freedom <= k:
        return math.inf
    return float((rows - 1) * scale * betaincinv(k / 2, (freedom - k) / 2, confidence))


def t2_hotelling(k: int, rows: float, confidence: float, *, centred: bool = True) -> float:
    """Limit of T2 for new rows if the k directions are known: (1 + 1/n) k (n - 1) / (n - k) F_c(k, n - k)."""
    from scipy.special import fdtri

    below, factor = (rows - k, 1 + 1 / rows) if centred else (rows - k + 1, 1.0)
    if k == 0 or below <= 0:
        return math.inf
    return float(factor * k * (rows - 1) / below * fdtri(k, below, confidence))


def q_fitted(known: Spectrum, confidence: float) -> float:
    """Limit of Q for the rows of the fit: the quantile of sum_{a > k} l_a g_a^2 / sum g^2."""
    from scipy.optimize import brentq

    values, counts = known.left_out, known.counts
    if not values.size:
        return 0.0
    others = max(known.freedom - counts.sum(), 0.0)
    largest = float(values.max())
    unit = values / largest

    def excess(q: float) -> float:
        above = positive_probability(np.append(unit - q, -q), np.append(counts, others))
        return above - (1 - confidence)

    low, high = 1e-6 * float(counts @ unit) / known.freedom, 1 - 1e-12
    quantile = brentq(excess, low, high) if excess(low) > 0 > excess(high) else high
    return float((known.rows - 1) * known.scale * largest * quantile)


def positive_probability(weights: Floats, counts: Floats) -> float:
    """P(sum_j w_j chi2(c_j) > 0) = 1/2 + 1/pi int sin(theta(u)) / (u rho(u)) du (Imhof, 1961).

    theta(u) = 1/2 sum c_j arctan(w_j u), rho(u) = prod (1 + w_j^2 u^2)^(c_j / 4).
    """
    nodes, quadrature = _nodes()
    # The integrand decays on the scale of 1 / sqrt(sum c w^2), so rescale to make that 1; u = t / (1 - t).
    weights = weights / max(math.sqrt(float(counts @ weights**2)), 1e-300)
    u = nodes / (1 - nodes)
    products = weights[:, None] * u
    angle = 0.5 * counts @ np.arctan(products)
    damping = 0.25 * counts @ np.log1p(products**2)
    return float(0.5 + (quadrature / (1 - nodes) ** 2 * np.sin(angle) / u * np.exp(-damping)).sum() / math.pi)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Gauss-Legendre on (0, 1)."""
    nodes, quadrature = np.polynomial.legendre.leggauss(200)
    return (nodes + 1) / 2, quadrature / 2


def typical_moments(residuals: Floats, weights: Floats) -> tuple[float, float, float]:
    """Mean and mean square of the Q of the fitted rows without clear outliers, and the share of those in all Q."""
    kept = residuals <= most_typical(*(quantile(residuals, weights, share) for share in (0.25, 0.5, 0.75)))
    q, w = residuals[kept], weights[kept]
    return float(w @ q / w.sum()), float(w @ q**2 / w.sum()), 1.0 - float(w @ q) / float(weights @ residuals)


def most_typical(low: float, middle: float, high: float) -> float:
    """The limit of clear outliers: g chi2(h) with these quartiles; infinite if there is no such distribution."""
    from scipy.optimize import brentq
    from scipy.special import gammaincinv

    if low <= 0 or high >= _WIDEST * low:
        return math.inf

    def excess(log_shape: float) -> float:
        shape = math.exp(log_shape)
        return float(math.log(gammaincinv(shape, 0.75) / gammaincinv(shape, 0.25)) - math.log(high / low))

    largest = math.log(_LARGEST_SHAPE)
    equal = high <= low or excess(largest) >= 0  # quartiles closer together than those of the largest shape
    shape = _LARGEST_SHAPE if equal else math.exp(brentq(excess, math.log(0.05), largest))
    return float(middle / gammaincinv(shape, 0.5) * gammaincinv(shape, _BEYOND_DOUBT))


def quantile(values: Floats, weights: Floats, share: float) -> float:
    """A weighted quantile, interpolated between two values if the share falls between them."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = share * reached[-1]
    lower = np.searchsorted(reached, wanted * (1 - 1e-12))
    upper = min(np.searchsorted(reached, wanted * (1 + 1e-12)), len(values) - 1)
    return float(values[order[lower]] + values[order[upper]]) / 2
