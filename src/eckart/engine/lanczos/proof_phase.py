"""A narrow proof phase: eight random columns against frozen Ritz vectors F, until the complement of F is bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eckart.arrays import Array
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.convergence import expected_passes
from eckart.engine.lanczos.probe_bound import ProbeRun, best_probe_bound, length_quantile

Outcome = Literal["proved", "missed", "improve", "stopped"]


@dataclass(frozen=True)
class Goal:
    """What a proof phase is for."""

    enough: Callable[[float], bool]
    """Whether a bound of the complement proves what is wanted; monotone."""
    last_value: float
    """theta_k."""
    missed_above: float
    """A Ritz value of the complement above this means that the main run has missed a direction."""
    floor: float
    """Bounds below this are rounding."""
    passes: int
    """Passes that may be spent."""
    probability: float


@dataclass(frozen=True)
class Phase:
    """How a proof phase ended."""

    outcome: Outcome
    bound: float
    """lambda_1(P G P) is at most this, but for the probability of the goal."""
    basis: Basis
    run: ProbeRun
    passes: int
    probability: float

    def missed_vectors(self, above: float) -> Array:
        """Ritz vectors of the complement with values above a threshold."""
        values, vectors = np.linalg.eigh(self.run.projected)
        return self.basis.backend.times(self.basis.vectors, vectors[:, values > above])


def proof_phase(
    apply: Callable[[Array], Array], basis: Basis, random: Array, error: Callable[[Basis], float], goal: Goal
) -> Phase:
    """Bound lambda_1(P G P), one pass a step. `basis` is empty and has the frozen vectors; `random` is Omega."""
    backend, size = basis.backend, basis.size
    quantile = length_quantile(goal.probability, random.shape[1])
    frozen = () if basis.frozen is None else (basis.frozen,)
    block, coordinates = backend.outside(random, *frozen)
    bound, passes = np.inf, 0
    while True:
        basis.add(block, apply(block))
        passes += 1
        run = ProbeRun(basis.projected, basis.residual_gram, coordinates(), error(basis))
        seen = run.largest
        if basis.complete:
            return Phase(
                "proved" if goal.enough(seen + run.error) else "improve",
                seen + run.error,
                basis,
                run,
                passes,
                goal.probability,
            )
        bound = min(bound, best_probe_bound(run, goal.probability, goal.enough))
        if goal.enough(bound) or bound <= goal.floor:
            return Phase("proved", bound, basis, run, passes, goal.probability)
        if seen > goal.missed_above:
            return Phase("missed", bound, basis, run, passes, goal.probability)
        if not goal.enough(seen):
            return Phase("improve", bound, basis, run, passes, goal.probability)
        full = basis.count + block.shape[1] > basis.capacity or passes >= goal.passes
        gap = 1.0 - seen / goal.last_value if goal.last_value > 0.0 else 0.0
        hopeless = bound <= 1.02 * goal.last_value and expected_passes(gap, size, quantile) > 3 * goal.passes
        if full or hopeless:
            return Phase("stopped", bound, basis, run, passes, goal.probability)
        block = basis.next_block()
        if block.shape[1] == 0:
            # The probes span an invariant subspace: no eigenvalue of the complement is larger than what they saw.
            return Phase("proved" if goal.enough(bound) else "stopped", bound, basis, run, passes, goal.probability)
