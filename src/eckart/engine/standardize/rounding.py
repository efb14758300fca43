"""How long sums round: n products added up in float32 are off by a random share of their sum."""

from __future__ import annotations

import math

DEVIATIONS = 4.0
"""Standard deviations that are allowed for."""
_SUMMED_APART = 384
"""BLAS adds up so many products in registers, and then those sums."""


def deviation_of_sum(count: int) -> float:
    """c: a sum of so many products has an error of about c units of rounding times the sum.

    An addition is off by .2 units of what it gives; while a sum grows to its end that is on average 1 / sqrt(3) of it.
    """
    return 0.12 * (math.sqrt(min(count, _SUMMED_APART)) + math.sqrt(count / _SUMMED_APART))
