"""The result of every solver: eigenpairs of B^T B on its short side, with bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from eckart.arrays import Array


@dataclass(frozen=True)
class Request:
    """The request to a solver."""

    k: int | None
    target_ratio: float | None = None
    smallest: bool = False
    tolerance: float = 1e-9
    """Accuracy of each wanted squared singular value, relative to the last of them."""
    failure_probability: float = 1e-9
    max_passes: int = 200
    flat_tolerance: float | None = None
    """Tolerance of block Lanczos if convergence is slow; None: the same."""
    seed: int = 0
    """The user's part of the seed of random probes (`eckart.engine.digest.generator`)."""


@dataclass(frozen=True)
class Solution:
    """Squared singular values and vectors of the short side; `lower` and `upper` may have one value more than k."""

    solver: str
    values: np.ndarray
    vectors: Array
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    """||B^T B v - l v|| for each pair."""
    long_vectors: Array | None = None
    spectrum: np.ndarray | None = None
    """All squared singular values of the short side, if computed."""
    spectrum_error: float = 0.0
    """Bound of the absolute error of each of them, if they are eigenvalues of a computed Gram matrix."""
    remaining_squares: float | None = None
    """Sum of the squares of all squared singular values except `values`; None if not known."""
    proved: bool = True
    converged: bool = True
    undecided: bool = False
    """Whether k may be off by one, because the requested share is within rounding of what k or k - 1 values explain."""
    failure_probability: float = 0.0
    rounding: float = 0.0
    """Allowance for rounding in one squared singular value, contained in the bounds."""
    steps: int = 0
    block: int = 0
    basis: int = 0
    restarts: int = 0
    precision: str = "float64"
    history: tuple[tuple[int, float, float], ...] = field(default=())

    @cached_property
    def largest(self) -> float:
        """The largest value; 0 if there is none."""
        return float(np.maximum.reduce(self.values, initial=0.0))

    @cached_property
    def least(self) -> float:
        """The smallest wanted value; infinite if there is none."""
        return float(np.minimum.reduce(self.values, initial=np.inf))

    @cached_property
    def largest_bound(self) -> float:
        """The largest of the upper bounds."""
        return float(np.maximum.reduce(self.upper, initial=0.0))


RATIO_SLACK = 2.0**-45
"""A share missed by less than this (3e-14) counts as met: sums of squares are rounded by about as much."""


def count_for(spectrum: np.ndarray, total: float, request: Request) -> int:
    """k as requested, or the smallest k that explains the requested share of the total (all, if none does)."""
    if request.k is not None:
        return request.k
    if total <= 0.0:
        return 1
    found = smallest_count(spectrum, total, request.target_ratio or 1.0)
    return len(spectrum) if found is None else found


def smallest_count(spectrum: np.ndarray, total: float, target_ratio: float) -> int | None:
    """The smallest k with l_1 + ... + l_k >= share x total, up to `RATIO_SLACK`; None if there is none.

    Without slack, a share that k values explain exactly would need k + 1 of them if the sum is rounded down.
    """
    held = np.cumsum(np.maximum(spectrum, 0.0)) / total
    enough = np.flatnonzero(held >= target_ratio - RATIO_SLACK)
    return int(enough[0]) + 1 if enough.size else None


def is_undecided(
    target_ratio: float | None, low: np.ndarray, high: np.ndarray, total: float, error: float, most: int
) -> bool:
    """Whether rounding could change k, the smallest count that reaches the requested share.

    `low` are the first k values or lower bounds of them, and `high` upper bounds. The values themselves are rounded by
    much less than the bounds allow for, and a share that they reach exactly counts as reached. `error` is that of the
    total, and `most` the number of all values: a share that rounding makes unattainable takes all of them.
    """
    k = len(low)
    if target_ratio is None or total <= 0.0:
        return False
    if k < most and target_ratio < 1.0 and 1.0 - target_ratio <= 1.7 * RATIO_SLACK:
        return True  # the allowed remainder is less than the rounding of a sum
    short = k < most and float(np.sum(low)) < (target_ratio - 1.7 * RATIO_SLACK) * (total + error)
    return short or float(np.sum(high[: k - 1])) >= target_ratio * (total - error)


ATTAINABLE = 2e-8
"""Bounds this close, relative to the largest value, count as proved: float64 allows no more for small values."""


def is_accurate(lower: np.ndarray, upper: np.ndarray, last: float, largest: float, tolerance: float) -> bool:
    """Whether squared values are known to the tolerance, or as well as float64 allows."""
    width = float(np.max(upper - lower, initial=0.0))
    return width <= max(2.0 * tolerance * last, ATTAINABLE * largest)


def remaining_squares(spectrum: np.ndarray, k: int, *, smallest: bool) -> float:
    """Sum of the squares of a decreasing spectrum, without the k wanted values."""
    rest = spectrum[: len(spectrum) - k] if smallest else spectrum[k:]
    return float(rest @ rest)


def pick(spectrum: np.ndarray, k: int, *, smallest: bool) -> np.ndarray:
    """Indices of the wanted values of a decreasing spectrum: the first k, or the last k in increasing order."""
    size = len(spectrum)
    return np.arange(size - 1, size - 1 - k, -1) if smallest else np.arange(k)


def share_with_residuals(solution: Solution, residuals: np.ndarray, total: float) -> float:
    """Upper bound of the share of long vectors of the smallest values: v^T G v <= s^2 + ||G v - s^2 v||.

    B v / s may have a large part along the leading vectors if s is close to zero.
    """
    return min(1.0, float(np.sum(solution.values + residuals)) / total) if total > 0.0 else 1.0
