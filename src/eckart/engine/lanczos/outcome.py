"""From the last assessment of a run to eigenpairs with bounds that include measured rounding errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.lanczos.finish import bounds_from_basis, bounds_from_refined, lengths, measure, refine
from eckart.engine.lanczos.terms import Assessment, Pairs
from eckart.engine.solution import is_accurate, is_undecided

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_REFINED = 10
"""Ritz vectors beyond the k-th that are refined as well, so that the complement lies well below the k-th value."""
_NEXT_START = 8
"""Ritz vectors beyond the k-th from which a float64 run starts."""


@dataclass(frozen=True)
class Outcome:
    """Eigenpairs, and what a continuation in float64 needs."""

    pairs: Pairs
    restart_vectors: Array
    rounding_limited: bool = False
    """Whether only rounding keeps the bounds apart, so that more passes would not help."""

    @property
    def proved(self) -> bool:
        return self.pairs.proved

    @property
    def passes(self) -> int:
        return self.pairs.passes

    def followed_by(self, later: Outcome) -> Outcome:
        """The later outcome, with the passes and chances of both."""
        first, last = self.pairs, later.pairs
        pairs = replace(
            last,
            steps=first.steps + last.steps,
            passes=first.passes + last.passes,
            restarts=first.restarts + last.restarts,
            history=(*first.history, *((first.steps + step, low, high) for step, low, high in last.history)),
        )
        return replace(later, pairs=pairs)


def conclude(run: _Run, state: Assessment) -> Outcome:
    """Measure rounding errors, evaluate the bounds with them, and decide whether the tolerance is proved."""
    evidence, k = run.evidence(), state.k
    largest, last = max(float(state.values[0]), 0.0), max(float(state.values[k - 1]), 0.0)
    wanted = None if run.exact or not _float32_is_too_coarse(run, state) else _leading(state, k)
    errors, refined = measure(evidence, run.matrix, run.rng, run.budget, wanted)
    run.passes += 0 if run.exact else 1
    if refined is None and errors.allowance(largest) > run.target.tolerance * last and run.may_continue:
        # Rounding of all columns together is too large: that of the wanted ones alone is smaller.
        wanted = _leading(state, k)
        refined = refine(run.matrix, run.backend.times(run.basis.vectors, wanted))
        run.passes += 1
    values, coefficients = state.values[:k], state.coefficients[:, :k]
    count = min(k + 1, run.basis.count)
    upper = bounds_from_basis(evidence, errors, count, run.matrix.prototype, sharp=False)
    lower, error = values - errors.below(largest), errors.allowance(largest)
    if not _proved(run, state, lower, upper):
        upper = bounds_from_basis(evidence, errors, count, run.matrix.prototype)
    residuals = _residuals(run, coefficients) + error
    if refined is not None and wanted is not None:
        lower_refined, upper_refined = bounds_from_refined(evidence, errors, refined, run.matrix.prototype, k + 1)
        values, coefficients = refined.values[:k], wanted @ refined.rotation[:, :k]
        lower = lower_refined[:k]  # what the returned vectors capture, where other bounds may be larger
        error = refined.error
        shared = min(len(upper), len(upper_refined))
        upper = np.append(np.minimum(upper[:shared], upper_refined[:shared]), upper[shared:])
        residuals = refined.residuals[:k] + refined.error
    upper[:k] = np.maximum(upper[:k], values)
    undecided = is_undecided(
        run.target.target_ratio, values[:k], upper[:k], run.matrix.trace, run.matrix.trace_error(), run.matrix.size
    )
    pairs = Pairs(
        values=values,
        vectors=run.backend.times(run.basis.vectors, coefficients),
        lower=lower,
        upper=upper,
        residuals=residuals,
        proved=_proved(run, state, lower, upper) and not undecided,
        converged=state.done or (state.converged and run.may_continue),
        undecided=undecided,
        failure_probability=run.budget.spent,
        error=error,
        steps=run.steps,
        passes=run.passes,
        restarts=run.restarts,
        basis=run.basis.count,
        precision="float64" if run.exact else "float32",
        history=tuple(run.history),
    )
    width = float(np.max(upper[:k] - lower[:k]))
    return Outcome(pairs, _start_again(run, k), rounding_limited=state.done and width <= 4.0 * error + 2.0 * state.goal)


def _residuals(run: _Run, coefficients: np.ndarray) -> np.ndarray:
    """||R x_i|| from R itself: in R^T R, small ones are lost in the rounding of large ones."""
    newest = run.basis.residual_gram.shape[0]
    if newest == 0:
        return np.zeros(coefficients.shape[1])
    return lengths(run.backend, run.backend.times(run.basis.rest, coefficients[run.basis.count - newest :]))


def _proved(run: _Run, state: Assessment, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Each value within the tolerance, or, where values are too small for that, as float64 allows."""
    k = state.k
    last, largest = max(float(state.values[k - 1]), 0.0), max(float(state.values[0]), 0.0) if run.exact else 0.0
    return state.decided and is_accurate(lower[:k], upper[:k], last, largest, run.target.tolerance)


def _float32_is_too_coarse(run: _Run, state: Assessment) -> bool:
    """Whether float32 errors are expected to exceed the tolerance."""
    return 4.0 * run.expected_error(run.basis) > run.target.tolerance * max(float(state.values[state.k - 1]), 0.0)


def _leading(state: Assessment, k: int) -> np.ndarray:
    """Coefficients of the Ritz vectors to refine."""
    return np.ascontiguousarray(state.coefficients[:, : min(k + _REFINED, len(state.values))])


def _start_again(run: _Run, k: int) -> Array:
    count = min(run.basis.count, k + _NEXT_START)
    _, coefficients = leading_pairs(run.basis.projected, count, prototype=run.matrix.prototype)
    return run.backend.times(run.basis.vectors, coefficients)
