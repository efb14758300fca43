"""From the last assessment of a run to eigenpairs with bounds that include measured rounding errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.tall import polished
from eckart.engine.lanczos.finish import (
    GOLDEN,
    Errors,
    Evidence,
    Refined,
    bounds_from_basis,
    bounds_from_refined,
    measure,
    refine,
)
from eckart.engine.lanczos.rounding import WIDTH, WIDTHS, lengths
from eckart.engine.lanczos.terms import Assessment, Pairs
from eckart.engine.solution import is_accurate, is_undecided

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_REFINED = (2, 5, 10)
"""Number of Ritz vectors beyond the k-th that are refined as well, to separate the complement from the k-th value."""
_MANY = 20
"""After this many passes, one more for sharper bounds costs little."""
_UNCERTAIN = 1.2
"""Factor on the expected error of T, because a second float64 pass costs more than a few columns."""
_LITTLE = 1.2
"""Expected widths of bounds from Rayleigh quotients, relative to the tolerance; twice the tolerance is allowed."""
_NEGLIGIBLE_LOSS = 0.03
"""Loss of orthogonality that hardly widens the bounds, relative to the tolerance and the k-th value."""
_MARGIN = 1.5
"""Factor on the expected ||E||, of which .5 to .8 was measured, where a larger one would cost another pass."""
_NEXT_START = 8
"""Number of Ritz vectors beyond the k-th from which a float64 run starts."""


@dataclass(frozen=True)
class Outcome:
    """Eigenpairs, and what a continuation in float64 needs."""

    pairs: Pairs
    restart_vectors: Callable[[], Array]
    """Ritz vectors for a restart in float64."""
    rounding_limited: bool = False
    """Whether only rounding keeps the bounds apart, so that more passes would not help."""

    @property
    def proved(self) -> bool:
        return self.pairs.proved

    @property
    def passes(self) -> int:
        return self.pairs.passes

    def followed_by(self, later: Outcome) -> Outcome:
        """The later outcome, with the passes and failure probabilities of both."""
        first, last = self.pairs, later.pairs
        pairs = replace(
            last,
            steps=first.steps + last.steps,
            passes=first.passes + last.passes,
            restarts=first.restarts + last.restarts,
            history=(*first.history, *((first.steps + step, low, high) for step, low, high in last.history)),
        )
        return replace(later, pairs=pairs)


@dataclass(frozen=True)
class _Bounded:
    """Ritz pairs, refined in float64 if that was worth a pass, with bounds that include rounding."""

    values: np.ndarray
    coefficients: np.ndarray
    residuals: np.ndarray
    error: float
    lower: np.ndarray
    upper: np.ndarray


def _bounded(run: _Run, state: Assessment) -> _Bounded:
    """Measure rounding errors and evaluate the bounds with them."""
    evidence, k = run.evidence(), state.k
    wanted, width, half = (None, WIDTH, False) if run.exact else _columns_to_verify(run, state, evidence)
    enough = _NEGLIGIBLE_LOSS * run.tolerance * float(state.values[k - 1]) / max(float(state.values[0]), 1e-300)
    errors, refined = measure(evidence, run.matrix, run.rng, run.budget, wanted, width, half=half, enough=enough)
    run.passes += 0 if run.exact else 1
    lower, upper = _proved_bounds(run, state, evidence, errors, refined)
    if refined is None and run.may_continue and _refining_pays(run, state, lower, upper, errors):
        wanted = _leading(run, state)
        refined = refine(run.matrix, run.backend.times(run.basis.vectors, wanted), errors.largest)
        run.passes += 1
        lower, upper = _proved_bounds(run, state, evidence, errors, refined)
    if refined is not None and wanted is not None:
        error, rotated = refined.error, wanted @ refined.rotation[:, :k]
        return _Bounded(refined.values[:k], rotated, refined.residuals[:k] + error, error, lower, upper)
    error, coefficients = errors.allowance(max(float(state.values[0]), 0.0)), state.coefficients[:, :k]
    return _Bounded(state.values[:k], coefficients, _residuals(run, coefficients) + error, error, lower, upper)


def conclude(run: _Run, state: Assessment) -> Outcome:
    """Measure rounding errors, evaluate the bounds with them, and decide whether the tolerance is proved."""
    k, found = state.k, _bounded(run, state)
    values, lower, upper = found.values, found.lower, found.upper
    upper[:k] = np.maximum(upper[:k], values)
    undecided = is_undecided(
        run.target.target_ratio, values[:k], upper[:k], run.matrix.trace, run.matrix.trace_error(), run.matrix.size
    )
    pairs = Pairs(
        values=values,
        vectors=_vectors(run, found.coefficients),
        lower=lower,
        upper=upper,
        residuals=found.residuals,
        proved=_proved(run, state, lower, upper) and not undecided,
        converged=state.done or (state.converged and run.may_continue),
        undecided=undecided,
        failure_probability=run.budget.spent,
        error=found.error,
        steps=run.steps,
        passes=run.passes,
        restarts=run.restarts,
        basis=run.basis.count,
        precision="float64" if run.exact else "float32",
        history=tuple(run.history),
    )
    width = float(np.max(upper[:k] - lower[:k]))
    rounding_limited = state.done and width <= 4.0 * found.error + 2.0 * state.goal
    return Outcome(pairs, partial(_start_again, run, k), rounding_limited)


def _proved_bounds(
    run: _Run, state: Assessment, evidence: Evidence, errors: Errors, refined: Refined | None
) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) of the first k values and an upper bound of the next; the most expensive bounds come last."""
    lower, upper = _bounds(run, state, evidence, errors, refined, sharp=False)
    if not _proved(run, state, lower, upper):
        lower, upper = _bounds(run, state, evidence, errors, refined, sharp=True)
    known = run.proofs.upper[: len(upper)]
    upper[: len(known)] = np.minimum(upper[: len(known)], known)
    return lower, upper


