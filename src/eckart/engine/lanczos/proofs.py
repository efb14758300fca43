"""When a block Lanczos run starts a proof phase, against which vectors, and which results survive a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.chebyshev import Wanted, chebyshev_bound
from eckart.engine.lanczos.convergence import expected_passes
from eckart.engine.lanczos.finish import bounds_from_basis, measure
from eckart.engine.lanczos.probe_bound import length_quantile
from eckart.engine.lanczos.proof_phase import Goal, Phase, proof_phase
from eckart.engine.lanczos.restart import Frozen, Separation, choose_frozen, separating_complement, separation
from eckart.engine.lanczos.terms import MOST_PASSES, MOST_PROBES, PROBES, Assessment, NotWorthError

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_SMALL_RESIDUAL, _SEPARATION_AIM = 0.03, 0.85
"""Before a restart, a gap is proved if residuals are below .03 theta_k and a complement of .85 theta_k suffices."""

_EARLIEST = 0.85
"""Passes after which a proof phase first computes its bound, relative to those expected from the Ritz values that are
not frozen.
"""
_RESERVED = 1.5
"""Passes kept for a proof phase if one by Chebyshev polynomials fails, relative to those expected."""
_HIDDEN = {"float32": 2, "float64": 8}
"""Proof phases in which rounding hides the bound needed, before a run ends: a better basis may need less. After float32
products the run continues in float64.
"""
_MORE_PROBES = 2 * PROBES
"""Probes of a second phase if rounding hides the bound needed: they show a tenth of the rounding of half as many."""
_NEGLIGIBLE = 0.01
"""Residuals relative to the goal that hardly widen the bounds: these exceed the complement or a value by less."""


@dataclass
class Proofs:
    """Results of the proof phases of a run on the complement of its basis."""

    phase: Phase | None = None
    """The last proof phase of this cycle that gave a bound."""
    retained: Separation | None = None
    upper: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Upper bounds proved before restarts, rounding included. They are statements about G, so they stay valid."""
    missed: Array | None = None
    """Directions that a proof phase found and the main run missed."""
    expected: float = MOST_PASSES
    """Passes that the last proof phase was expected to take."""
    _step: int = 0
    _frozen: int = 0
    """Ritz vectors that the phase had frozen, in the basis of step `_step`."""
    _seen: float = np.inf
    """Largest Ritz value that the last proof phase found in the complement."""
    _most_frozen: int = 2**62
    _retry_below: float = np.inf
    """Largest residual at which the next proof phase is worth trying."""
    _hidden: int = 0
    """Number of proof phases after convergence in which rounding hid the bound needed."""

    @property
    def bound(self) -> float:
        """The proved bound of the complement of the basis."""
        return np.inf if self.phase is None else self.phase.bound

    def hidden(self, run: _Run) -> bool:
        """Whether rounding hides the bounds that would prove the goal."""
        return self._hidden >= _HIDDEN["float64" if run.exact else "float32"]

    def frozen_at(self, step: int) -> int | None:
        """Number of current Ritz vectors that the phase has frozen; None if the basis has grown since."""
        return None if self.phase is None or self._step != step else self._frozen

    def due(self, run: _Run, state: Assessment) -> bool:
        """Whether the run has converged, and a proof phase is worth its passes."""
        if not state.converged or run.exhausted:
            return False
        joined = None if run.ride_along is None else max(run.converged_at or 0, run.ride_along.step)
        waiting = joined is not None and run.steps - joined < 2
        return not waiting and float(state.residuals[: state.k].max()) <= self._retry_below

    def prove(self, run: _Run, state: Assessment) -> None:
        """Run a proof phase against the Ritz vectors that make it shortest."""
        basis, size = run.basis, run.basis.count
        values, coefficients = basis.ritz(size, run.matrix.prototype)
        coupled = basis.coupled_to(coefficients)
        whole = max(min(self._seen, _SEPARATION_AIM * float(values[state.k - 1])), _mean_left(run))
        chosen = choose_frozen(values, coupled, state.k, 0.5 * state.goal, self._most_frozen, whole)
        negligible = float(state.residuals[: state.k].max()) <= _NEGLIGIBLE * state.goal
        # The basis then spans an invariant subspace: only what the trace or a phase shows to be missed can still join.
        self._retry_below = np.inf if negligible else 0.1 * float(state.residuals[: state.k].max())
        if chosen is None:
            return
        passes = _passes_for(run, chosen, values, state.k)
        self.expected = min(passes, MOST_PASSES)
        # A narrow pass costs about half of a step.
        if run.target.worth is not None and not run.target.worth(run.passes, 0.5 * self.expected):
            raise NotWorthError
        every = chosen.count == size
        frozen = basis.vectors if every else run.backend.times(basis.vectors, coefficients[:, : chosen.count])
        first = 1 if every else int(_EARLIEST * passes)
        phase = self._filtered(run, frozen, chosen) or self._run_phase(run, state, frozen, chosen.needed, first)
        hidden = phase.outcome == "hidden"
        # If more than theta_k is needed, that value lies in a cluster, and a better basis does not need less.
        if hidden and run.exact and run.target.worth is not None and chosen.needed > float(values[state.k - 1]):
            raise NotWorthError
        if hidden and run.exact and not run.exhausted and size + _MORE_PROBES < run.matrix.size:
            del phase  # before memory for the next is allocated
            phase = self._run_phase(run, state, frozen, chosen.needed, first, _MORE_PROBES)
            hidden = phase.outcome == "hidden"
        if hidden:
            self._hidden += _HIDDEN["float64"] if negligible else 1
        if phase.outcome == "stopped":
            self._retry_below = 0.1 * float(state.residuals[: state.k].max())
        if phase.outcome == "improve":
            self._most_frozen = max(chosen.count // 2, state.k + 5)

    def _filtered(self, run: _Run, frozen: Array, chosen: Frozen) -> Phase | None:
        """A proof by Chebyshev polynomials, if passes cost less than the work between them; None if it fails."""
        size = run.matrix.size
        left = run.allowed - run.passes - ceil(min(_RESERVED * self.expected, MOST_PASSES))
        if not (run.basis.single and run.exact and size - frozen.shape[1] > PROBES and left > 0):
            return None
        wanted = Wanted(chosen.needed, chosen.expected, left, run.budget.spend("proof"))
        random = run.backend.normals(run.rng, size, PROBES)
        bound, passes = chebyshev_bound(run.matrix, np.asarray(frozen), np.asarray(random), wanted)
        run.passes += passes
        if bound is None:
            return None
        empty = Basis.with_capacity(run.backend, size, 0, frozen=frozen)
        self.phase, self._step, self._frozen = Phase("proved", bound, empty, passes), run.steps, frozen.shape[1]
        return self.phase

    def _run_phase(
        self, run: _Run, state: Assessment, frozen: Array, needed: float, first: int = 1, probes: int = PROBES
    ) -> Phase:
        last = float(state.values[state.k - 1])
        size = run.matrix.size
        if run.probes < MOST_PROBES:  # no room for two
            self.phase = None
        room = min(run.probes, size - frozen.shape[1])
        basis = Basis.with_capacity(run.backend, size, room, frozen=frozen, meter=run.meter())
        random = run.backend.normals(run.rng, size, min(probes, room))
        goal = Goal(
            needed,
            last,
            missed_above=last + state.goal + 2.0 * run.expected_error(run.basis),
            floor=0.5 * state.goal,
            passes=max(1, min(MOST_PASSES, run.allowed - run.passes)),
            probability=run.budget.spend("proof"),
            first=first,
            cheap=run.basis.single,
        )
        phase = proof_phase(run.matrix.apply, basis, random, run.expected_error, goal)
        run.passes += phase.passes
        self._seen = phase.run.largest
        if self.phase is None or phase.outcome == "proved" or phase.bound < self.phase.bound:
            self.phase, self._step, self._frozen = phase, run.steps, frozen.shape[1]
        if phase.outcome == "missed":
            self.missed = phase.missed_vectors(goal.missed_above)
        return phase

    def _bound_complement(self, run: _Run, state: Assessment) -> None:
        """Run a proof phase against the whole basis, if residuals are small and the complement can be low enough."""
        last, k = float(state.values[state.k - 1]), state.k
        needed = separating_complement(state.values, run.basis.projected, run.basis.coupling, k)
        if float(state.residuals[:k].max()) <= _SMALL_RESIDUAL * last and needed >= _SEPARATION_AIM * last:
            self._run_phase(run, state, run.basis.vectors, needed)

    def carry(self, run: _Run, state: Assessment) -> None:
        """Prove lambda_j+1 <= rho < theta_j for some j in k, ..., k + 10, by a proof phase if necessary."""
        last, k = float(state.values[state.k - 1]), state.k
        if self.retained is None and self.phase is None and run.passes < run.allowed:
            self._bound_complement(run, state)
        if self.phase is None or (self.retained is not None and self.phase.bound >= last):
            return
        evidence, largest = run.evidence(), float(state.values[0])
        errors, _ = measure(evidence, run.matrix, run.rng, run.budget)
        run.passes += 0 if run.exact else 1
        allowance = errors.allowance(largest)
        upper = bounds_from_basis(evidence, errors, len(state.values), run.matrix.prototype)
        shared = min(len(upper), len(self.upper))
        self.upper = np.append(np.minimum(upper[:shared], self.upper[:shared]), upper[shared:])
        found = separation(state.values - allowance, upper, k)
        known = [gap for gap in (self.retained, found) if gap is not None]
        self.retained = min(known, key=lambda gap: gap.rho, default=None)


def _passes_for(run: _Run, chosen: Frozen, values: np.ndarray, k: int) -> float:
    """Passes that a proof phase is expected to take, given all Ritz values.

    These show how wide the spectrum is, except for outliers: eight probes find that many in one pass.
    """
    width = chosen.needed - float(values[-1 - PROBES] if len(values) > k + PROBES else 0.0)
    quantile = length_quantile(run.budget.total / 16, PROBES)
    return expected_passes(chosen.needed - chosen.expected, width, run.matrix.size, quantile)


def _mean_left(run: _Run) -> float:
    """Mean of the eigenvalues of the complement, which the largest is not below; 0 if the trace is unknown."""
    left = run.matrix.trace - float(np.trace(run.basis.projected))
    return left / max(run.matrix.size - run.basis.count, 1) if np.isfinite(left) else 0.0
