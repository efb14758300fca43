"""Number of pairs a run computes: k as given, or the smallest k whose values reach a share of the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.lanczos.terms import Assessment
from eckart.engine.solution import RATIO_SLACK, smallest_count
from eckart.errors import MemoryBudgetError, ParameterError
from eckart.wording import MEMORY, K

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_FUTILE_RESTARTS = 4
"""Maximum number of restarts of a full basis in which no k reaches the share, before giving up."""
_SINGLE = 64.0 * float(np.finfo(np.float32).eps)
"""Share of the trace that rounding of float32 data in means and sums may hide."""


class ShareNotReachedError(ParameterError):
    """The passes allowed do not show how many components reach the share."""


def wanted_count(run: _Run) -> int | None:
    """k, or the smallest k whose Ritz values reach the share; None while no k does."""
    if run.target.k is not None:
        return run.target.k
    values = np.linalg.eigvalsh(run.basis.projected)[::-1]
    found = smallest_count(values, run.matrix.trace, run.target.target_ratio or 0.0)
    return run.basis.count if found is None and run.basis.complete else found


def is_decided(run: _Run, state: Assessment) -> bool:
    """Whether no smaller k can reach the share, up to rounding."""
    if run.target.k is not None:
        return True
    if is_ambiguous(run, state):
        return False
    if run.basis.complete:
        return True
    if state.upper is None:
        return False
    attainable = float(np.sum(state.upper[: state.k - 1]))
    resolved = attainable - float(np.sum(state.values[: state.k - 1])) <= RATIO_SLACK * run.matrix.trace
    return attainable < _needed(run) or resolved


def is_ambiguous(run: _Run, state: Assessment) -> bool:
    """Whether float32 products cannot decide on which side of the share the first k or k - 1 values are."""
    if run.exact or run.target.k is not None:
        return False
    sums = np.cumsum(state.values[: state.k])[-2:]
    uncertain = 4.0 * state.k * run.expected_error(run.basis) + _SINGLE * run.matrix.trace
    return bool(np.any(np.abs(sums - _needed(run)) <= uncertain))


def _needed(run: _Run) -> float:
    """Part of the trace that k components must reach, minus what rounding may hide."""
    return ((run.target.target_ratio or 0.0) - RATIO_SLACK) * run.matrix.trace


def make_room(run: _Run, state: Assessment | None, width: int) -> bool:
    """Enlarge a full basis that is too small for the k that the share needs; False if a restart is enough."""
    crowded = state is not None and state.k + 1 + width > run.capacity
    if run.target.k is not None or (state is not None and not crowded):
        return False
    larger = min(run.most, 2 * run.capacity)
    if larger >= run.basis.count + width:
        run.capacity = larger
        run.basis.grow(run.capacity)
        return True
    if crowded or run.restarts >= _FUTILE_RESTARTS:
        raise MemoryBudgetError(
            f"Explaining {_share(run)} of the total takes at least "
            f"{run.basis.count if state is None else state.k} components, but the allowed memory has "
            f"room for only {run.capacity} vectors of length {run.matrix.size:,}. Allow more memory "
            f"with {MEMORY}, request a smaller share, or specify {K}."
        )
    return False


def refuse_if_exhausted(run: _Run) -> None:
    """Raise if a run may not continue and k is still unknown."""
    if run.exhausted:
        raise ShareNotReachedError(
            f"After max_passes={run.target.max_passes} passes over the data, it is still unknown how "
            f"many components explain {_share(run)} of the total. Allow more passes, request a "
            f"smaller share, or specify {K}."
        )


def _share(run: _Run) -> str:
    return f"{100.0 * (run.target.target_ratio or 0.0):.6g} %"
