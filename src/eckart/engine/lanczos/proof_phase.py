"""A narrow proof phase: eight random columns against frozen Ritz vectors F, until the complement of F is bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from eckart.arrays import Array
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.chebyshev import ChebyshevBound
from eckart.engine.lanczos.convergence import passes_for_excess
from eckart.engine.lanczos.probe_bound import BoundedRun, ProbeRun, best_probe_bound, length_quantile
from eckart.forwarding import forwarded

Outcome = Literal["proved", "missed", "improve", "stopped", "hidden"]
"""hidden: rounding errors are larger than the distance from the complement to the bound that is needed."""
_SOONER, _LATEST = 0.8, 4
"""Passes until the bound is computed again, relative to those expected to reach what is needed, and at most. After as
many passes, what the main run has missed is looked for.
"""


@dataclass(frozen=True)
class Goal:
    """The purpose of a proof phase."""

    needed: float
    """The largest bound of the complement that proves the goal."""
    last_value: float
    """theta_k."""
    missed_above: float
    """A Ritz value of the complement above this means that the main run has missed a direction."""
    floor: float
    """Bounds below this are rounding."""
    passes: int
    """Number of passes that may be used."""
    probability: float
    first: int = 1
    """The first pass after which the bound is computed: earlier ones are not expected to reach what is needed."""
    cheap: bool = False
    """Whether a pass costs less than the eigenvalues of T, which are then computed only if a bound is due."""

    def enough(self, bound: float) -> bool:
        return bound <= self.needed

    def skips(self, passes: int, due: int) -> bool:
        """Whether nothing is computed from T after this pass."""
        return self.cheap and passes < due and passes % _LATEST != 0

    def next_due(self, bound: float, run: ProbeRun, passes: int, size: int) -> int:
        """The pass after which the bound is computed again."""
        excess, allowed = bound - run.largest, self.needed - run.largest
        if not self.cheap or not np.isfinite(excess) or allowed <= 0.0:
            return passes + 1
        quantile = length_quantile(self.probability, run.coordinates.shape[1])
        expected = passes_for_excess(allowed, excess, passes, size, quantile)
        return passes + max(1, int(min(_SOONER * (expected - passes), _LATEST)))

    def reached(self, bound: float, seen: float, *, complete: bool) -> Outcome | None:
        """How the phase ends with this bound and largest Ritz value `seen`; None if it continues.

        If `complete`, the basis spans the whole complement, so `seen` is its largest eigenvalue.
        """
        if self.enough(bound) or (bound <= self.floor and not complete):
            return "proved"
        if seen > self.missed_above and not complete:
            return "missed"
        return "improve" if complete or not self.enough(seen) else None

    def is_hidden(self, run: ProbeRun) -> bool:
        """Whether rounding hides the bound needed: an excess over t of eta ||C|| / c or less is never excluded
        (`monotone_bound`).
        """
        quantile = length_quantile(self.probability, run.coordinates.shape[1])
        return (self.needed - run.largest) * quantile <= run.error * run.spread

    def ended_early(self, bound: float, run: ProbeRun, passes: int, size: int) -> Outcome | None:
        """How the phase ends without a proof: all passes are used, or the bound needed takes far more or is hidden."""
        near = bound <= 1.02 * self.last_value
        if near and self.is_hidden(run):
            return "hidden"
        if passes >= self.passes:
            return "stopped"
        if not near:
            return None
        allowed, quantile = self.needed - run.largest, length_quantile(self.probability, run.coordinates.shape[1])
        expected = passes_for_excess(allowed, bound - run.largest, passes, size, quantile)
        return "stopped" if expected > 3 * self.passes else None


@dataclass(frozen=True)
class Phase:
    """How a proof phase ended."""

    outcome: Outcome
    bounded: BoundedRun | ChebyshevBound
    """Bound of lambda_1(P G P), except with the probability of the goal."""
    basis: Basis
    passes: int

    bound: ClassVar[forwarded[float]] = forwarded("bounded.bound")
    run: ClassVar[forwarded[ProbeRun]] = forwarded("bounded.run")

    def missed_vectors(self, above: float) -> Array:
        """Ritz vectors of the complement with values above a threshold."""
        values, vectors = np.linalg.eigh(self.run.projected)
        return self.basis.backend.times(self.basis.vectors, vectors[:, values > above])


def proof_phase(
    apply: Callable[[Array], Array], basis: Basis, random: Array, error: Callable[[Basis], float], goal: Goal
) -> Phase:
    """Bound lambda_1(P G P), one pass per step. `basis` is empty and contains the frozen vectors; `random` is Omega."""
    backend, size = basis.backend, basis.size
    frozen = () if basis.frozen is None else (basis.frozen,)
    block, coordinates = backend.outside(random, *frozen)
    bound, assumed, passes, due = np.inf, 0.0, 0, min(goal.first, goal.passes)
    outcome: Outcome | None = None
    while outcome is None:
        basis.add(block, apply(block))
        passes += 1
        full = basis.count + block.shape[1] > basis.capacity
        if goal.skips(passes, due) and not full and not basis.complete:
            block = basis.next_block()
            if block.shape[1]:
                continue
        run = ProbeRun(basis.projected, basis.residual_gram, coordinates(), error(basis))
        seen, complete = run.largest, basis.complete
        found = np.inf
        if complete:
            found = seen + run.error
        elif full or passes >= due or goal.is_hidden(run):
            found = best_probe_bound(run, goal.probability, goal.enough)
            due = min(goal.next_due(found, run, passes, size), goal.passes)
        if found < bound or complete:
            bound, assumed = found, run.error
        outcome = goal.reached(bound, seen, complete=complete)
        if outcome is None:
            outcome = goal.ended_early(bound, run, passes, size)
            if outcome is None and full:
                outcome = "stopped"
            # No block is left if probes span an invariant subspace: then only rounding is above what they found.
            if outcome is None and not (block := basis.next_block()).shape[1]:
                outcome = "hidden"
    if bound == np.inf:  # ended before the first bound was due
        bound, assumed = best_probe_bound(run, goal.probability, goal.enough), run.error
        outcome = goal.reached(bound, seen, complete=complete) or outcome
    return Phase(outcome, BoundedRun(run, goal.probability, bound, assumed), basis, passes)
