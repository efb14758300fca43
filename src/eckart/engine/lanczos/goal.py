"""How far bounds may be apart when a run of block Lanczos ends, and when products in float32 cannot get there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.engine.lanczos.probe_bound import length_quantile
from eckart.engine.lanczos.terms import PROBES, Assessment, NotWorthError

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_UNIT = 2.0**-53
_NEARLY_KNOWN = 0.1
"""Relative residual at which a Ritz value is known to a hundredth."""
_DOUBLE_PASSES = 20
"""Passes that a run in float64 takes after one in float32, in units of the latter."""


def goal_of(run: _Run, last: float, largest: float) -> float:
    """Allowed sum of upper_i - theta_i: the tolerance, or what rounding in float64 leaves open anyway.

    Values that rounding cannot tell from zero are bounded by what probes can show of an empty complement. The second
    term is what iteration cannot improve; the proved bound of rounding is larger, and is added at the end.
    """
    goal = 2.0 * run.tolerance * max(last, 0.0) + 64.0 * _UNIT * max(largest, 0.0)
    empty = bound_of_nothing(run)
    return goal + empty if last < empty else goal


def bound_of_nothing(run: _Run) -> float:
    """The bound that probes give of a complement that is zero."""
    quantile = length_quantile(run.budget.total / 16, PROBES)
    return float(8.0 * run.expected_error(run.basis) * run.basis.size**0.5 / quantile)


def is_hidden_by_rounding(run: _Run, state: Assessment) -> bool:
    """Whether the last value, nearly known by now, is below what products in float32 can bound.

    A run on trial ends there, and continues in float64 if its passes are worthwhile.
    """
    last = float(state.values[state.k - 1])
    if run.exact or run.target.worth is None or last >= bound_of_nothing(run):
        return False
    if float(state.residuals[: state.k].max()) > _NEARLY_KNOWN * last:
        return False
    if not run.target.worth(run.passes, _DOUBLE_PASSES):
        raise NotWorthError
    return True
