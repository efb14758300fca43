"""A ~ W H with non-negative factors, updated in turn: each is a convex problem while the other is fixed.

`accelerate` extrapolates both factors in the direction of their last move (Ang and Gillis, 2019) and steps back if that
raised the objective. `alternate` is the plain loop of the textbooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array
from eckart.nmf.constants import (
    LEAST_EXPLAINED,
    NEWTON_SHARE,
    NEWTON_WINDOW,
    SWEEPS_TO_CONVERGENCE,
    WINDOW,
    WINDOW_SHARE,
)
from eckart.nmf.problem import Problem


@dataclass(frozen=True)
class Outcome:
    """Both factors, as rows, and the history of the run."""

    left: Array
    """W, rows x k."""
    right: Array
    """H transposed, columns x k."""
    history: tuple[float, ...]
    """Objective after each iteration; it never rises."""
    iterations: int
    converged: bool
    violation: float
    """Projected gradients at the end, relative to those at the start."""
    why: str


@dataclass
class _Pace:
    """Length of the extrapolation: shorter after a step that raised the objective, longer otherwise."""

    extrapolation: float
    limit: float = 1.0

    def gentler(self) -> None:
        self.extrapolation *= 0.5
        self.limit = self.extrapolation

    def bolder(self) -> None:
        self.limit = min(0.99, 1.05 * self.limit)
        self.extrapolation = min(self.limit, 1.1 * self.extrapolation)


def accelerate(
    problem: Problem, left: Array, right: Array, *, max_iter: int, tol: float, extrapolation: float,
    callback: Callable[[int, float], bool | None] | None = None, newton: bool = False, plain: int = 0,
) -> Outcome:  # fmt: skip
    """Descent with extrapolation, after `plain` iterations without it; every accepted pair is better than the last.

    W's step is made at the extrapolated H, so the objective of that pair comes with the step. If it has risen, the last
    accepted pair is restored and a plain step follows. `callback(iteration, objective)` may end the run by returning
    True.
    """
    pace = _Pace(extrapolation)
    accepted = (left, right)
    old_left, old_right, next_left, next_right = left, right, left, right
    history: list[float] = []
    first = violation = np.inf
    refused = False
    for iteration in range(1, max_iter + 1):
        extrapolation = pace.extrapolation if iteration > plain else 0.0
        rows = problem.rows(next_left, next_right, old_left, extrapolation)
        objective = problem.constant + rows.value + problem.penalties.columns.of(next_right)
        if history and objective > history[-1]:
            if refused:
                return Outcome(
                    *accepted,
                    tuple(history),
                    iteration,
                    True,
                    _ratio(violation, first),
                    "no further decrease of the loss",
                )
            refused = True
            pace.gentler()
            old_left, old_right = next_left, next_right = accepted
            next_right = problem.columns(next_right, next_left, old_right, 0.0).new
            continue
        refused = False
        accepted = (rows.new, next_right)
        history.append(objective)
        columns = problem.columns(next_right, rows.ahead, old_right, extrapolation)
        violation = rows.violation + columns.violation
        first = violation if iteration == 1 else first
        if _is_stopped(callback, iteration, objective):
            return Outcome(*accepted, tuple(history), iteration, True, _ratio(violation, first), "stopped on request")
        why = _settled(history, violation, first, tol, problem, newton=newton)
        if why:
            return Outcome(*accepted, tuple(history), iteration, True, _ratio(violation, first), why)
        old_left, next_left = rows.new, rows.ahead
        old_right, next_right = columns.new, columns.ahead
        if extrapolation:
            pace.bolder()
    return Outcome(
        *accepted, tuple(history), max_iter, False, _ratio(violation, first), "maximum number of iterations reached"
    )


def _is_stopped(callback: Callable[[int, float], bool | None] | None, iteration: int, objective: float) -> bool:
    return callback is not None and bool(callback(iteration, objective))


def alternate(
    problem: Problem, left: Array, right: Array, *, max_iter: int, tol: float, by_loss: bool,
    callback: Callable[[int, float], bool | None] | None = None,
) -> Outcome:  # fmt: skip
    """Alternate W and H until the projected gradients, or the loss over ten iterations (`by_loss`), are small."""
    history: list[float] = []
    first = violation = last = np.inf
    done = False
    for iteration in range(1, max_iter + 1):
        penalty = problem.penalties.columns.of(right)
        rows = problem.rows(left, right, left, 0.0)
        columns = problem.columns(right, rows.new, right, 0.0)
        history.append(problem.constant + rows.value + penalty)
        left, right = rows.new, columns.new
        if _is_stopped(callback, iteration, history[-1]):
            return Outcome(left, right, tuple(history), iteration, True, _ratio(violation, first), "stopped on request")
        violation = rows.violation + columns.violation
        if iteration == 1:
            first, last = violation, _root(history[0])
        if not by_loss:
            done = violation <= tol * first
        elif iteration % 10 == 0 and tol > 0.0:
            size = _root(problem.constant + problem.rows(left, right, left, 0.0).value)
            done = last - size < tol * _root(history[0])
            last = size
        if done and tol > 0.0:
            return Outcome(left, right, tuple(history), iteration, True, _ratio(violation, first), "tolerance reached")
    return Outcome(
        left, right, tuple(history), max_iter, False, _ratio(violation, first), "maximum number of iterations reached"
    )


def finish_rows(problem: Problem, left: Array, right: Array) -> Array:
    """W for a fixed H, to convergence: each row is a separate convex problem, so `left` does not change the result."""
    return problem.rows(left, right, left, 0.0, sweeps=SWEEPS_TO_CONVERGENCE).new


def _settled(
    history: list[float], violation: float, first: float, tol: float, problem: Problem, *, newton: bool
) -> str:
    """Why the iteration may end, or an empty string.

    The objective is compared with that of a model without parts (`problem.reference`). The difference is what W H
    explains: for the squared error |W H|^2 / 2 if W is the best for its H.
    """
    if violation <= tol * first:
        return "projected gradients below the tolerance"
    window, share = (NEWTON_WINDOW, NEWTON_SHARE) if newton else (WINDOW, WINDOW_SHARE)
    if len(history) <= window:
        return ""
    before, now = history[-1 - window], history[-1]
    if before - now <= problem.rounding:
        return "decrease of the loss below rounding error"
    explained = max(problem.reference - now, LEAST_EXPLAINED * abs(now))
    change = _root(before) - _root(now) <= share * tol * _root(explained)
    if tol > 0.0 and (change or (newton and before - now <= 2.0 * share * tol * explained)):
        return "relative change below the tolerance"
    return ""


def _root(loss: float) -> float:
    """The loss as a length, which scikit-learn compares."""
    return float(np.sqrt(2.0 * max(loss, 0.0)))


def _ratio(violation: float, first: float) -> float:
    return violation / first if 0.0 < first < np.inf else 0.0
