"""Variances of the components left out if only some were computed: the shape of noise, with known moments.

The sample variances of white noise follow the Marchenko-Pastur law. Its quantiles x_j, raised to a power, match the sum
of the variances left out. If the Q of the fitted rows determines their sum of squares, they match that too.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Floats

_STEEPEST = 40.0


def noise_quantiles(count: int, ratio: float) -> Floats:
    """`count` quantiles of the Marchenko-Pastur law of ratio b <= 1, falling.

    Examples
    --------
    >>> bool(np.isclose(noise_quantiles(500, 0.25).mean(), 1.0, atol=1e-3))  # its mean is 1
    True
    """
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    # The substitution x = low + (high - low) sin^2(t) removes the square roots of the density at both ends.
    t = np.linspace(0, np.pi / 2, 2001)
    x = low + (high - low) * np.sin(t) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(x > 0, np.sin(2 * t) ** 2 / x, 4.0 / (high - low) * np.cos(t) ** 2)
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    indices = (np.arange(count) + 0.5) / max(count, 1)
    return np.asarray(np.interp(indices * mass[-1], mass, x)[::-1])


def modelled(total: float, squares: float | None, count: int, ratio: float, ceiling: float) -> Floats:
    """`count` decreasing variances with this sum (and sum of squares, if given), all below the ceiling.

    The ceiling is the last variance that is known. Sample variances repel each other, so the largest ones left out are
    below it as in white noise of one more direction.
    """
    from scipy.optimize import brentq

    if count < 1 or total <= 0:
        return np.zeros(0)
    shape = noise_quantiles(count, min(max(ratio, 1e-6), 1.0))
    shape = np.maximum(shape / shape[0], 1e-12)
    power = 1.0
    if squares is not None and count > 1:

        def excess(power: float) -> float:
            values = shape**power
            return float((values**2).sum() / values.sum() ** 2 - squares / total / total)  # total^2 may underflow

        power = 0.0 if excess(0.0) >= 0 else _STEEPEST if excess(_STEEPEST) <= 0 else brentq(excess, 0.0, _STEEPEST)
    values = shape**power
    white = noise_quantiles(count + 1, min(max(ratio, 1e-6), 1.0))
    limits = ceiling * white[1:] / white[0]
    if limits.sum() < total:  # flatter than white noise: as far below the ceiling as the sum allows
        limits = ceiling - (ceiling - limits) * max(count * ceiling - total, 0.0) / float((ceiling - limits).sum())
    for _ in range(10):  # the sum is kept: the excess over the limits is spread over the others
        values = np.minimum(values * (total / values.sum()), limits)
    return np.asarray(values)
