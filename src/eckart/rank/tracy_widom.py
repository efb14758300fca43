"""The Tracy-Widom law of real noise (beta = 1), by a gamma law with its first three moments (Chiani, 2014).

TW1 ~ Gamma(46.446, 0.186054) - 9.84801: the distribution function is accurate to 0.001.
"""

from __future__ import annotations

from scipy.special import gammaincinv

MEAN = -1.2065335745820
STANDARD_DEVIATION = 1.607781034581**0.5
_SHAPE, _SCALE, _SHIFT = 46.446, 0.186054, 9.84801


def tracy_widom(probability: float) -> float:
    """Quantile of the law.

    Examples
    --------
    >>> round(tracy_widom(0.95), 2), round(tracy_widom(0.99), 2)  # published: 0.98 and 2.02
    (0.98, 2.01)
    """
    return float(_SCALE * gammaincinv(_SHAPE, probability) - _SHIFT)