def _bounds(
    run: _Run, state: Assessment, evidence: Evidence, errors: Errors, refined: Refined | None, *, sharp: bool
) -> tuple[np.ndarray, np.ndarray]:
    k, prototype = state.k, run.matrix.prototype
    if refined is None:
        upper = bounds_from_basis(evidence, errors, min(k + 1, run.basis.count), prototype, sharp=sharp)
        return state.values[:k] - errors.below(max(float(state.values[0]), 0.0)), upper
    # The lower bounds are what the returned vectors capture, even if other bounds are larger.
    lower, upper = bounds_from_refined(evidence, errors, refined, prototype, k + 1, sharp=sharp)
    if sharp:
        others = bounds_from_basis(evidence, errors, min(k + 1, run.basis.count), prototype)
        shared = min(len(upper), len(others))
        upper = np.append(np.minimum(upper[:shared], others[:shared]), others[shared:])
    return lower[:k], upper


def _vectors(run: _Run, coefficients: np.ndarray) -> Array:
    """V = M X, and in float64 V (I - F / 2), F = V^T V - I, because M loses orthogonality with every restart.

    Vectors move by ||F|| / 2 and residuals by lambda_1 ||F|| / 2. The rounding of every residual contains
    4 lambda_1 ||I - M^T M||, which covers that.
    """
    vectors = run.backend.times(run.basis.vectors, coefficients)
    return polished(vectors) if run.exact else vectors  # float32 data: they are returned in float32


def _residuals(run: _Run, coefficients: np.ndarray) -> np.ndarray:
    """||R x_i|| from R itself: in R^T R, small residuals are lost in the rounding of large ones."""
    newest = run.basis.residual_gram.shape[0]
    if newest == 0:
        return np.zeros(coefficients.shape[1])
    return lengths(run.backend, run.backend.times(run.basis.rest, coefficients[run.basis.count - newest :]))


