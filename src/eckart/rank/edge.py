"""The edge of the eigenvalues of independent noise, with unequal variances of rows and columns.

Noise with entries of variance a_i b_j has the cross-products E^T E, whose largest eigenvalue lies near

    z = min over c > 0 of c / (s t),  sum_i a_i s / (1 - a_i s) = sum_j b_j t / (1 - b_j t) = c

(the right edge of the support in the separable model of Paul and Silverstein, 2009; for equal rows it is the edge of
the generalised Marchenko-Pastur law). It varies about z like the Tracy-Widom law with the scale
z^(2/3) (z''(c) / 2)^(1/3): the trace of the resolvent is -(columns + c) / z, whose square-root singularity at the edge
has that coefficient. For white noise these are (sqrt(n) + sqrt(p))^2 and the scale of Johnstone (2001).
"""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.special import gammaincinv

from eckart.rank.remainder import Remainder

MEAN = -1.2065335745820
STANDARD_DEVIATION = 1.607781034581**0.5
"""Mean and standard deviation of the Tracy-Widom law; `tracy_widom` approximates it with the next three."""
_SHAPE, _SCALE, _SHIFT = 46.446, 0.186054, 9.84801
_GROUPS = 64
_LARGEST = 16
_LARGE = 5.0
"""Multiple of the median of a row up to which entries count: 3.4 standard deviations of a normal distribution."""
_CLEAR = 3.0
"""Standard errors by which the spread of row variances must exceed that of equal rows."""


def upper_edge(
    columns: np.ndarray, rows: int, quantile: float = 0.0, *, taken: int = 0, profile: np.ndarray | None = None
) -> float:
    """The edge of the eigenvalues of noise, plus `quantile` units of the Tracy-Widom law.

    `columns` are the expected sums of squares of the columns over `rows` rows; `taken` of their directions are not
    free. `profile` contains the variances of the rows, up to a factor; equal by default.

    Examples
    --------
    >>> round(upper_edge(np.ones(50), 200), 6)  # (1 + sqrt(50 / 200))^2
    2.25
    >>> round(upper_edge(np.ones(50), 200, profile=np.ones(200)), 6)
    2.25
    """
    b = columns[columns > 0.0]
    if not b.size or rows < 1:
        return 0.0
    largest = float(b.max())
    b, counts = b / largest, max(len(b) - taken, 0) / len(b)
    if profile is None:
        return largest * _of_columns(b, counts, rows, quantile)
    a, weights = _grouped(profile / profile.mean())
    return largest * _separable(a / rows, weights * rows / len(profile), b, counts, quantile)


def _of_columns(h: np.ndarray, counts: float, rows: int, quantile: float) -> float:
    """Equal rows: z = min over x of 1/x + mean(h / (1 - h x)) columns / rows."""
    ratio = counts / rows

    def slope(x: float) -> float:
        return ratio * float(np.sum((h * x / (1.0 - h * x)) ** 2)) - 1.0

    x = float(optimize.brentq(slope, 1e-12, 1.0 - 1e-12)) if slope(1.0 - 1e-12) > 0.0 else 1.0 - 1e-12
    weight = h * x / (1.0 - h * x)
    edge = (1.0 + ratio * float(np.sum(weight))) / x
    deviation = (1.0 + ratio * float(np.sum(weight**3))) ** (1.0 / 3.0) / x
    return float(edge + quantile * deviation * rows ** (-2.0 / 3.0))


def _separable(a: np.ndarray, a_counts: np.ndarray, b: np.ndarray, b_counts: float, quantile: float) -> float:
    def edge(log_c: float) -> float:
        c = float(np.exp(log_c))
        return c / (_inverse(a, a_counts, c) * _inverse(b, np.full(len(b), b_counts), c))

    # The minimum of white noise is at sqrt(rows columns); unequal variances move it down.
    most = np.log(np.sqrt(a_counts.sum() * max(b_counts * len(b), 1.0))) + 1.0
    found = optimize.minimize_scalar(edge, bounds=(most - 12.0, most), method="bounded", options={"xatol": 1e-4})
    z, c, step = float(found.fun), float(np.exp(found.x)), 0.02
    # At the minimum, z'' (in c) is that in log c divided by c^2.
    second = (edge(found.x + step) - 2.0 * z + edge(found.x - step)) / (step * c) ** 2
    return float(z + quantile * z ** (2.0 / 3.0) * (max(second, 0.0) / 2.0) ** (1.0 / 3.0))


def _inverse(values: np.ndarray, counts: np.ndarray, c: float) -> float:
    """s with sum counts values s / (1 - values s) = c, with values s below 1."""
    largest = float(values.max())
    v = values / largest

    def excess(s: float) -> float:
        return float(np.sum(counts * v * s / (1.0 - v * s))) - c

    return float(optimize.brentq(excess, 0.0, 1.0 - 1e-13, xtol=1e-13)) / largest


def _grouped(profile: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and counts of groups of similar rows; the largest rows separately, because they determine the edge."""
    if len(profile) <= _GROUPS + _LARGEST:
        return profile, np.ones(len(profile))
    ordered = np.sort(profile)
    groups = [*np.array_split(ordered[:-_LARGEST], _GROUPS), *ordered[-_LARGEST:, None]]
    return np.array([group.mean() for group in groups]), np.array([float(len(group)) for group in groups])


def row_profile(remainder: Remainder) -> np.ndarray | None:
    """Variances of the rows of noise, up to a factor, or None if they may be equal.

    They are the squared means of |e_ij| / b_j, each at most 5 times the median of its row, so that a single large entry
    changes little; b_j are the same means of the columns, tiny if a column is nearly constant. In rows of equal
    variance they vary by 4 (pi / 2 - 1) / columns. The excess over that is kept, and the rest is shrunk.
    """
    sizes = np.abs(remainder.noise)
    columns = sizes.mean(axis=0)
    used = columns > 0.0
    estimates = _typical(sizes[:, used] / columns[used]) ** 2 if used.any() else np.zeros(1)
    mean = float(estimates.mean())
    if not mean > 0.0:
        return None
    spread = float(np.mean((estimates / mean - 1.0) ** 2))
    chance = 4.0 * (np.pi / 2.0 - 1.0) / max(remainder.columns_left, 1)
    # Standard error of the variance of n values that are nearly chi-squared, with kurtosis 3 + 6 chance.
    error = chance * np.sqrt((2.0 + 6.0 * chance) / len(estimates))
    if spread <= chance + _CLEAR * error:
        return None
    true = (spread - chance) / (1.0 + chance)
    return np.asarray(np.maximum(1.0 + np.sqrt(true / spread) * (estimates / mean - 1.0), 1e-6))


def _typical(sizes: np.ndarray) -> np.ndarray:
    """The mean of each row, with entries limited to a multiple of its median."""
    limits = _LARGE * np.median(sizes, axis=1, keepdims=True)
    return np.asarray(np.minimum(sizes, np.where(limits > 0.0, limits, np.inf)).mean(axis=1))


def tracy_widom(probability: float) -> float:
    """Quantile of the Tracy-Widom law of real noise (beta = 1), by a gamma law with its first three moments.

    TW1 ~ Gamma(46.446, 0.186054) - 9.84801: the distribution function is accurate to 0.001 (Chiani, 2014).

    Examples
    --------
    >>> round(tracy_widom(0.95), 2), round(tracy_widom(0.99), 2)  # published: 0.98 and 2.02
    (0.98, 2.01)
    """
    return float(_SCALE * gammaincinv(_SHAPE, probability) - _SHIFT)
