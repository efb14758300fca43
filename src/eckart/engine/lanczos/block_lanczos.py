"""Block Lanczos for the leading eigenpairs of a symmetric G, one pass a step, stopped by a proof.

repeat
    extend the basis by one block (one pass): T, R; Ritz values theta_i, residuals r_i
    bound the complement: the trace that is left, probes that ride along, proof phases, what restarts carry
    upper bounds (certificate.py); if upper_i - theta_i <= goal for i <= k: measure rounding (finish.py), stop
    converged but not proved: narrow proof phase (proof_phase.py)
    basis full: thick restart, carrying one proved number (restart.py)
    residuals small: append eight random columns, the probes that ride along
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.certificate import coupling_factor, needed_complement, upper_bounds
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.convergence import ConvergenceSchedule, expected_passes, remaining_error
from eckart.engine.lanczos.finish import Evidence, bounds_from_basis, measure
from eckart.engine.lanczos.outcome import Outcome, conclude
from eckart.engine.lanczos.probe_bound import ProbeRun, best_probe_bound, length_quantile
from eckart.engine.lanczos.proof_phase import MOST_PASSES, PROBES, Goal, Phase, proof_phase
from eckart.engine.lanczos.restart import (
    Separation,
    carried_bound,
    choose_frozen,
    kept_vectors,
    separating_complement,
    separation,
)
from eckart.engine.lanczos.rounding import ErrorMeter
from eckart.engine.lanczos.terms import Assessment, FailureBudget, Matrix, NotWorthError, Pairs, Start, Target
from eckart.engine.solution import SHARE_SLACK, smallest_count
from eckart.engine.threads import one_blas_thread

_UNIT = float(np.finfo(np.float64).eps)
_SINGLE = 64.0 * float(np.finfo(np.float32).eps)
"""Share of the trace that rounding of float32 data in means and sums may hide."""
_BEYOND = 11
"""Ritz pairs computed after the k-th: candidates for a proved gap."""
_NARROW_BLOCK = 16
_RIDE_ALONG_PASSES = 4
"""Passes that must fit into the basis after probes have joined."""
_SMALL_RESIDUAL, _SEPARATION_AIM = 0.03, 0.85
"""Before a restart, a gap is proved if residuals are below .03 theta_k and a complement of .85 theta_k would do."""


def block_lanczos(
    matrix: Matrix, target: Target, *, block: int, rng: Callable[[], np.random.Generator], start: Start
) -> Pairs:
    """Leading eigenpairs of G. `rng` makes the generator of all probes; it is called after the first pass."""
    with one_blas_thread():
        run = _Run(matrix, target, block, rng, start.capacity)
        outcome = run.iterate(start)
        if outcome.proved or matrix.exact is None or outcome.passes >= target.max_reads:
            return outcome.pairs
        # Float32 products cannot resolve what was asked for: continue in float64 from the vectors found.
        double = replace(matrix, apply=matrix.exact, exact=None)
        vectors = matrix.backend.orthonormalize(outcome.restart_vectors)
        further = Start(vectors, double.apply(vectors), max(start.capacity, min(matrix.size, 4 * vectors.shape[1])))
        remaining = replace(target, max_reads=max(1, target.max_reads - outcome.passes))
        run = _Run(double, remaining, vectors.shape[1], rng, further.capacity)
        return outcome.followed_by(run.iterate(further)).pairs


@dataclass(frozen=True)
class _RideAlong:
    """Probes in the main basis: where they begin, their coordinates, when they joined, and their probability."""

    begin: int
    coordinates: Callable[[], np.ndarray]
    step: int
    probability: float


@dataclass
class _Run:
    matrix: Matrix
    target: Target
    block: int
    make_rng: Callable[[], np.random.Generator]
    capacity: int
    steps: int = 0
    passes: int = 0
    restarts: int = 0
    converged_at: int | None = None
    ride_along: _RideAlong | None = None
    rode_along: bool = False
    phase: Phase | None = None
    """The last proof phase of this cycle that bounded something."""
    phase_step: int = 0
    frozen: int = 0
    """Ritz vectors that the phase had frozen, in the basis of step `phase_step`."""
    carried: Separation | None = None
    missed: Array | None = None
    """Directions that a proof phase found and the main run had missed."""
    seen: float = np.inf
    """Largest Ritz value that the last proof phase saw in the complement."""
    most_frozen: int = 2**62
    retry_below: float = np.inf
    """Largest residual at which the next proof phase is worth trying."""
    caution: float = 1.0
    """Factor on expected rounding errors, raised when measured ones turn out larger."""
    history: list[tuple[int, float, float]] = field(default_factory=list)
    schedule: ConvergenceSchedule = field(default_factory=ConvergenceSchedule)
    _rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        self.backend = self.matrix.backend
        self.budget = FailureBudget(self.target.failure_probability)
        # On trial, every residual counts for the prediction; narrow steps cost less than a check.
        if self.target.worth is None and self.block <= _NARROW_BLOCK:
            self.schedule.most = 4
        self.basis = Basis.with_capacity(self.backend, self.matrix.size, self.capacity, meter=self._meter())

    # The iteration

    def iterate(self, start: Start) -> Outcome:
        self._add(start.block, start.product)
        while True:
            state = self._assess() if self._check_due() else None
            if state is not None and (state.done or self._exhausted or (state.converged and self._ambiguous(state))):
                outcome = conclude(self, state)
                if outcome.proved or self._exhausted or not self.exact or outcome.rounding_limited:
                    return outcome
                self.caution *= 4.0
            following = self._with_random_columns(self.basis.next_block(), state)
            if self.basis.count + following.shape[1] > self.capacity:
                self._restart(state or self._assess(), following.shape[1])
            self._add(following, self.matrix.apply(following))

    def _add(self, block: Array, product: Array) -> None:
        self.basis.add(block, product)
        self.steps += 1
        self.passes += 1

    @property
    def may_continue(self) -> bool:
        return self.passes < self.target.max_reads

    @property
    def _exhausted(self) -> bool:
        return self.passes >= self._allowed or self.basis.complete

    @property
    def _allowed(self) -> int:
        """Passes before the last one, which verifies products in float32."""
        return self.target.max_reads if self.exact else max(1, self.target.max_reads - 1)

    def _check_due(self) -> bool:
        full = self.basis.count + 2 * self.block > self.capacity
        early = self.basis.count < self.backend.costs.first_check * (self.target.k or 0)
        return self._exhausted or full or (self.steps >= self.schedule.following and not early)

    def _assess(self) -> Assessment | None:
        """Ritz pairs, residuals and the best upper bounds available; None while the basis is too small."""
        k, size = self._wanted(), self.basis.count
        if k is None or (size <= k and not self.basis.complete):
            return None
        values, coefficients = leading_pairs(self.basis.projected, min(k + _BEYOND, size), like=self.matrix.like)
        residuals = self._residuals(coefficients)
        goal = self._goal(float(values[k - 1]), float(values[0]))
        beyond = float(values[k]) if size > k else 0.0
        converged = self.basis.complete or remaining_error(values, residuals, k, beyond) <= goal
        if converged and self.converged_at is None:
            self.converged_at = self.steps
        worst = float(residuals[:k].max()) / max(float(values[k - 1]), goal, 1e-300)
        aim = self.target.tolerance**0.5 if self.rode_along else self.backend.costs.probe_threshold
        self.schedule.plan(self.steps, worst, aim)
        if not converged:
            self._stop_if_not_worth(values, beyond)
        state = Assessment(k, values, coefficients, residuals, goal, converged)
        state = replace(state, upper=self._upper(state))
        state = replace(state, decided=self._decided(state))
        if not state.done and self._proof_due(state):
            self._prove(state)
            state = replace(state, upper=self._upper(state))
            state = replace(state, decided=self._decided(state))
        self._record(state)
        return state

    def _stop_if_not_worth(self, values: np.ndarray, beyond: float) -> None:
        """Values are off by r^2 / gap: steps are expected until that is at the tolerance."""
        last = max(float(values[self.target.k - 1]), 1e-300) if self.target.k is not None else 0.0
        if self.target.worth is None or not last:
            return
        gap = max(1.0 - beyond / last, 1e-3)
        expected = self.schedule.expected_steps((2.0 * self.target.tolerance * gap) ** 0.5)
        if expected is not None and not self.target.worth(self.passes, expected):
            raise NotWorthError

    def _wanted(self) -> int | None:
        """k, or the smallest k whose Ritz values reach the share; None while no k does."""
        if self.target.k is not None:
            return self.target.k
        values = np.linalg.eigvalsh(self.basis.projected)[::-1]
        found = smallest_count(values, self.matrix.trace, self.target.share or 0.0)
        return self.basis.count if found is None and self.basis.complete else found

    @property
    def _needed(self) -> float:
        """Part of the trace that k components must reach, less what rounding may hide."""
        return ((self.target.share or 0.0) - SHARE_SLACK) * self.matrix.trace

    def _decided(self, state: Assessment) -> bool:
        """Whether no smaller k can reach the share, up to rounding."""
        if self.target.k is not None:
            return True
        if self._ambiguous(state):
            return False
        if self.basis.complete:
            return True
        if state.upper is None:
            return False
        attainable = float(np.sum(state.upper[: state.k - 1]))
        resolved = attainable - float(np.sum(state.values[: state.k - 1])) <= SHARE_SLACK * self.matrix.trace
        return attainable < self._needed or resolved

    def _ambiguous(self, state: Assessment) -> bool:
        """Whether float32 products cannot tell on which side of the share the first k or k - 1 values are."""
        if self.exact or self.target.k is not None:
            return False
        sums = np.cumsum(state.values[: state.k])[-2:]
        doubt = 4.0 * state.k * self.expected_error(self.basis) + _SINGLE * self.matrix.trace
        return bool(np.any(np.abs(sums - self._needed) <= doubt))

    def _residuals(self, coefficients: np.ndarray) -> np.ndarray:
        """Without what rounding in float32 makes of nothing: more passes would not lower that."""
        newest = self.basis.residual_gram.shape[0]
        tail = coefficients[len(coefficients) - newest :]
        squares = np.sum(tail * (self.basis.residual_gram @ tail), axis=0)
        noise = 0.0 if self.exact else 1.5 * self.basis.size * self.basis.noise**2
        return np.asarray(np.sqrt(np.maximum(squares - noise, 0.0)))

    def _goal(self, last: float, largest: float) -> float:
        """Allowed sum of upper_i - theta_i: the tolerance, or what rounding in float64 leaves open anyway.

        Values that rounding cannot tell from zero are bounded by what probes can show of an empty complement.
        """
        goal = 2.0 * self.target.tolerance * max(last, 0.0) + self._floor(largest)
        quantile = length_quantile(self.budget.total / 16, PROBES)
        empty = 8.0 * self.expected_error(self.basis) * self.basis.size**0.5 / quantile
        return goal + empty if last < empty else goal

    def _floor(self, largest: float) -> float:
        """What iteration cannot improve; the proved bound of rounding is larger, and is added at the end."""
        return 64.0 * _UNIT * max(largest, 0.0)

    # Rounding

    @property
    def exact(self) -> bool:
        """Whether products are in float64, so that their error has an a-priori bound."""
        return self.matrix.exact is None

    @property
    def rng(self) -> np.random.Generator:
        if self._rng is None:
            self._rng = self.make_rng()
        return self._rng

    def _meter(self) -> ErrorMeter | None:
        if not self.exact:
            return None
        return ErrorMeter(
            self.backend,
            lambda: self.rng,
            lambda: self.matrix.product_error,
            lambda: self.budget.spend("rounding"),
        )

    def expected_error(self, basis: Basis) -> float:
        """||E||, estimated: good enough for decisions; `finish` measures it before anything is claimed."""
        own = 16.0 * _UNIT * float(np.abs(basis.projected).max(initial=0.0))
        products = self.matrix.product_error if self.exact else 2.0 * basis.noise * basis.size**0.5
        return float(self.caution * np.sqrt(basis.count) * (own + products))

    # Upper bounds

    def _upper(self, state: Assessment) -> np.ndarray | None:
        """The smallest upper bounds that the statements about the complement give; without rounding errors."""
        count = len(state.values)
        if self.basis.complete:
            return np.asarray(state.values)
        coupling = coupling_factor(self.basis.residual_gram)
        found: list[np.ndarray] = []
        needed = self._needed_complement(state, coupling)
        probes = self._ride_along_bound(needed)
        complement = min(self._trace_left, probes, np.inf if self.phase is None else self.phase.bound)
        if complement <= needed or (self._exhausted and complement < np.inf):
            found.append(upper_bounds(self.basis.projected, coupling, complement, count, self.matrix.like))
        if self.phase is not None and self.phase_step == self.steps and self.frozen < self.basis.count:
            values, coefficients = leading_pairs(self.basis.projected, self.frozen, like=self.matrix.like)
            coupled = coupling @ coefficients[self.basis.count - coupling.shape[1] :]
            found.append(upper_bounds(values, coupled, self.phase.bound, count))
        if self.carried is not None and self.carried.index <= count:
            coupled = coupling @ state.coefficients[len(state.coefficients) - coupling.shape[1] :, : self.carried.index]
            bound = carried_bound(self.carried, state.values, coupled, self.expected_error(self.basis))
            if np.isfinite(bound):
                found.append(upper_bounds(state.values[: self.carried.index], coupled, bound, count))
        return None if not found else np.asarray(np.min(found, axis=0))

    def _needed_complement(self, state: Assessment, coupling: np.ndarray) -> float:
        """The largest bound of the complement of the basis that proves what is wanted."""
        limit = float(state.values[state.k - 1]) + 0.5 * state.goal
        above = int(np.sum(state.values[: state.k] > limit))
        return needed_complement(self.basis.projected, coupling, state.k, limit, above)

    @property
    def _trace_left(self) -> float:
        """What the trace leaves for the complement of the basis."""
        left = self.matrix.trace - float(np.trace(self.basis.projected))
        rounding = self.basis.count * self.matrix.product_error + self.matrix.trace_error()
        return max(left, 0.0) + rounding if np.isfinite(left) else np.inf

    def _ride_along_run(self) -> ProbeRun | None:
        probe = self.ride_along
        if probe is None or self.basis.count <= probe.begin:
            return None
        projected, gram = self.basis.projected[probe.begin :, probe.begin :], self.basis.residual_gram
        older = max(0, len(gram) - len(projected))
        return ProbeRun(projected, gram[older:, older:], probe.coordinates(), self.expected_error(self.basis))

    def _ride_along_bound(self, needed: float) -> float:
        run, probe = self._ride_along_run(), self.ride_along
        if run is None or probe is None:
            return np.inf
        return best_probe_bound(run, probe.probability, lambda bound: bound <= needed)

    def evidence(self) -> Evidence:
        """Everything that bounds the complement of the present basis."""
        run, probe = self._ride_along_run(), self.ride_along
        ride_along = None if run is None or probe is None else (run, probe.probability)
        frozen = None if self.phase is None or self.phase_step != self.steps else self.frozen
        return Evidence(self.basis, ride_along, self.phase, frozen, self.carried, self._trace_left)

    # Proof phases

    def _proof_due(self, state: Assessment) -> bool:
        if not state.converged or self._exhausted:
            return False
        joined = None if self.ride_along is None else max(self.converged_at or 0, self.ride_along.step)
        waiting = joined is not None and self.steps - joined < 2
        return not waiting and float(state.residuals[: state.k].max()) <= self.retry_below

    def _prove(self, state: Assessment) -> None:
        """A proof phase against the Ritz vectors that make it shortest."""
        size = self.basis.count
        values, coefficients = leading_pairs(self.basis.projected, size, like=self.matrix.like)
        coupling = coupling_factor(self.basis.residual_gram)
        coupled = coupling @ coefficients[size - coupling.shape[1] :]
        whole = min(self.seen, _SEPARATION_AIM * float(values[state.k - 1]))
        chosen = choose_frozen(values, coupled, state.k, 0.5 * state.goal, self.most_frozen, whole)
        self.retry_below = 0.1 * float(state.residuals[: state.k].max())
        if chosen is None:
            return
        if self.target.worth is not None:
            quantile = length_quantile(self.budget.total / 16, PROBES)
            passes = expected_passes(1.0 - chosen.expected / chosen.needed, self.matrix.size, quantile)
            # A narrow pass costs about half of a step.
            if not self.target.worth(self.passes, 0.5 * min(passes, MOST_PASSES)):
                raise NotWorthError
        every = chosen.count == size
        frozen = (
            self.basis.vectors if every else self.backend.times(self.basis.vectors, coefficients[:, : chosen.count])
        )
        phase = self._run_phase(state, frozen, lambda bound: bound <= chosen.needed)
        if phase.outcome == "improve":
            self.most_frozen = max(chosen.count // 2, state.k + 5)

    def _run_phase(self, state: Assessment, frozen: Array, enough: Callable[[float], bool]) -> Phase:
        last = float(state.values[state.k - 1])
        room = min(MOST_PASSES * PROBES, self.matrix.size - frozen.shape[1])
        basis = Basis.with_capacity(self.backend, self.matrix.size, room, frozen=frozen, meter=self._meter())
        random = self.backend.normals(self.rng, self.matrix.size, min(PROBES, room))
        goal = Goal(
            enough,
            last,
            missed_above=last + state.goal + 2.0 * self.expected_error(self.basis),
            floor=0.5 * state.goal,
            passes=max(1, min(MOST_PASSES, self._allowed - self.passes)),
            probability=self.budget.spend("proof"),
        )
        phase = proof_phase(self.matrix.apply, basis, random, self.expected_error, goal)
        self.passes += phase.passes
        self.seen = phase.run.largest
        if self.phase is None or phase.outcome == "proved" or phase.bound < self.phase.bound:
            self.phase, self.phase_step, self.frozen = phase, self.steps, frozen.shape[1]
        if phase.outcome == "missed":
            self.missed = phase.missed_vectors(goal.missed_above)
        return phase

    # The next block

    def _with_random_columns(self, following: Array, state: Assessment | None) -> Array:
        """The next block: residual directions, missed ones, and random ones if probes are due or directions run out."""
        xp = namespace(self.basis.rows)
        if self.missed is not None:
            fresh, _ = self.backend.outside(self.missed, self.basis.vectors, following)
            following, self.missed = xp.concat([following, fresh], axis=1), None
        room = self.matrix.size - self.basis.count - following.shape[1]
        due = state is not None and self._probes_due(state, following.shape[1])
        lacking = max(0, self.block - following.shape[1]) if following.shape[1] < self.block // 2 else 0
        width = min(room, max(lacking, PROBES if due else 0))
        if width <= 0:
            return following
        random = self.backend.normals(self.rng, self.matrix.size, width)
        fresh, coordinates = self.backend.outside(random, self.basis.vectors, following)
        if due:
            self.rode_along = True
            begin = self.basis.count + following.shape[1]
            self.ride_along = _RideAlong(begin, coordinates, self.steps, self.budget.spend("ride-along"))
            if self.basis.count + 4 * (following.shape[1] + width) <= self.capacity:
                self.schedule.following = self.steps + 2  # probes that have just joined say little
        return xp.concat([following, fresh], axis=1)

    def _probes_due(self, state: Assessment, width: int) -> bool:
        """Once in the first cycle, when the wanted residuals are small and passes remain before a restart."""
        if self.rode_along or self.restarts or self.phase is not None:
            return False
        fits = self.basis.count + _RIDE_ALONG_PASSES * (width + PROBES) <= self.capacity
        worst = float(state.residuals[: state.k].max())
        threshold = self.backend.costs.probe_threshold * max(float(state.values[state.k - 1]), state.goal)
        return (fits or self.capacity >= self.matrix.size) and worst <= threshold

    # Restarts

    def _restart(self, state: Assessment | None, width: int) -> None:
        """Keep the leading Ritz vectors; before that, prove a gap that survives the restart."""
        size = self.basis.count
        k = state.k if state is not None else (self.target.k or size // 2)
        if state is not None:
            self._carry(state)
        keep = kept_vectors(size, k, self.block, self.capacity, width)
        values, coefficients = leading_pairs(self.basis.projected, max(keep, min(k + 1, size)), like=self.matrix.like)
        self.basis.compress(values, coefficients)
        self.restarts += 1
        self.ride_along, self.phase = None, None

    def _carry(self, state: Assessment) -> None:
        """Prove lambda_j+1 <= rho < theta_j for some j in k, ..., k + 10, by a proof phase if need be."""
        last, k = float(state.values[state.k - 1]), state.k
        coupling = coupling_factor(self.basis.residual_gram)
        if self.carried is None and self.phase is None and self.passes < self._allowed:
            needed = separating_complement(state.values, self.basis.projected, coupling, k)
            if float(state.residuals[:k].max()) > _SMALL_RESIDUAL * last or needed < _SEPARATION_AIM * last:
                return
            self._run_phase(state, self.basis.vectors, lambda bound: bound <= needed)
        if self.phase is None or (self.phase.bound >= last and self.carried is not None):
            return
        evidence, largest = self.evidence(), float(state.values[0])
        errors, _ = measure(evidence, self.matrix, self.rng, self.budget)
        self.passes += 0 if self.exact else 1
        allowance = errors.allowance(largest)
        upper = bounds_from_basis(evidence, errors, len(state.values), self.matrix.like)
        found = separation(state.values - allowance, upper, k)
        if found is not None and (self.carried is None or found.rho < self.carried.rho):
            self.carried = found

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
