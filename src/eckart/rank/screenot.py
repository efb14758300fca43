"""ScreeNOT (Donoho, Gavish and Romanov, 2023): the best hard threshold in noise of unknown covariance.

The noise values z are the observed ones, with the first k0 replaced by an extrapolation of the next ones to the edge.
With phi(y) = mean y / (y^2 - z^2), D = phi (g phi + (1 - g) / y), g = short / long, the threshold solves y D'(y) = -4
D(y).
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from eckart.formatting import counted
from eckart.rank.evidence import Evidence

_FEWEST = 10


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
    if e.short < _FEWEST or values[2 * most] <= 0.0:
        return None, (
            f"This rule needs at least {_FEWEST} singular values, some of them noise, but there are only {e.short}."
        )
    found = threshold(noise_values(values, most), e.short / max(e.free_rows, e.columns))
    k = int((values > found).sum())
    if k >= most or e.falls_beyond(k):
        return (
            None,
            (
                f"With {e.short} singular values, this rule can detect at most "
                f"{counted(most - 1, 'component')}, but there are more."
            ),
        )
    beyond = f"; the next is {values[k] * e.norm:.4g}" if k < len(values) else ""
    above = f"{k} singular value{' is' if k == 1 else 's are'}"
    return k, f"{above} above the threshold of {found * e.norm:.4g}{beyond} (at most {most} were treated as signal)."