def _proved(run: _Run, state: Assessment, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether each value is within the tolerance or, if too small for that, as accurate as float64 allows."""
    k = state.k
    last, largest = max(float(state.values[k - 1]), 0.0), max(float(state.values[0]), 0.0) if run.exact else 0.0
    return state.decided and is_accurate(lower[:k], upper[:k], last, largest, run.target.tolerance)


def _refining_pays(run: _Run, state: Assessment, lower: np.ndarray, upper: np.ndarray, errors: Errors) -> bool:
    """Whether a float64 pass over only the wanted Ritz vectors brings the bounds within the tolerance.

    The errors of all D columns of the basis together are up to sqrt(D) times that of one product, those of k + 10
    vectors sqrt(k + 10) times; the convergence error stays. If neither is within the tolerance, the pass pays only if
    nothing is proved yet, or if it is one of many.
    """
    k, last, largest = state.k, max(float(state.values[state.k - 1]), 0.0), max(float(state.values[0]), 0.0)
    allowed = 2.0 * run.target.tolerance * last
    width = float(np.max(upper[:k] - lower[:k]))
    if width <= allowed:
        return False
    not_converged = max(0.0, width - 2.0 * errors.below(largest))
    rounding = run.matrix.products_error(k + _REFINED[-1], errors.largest)
    refined = not_converged + (1.0 + GOLDEN) * rounding
    return refined <= allowed or run.passes >= _MANY or not _proved(run, state, lower, upper)


def _columns_to_verify(run: _Run, state: Assessment, evidence: Evidence) -> tuple[np.ndarray | None, int, bool]:
    """(coefficients of the Ritz vectors to refine, or None; random columns; whether their Rayleigh quotients, half of
    the work, are enough): as few columns as the goal allows.

    Fewer random columns show a larger error, by which the bounds grow, but cost less. If even the most columns leave
    bounds wider than the tolerance, the Ritz vectors are refined, and the errors matter only for the complement.
    """
    wanted = _leading(run, state)
    # Kernels that multiply tiles of columns are so fast that converting the rows to float64 takes most of this pass.
    if run.matrix.tile > 1:
        return wanted, WIDTH, False
    held = wanted.shape[1]
    half = _columns_for_quotients(run, state, evidence, held)
    most = max(WIDTH, held + WIDTHS[0] - 1) if half is None else half + held // 2
    for width in WIDTHS:
        if width <= most and _enough_columns(run, state, evidence, width):
            return None, width, False
    if half is not None:
        return wanted, half, True
    last = float(state.values[state.k - 1])
    if held == len(state.values):
        return wanted, WIDTH, False
    separated = last - _beyond(run, state, evidence, held, WIDTHS[0]) >= 0.5 * (last - float(state.values[held])) > 0.0
    return wanted, WIDTHS[0] if separated else WIDTH, False


def _columns_for_quotients(run: _Run, state: Assessment, evidence: Evidence, held: int) -> int | None:
    """Random columns with which Rayleigh quotients of the refined vectors are enough; None if they cost more than half.

    The coupling of these vectors to the complement is then known up to ||E||, which counts by its square.
    """
    if run.matrix.exact_and_gram is None or held == len(state.values):
        return None
    last, residual = float(state.values[state.k - 1]), float(state.residuals[: state.k].max())
    for width, sharp in itertools.product((width for width in WIDTHS if width <= WIDTH), (False, True)):
        gap = last - _beyond(run, state, evidence, held, width, sharp=sharp)
        error = _MARGIN * run.expected_measurement(width)[0]
        if gap > 0.0 and (residual + error) ** 2 <= _LITTLE * run.tolerance * last * gap:
            return width
    return None


def _beyond(run: _Run, state: Assessment, evidence: Evidence, held: int, width: int, *, sharp: bool = False) -> float:
    """Expected bound of the complement of the refined vectors with what `width` random columns show."""
    error = _MARGIN * run.expected_measurement(width)[0]
    return max(float(state.values[held]), _complement_with(evidence, error, sharp=sharp)) + error


def _enough_columns(run: _Run, state: Assessment, evidence: Evidence, width: int) -> bool:
    """Whether bounds are expected to be within the tolerance with what `width` random columns show of float32 errors.

    ||T* - T|| counts on both sides. ||E|| raises the bound s of the complement, and values by ||E||^2 / (theta_k - s).
    """
    if state.upper is None:
        return False
    k, last = state.k, max(float(state.values[state.k - 1]), 0.0)
    error, projected = run.expected_measurement(width)
    not_converged = float(np.max(state.upper[:k] - state.values[:k]))
    if width < WIDTH:
        gap = last - _complement_with(evidence, error)
        if gap <= 0.0:
            return False
        not_converged += (float(np.sum(state.residuals[:k] ** 2)) + error**2) / gap
    return not_converged + 2.0 * _UNCERTAIN * projected <= 2.0 * run.tolerance * last


def _complement_with(evidence: Evidence, error: float, *, sharp: bool = False) -> float:
    """The bound of the complement with another error; infinite if it comes from a proof phase or an earlier cycle."""
    if evidence.phase is not None:
        return float(np.inf)
    if evidence.ride_along is None:
        return evidence.trace_left
    return min(evidence.trace_left, evidence.ride_along.bound_with(error, sharp=sharp))


def _leading(run: _Run, state: Assessment) -> np.ndarray:
    """Coefficients of the Ritz vectors to refine: the wanted ones, and as few more as the bounds need.

    Rounding couples each refined vector to the others by about e = ||E|| / sqrt(D), which raises bounds by k e^2 / gap.
    """
    k, error = state.k, run.expected_error(run.basis)
    last = max(float(state.values[k - 1]), 0.0)
    for more in _REFINED:
        count = min(k + more, len(state.values))
        beyond = float(state.values[count]) if count < len(state.values) else 0.0
        if k * error**2 / run.basis.count <= 0.1 * run.tolerance * last * (last - beyond - error):
            break
    return np.ascontiguousarray(state.coefficients[:, :count])


def _start_again(run: _Run, k: int) -> Array:
    count = min(run.basis.count, k + _NEXT_START)
    _, coefficients = run.basis.ritz(count, run.matrix.prototype)
    return run.backend.times(run.basis.vectors, coefficients)
