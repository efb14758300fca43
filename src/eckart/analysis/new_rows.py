"""Limits of T2 and Q for new rows, including the uncertainty of the estimated components and scales.

A new row is like a fitted row that was left out. Given the sample variances, a fitted row is b = diag(s) u with u
uniform on a sphere (see `limits`), and the scatter without it is diag(s^2) - r b b^T, r = n / (n - 1). Its leading
eigenvalues m_i are roots of 1 = r sum_j b_j^2 / (s_j^2 - m), and the row's coordinate on their vector is 1 / (r
sqrt(sum_j b_j^2 / (s_j^2 - m_i)^2)). The law of T2 and Q of a left-out row thus follows from the variances alone,
without another decomposition. It is sampled many times with a fixed seed.

If the components are well separated, T2 follows Hotelling's F law. Otherwise new rows are closer to the centre than
fitted ones, and F flags too few. Leaving one row out at a time flags too many, because the next sample would have other
components. The limit is their geometric mean with weights 1 and 3. Of the smallest components the limit is that of
leaving one row out: F does not know that they were chosen because the fitted rows vary least along them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.limits import Spectrum, q_fitted, t2_hotelling
from eckart.analysis.measures import column_spread, floats, nonzero_components
from eckart.arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition

_DRAWS = 2000
_TOGETHER = 2_000_000
"""Number of values in memory at a time."""
_HALVINGS = 40
_LEFT_OUT_WEIGHT = 0.75


def new_row_limits(known: Spectrum, confidence: float) -> tuple[float, float]:
    """(limit of T2, limit of Q); infinite if there are too few rows to leave one out, NaN without a residual."""
    k, n = len(known.kept), known.rows
    if k == 0 or known.freedom - 1 <= k:
        return math.inf, math.inf if len(known.left_out) else math.nan
    t2, q, known_t2, known_q = (float(np.quantile(drawn, confidence)) for drawn in _left_out_rows(known))
    # Each quantile is that of an exactly known law, times the ratio of two quantiles of the same draws.
    hotelling = t2_hotelling(k, n, confidence, centred=known.centred)
    smallest = len(known.left_out) > 0 and known.kept.max() < known.left_out.min()
    inside = hotelling * (t2 / known_t2) ** (1.0 if smallest else _LEFT_OUT_WEIGHT)
    if not len(known.left_out):
        return inside, math.nan
    # The rows were left out of n, so their law is that of n - 1 rows.
    fewer = replace(known, rows=n - 1)
    exact = q_fitted(known, confidence) * float(known.counts @ known.left_out)
    return inside, exact * q / known_q * inflation(known, k) / inflation(fewer, k)


def inflation(known: Spectrum, k: float) -> float:
    """Ratio of the mean Q of new rows to that of fitted rows, to first order in the estimated mean and directions."""
    mean = 1 / known.rows if known.centred else 0.0
    return (1 + mean) * (1 + k / known.rows) / (1 - k / known.freedom)


def _left_out_rows(known: Spectrum) -> list[Floats]:
    """T2 and Q / residual variance of left-out rows; for the same rows, T2 with fixed components and Q as fitted."""
    k, size = len(known.kept), len(known.kept) + len(known.left_out)
    rng = np.random.Generator(np.random.Philox(key=[_DRAWS, 17]))
    step = max(1, _TOGETHER // (k * size))
    parts = [_left_out(known, rng, min(step, _DRAWS - start)) for start in range(0, _DRAWS, step)]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def _left_out(known: Spectrum, rng: np.random.Generator, draws: int) -> tuple[Floats, Floats, Floats, Floats]:
    k, n = len(known.kept), known.rows
    counts = np.concatenate([np.ones(k), known.counts])
    scatter = np.concatenate([known.kept, known.left_out]) * (n - 1)
    order = np.argsort(-scatter, kind="stable")
    counts, scatter, kept = counts[order], scatter[order], np.flatnonzero(order < k)
    squares = rng.chisquare(counts, (draws, len(counts)))
    others = known.freedom - counts.sum()
    length = squares.sum(axis=1) + (rng.chisquare(others, draws) if others > 1e-9 else 0.0)
    b = known.scale * squares / length[:, None] * scatter
    factor = 1 / known.scale
    roots = _downdated(b, scatter, kept, factor)
    gaps = scatter - roots[:, :, None]
    coordinates = 1 / (factor**2 * (b[:, None, :] / gaps**2).sum(axis=2))
    # Without its own contribution to the mean, the row is n / (n - 1) times as far from it.
    t2 = factor**2 * (coordinates / (roots / (n - 2))).sum(axis=1)
    q = factor**2 * np.maximum(b.sum(axis=1) - coordinates.sum(axis=1), 0.0)
    counted = counts @ scatter
    left = (counted - factor * b.sum(axis=1) - roots.sum(axis=1)) / (n - 2)
    leverage = (b[:, kept] / scatter[kept]).sum(axis=1)
    fixed = factor**2 * (n - 2) * leverage / (1 - factor * leverage)
    return t2, q / np.maximum(left, 1e-300), fixed, b.sum(axis=1) - b[:, kept].sum(axis=1)


def _downdated(b: Floats, scatter: Floats, kept: NDArray[np.intp], factor: float) -> Floats:
    """The roots m of 1 = factor sum_j b_j / (scatter_j - m) below the poles `kept`, draws x k, by bisection."""
    poles, below = scatter[kept], np.append(scatter[1:], 0.0)[kept]
    low, high = (np.repeat(ends[None, :], len(b), axis=0) for ends in (below, poles))
    with np.errstate(divide="ignore"):
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            under = factor * (b[:, None, :] / (scatter - middle[:, :, None])).sum(axis=2) < 1
            low, high = np.where(under, middle, low), np.where(under, high, middle)
    # The pole itself has no direction of its own: a root there means that the row has no part in it.
    return np.asarray(np.minimum((low + high) / 2, poles * (1 - 1e-14)))


def factors_of_new_rows(d: Decomposition, k: int, known: Spectrum, confidence: float) -> tuple[float, float]:
    """By how much the limits of T2 and of Q for new rows are larger than for columns that were not scaled.

    A new row is divided by deviations s_j that are estimated, and the fitted rows were divided by the same s_j, which
    makes their variance exactly 1. The variances of new rows are therefore larger by about 2 / (n - 1): with
    independent columns, they have the mean (n - 1) / (n - 3) of F(1, n - 1). Part of this is already counted, because
    the variances of the components are estimated from the same rows. To first order in 1 / n, with v_ja the loadings,
    l_a the variances, u_j the variance of column j that the kept components leave out, U its sum, and
    h = U^2 / sum of squared variances left out:

    Q   is larger by 2 / n sum_j u_j^2 / U (1 - 1 / h),
    T2  is larger by 4 / (n k) sum_j u_j sum_{a <= k} v_ja^2.

    They follow from Cov(e_jl, s_m^2) = 2 c_jm c_lm / n for the errors e of the correlations c, along axes that turn
    with the scales. Both are 0 if all components are kept: T2 does not depend on the scale.

    With few rows, u_j and h of the sample differ from those of the population: k components more are fitted, so u_j is
    too small by the factor 1 - k / (n - 1), and n - 1 - k variances spread more than those of the population. Both are
    corrected. The entries of a new row also have different variances 1 / s_j^2, with a relative variance of about
    2 / n, although those of the fitted rows are equal. This widens the law of Q, which has h degrees of freedom, to one
    with h / (1 + 2 / n).
    """
    total, free = float(known.counts @ known.left_out), known.freedom - len(known.kept)
    if d.scale is None or total <= 0.0 or known.rows <= 3 or free <= 0:
        return 1.0, 1.0
    nonzero = nonzero_components(d)[:k]
    squares = floats(d.right)[:, :k][:, nonzero] ** 2
    variances = column_spread(d) ** 2
    varied = variances > 0
    unique = np.maximum(1 - (squares @ known.kept)[varied] / variances[varied], 0.0)
    shape = _shape(known, total, free, len(unique) - len(known.kept))
    of_q = float(unique @ unique) / max(float(unique.sum()), 1e-300) * known.freedom / free * (1 - 1 / shape)
    of_t2 = 0.0 if d.which == "smallest" else 2.0 * float(unique @ squares[varied].sum(axis=1)) / len(known.kept)
    # The mean of F(1, n - 1) rather than its first terms.
    further = 2 / (known.rows - 3)
    return 1 + further * of_t2, (1 + further * of_q) * _widened(shape, further, confidence)


def _shape(known: Spectrum, total: float, free: float, columns: int) -> float:
    """h of the population: in a sample, 1 / h is larger by about (1 + 1 / h) / f (Bai and Saranadasa, 1996)."""
    sample = float(known.counts @ known.left_out**2) / total**2
    return 1 / min(max((sample - 1 / free) / (1 + 1 / free), 1 / max(columns, 1)), 1.0)


def _widened(shape: float, variance: float, confidence: float) -> float:
    """Ratio of the quantiles of Q / E Q, if the weights of its chi-squared terms have this relative variance."""
    from scipy.special import gammaincinv

    wider = shape / (1 + variance)
    return float(gammaincinv(wider / 2, confidence) / wider / (gammaincinv(shape / 2, confidence) / shape))
