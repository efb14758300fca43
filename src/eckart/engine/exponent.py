"""Powers of two, which change no digit: what was scaled into a safe range goes back to its units."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array

_STEP = 100
"""2^exponent alone may be out of the range of the dtype."""


def times_power_of_two(array: Array, exponent: int) -> Array:
    """2^exponent A, exact unless it leaves the range."""
    if isinstance(array, np.ndarray):
        return np.ldexp(array, exponent)
    while exponent:
        step = max(-_STEP, min(exponent, _STEP))
        array = array * 2.0**step
        exponent -= step
    return array
