"""A narrow proof phase: eight random columns against frozen Ritz vectors F, until the complement of F is bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eckart.arrays import Array
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.convergence import expected_passes
from eckart.engine.lanczos.probe_bound import BoundedRun, ProbeRun, best_probe_bound, length_quantile

Outcome = Literal["proved", "missed", "improve", "stopped"]


@dataclass(frozen=True)
class Goal:
    """The purpose of a proof phase."""

    enough: Callable[[float], bool]
    """Whether a bound of the complement proves the goal; monotone."""
    last_value: float
    """theta_k."""
    missed_above: float
    """A Ritz value of the complement above this means that the main run has missed a direction."""
    floor: float
    """Bounds below this are rounding."""
    passes: int
    """Number of passes that may be used."""
    probability: float

    def reached(self, bound: float, seen: float, *, complete: bool) -> Outcome | None:
        """How the phase ends with this bound and largest Ritz value `seen`; None if it continues.

        If `complete`, the basis spans the whole complement, so `seen` is its largest eigenvalue.
        """
        if self.enough(bound) or (bound <= self.floor and not complete):
            return "proved"
        if seen > self.missed_above and not complete:
            return "missed"
        return "improve" if complete or not self.enough(seen) else None

    def is_hopeless(self, bound: float, seen: float, passes: int, quantile: float, size: int) -> bool:
        """Whether all passes are used, or a bound near theta_k would take far more than allowed."""
        if passes >= self.passes:
            return True
        gap = 1.0 - seen / self.last_value if self.last_value > 0.0 else 0.0
        return bound <= 1.02 * self.last_value and expected_passes(gap, size, quantile) > 3 * self.passes


@dataclass(frozen=True)
class Phase:
    """How a proof phase ended."""

    outcome: Outcome
    bounded: BoundedRun
    """Bound of lambda_1(P G P), except with the probability of the goal."""
    basis: Basis
    passes: int

    @property
    def bound(self) -> float:
        return self.bounded.bound

    @property
    def run(self) -> ProbeRun:
        return self.bounded.run

    def missed_vectors(self, above: float) -> Array:
        """Ritz vectors of the complement with values above a threshold."""
        values, vectors = np.linalg.eigh(self.run.projected)
        return self.basis.backend.times(self.basis.vectors, vectors[:, values > above])


def proof_phase(
    apply: Callable[[Array], Array], basis: Basis, random: Array, error: Callable[[Basis], float], goal: Goal
) -> Phase:
    """Bound lambda_1(P G P), one pass per step. `basis` is empty and contains the frozen vectors; `random` is Omega."""
    backend, size = basis.backend, basis.size
    quantile = length_quantile(goal.probability, random.shape[1])
    frozen = () if basis.frozen is None else (basis.frozen,)
    block, coordinates = backend.outside(random, *frozen)
    bound, assumed, passes = np.inf, 0.0, 0
    outcome: Outcome | None = None
    while outcome is None:
        basis.add(block, apply(block))
        passes += 1
        run = ProbeRun(basis.projected, basis.residual_gram, coordinates(), error(basis))
        seen, complete = run.largest, basis.complete
        found = seen + run.error if complete else best_probe_bound(run, goal.probability, goal.enough)
        if found < bound or complete:
            bound, assumed = found, run.error
        outcome = goal.reached(bound, seen, complete=complete)
        if outcome is None:
            full = basis.count + block.shape[1] > basis.capacity
            # No block is left if probes span an invariant subspace: then no eigenvalue exceeds those they found.
            if (
                full
                or goal.is_hopeless(bound, seen, passes, quantile, size)
                or not (block := basis.next_block()).shape[1]
            ):
                outcome = "stopped"
    return Phase(outcome, BoundedRun(run, goal.probability, bound, assumed), basis, passes)
