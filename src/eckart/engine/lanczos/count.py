"""How many pairs a run looks for: k as given, or the smallest k whose values reach a share of the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from eckart.engine.lanczos.terms import Assessment
from eckart.engine.solution import RATIO_SLACK, smallest_count
from eckart.errors import MemoryBudgetError
from eckart.formatting import counted

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_SINGLE = 64.0 * float(np.finfo(np.float32).eps)
"""Share of the trace that rounding of float32 data in means and sums may hide."""


def wanted_count(run: _Run) -> int | None:
    """k, or the smallest k whose Ritz values reach the share; None while no k does."""
    if run.target.k is not None:
        return run.target.k
    values = np.linalg.eigvalsh(run.basis.projected)[::-1]
    found = smallest_count(values, run.matrix.trace, run.target.target_ratio or 0.0)
    return run.basis.count if found is None and run.basis.complete else found


def refuse_too_many(run: _Run) -> NoReturn:
    """The basis is full, no passes are left, and all its Ritz values together do not reach the share."""
    raise MemoryBudgetError(
        f"{counted(run.capacity, 'component')}, the most that fit into the basis of block Lanczos, do not explain "
        f"{run.target.target_ratio:.4%} of the total. Allow more memory, request a smaller share, or use "
        "solver='gram', which computes all components."
    )


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
    """Whether float32 products cannot tell on which side of the share the first k or k - 1 values are."""
    if run.exact or run.target.k is not None:
        return False
    sums = np.cumsum(state.values[: state.k])[-2:]
    uncertain = 4.0 * state.k * run.expected_error(run.basis) + _SINGLE * run.matrix.trace
    return bool(np.any(np.abs(sums - _needed(run)) <= uncertain))


def _needed(run: _Run) -> float:
    """Part of the trace that k components must reach, less what rounding may hide."""
    return ((run.target.target_ratio or 0.0) - RATIO_SLACK) * run.matrix.trace
