"""Bounds for vectors and values as returned, which are rounded to their dtype: residuals and explained shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eckart.arrays import EPSILON
from eckart.engine.solution import Solution, share_with_residuals
from eckart.engine.standardize.rounding import euclidean
from eckart.engine.vectors import Errors

EPSILON_SINGLE = float(np.finfo(np.float32).eps)


class Measured(NamedTuple):
    """What certificates take from a problem, without its data."""

    total: float
    total_error: float
    shape: tuple[int, int]
    precision: str
    tolerance: float
    """The requested one, which depends on the dtype of the data."""
    transposed: bool
    passes: int
    unit: int
    """B is in units of 2^-unit."""


def is_single(dtype: object) -> bool:
    """Whether a dtype of any library is float32."""
    return dtype is np.float32 or (dtype is not np.float64 and "float32" in str(dtype))


def unit_of(dtype: object) -> float:
    return EPSILON_SINGLE if is_single(dtype) else EPSILON


def square_of_largest(solution: Solution, problem: Measured, *, smallest: bool) -> tuple[float, float]:
    """Bounds of s_1^2. If only the smallest values are wanted: ||B||_F^2 / n <= s_1^2 <= ||B||_F^2."""
    if not smallest:
        return float(np.maximum.reduce(solution.lower, initial=0.0)), solution.largest_bound
    if solution.spectrum is not None:
        largest, error = float(solution.spectrum.max(initial=0.0)), solution.rounding + solution.spectrum_error
        return max(largest - error, 0.0), largest + error
    total, error = problem.total, problem.total_error
    return max(total - error, 0.0) / problem.shape[1], total + error


def residual_bounds(
    solution: Solution, problem: Measured, errors: Errors, dtype: object, *, smallest: bool
) -> np.ndarray:
    """Bounds of ||A^T A v - s^2 v|| / s_1^2 for the returned right vectors and values.

    A long vector B v / s has the residual B (B^T B v - s^2 v) / s, at most s_1 / s times that of v, plus rounding.
    Rounding a vector to its dtype moves it by `unit` / 2, which G - s^2 multiplies by at most s_1^2; s itself is
    rounded as well. If ||A x|| was measured, ||A^T A x|| <= s_1 ||A x||.
    """
    unit = unit_of(dtype)
    least, most = square_of_largest(solution, problem, smallest=smallest)
    low, high = (least, most) if smallest else (solution.largest, most)
    if high == 0.0:
        return np.zeros(len(solution.values))
    found = solution.residuals / high
    if problem.transposed and solution.long_vectors is None:
        found = found * np.sqrt(high / np.maximum(solution.lower[: len(found)], 1e-300))
    found = np.minimum(found + errors.moved, 1.0)
    if errors.lengths is not None:
        found = np.minimum(found, (errors.lengths + errors.rounding) / high**0.5 + solution.values / high)
    stated = np.asarray(found + 2.0 * unit) * (high / max(low, 1e-300))
    # ||G v - s^2 v|| <= max(s_1, s)^2 ||v||; s may exceed s_1 if bounds are wide, but not if it is 0.
    limit = max(solution.largest / least, 1.0) if least > 0.0 else np.inf
    limit = 1.0 if solution.largest == 0.0 else limit
    known = np.fmin(stated, limit * (1.0 + 4.0 * unit))  # NaN, from 0 / 0, states nothing
    rounded = rounding_to_subnormal(least**0.5, dtype, problem.unit)
    return np.asarray(known + np.where(solution.values > 0.0, rounded, 0.0))


def rounding_to_subnormal(largest: float, dtype: object, exponent: int = 0) -> float:
    """|s^2 - t^2| / s_1^2 for a value s that is rounded to t, a multiple of the smallest subnormal number d.

    It is at most d / 2 (2 s_1 + d / 2) / s_1^2, and at most 1 if s_1 < d / 2, because t is 0 then. It is negligible
    unless all values are close to d. `largest` is a lower bound of s_1 in units of 2^-exponent: in those of the data it
    could be rounded to 0.
    """
    least = float(np.finfo(np.float32 if is_single(dtype) else np.float64).smallest_subnormal)
    ratio = float(np.ldexp(least, exponent)) / largest if largest > 0.0 else np.inf
    return ratio * (1.0 + 0.25 * ratio) if ratio < 2.0 else 3.0


def explained(solution: Solution, total: float, error: float, unit: float = 0.0) -> tuple[float, float]:
    """(share that the returned vectors capture, upper bound of what k components can capture).

    `error` is the rounding of the total itself. Vectors rounded to their dtype, by `unit`, capture less by 2 unit ||R||
    + unit^2 l_1.
    """
    if total <= 0.0:
        return 0.0, float(error > 0.0)
    k = len(solution.values)
    moved = unit * k**0.5
    lost = 2.0 * moved * euclidean(solution.residuals) + moved**2 * solution.largest_bound
    low = float(min(1.0, max(0.0, (float(np.add.reduce(solution.lower[:k])) - lost) / (total + error))))
    high = float(np.add.reduce(solution.upper[:k])) / (total - error) if total > error else 1.0
    return low, float(min(1.0, max(low, high)))


def explained_by_smallest(
    solution: Solution, problem: Measured, errors: Errors, residuals: np.ndarray, unit: float
) -> tuple[float, float]:
    """Bounds of the share that the returned vectors of the smallest values explain, and of the smallest possible one.

    B v / s may explain much more than its value if s is small, so both intervals are joined.
    """
    total, error, k = problem.total, problem.total_error, len(solution.values)
    low, high = explained(solution, total, error)
    if total <= error:
        return 0.0, high
    largest = square_of_largest(solution, problem, smallest=True)[1]
    if errors.lengths is not None:
        low = min(low, float(np.sum(np.maximum(errors.lengths - errors.rounding, 0.0) ** 2)) / (total + error))
        high = max(high, float(np.sum((errors.lengths + errors.rounding) ** 2)) / (total - error))
    elif problem.transposed and solution.long_vectors is None:
        high = max(high, share_with_residuals(solution, residuals * largest, total - error))
    # Rounding to the dtype changes ||A V||_F by at most s_1 unit sqrt(k).
    moved = unit * (k * largest / (total - error)) ** 0.5
    low = max(low**0.5 - moved, 0.0) ** 2
    return min(low, 1.0), max(low, min(high**0.5 + moved, 1.0) ** 2)
