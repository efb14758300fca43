"""A ~ W H, nothing negative: one factor after the other, each a convex problem while the other is held.

`accelerate` takes both factors a little further in the direction they moved (Ang and Gillis, 2019) and goes back where
that raised the objective; `alternate` is the plain loop of the textbooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array
from eckart.nmf.problem import Problem, length

_PATIENCE = 5
"""The objective is compared with the one of this many iterations ago."""
_FAST, _FAST_SHARE = 0.2, 5e-3
"""A descent that falls below the first share within `_PATIENCE` iterations ends later: what is left costs little."""
_TO_THE_END = 100
_PLAIN = 2
"""Newton steps from the start go in directions that tell little about the next: they are not extrapolated."""
_NEWTON_WINDOW, _NEWTON_SHARE = 3, 2.0
"""Newton steps end when sqrt(2 objective) falls by less than this share of the tolerance times its start per iteration.

scikit-learn's multiplicative updates end at a tenth of the tolerance, but take 20 to 40 iterations for what one of
these brings.
"""


@dataclass(frozen=True)
class Outcome:
    """Factors, both as rows, and how they came about."""

    left: Array
    """W, rows x k."""
    right: Array
    """H turned, columns x k."""
    history: tuple[float, ...]
    """Objective after each iteration; it never rises."""
    iterations: int
    converged: bool
    violation: float
    """Projected gradients at the end, relative to those at the start."""
    why: str


@dataclass
class _Pace:
    """How far to go on: shorter after a step that raised the objective, longer after one that did not."""

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
    callback: Callable[[int, float], bool | None] | None = None, start: float | None = None,
) -> Outcome:  # fmt: skip
    """Descent with extrapolation; every accepted pair is better than the one before.

    `start`: the objective at the start, for Newton steps, which end by their descent relative to that.

    W's step is made at the extrapolated H, so the objective of that pair comes with the step. If it has risen, the last
    accepted pair is taken up again, with a plain step. `callback(iteration, objective)` may end it by returning True.
    """
    pace = _Pace(extrapolation)
    accepted = (left, right)
    old_left, old_right, next_left, next_right = left, right, left, right
    history: list[float] = []
    first = violation = np.inf
    refused = False
    for iteration in range(1, max_iter + 1):
        extrapolation = pace.extrapolation if start is None or iteration > _PLAIN else 0.0
        rows = problem.rows(next_left, next_right, old_left, extrapolation)
        objective = problem.constant + rows.value + problem.penalties.columns.of(next_right)
        if history and objective > history[-1]:
            if refused:
                return Outcome(*accepted, tuple(history), iteration, True, _ratio(violation, first), "no descent left")
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
        if callback is not None and callback(iteration, objective):
            return Outcome(*accepted, tuple(history), iteration, True, _ratio(violation, first), "stopped on request")
        why = _settled(history, violation, first, tol, problem.rounding, start)
        if why:
            return Outcome(*accepted, tuple(history), iteration, True, _ratio(violation, first), why)
        old_left, next_left = rows.new, rows.ahead
        old_right, next_right = columns.new, columns.ahead
        if extrapolation:
            pace.bolder()
    return Outcome(*accepted, tuple(history), max_iter, False, _ratio(violation, first), "all iterations used")


def alternate(problem: Problem, left: Array, right: Array, *, max_iter: int, tol: float, by_loss: bool) -> Outcome:
    """W, then H, then W again; ends by the projected gradients, or by the loss of ten iterations (`by_loss`)."""
    history: list[float] = []
    first = violation = last = np.inf
    done = False
    for iteration in range(1, max_iter + 1):
        penalty = problem.penalties.columns.of(right)
        rows = problem.rows(left, right, left, 0.0)
        columns = problem.columns(right, rows.new, right, 0.0)
        history.append(problem.constant + rows.value + penalty)
        left, right = rows.new, columns.new
        violation = rows.violation + columns.violation
        first = violation if iteration == 1 else first
        last = _root(history[0]) if iteration == 1 else last
        if not by_loss:
            done = violation <= tol * first
        elif iteration % 10 == 0 and tol > 0.0:
            size = _root(problem.constant + problem.rows(left, right, left, 0.0).value)
            done = last - size < tol * _root(history[0])
            last = size
        if done and tol > 0.0:
            return Outcome(left, right, tuple(history), iteration, True, _ratio(violation, first), "tolerance reached")
    return Outcome(left, right, tuple(history), max_iter, False, _ratio(violation, first), "all iterations used")


def finish_rows(problem: Problem, left: Array, right: Array, *, tol: float, most: int = 20) -> Array:
    """W for a fixed H, to the end: each row is a convex problem of its own, so `left` does not change the answer.

    `most` is 1 if the problem itself iterates on each row until convergence.
    """
    for _ in range(most):
        new = problem.rows(left, right, left, 0.0, sweeps=_TO_THE_END).new
        moved, size = length(new - left), length(new)
        left = new
        if moved <= tol * size:
            break
    return left


def objective_of(problem: Problem, left: Array, right: Array) -> float:
    """The objective of a pair of factors."""
    value = problem.rows(left, right, left, 0.0, sweeps=0).value
    return problem.constant + value + problem.penalties.columns.of(right)


def _settled(
    history: list[float], violation: float, first: float, tol: float, rounding: float, start: float | None
) -> str:
    """Why it may end here, or nothing."""
    if violation == 0.0 or (tol > 0.0 and violation <= tol * first):
        return "projected gradients below the tolerance"
    if start is not None and len(history) > _NEWTON_WINDOW and tol > 0.0:
        gained = _root(history[-1 - _NEWTON_WINDOW]) - _root(history[-1])
        if gained <= _NEWTON_WINDOW * _NEWTON_SHARE * tol * _root(start):
            return "relative change below the tolerance"
    if len(history) > _PATIENCE:
        gained = history[-1 - _PATIENCE] - history[-1]
        if gained <= rounding:
            return "descent below rounding"
        if start is None and tol > 0.0 and gained <= 0.2 * tol * abs(history[-1]):
            before = history[max(-1 - 2 * _PATIENCE, -len(history))] - history[-1 - _PATIENCE]
            if gained > _FAST * before or gained <= _FAST_SHARE * 0.2 * tol * abs(history[-1]):
                return "relative change below the tolerance"
    return ""


def _root(loss: float) -> float:
    """The loss as a length, which is what scikit-learn compares."""
    return float(np.sqrt(2.0 * max(loss, 0.0)))


def _ratio(violation: float, first: float) -> float:
    return violation / first if 0.0 < first < np.inf else 0.0
