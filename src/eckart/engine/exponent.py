"""Scaling by powers of two, which changes no digits: into a safe range and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from eckart.arrays import Array, astype, from_numpy

Exponent: TypeAlias = int | np.ndarray
"""One power of two for a whole matrix, or one for each column."""

SAFE = {"float32": (2.0**-30, 2.0**30), "float64": (2.0**-100, 2.0**100)}
"""Magnitudes whose squares, summed, stay in range, and for which LAPACK does not rescale."""
_STEP = 100
"""2^exponent alone may be out of the range of the dtype."""


def times_power_of_two(array: Array, exponent: Exponent) -> Array:
    """2^exponent A, exact unless it leaves the range; with one exponent per column, A diag(2^exponent)."""
    if isinstance(array, np.ndarray):
        return np.ldexp(array, exponent)
    for factor in steps_of(np.asarray(exponent, dtype=float)):
        array = array * (float(factor) if factor.ndim == 0 else astype(from_numpy(factor, array), array.dtype))
    return array


def safe_exponent(largest: float, precision: str) -> int:
    """e such that 2^e x largest is about 1, or 0 if squares are safe anyway."""
    low, high = SAFE[precision]
    if largest == 0.0 or not np.isfinite(largest) or low < largest < high:
        return 0
    return -int(np.frexp(largest)[1])


def safe_exponents(largest: np.ndarray, precision: str) -> np.ndarray:
    """The same for each column."""
    low, high = SAFE[precision]
    safe = (largest == 0.0) | ~np.isfinite(largest) | ((low < largest) & (largest < high))
    return np.where(safe, 0, -np.frexp(np.where(safe, 1.0, largest))[1])


def steps_of(exponents: np.ndarray) -> Iterator[np.ndarray]:
    """Factors within the range of float32 whose product is 2^exponents."""
    while np.any(exponents):
        step = np.clip(exponents, -_STEP, _STEP)
        yield 2.0**step
        exponents = exponents - step
