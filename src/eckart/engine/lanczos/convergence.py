"""When a run has converged, when to check it, and how many passes a proof will take."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log

import numpy as np

from eckart.engine.lanczos.terms import NotWorthError, Target

_FIRST_MOST = 2
"""Maximum number of steps between the first checks."""
_LATER, _SOONER = 2.0, 0.8
"""Measured steps to convergence relative to those expected at the last rate: the first rates fall, later ones grow."""
_GROWTH = 0.5
"""Steps that a slow run takes relative to those expected at its rates."""
_FALL = 30.0
"""Factor by which residuals fall between checks, an upper limit for nearly all matrices."""


@dataclass
class ConvergenceSchedule:
    """When to check convergence, which costs an eigenproblem of the size of the basis."""

    most: int = 2
    """Maximum number of steps between checks, once enough of them have been made to predict the next."""
    cheap: bool = False
    """Whether a step costs less than a check: the next check is then made where convergence is expected."""
    following: int = 0
    """The step of the next check."""
    last: tuple[int, float] | None = None
    """Step and largest relative residual of the last check."""
    rates: list[float] = field(default_factory=list)
    """Logarithms of the factors by which the residual fell in a step, check by check."""
    resolved_rate: float = 0.0
    """The last of them, counted from a relative residual of 1: larger ones say nothing about convergence."""

    def plan(self, step: int, worst: float, goal: float) -> None:
        """Schedule the next check before the residual, at its current rate, reaches the goal."""
        before, self.last = self.last, (step, worst)
        self.following = step + 1
        if before is None:
            return
        steps = max(step - before[0], 1)
        self.rates.append(log(max(before[1], 1e-300) / max(worst, 1e-300)) / steps)
        self.resolved_rate = log(min(max(before[1], 1e-300), 1.0) / max(worst, 1e-300)) / steps
        if worst > goal > 0.0:
            rate = log(max(before[1] / worst, 1.2)) / steps
            self.following = step + max(1, self._until_check(step, log(worst / goal) / rate))

    def _until_check(self, step: int, expected: float) -> int:
        """Steps to the next check, given those to convergence at the last rate."""
        most = max(self.most, step // 3 if self.cheap else 0) if self._reliable else min(self.most, _FIRST_MOST)
        if self.cheap:
            return min(most, round((_SOONER if self._reliable else _LATER) * expected))
        return min(most, int(0.6 * expected))

    @property
    def _reliable(self) -> bool:
        """Whether rates predict: the first are too optimistic, as a spectrum that takes 20 steps promises 6 or 7."""
        return len(self.rates) >= 2 and self.last is not None and self.last[0] >= _RELIABLE

    def near(self, goal: float) -> bool:
        """Whether the largest relative residual may reach the goal by the next check: it seldom falls faster."""
        return self.last is not None and self.last[1] <= _FALL * goal

    def slow(self, goal: float, *, slowest: bool) -> bool:
        """Whether the residual, at the mean or the `slowest` rate of the last two checks, is far from the goal."""
        if self.last is None or not self.rates:
            return False
        recent = self.rates[-2:]
        rate, far = (min(recent), _FAR_AT_SLOWEST) if slowest else (sum(recent) / len(recent), _FAR)
        return log(max(self.last[1], 1e-300) / goal) > far * max(rate, 1e-3)

    def steps_if_fast(self, goal: float) -> float | None:
        """Steps until the residual reaches `goal` at the last rate; None unless that is high."""
        if self.last is None or self.resolved_rate < _FAST:
            return None
        return log(max(self.last[1], 1e-300) / goal) / self.resolved_rate

    def expected_steps(self, goal: float) -> float | None:
        """Steps until the residual reaches `goal`, from the mean of its last two rates; None before they are reliable.

        Rates grow: flat spectra take .39 to .59 of the steps that their rates halfway predict (measured).
        """
        if self.last is None or not self._reliable:
            return None
        rate = max(sum(self.rates[-2:]) / 2.0, 0.02)
        return _GROWTH * max(0.0, log(max(self.last[1], 1e-300) / goal)) / rate


_FAST = 1.0
"""Logarithm of the factor by which the residuals of decaying spectra fall in a step; those of noise fall by half of
it.
"""
_RELIABLE = 4
"""First step whose rates predict convergence (measured)."""
_FAR, _FAR_AT_SLOWEST = 10.0, 16.0
"""With this many steps to convergence, at the mean and at the slowest rate, probes in every block cost more than a
proof phase afterwards.
"""


_BULK, _BULK_STEPS = 5.0, 24
"""A k-th value of at most so many times the mean of all that follow lies among them. The values of noise extend to 4
times their mean; of the spectra i^-.6, i^-1 and i^-2, the tenth is 7, 20 and 100 times the mean of the rest. Within the
bulk, block Lanczos takes about this many steps (measured).
"""


def is_in_bulk(values: np.ndarray, residuals: np.ndarray, k: int, trace: float, size: int) -> bool:
    """Whether the k-th value, which is about theta_k + r_k at most, is not separated from those that follow."""
    following = (trace - float(np.sum(values[:k]))) / max(size - k, 1)
    return float(values[k - 1] + residuals[k - 1]) <= _BULK * following


def stop_if_not_worth(
    target: Target,
    schedule: ConvergenceSchedule,
    passes: int,
    values: np.ndarray,
    *,
    bulk: bool,
    converged: bool,
) -> None:
    """Raise NotWorthError if the steps expected until r^2 / gap is within the tolerance are not worthwhile.

    `bulk`: whether the k-th value lies among those that follow (`is_in_bulk`).
    """
    if target.worth is None or target.k is None:
        return
    last = max(float(values[target.k - 1]), 1e-300)
    beyond = float(values[target.k]) if len(values) > target.k else 0.0
    expected = 0.0 if converged else schedule.expected_steps(needed_residual(target.tolerance, last, beyond))
    if expected is None and bulk:
        expected = _BULK_STEPS
    if expected is not None and not target.worth(passes, expected):
        raise NotWorthError


def needed_residual(tolerance: float, last: float, beyond: float) -> float:
    """Relative residual at which values, whose error is r^2 / gap, are within the tolerance."""
    gap = min(max(1.0 - beyond / last, 1e-3), 1.0) if last > 0.0 else 1.0
    return float((2.0 * tolerance * gap) ** 0.5)


def remaining_error(values: np.ndarray, residuals: np.ndarray, k: int, beyond: float) -> float:
    """Estimate of how far the first k Ritz values may still move: sum r_i^2 / (theta_i - beyond).

    `beyond` is the estimated rest of the spectrum. A gap of less than 1e-3 counts as 1e-3, so that a cluster at the cut
    does not look unconverged forever.
    """
    if k == 0:
        return 0.0
    gaps = np.maximum(values[:k] - beyond, 1e-3 * max(float(values[k - 1]), 0.0))
    return float(np.sum(residuals[:k] ** 2 / np.maximum(gaps, 1e-300)))


def passes_for_excess(wanted: float, excess: float, passes: int, size: int, quantile: float) -> float:
    """Narrow passes until the probe bound exceeds lambda_1(P G P) by `wanted`, given its `excess` after `passes`.

    After q passes over a spectrum of width w, a Chebyshev polynomial that is at most 1 on it reaches 2 sqrt(n) / c at
    an excess x with cosh(q arcosh(1 + 2 x / w)) = 2 sqrt(n) / c. The excess so far gives w: for a cluster of nearly
    equal values it is far smaller than the values themselves.
    """
    growth = _probe_growth(size, quantile)
    width = 2.0 * excess / float(np.cosh(growth / passes) - 1.0)
    return expected_passes(wanted, width, size, quantile)


def expected_passes(wanted: float, width: float, size: int, quantile: float) -> float:
    """Narrow passes until the probe bound exceeds lambda_1(P G P) by `wanted`, for a spectrum of this `width`.

    About ln(4 sqrt(n) / c) / (2 sqrt(wanted / width)); probe runs on noise took 0.63 to 0.77 times that.
    """
    ratio = 2.0 * max(wanted, 0.0) / max(width, 1e-300)
    return 0.7 * _probe_growth(size, quantile) / float(np.arccosh(1.0 + ratio + 1e-16))


def _probe_growth(size: int, quantile: float) -> float:
    """arcosh(2 sqrt(n) / c)."""
    return float(np.arccosh(max(2.0 * size**0.5 / quantile, 1.0)))
