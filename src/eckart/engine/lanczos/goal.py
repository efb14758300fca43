"""How wide bounds may be when block Lanczos ends, and when float32 products cannot reach that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.arrays import UNIT_ROUNDOFF
from eckart.engine.lanczos.probe_bound import length_quantile
from eckart.engine.lanczos.terms import PROBES, Assessment, NotWorthError

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_NEARLY_KNOWN = 0.1
"""Relative residual at which a Ritz value is known to a hundredth."""
_DOUBLE_PASSES = 20
"""Cost of a float64 run after a float32 run, in passes of the latter."""


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


def is_hidden_by_rounding(run: _Run, state: Assessment) -> bool:
    """Whether the last value, nearly known by now, is below what float32 products can bound.

    A run on trial then ends, and continues in float64 if its passes are worthwhile.
    """
    last = float(state.values[state.k - 1])
    if run.exact or run.target.worth is None or last >= bound_of_nothing(run):
        return False
    if float(state.residuals[: state.k].max()) > _NEARLY_KNOWN * last:
        return False
    if not run.target.worth(run.passes, _DOUBLE_PASSES):
        raise NotWorthError
    return True
