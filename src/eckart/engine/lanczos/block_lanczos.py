"""Block Lanczos for the leading eigenpairs of a symmetric G, one pass per step, stopped by a proof.

repeat
    extend the basis by one block (one pass): T, R; Ritz values theta_i, residuals r_i
    bound the complement: the trace that is left, probes that ride along, proof phases, what restarts carry
    upper bounds (certificate.py); if upper_i - theta_i <= goal for i <= k: measure rounding (finish.py), stop
    converged but not proved: narrow proof phase (proof_phase.py)
    basis full: thick restart, carrying one proved number (restart.py)
    residuals small: append eight random columns, the probes that ride along
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from eckart.arrays import EPSILON, Array
from eckart.engine.certificate import least_gain, needed_complement, upper_bounds
from eckart.engine.lanczos import count as counting
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.convergence import (
    ConvergenceSchedule,
    is_in_bulk,
    needed_residual,
    remaining_error,
    stop_if_not_worth,
)
from eckart.engine.lanczos.finish import Evidence
from eckart.engine.lanczos.goal import (
    float64_passes,
    goal_of,
    is_below_rounding,
    is_hidden_by_rounding,
    is_too_small,
    stop_if_float64_not_worth,
    stop_if_hidden_not_worth,
)
from eckart.engine.lanczos.look_ahead import Ahead, look_ahead, product_of
from eckart.engine.lanczos.next_block import extended, passes_run_out, probes_fit
from eckart.engine.lanczos.outcome import Outcome, conclude
from eckart.engine.lanczos.probe_bound import BoundedRun, ProbeRun, RideAlong, best_probe_bound, length_quantile
from eckart.engine.lanczos.proofs import Proofs
from eckart.engine.lanczos.restart import kept_vectors, retained_bound
from eckart.engine.lanczos.rounding import ErrorMeter
from eckart.engine.lanczos.single import begin
from eckart.engine.lanczos.terms import (
    Assessment,
    FailureBudget,
    HiddenByRoundingError,
    Matrix,
    NotWorthError,
    Pairs,
    Start,
    Target,
)
from eckart.engine.threads import one_blas_thread

_BEYOND = 11
"""Number of Ritz pairs computed after the k-th: candidates for a proved gap."""
_NARROW_BLOCK = 16
_CHEAP = 25_000_000
"""Entries of dense data times columns up to which a product takes less time than a check."""


def block_lanczos(
    matrix: Matrix, target: Target, *, block: int, rng: Callable[[], np.random.Generator], start: Start
) -> Pairs:
    """Leading eigenpairs of G. `rng` creates the generator of all probes; it is called after the first pass."""
    with one_blas_thread():
        run = _Run(matrix, target, block, rng, start.capacity, start.probes, start.most)
        outcome = run.iterate(start)
        if outcome.proved or matrix.exact is None or outcome.passes >= target.max_passes:
            return outcome.pairs
        # Float32 products cannot reach the requested accuracy: continue in float64 from the vectors found.
        stop_if_float64_not_worth(target, outcome.passes, float64_passes(run), value=float(outcome.pairs.values[-1]))
        double = replace(matrix, apply=matrix.exact, exact=None)
        vectors = matrix.backend.orthonormalize(outcome.restart_vectors())
        outcome = replace(outcome, restart_vectors=lambda: vectors)
        # The vectors depend on the random numbers drawn so far, so these must not be drawn again.
        random, budget = run.rng, run.budget
        del run  # and its basis, because there is room for only one
        capacity = max(start.capacity, min(matrix.size, 4 * vectors.shape[1]))
        further = Start(vectors, double.apply(vectors), capacity, start.probes, start.most)
        remaining = target.after(outcome.passes)
        run = _Run(double, remaining, vectors.shape[1], lambda: random, capacity, start.probes, start.most)
        run.budget = budget
        try:
            return outcome.followed_by(run.iterate(further)).pairs
        except counting.ShareNotReachedError:
            return outcome.pairs
        except NotWorthError:
            raise HiddenByRoundingError from None  # so that the alternative starts in float64, too


@dataclass
class _Run:
    matrix: Matrix
    target: Target
    block: int
    make_rng: Callable[[], np.random.Generator]
    capacity: int
    probes: int
    most: int
    steps: int = 0
    passes: int = 0
    restarts: int = 0
    converged_at: int | None = None
    ride_along: RideAlong | None = None
    rode_along: bool = False
    flat: bool = False
    """Whether convergence is so slow that probes in every block would cost more than a proof phase afterwards."""
    proofs: Proofs = field(default_factory=Proofs)
    """Results of proof phases."""
    caution: float = 1.0
    """Factor on expected rounding errors, raised when measured ones turn out larger."""
    history: list[tuple[int, float, float]] = field(default_factory=list)
    schedule: ConvergenceSchedule = field(default_factory=ConvergenceSchedule)
    _rng: np.random.Generator | None = None
    _probed: tuple[int, BoundedRun] | None = None
    """Step of the last evaluation of the joined probes, and its result."""

    def __post_init__(self) -> None:
        self.backend = self.matrix.backend
        self.budget = FailureBudget(self.target.failure_probability)
        if self.block <= _NARROW_BLOCK:  # a narrow step may cost less than a check
            cheap = self.matrix.entries * self.block <= _CHEAP
            self.schedule.most, self.schedule.cheap = 4, self.matrix.resident and cheap
        self.basis = Basis.with_capacity(self.backend, self.matrix.size, self.capacity, meter=self.meter())

    # The iteration

    def iterate(self, start: Start) -> Outcome:
        begin(self, start)
        while True:
            ahead = self._look_ahead()  # before the host waits for anything
            state = self._assess() if self._check_due() else None
            if (outcome := self._outcome(state)) is not None:
                return outcome
            following = self.basis.next_block()
            block = extended(self, following, state, ahead)
            if self.basis.count + block.shape[1] > self.capacity:
                state = state or self._assess()
                if not counting.make_room(self, state, block.shape[1]):
                    self._restart(state, block.shape[1])
            product, passes = product_of(self.matrix, block, following, ahead)
            self.passes += passes
            self.add(block, product)

    def _outcome(self, state: Assessment | None) -> Outcome | None:
        """The result; None if more passes are needed."""
        if state is None:
            if self.target.k is None:
                counting.refuse_if_exhausted(self)
            return None
        if not self._may_end(state):
            return None
        outcome = conclude(self, state)
        limited = outcome.rounding_limited or self.proofs.hidden(self)
        if outcome.proved or self.exhausted or not self.exact or limited:
            return outcome
        self.caution *= 4.0
        return None

    def _may_end(self, state: Assessment) -> bool:
        """Whether the bounds are close enough, no pass is left, or rounding or equal values hide the rest."""
        hidden = is_hidden_by_rounding(self, state) or self.proofs.hidden(self)
        ended = state.done or self.exhausted or hidden
        return ended or (state.converged and counting.is_ambiguous(self, state))

    def add(self, block: Array, product: Array) -> None:
        self.basis.add(block, product)
        self.steps += 1

    def _look_ahead(self) -> Ahead | None:
        """Start the next product, if the next block is already formed and likely to be used."""
        draft = self.basis.draft
        if draft is None or self.passes + 1 >= self.allowed or self.basis.complete:
            return None
        due = self._check_due()
        if due and self.rode_along and self.schedule.near(self.target.tolerance**0.5):
            return None  # this check may be the last
        probes = due and probes_fit(self, draft.shape[1])
        ahead = look_ahead(self.matrix, self.basis.vectors, draft, (lambda: self.rng) if probes else None)
        self.passes += ahead.product.started
        return ahead

    @property
    def may_continue(self) -> bool:
        return self.passes < self.target.max_passes

    @property
    def exhausted(self) -> bool:
        return self.passes >= self.allowed or self.basis.complete

    @property
    def allowed(self) -> int:
        """Number of passes before the last one, which verifies float32 products."""
        return self.target.max_passes if self.exact else max(1, self.target.max_passes - 1)

    def _check_due(self) -> bool:
        full = self.basis.count + 2 * self.block > self.capacity
        first = self.steps == 1 and self.matrix.resident  # one block says nothing about convergence
        early = first or self.basis.count < self.backend.costs.first_check * (self.target.k or 0)
        last = passes_run_out(self) and not self.rode_along
        return self.exhausted or full or last or (self.steps >= self.schedule.following and not early)

    def _assess(self) -> Assessment | None:
        """Ritz pairs, residuals and the best available upper bounds; None while the basis is too small."""
        k, size = counting.wanted_count(self), self.basis.count
        if k is None or (size <= k and not self.basis.complete):
            return None
        values, coefficients = self.basis.ritz(min(k + _BEYOND, size), self.matrix.prototype)
        residuals = self._residuals(coefficients)
        goal = goal_of(self, float(values[k - 1]), float(values[0]))
        beyond = float(values[k]) if size > k else 0.0
        converged = self.basis.complete or remaining_error(values, residuals, k, beyond) <= goal
        if converged and self.converged_at is None:
            self.converged_at = self.steps
        worst = float(residuals[:k].max()) / max(float(values[k - 1]), goal, 1e-300)
        self.schedule.plan(self.steps, worst, self._next_residual(float(values[k - 1]), beyond))
        state = Assessment(k, values, coefficients, residuals, goal, converged)
        if self.target.worth is not None:
            self._stop_if_not_worth(state)
        below = is_below_rounding(self, state)
        if below:
            stop_if_hidden_not_worth(self, state)
        state = self._bounded(state)
        if not state.done and not below and self.proofs.due(self, state):
            self.proofs.prove(self, state)
            state = self._bounded(state)
        self._record(state)
        return state

    def _stop_if_not_worth(self, state: Assessment) -> None:
        """End a trial of block Lanczos on data in memory if other solvers need less time."""
        k, values, applied = state.k, state.values, self.basis.count - self.block
        # k directions are roughly known once G was applied to as many random ones.
        bulk = applied >= k and is_in_bulk(values, state.residuals, k, self.matrix.trace, self.matrix.size)
        if bulk and is_too_small(self, float(values[k - 1])):
            stop_if_float64_not_worth(self.target, self.passes, value=float(values[k - 1]))
        stop_if_not_worth(self.target, self.schedule, self.passes, values, bulk=bulk, converged=state.converged)

    def _next_residual(self, last: float, beyond: float) -> float:
        """The relative residual at which the next check is due: probes join, or the k-th value is accurate."""
        if self.rode_along or self.flat:
            return needed_residual(self.tolerance, last, beyond)
        return self.backend.costs.probe_threshold

    def _bounded(self, state: Assessment) -> Assessment:
        """The assessment with the best available upper bounds, and whether they determine k."""
        state = replace(state, upper=self._upper(state))
        return state if self.target.k is not None else replace(state, decided=counting.is_decided(self, state))

    def _residuals(self, coefficients: np.ndarray) -> np.ndarray:
        """Residuals without the float32 noise floor, which more passes would not lower."""
        newest = self.basis.residual_gram.shape[0]
        tail = coefficients[len(coefficients) - newest :]
        squares = np.sum(tail * (self.basis.residual_gram @ tail), axis=0)
        noise = 0.0 if self.exact else 1.5 * self.basis.size * self.basis.noise**2
        return np.asarray(np.sqrt(np.maximum(squares - noise, 0.0)))

    @property
    def tolerance(self) -> float:
        flat = self.target.flat_tolerance
        return flat if self.flat and flat is not None else self.target.tolerance

    # Rounding

    @property
    def exact(self) -> bool:
        """Whether products are in float64, so that their error has an a priori bound."""
        return self.matrix.exact is None

    @property
    def rng(self) -> np.random.Generator:
        if self._rng is None:
            self._rng = self.make_rng()
        return self._rng

    def meter(self) -> ErrorMeter | None:
        if not self.exact:
            return None
        # A cycle of references would keep the basis, the data and their temporary copy until garbage is collected.
        run = weakref.proxy(self)
        return ErrorMeter(
            self.backend,
            lambda: run.rng,
            run.matrix.products_error,
            lambda: run.budget.spend("rounding"),
        )

    def expected_error(self, basis: Basis) -> float:
        """Estimate of ||E||, good enough for decisions; `finish` measures it before any claim."""
        own = 16.0 * EPSILON * basis.largest_entry
        products = 1.5 * self.matrix.product_error if self.exact else 3.0 * basis.noise * basis.size**0.5
        return float(self.caution * np.sqrt(basis.count) * (own + products))

    def expected_measurement(self, width: int) -> tuple[float, float]:
        """Estimates of what `width` random combinations show for ||E|| and ||T* - T||, from the rounding of T.

        For an E of independent entries e, ||E Z|| is about e sqrt(D) (sqrt(n) + sqrt(r)), and ||M^T E Z|| likewise.
        """
        quantile = length_quantile(self.budget.total / 64, width)
        entry = self.caution * self.basis.noise * self.basis.count**0.5 / quantile
        return entry * (self.basis.size**0.5 + width**0.5), entry * (self.basis.count**0.5 + width**0.5)

    # Upper bounds

    def _upper(self, state: Assessment) -> np.ndarray | None:
        """The smallest upper bounds from the statements about the complement, without rounding errors."""
        count = len(state.values)
        if self.basis.complete:
            return np.asarray(state.values)
        found: list[np.ndarray] = []
        complement = self._complement(state)
        if complement is not None:
            found.append(
                upper_bounds(self.basis.projected, self.basis.coupling, complement, count, self.matrix.prototype)
            )
        frozen, retained = self.proofs.frozen_at(self.steps), self.proofs.retained
        if frozen is not None and frozen < self.basis.count:
            values, coefficients = self.basis.ritz(frozen, self.matrix.prototype)
            found.append(upper_bounds(values, self.basis.coupled_to(coefficients), self.proofs.bound, count))
        if retained is not None and retained.index <= count:
            coupled = self.basis.coupled_to(state.coefficients[:, : retained.index])
            bound = retained_bound(retained, state.values, coupled, self.expected_error(self.basis))
            if np.isfinite(bound):
                found.append(upper_bounds(state.values[: retained.index], coupled, bound, count))
        return None if not found else np.asarray(np.min(found, axis=0))

    def _complement(self, state: Assessment) -> float | None:
        """A bound of the complement of the basis that proves the goal; None if no such bound is known."""
        known = min(self.trace_left, self.proofs.bound)
        limit = float(state.values[state.k - 1]) + 0.5 * state.goal
        if known > limit and self.ride_along is None and not self.exhausted:
            return None
        if not self.exhausted and least_gain(state.values[: state.k], state.residuals[: state.k]) > state.goal:
            return None  # no bound can prove the goal yet
        above = int(np.sum(state.values[: state.k] > limit))
        needed = needed_complement(self.basis.projected, self.basis.coupling, state.k, limit, above)
        complement = min(known, self._ride_along_bound(needed))
        return complement if complement <= needed or (self.exhausted and complement < np.inf) else None

    @property
    def trace_left(self) -> float:
        """The part of the trace left for the complement of the basis."""
        left = self.matrix.trace - float(np.trace(self.basis.projected))
        rounding = self.basis.count * self.matrix.product_error + self.matrix.trace_error()
        return max(left, 0.0) + rounding if np.isfinite(left) else np.inf

    def _ride_along_run(self) -> ProbeRun | None:
        return None if self.ride_along is None else self.ride_along.run(self.basis, self.expected_error(self.basis))

    def _ride_along_bound(self, needed: float) -> float:
        run, probe = self._ride_along_run(), self.ride_along
        if run is None or probe is None:
            return np.inf
        bound = best_probe_bound(run, probe.probability, lambda bound: bound <= needed)
        self._probed = (self.steps, BoundedRun(run, probe.probability, bound, run.error))
        return bound

    def evidence(self) -> Evidence:
        """Everything that bounds the complement of the current basis."""
        if self._probed is None or self._probed[0] != self.steps:
            self._ride_along_bound(np.inf)
        ride_along = None if self._probed is None or self._probed[0] != self.steps else self._probed[1]
        proofs = self.proofs
        return Evidence(
            self.basis, ride_along, proofs.phase, proofs.frozen_at(self.steps), proofs.retained, self.trace_left
        )

    # Restarts

    def _restart(self, state: Assessment | None, width: int) -> None:
        """Keep the leading Ritz vectors, after proving a gap that survives the restart."""
        size = self.basis.count
        k = state.k if state is not None else (self.target.k or size // 2)
        if state is not None:
            self.proofs.carry(self, state)
        keep = kept_vectors(size, k, self.block, self.capacity, width)
        values, coefficients = self.basis.ritz(max(keep, min(k + 1, size)), self.matrix.prototype)
        self.basis.compress(values, coefficients)
        self.restarts += 1
        self.ride_along = self._probed = self.proofs.phase = None

    # Progress

    def _record(self, state: Assessment) -> None:
        lower = self._share(state.values[: state.k])
        upper = 1.0 if state.upper is None else self._share(state.upper[: state.k])
        self.history.append((self.steps, lower, upper))
        if self.target.note is not None:
            self.target.note(*self.history[-1])

    def _share(self, values: np.ndarray) -> float:
        trace = self.matrix.trace
        return min(1.0, float(np.sum(values)) / trace) if 0.0 < trace < np.inf else 0.0
