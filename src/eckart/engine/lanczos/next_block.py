"""The next block of block Lanczos: residual directions, directions that proofs found missing, and random columns.

Random columns are probes (probe_bound.py), or they replace directions that have run out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.lanczos.convergence import needed_residual
from eckart.engine.lanczos.look_ahead import Ahead
from eckart.engine.lanczos.probe_bound import RideAlong
from eckart.engine.lanczos.restart import room_left
from eckart.engine.lanczos.rounding import WIDTH
from eckart.engine.lanczos.terms import PROBES, Assessment

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_FLAT_CHECKS = 4
"""Maximum number of steps between checks if convergence is slow."""
_RIDE_ALONG_PASSES = 4
"""Minimum number of passes that fit into the basis after probes have joined."""
_LAST_PASSES = 8
"""With this many passes left, probes join even if residuals are large: a run that ends without a proof then has a bound
of the complement from random columns, which is far below the trace on flat spectra.
"""
_PROBE_STEPS = 4.0
"""Probes join in time if at most so many steps remain: they take three to bound the complement of a spectrum that
decays, and one step more with them costs less than a whole step after convergence.
"""
_LITTLE = 0.75
"""Trace left for the complement, relative to the k-th value, that falls so far below it in the next steps that the
complement is bounded without probes.
"""
_NARROW = 8
"""Width of blocks whose columns cost time. All the same, eight probes join them: four take one or two steps more, which
takes longer than the further columns (measured).
"""


def extended(run: _Run, following: Array, state: Assessment | None, ahead: Ahead | None) -> Array:
    """The next block: residual directions, missed ones, and random ones if probes are due or directions run out."""
    following = _with_missed(run, following, state)
    count = following.shape[1]
    due = state is not None and _probes_due(run, state, count)
    lacking = max(0, run.block - count) if count < max(1, run.block // 2) else 0
    width = min(run.matrix.size - run.basis.count - count, max(lacking, PROBES if due else 0))
    if width <= 0:
        return following
    block, coordinates = _with_random(run, following, width, ahead if due else None)
    if due:
        run.rode_along = True
        begin = run.basis.count + count
        run.ride_along = RideAlong(begin, coordinates, run.steps, run.budget.spend("ride-along"))
        if run.basis.count + 4 * (count + width) <= run.capacity:
            run.schedule.following = run.steps + 2  # probes that have just joined give little information
    return block


def _with_missed(run: _Run, following: Array, state: Assessment | None) -> Array:
    """`following`, and the directions that the last proof phase found missing, as far as there is room."""
    missed, run.proofs.missed = run.proofs.missed, None
    k = (run.target.k if state is None else state.k) or 0
    room = room_left(run.matrix.size, run.basis.count, run.capacity, k) - following.shape[1]
    if missed is None or room <= 0:
        return following
    fresh, _ = run.backend.outside(missed[:, -room:], run.basis.vectors, following)
    return namespace(run.basis.rows).concat([following, fresh], axis=1)


def _with_random(
    run: _Run, following: Array, width: int, ahead: Ahead | None
) -> tuple[Array, Callable[[], np.ndarray]]:
    """(`following` and `width` random columns outside the basis, their coordinates); probes `ahead` are used if any."""
    if ahead is not None and width == PROBES and (probes := ahead.probes_for(following)) is not None:
        return ahead.block, probes
    random = run.backend.normals(run.rng, run.matrix.size, width)
    fresh, coordinates = run.backend.outside(random, run.basis.vectors, following)
    return namespace(run.basis.rows).concat([following, fresh], axis=1), coordinates


def _probes_due(run: _Run, state: Assessment, width: int) -> bool:
    """Whether probes join: once in the first cycle, when wanted residuals are small or few passes remain.

    Where the trace bounds the complement well below the wanted values, probes would only widen the blocks.
    """
    if _little_trace_left(run, float(state.values[state.k - 1])):
        return False
    if passes_run_out(run):
        return probes_fit(run, width)
    worst = float(state.residuals[: state.k].max())
    threshold = run.backend.costs.probe_threshold * max(float(state.values[state.k - 1]), state.goal)
    if worst > threshold:
        return _converges_soon(run, state) and probes_fit(run, width)
    if not run.rode_along and run.schedule.slow(run.target.tolerance**0.5, slowest=_columns_cost_time(run)):
        run.flat, run.schedule.most = True, _FLAT_CHECKS
    return probes_fit(run, width)


def _little_trace_left(run: _Run, last: float) -> bool:
    """Whether the trace left for the complement, with what measuring T adds to it, is small relative to a value."""
    rounding = 0.0 if run.exact else run.basis.count * run.expected_measurement(WIDTH)[1]
    return run.trace_left + rounding <= _LITTLE * last


def _converges_soon(run: _Run, state: Assessment) -> bool:
    """Whether residuals fall so fast that the run would have converged before probes that join later show enough."""
    last, beyond = float(state.values[state.k - 1]), float(state.values[min(state.k, len(state.values) - 1)])
    expected = run.schedule.steps_if_fast(needed_residual(run.tolerance, last, beyond))
    return expected is not None and expected <= _PROBE_STEPS


def passes_run_out(run: _Run) -> bool:
    """Whether so few passes remain that probes must join now to show anything."""
    return 2 <= run.allowed - run.passes <= _LAST_PASSES


def probes_fit(run: _Run, width: int) -> bool:
    """Whether probes may join a block of `width` columns now: enough passes fit into the basis after them."""
    if run.rode_along or (run.flat and not passes_run_out(run)) or run.restarts or run.proofs.phase is not None:
        return False
    fits = run.basis.count + _RIDE_ALONG_PASSES * (width + PROBES) <= run.capacity
    return fits or run.capacity >= run.matrix.size


def _columns_cost_time(run: _Run) -> bool:
    """Whether blocks are narrow because the time depends on the number of columns rather than of passes."""
    return run.exact and run.block <= _NARROW
