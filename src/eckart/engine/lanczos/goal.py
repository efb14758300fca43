"""How wide bounds may be when block Lanczos ends, and when float32 products cannot reach that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import UNIT_ROUNDOFF
from eckart.engine.lanczos.probe_bound import length_quantile
from eckart.engine.lanczos.terms import PROBES, Assessment, HiddenByRoundingError, Target

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_NEARLY_KNOWN = 0.1
"""Relative residual at which a Ritz value is known to a hundredth."""
_DOUBLE_PASSES = (10, 20)
"""Cost of a float64 run after a float32 run, in passes of the latter: if that has nearly converged and may be proved
after all, and otherwise. A run that ends unproved has values close to each other at the cut, where convergence is slow.
"""
_DOUBLE_START = 4
"""The same for the first two float64 steps."""
_FAST = 1.0
"""Logarithm of the factor by which residuals fall in a step if a run is about to converge."""


def goal_of(run: _Run, last: float, largest: float) -> float:
    """Allowed sum of upper_i - theta_i: the tolerance, or the uncertainty of float64 rounding if larger.

    Values that rounding cannot distinguish from zero are bounded by what probes can prove for an empty complement.
    Iteration cannot improve the second term. The proved bound of rounding is larger and is added at the end.
    """
    goal = 2.0 * run.tolerance * max(last, 0.0) + 64.0 * UNIT_ROUNDOFF * max(largest, 0.0)
    empty = bound_of_nothing(run)
    return goal + empty if last < empty else goal


def bound_of_nothing(run: _Run) -> float:
    """The bound that probes give for a zero complement."""
    quantile = length_quantile(run.budget.total / 16, PROBES)
    return float(8.0 * run.expected_error(run.basis) * run.basis.size**0.5 / quantile)


def is_too_small(run: _Run, value: float) -> bool:
    """Whether float32 products cannot bound a value of this size."""
    return not run.exact and value < bound_of_nothing(run)


def is_below_rounding(run: _Run, state: Assessment) -> bool:
    """Whether a run on trial will find its last value below what float32 products can bound.

    The value is known to its own size and moves by about its residual. No proof is possible before float64.
    """
    if run.exact or run.target.worth is None:
        return False
    last, residual = float(state.values[state.k - 1]), float(state.residuals[: state.k].max())
    return residual <= last and is_too_small(run, last + residual)


def is_hidden_by_rounding(run: _Run, state: Assessment) -> bool:
    """Whether a value below rounding is nearly known, so that the run ends, and continues in float64."""
    nearly = float(state.residuals[: state.k].max()) <= _NEARLY_KNOWN * float(state.values[state.k - 1])
    return nearly and is_below_rounding(run, state)


def stop_if_hidden_not_worth(run: _Run, state: Assessment) -> None:
    """Raise HiddenByRoundingError if a run whose last value is below rounding is not worth its float64 passes."""
    if run.target.worth is None:
        return
    last = float(state.values[state.k - 1])
    if is_hidden_by_rounding(run, state):
        stop_if_float64_not_worth(run.target, run.passes, _DOUBLE_PASSES[0], value=last)
    elif run.schedule.rates and run.schedule.rates[-1] <= _FAST:
        stop_if_float64_not_worth(run.target, run.passes, value=last)


def float64_passes(run: _Run) -> float:
    """Cost of continuing a run in float64, in its passes, if only the proof is left because rounding has hidden it.

    Equal values at the cut take few passes: the step that removes float32 errors, and one proof phase.
    """
    expected = _DOUBLE_START + run.proofs.expected if run.proofs.hidden(run) else np.inf
    return min(expected, _DOUBLE_PASSES[1])


def stop_if_float64_not_worth(
    target: Target, passes: int, further: float = _DOUBLE_PASSES[1], *, value: float = 0.0
) -> None:
    """Raise HiddenByRoundingError with the last wanted `value` if `further` float64 passes are not worth their cost."""
    if target.worth is not None and not target.worth(passes, further):
        raise HiddenByRoundingError(value)
