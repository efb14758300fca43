"""Optimal hard thresholds for singular values, in white noise and in noise of unknown covariance.

White noise (Gavish and Donoho, 2014): for an m x n matrix with b = m/n <= 1 and noise s in each entry, keep sigma >
lambda(b) sqrt(n) s, where lambda(b)^2 = 2 (b + 1) + 8 b / (b + 1 + sqrt(b^2 + 14 b + 1)). With unknown noise, s sqrt(n)
= median(sigma) / sqrt(u), u the median of the Marchenko-Pastur law.

ScreeNOT (Donoho, Gavish and Romanov, 2023): the noise values z are the observed ones, with the first k0 replaced by an
extrapolation of the next ones to the edge. With phi(y) = mean y / (y^2 - z^2), D = phi (g phi + (1 - g) / y),
g = short / long, the threshold solves y D'(y) = -4 D(y).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import integrate, optimize

from eckart.formatting import counted
from eckart.rank.evidence import Evidence

_FEWEST = 10


def coefficient(beta: float) -> float:
    """lambda(b); 4/sqrt(3) for square matrices."""
    return math.sqrt(2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + math.sqrt(beta**2 + 14.0 * beta + 1.0)))


@lru_cache(maxsize=64)
def marchenko_pastur_median(beta: float) -> float:
    """Median of the squared singular values of an m x n white matrix over n, for b = m/n <= 1.

    Examples
    --------
    >>> round(coefficient(1.0) / marchenko_pastur_median(1.0) ** 0.5, 3)
    2.858
    """
    low, high = (1.0 - math.sqrt(beta)) ** 2, (1.0 + math.sqrt(beta)) ** 2

    def mass(angle: float) -> float:
        """The distribution function at low + (high - low) sin^2(angle), which removes the roots at both ends."""

        def density(t: float) -> float:
            x = low + (high - low) * math.sin(t) ** 2
            return (high - low) ** 2 * math.sin(2.0 * t) ** 2 / (4.0 * math.pi * beta * x) if x > 0.0 else 0.0

        return float(integrate.quad(density, 0.0, angle, limit=200)[0])

    angle = optimize.brentq(lambda t: mass(t) - 0.5, 0.0, math.pi / 2.0, xtol=1e-13)
    return low + (high - low) * math.sin(angle) ** 2


def by_known_noise(e: Evidence) -> tuple[int | None, str]:
    """The threshold for noise of a given standard deviation, in the units of the table (scaled, if it is scaled)."""
    noise = e.options.noise
    if noise is None:
        return None, "This rule needs the standard deviation of the noise. Specify it with the option 'noise'."
    beta, longer = _shape(e)
    return _above(e, coefficient(beta) * math.sqrt(longer) * noise / e.norm, f"for a noise level of {noise:g}")


def by_unknown_noise(e: Evidence) -> tuple[int | None, str]:
    """The threshold with noise from the middle of the spectrum, or from the residual of leading components."""
    beta, longer = _shape(e)
    if e.whole:
        middle = float(np.median(np.sqrt(e.ratios)))
        return _above(
            e,
            coefficient(beta) / math.sqrt(marchenko_pastur_median(beta)) * middle,
            "noise level estimated from the median singular value",
        )
    return _from_remainder(e, beta, longer)


def _from_remainder(e: Evidence, beta: float, longer: int) -> tuple[int | None, str]:
    """s^2 = (total - first k) / (m n - k (m + n - k)), with the k that follows from its threshold."""
    rows, columns, k = e.free_rows, e.columns, 0
    for _ in range(len(e.ratios) + 1):
        noise = (1.0 - float(e.ratios[:k].sum())) / max(rows * columns - k * (rows + columns - k), 1)
        threshold = coefficient(beta) * math.sqrt(longer * max(noise, 0.0))
        found = int((np.sqrt(e.ratios) > threshold).sum())
        if found <= k:
            break
        k = found
    known = (
        f"noise level estimated from the residual after {counted(k, 'component')}, because only "
        f"{len(e.ratios)} of {e.short:,} singular values are known"
    )
    return _above(e, threshold, known)


def _above(e: Evidence, threshold: float, how: str) -> tuple[int | None, str]:
    values = np.sqrt(e.ratios)
    k = int((values > threshold).sum())
    if k == len(values) < e.short:
        return None, f"All {k} computed singular values exceed the threshold. There may be more."
    beyond = f"; the next is {values[k] * e.norm:.4g}" if k < len(values) else ""
    above = f"{k} singular value{' is' if k == 1 else 's are'}"
    if (more := e.falls_beyond(k)) is not None:
        return (
            None,
            (
                f"The singular values drop sharply after component {more}, so some of the values that "
                "this rule treats as noise are signal."
            ),
        )
    return k, f"{above} above the threshold of {threshold * e.norm:.4g} ({how}){beyond}."


def _shape(e: Evidence) -> tuple[float, int]:
    shorter, longer = sorted((e.free_rows, e.columns))
    return max(shorter, 1) / max(longer, 1), max(longer, 1)


def noise_values(values: np.ndarray, most: int) -> np.ndarray:
    """Decreasing singular values with the first `most` replaced: an edge falls off like (place)^(2/3)."""
    noise = values.copy()
    step = values[most] - values[2 * most]
    place = np.arange(most) / most
    noise[:most] = values[most] + step * (1.0 - place ** (2.0 / 3.0)) / (2.0 ** (2.0 / 3.0) - 1.0)
    return noise


def threshold(noise: np.ndarray, ratio: float) -> float:
    """The root of y D'(y) / D(y) = -4 beyond the largest noise value; D'/D increases there."""
    edge = float(noise.max())

    def excess(y: float) -> float:
        squares = y * y - noise**2
        phi, slope = float(np.mean(y / squares)), -float(np.mean((y * y + noise**2) / squares**2))
        first, second = ratio * phi + (1.0 - ratio) / y, ratio * slope - (1.0 - ratio) / y**2
        return y * (slope * first + phi * second) / (phi * first) + 4.0

    low, high = edge * (1.0 + 1e-9), 2.0 * edge
    while excess(high) < 0.0:
        low, high = high, 2.0 * high
    return float(optimize.brentq(excess, low, high, xtol=1e-12 * edge))


def by_screenot(e: Evidence) -> tuple[int | None, str]:
    if not e.whole:
        return (
            None,
            f"This rule needs all {e.short:,} singular values, but only {len(e.ratios):,} are known.",
        )
    values = np.sqrt(e.ratios)
    most = min(e.most, e.short // 4)
    if e.short < _FEWEST:
        return None, f"This rule needs at least {_FEWEST} singular values, but there are only {e.short}."
    if values[2 * most] <= 0.0:
        return None, "This rule estimates the noise from small singular values, but too many of them are zero."
    found = threshold(noise_values(values, most), e.short / max(e.free_rows, e.columns))
    k = int((values > found).sum())
    if k >= most or e.falls_beyond(k):
        return (
            None,
            (
                f"With {e.short} singular values, this rule can detect at most "
                f"{counted(most - 1, 'component')}, but there seem to be more."
            ),
        )
    beyond = f"; the next is {values[k] * e.norm:.4g}" if k < len(values) else ""
    above = f"{k} singular value{' is' if k == 1 else 's are'}"
    return k, (f"{above} above the threshold of {found * e.norm:.4g}{beyond} (at most {most} were treated as signal).")
