"""The end of a run: measure rounding errors, include them in the bounds, and refine values in float64 if that helps.

Let M be orthonormal, T* = M^T G M and R* = (I - M M^T) G M, with computed T and R, and E = G M - (M T + R). Then
R* = (I - M M^T) (R + E), and ||T* - T|| <= eta_T <= ||E|| =: eta.

Lower bounds: theta_i - eta_T (Weyl). Upper bounds, given S <= s I on the complement, are the smaller of two.

1. The blocks [[T*, R*^T], [R*, s]] differ from the computed ones by at most (eta_T + sqrt(eta_T^2 + 4 eta^2)) / 2, the
norm of [[eta_T, eta], [eta, 0]], and so do their eigenvalues. 2. For a, d > 0, R*^T R* <= (1 + a) R^T R + (1 + 1/a)
eta^2 I, so (certificate.py) lambda_i(G) <= eta_T + max(lambda_i(T + (1 + a) R^T R / d) + (1 + 1/a) eta^2 / d, s + d).
With t_i, the upper bound from T, sqrt(1 + a) R and s, and d = t_i - s > 0, the first eigenvalue is t_i, and lambda_i(G)
<= t_i + eta_T + (1 + 1/a) eta^2 / (t_i - s).

A loss of orthogonality d = ||I - M^T M|| adds 4 d theta_1.

Products in float64: ||E|| is measured during the run. Products in float32: one float64 pass over M Z (8 to 16 random
combinations) measures all of them. If the bounds are then wider than requested, the same pass also multiplies the
wanted Ritz vectors, whose values, residuals and bounds are then those of float64 (Rayleigh-Ritz).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.certificate import coupling_factor, inner_accurately, upper_bounds
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.chebyshev import ChebyshevBound
from eckart.engine.lanczos.probe_bound import BoundedRun
from eckart.engine.lanczos.proof_phase import Phase
from eckart.engine.lanczos.restart import Separation, retained_bound
from eckart.engine.lanczos.rounding import WIDTH, lengths, loss_and_error, measured_error, measured_projected_error
from eckart.engine.lanczos.terms import FailureBudget, Matrix
from eckart.engine.standardize.rounding import gamma

GOLDEN = (1.0 + 5.0**0.5) / 2.0


@dataclass(frozen=True)
class Evidence:
    """What bounds the complement of a basis."""

    basis: Basis
    ride_along: BoundedRun | None
    phase: Phase | None
    frozen: int | None
    """Number of current Ritz vectors that the phase has frozen; None if the basis has grown since."""
    retained: Separation | None
    trace_left: float


@dataclass(frozen=True)
class Errors:
    """Measured rounding: ||E|| of the main and of the probe basis, ||T* - T||, and their effect on bounds."""

    main: float
    projected: float
    main_loss: float
    product: float
    """Bound of ||fl(G q) - G q|| for a unit vector q in float64."""
    largest: float = np.inf
    """Bound of the largest eigenvalue, with which that of several products is smaller."""
    probe: float = 0.0
    probe_loss: float = 0.0

    def allowance(self, largest: float) -> float:
        """For an upper bound from the main basis."""
        both = (self.projected + float(np.hypot(self.projected, 2.0 * self.main))) / 2.0
        return both + 4.0 * self.main_loss * largest

    def below(self, largest: float) -> float:
        """For a Ritz value as a lower bound."""
        return self.projected + 4.0 * self.main_loss * largest


@dataclass(frozen=True)
class Refined:
    """Rayleigh-Ritz in float64 over the leading Ritz vectors: V^T G V = W diag(values) W^T."""

    values: np.ndarray
    rotation: np.ndarray
    residual_gram: np.ndarray
    residuals: np.ndarray
    """||R w_i||."""
    error: float


def measure(
    evidence: Evidence,
    matrix: Matrix,
    rng: np.random.Generator,
    budget: FailureBudget,
    ritz: np.ndarray | None = None,
    width: int = WIDTH,
    *,
    half: bool = False,
    enough: float = 0.0,
) -> tuple[Errors, Refined | None]:
    """Measure the errors of the run.

    Float32 products need one float64 pass with `width` random columns, which also refines the Ritz vectors M `ritz`,
    or only their Rayleigh quotients if `half` of the work is enough. A loss of orthogonality of up to `enough` need not
    be known more accurately.
    """
    basis, phase = evidence.basis, evidence.phase
    main_loss, main, probe_loss, probe = _losses_and_errors(evidence, rng, budget, enough)
    if matrix.exact is None:
        errors = Errors(main, main, main_loss, matrix.product_error, probe, probe_loss)
        return _sharpened(errors, evidence, matrix), None
    backend, product_error = matrix.backend, matrix.product_error
    factor = rng.standard_normal((basis.count, width))
    pieces = [backend.times(basis.vectors, factor)]
    second = None
    if phase is not None:
        second = rng.standard_normal((phase.basis.count, width))
        pieces.append(backend.times(phase.basis.vectors, second))
    vectors = None if ritz is None else backend.times(basis.vectors, ritz)
    product, gram = _exact(matrix, pieces, vectors, half=half)
    seen = product[:, :width]
    main = measured_error(backend, basis, factor, seen, product_error, budget.spend("rounding"))
    projected = measured_projected_error(backend, basis, factor, seen, product_error, budget.spend("rounding"))
    probe = 0.0
    if phase is not None and second is not None:
        seen = product[:, width : 2 * width]
        seen = backend.subtract(seen + 0.0, phase.basis.frozen, backend.inner(phase.basis.frozen, seen))
        probe = measured_error(backend, phase.basis, second, seen, product_error, budget.spend("rounding"))
    refined = None
    if vectors is not None and ritz is not None:
        if gram is not None:
            loss = _loss(backend.to_host(vectors))
            refined = _from_quotients(matrix, basis, ritz, backend.to_host(gram), main, loss)
        else:
            refined = _rayleigh_ritz(matrix, vectors, product[:, -vectors.shape[1] :])
    return Errors(main, min(main, projected), main_loss, product_error, probe=probe, probe_loss=probe_loss), refined


def _exact(matrix: Matrix, pieces: list[Array], vectors: Array | None, *, half: bool) -> tuple[Array, Array | None]:
    """G times the pieces and V in float64, or G times the pieces and V^T G V."""
    assert matrix.exact is not None
    xp = namespace(pieces[0])

    def together(parts: list[Array]) -> Array:
        return xp.concat(parts, axis=1) if len(parts) > 1 else parts[0]

    if vectors is None:
        return matrix.exact(together(pieces)), None
    found = matrix.exact_and_gram(together(pieces), vectors) if half and matrix.exact_and_gram is not None else None
    return found or (matrix.exact(together([*pieces, vectors])), None)


def _loss(vectors: np.ndarray) -> float:
    """Bound of ||V^T V - I||."""
    found, rounding = inner_accurately(vectors, vectors)
    return float(np.linalg.norm(found - np.eye(vectors.shape[1]))) + rounding


def _from_quotients(
    matrix: Matrix, basis: Basis, ritz: np.ndarray, inner: np.ndarray, error: float, loss: float
) -> Refined:
    """Rayleigh-Ritz with V = M X, given H = V^T G V in float64, ||E||, and a bound of ||V^T V - I||.

    (I - V V^T) G V = R X + (I - V V^T) E X, so its Gram matrix is at most (1 + a) X^T R^T R X + (1 + 1/a) ||E||^2 I,
    with a as in `with_rounding`. V differs from M X by its rounding.
    """
    values, rotation = np.linalg.eigh((inner + inner.T) / 2.0)
    values, rotation = values[::-1], np.ascontiguousarray(rotation[:, ::-1])
    coupled = basis.coupled_to(ritz @ rotation)
    residuals = np.sqrt(np.sum(coupled**2, axis=0))
    largest = float(np.linalg.norm(coupled, 2)) if coupled.size else 0.0
    part = error / max(largest, error) if error > 0.0 else 0.0
    squared = error**2 + error * max(largest, error)
    gram = (1.0 + part) * (coupled.T @ coupled) + squared * np.eye(len(values))
    count = len(values)
    formed = 4.0 * gamma(basis.count + 4) * count**0.5 * max(float(values[0]), 0.0)
    lost = 4.0 * loss * max(float(values[0]), 0.0)
    own = 2.0 * matrix.products_error(count) + float(np.linalg.norm(inner - inner.T)) + formed + lost
    return Refined(values, rotation, gram, residuals + error, own)


def _losses_and_errors(
    evidence: Evidence, rng: np.random.Generator, budget: FailureBudget, enough: float
) -> tuple[float, float, float, float]:
    """||I - M^T M|| and ||E|| of the main and of the probe basis.

    A proof by Chebyshev polynomials knows the loss of the frozen vectors, and multiplies no basis of its own.
    """
    basis, phase = evidence.basis, evidence.phase
    known = phase.bounded.loss if phase is not None and isinstance(phase.bounded, ChebyshevBound) else None
    if known is not None and evidence.frozen == basis.count:  # all of the basis was frozen
        return known, 0.0 if basis.meter is None else basis.meter.bound(basis), known, 0.0
    loss, error = loss_and_error(basis, rng, budget.spend("rounding"), enough)
    if phase is None or known is not None:
        return loss, error, known or 0.0, 0.0
    return loss, error, *loss_and_error(phase.basis, rng, budget.spend("rounding"), enough)


def _sharpened(errors: Errors, evidence: Evidence, matrix: Matrix) -> Errors:
    """The errors with the bound of products that follows from a bound of the largest eigenvalue.

    lambda_1(G) <= lambda_1([[T, R_c^T], [R_c, s]]) <= max(theta_1, s) + ||R_c||, plus the errors so far.
    """
    if matrix.block_error is None:
        return errors
    basis = evidence.basis
    known = known_statements(evidence, errors, 1, matrix.prototype, sharp=False)
    outside = 0.0 if basis.complete else known.list[0].bound
    largest = max(known.largest, outside) + float(np.linalg.norm(basis.coupling)) + errors.allowance(known.largest)
    if not np.isfinite(largest):
        return errors
    main = errors.main - _gain(matrix, basis, largest)
    probe = 0.0 if evidence.phase is None else errors.probe - _gain(matrix, evidence.phase.basis, largest)
    return replace(errors, main=main, projected=main, largest=largest, probe=probe)


def _gain(matrix: Matrix, basis: Basis, largest: float) -> float:
    """By how much the error of the products is smaller than assumed before the largest eigenvalue was bounded."""
    columns = 0 if basis.meter is None else basis.meter.columns
    return matrix.products_error(columns) - matrix.products_error(columns, largest)


def refine(matrix: Matrix, vectors: Array, largest: float) -> Refined:
    """Rayleigh-Ritz with one float64 pass."""
    return _rayleigh_ritz(matrix, vectors, (matrix.exact or matrix.apply)(vectors), largest)


def _rayleigh_ritz(matrix: Matrix, vectors: Array, product: Array, largest: float = np.inf) -> Refined:
    backend, count = matrix.backend, vectors.shape[1]
    inner = backend.to_host(backend.inner(vectors, product))
    values, rotation = np.linalg.eigh((inner + inner.T) / 2.0)
    rest = product - backend.times(vectors, inner)
    gram = backend.to_host(backend.inner(rest, rest))
    rotation = np.ascontiguousarray(rotation[:, ::-1])
    skew = float(np.linalg.norm(inner - inner.T)) / 2.0
    loss = float(np.linalg.norm(backend.to_host(backend.inner(vectors, vectors)) - np.eye(count), 2))
    error = matrix.products_error(count, largest) + skew + 4.0 * loss * max(float(values[-1]), 0.0)
    residuals = lengths(backend, backend.times(rest, rotation))
    return Refined(values[::-1], rotation, rotation.T @ gram @ rotation, residuals, error)


@dataclass(frozen=True)
class Statement:
    """The complement of the first `count` Ritz vectors is at most `bound`."""

    count: int
    bound: float


def statements(evidence: Evidence, errors: Errors, largest: float, *, sharp: bool) -> list[Statement]:
    """Proved bounds of complements, with measured rounding errors; that of the whole basis comes first.

    If not `sharp`, use the bound that avoids eigenvectors, which take longest.
    """
    # tr T* is the trace captured: |tr T* - tr T| <= D ||T* - T||.
    whole = evidence.trace_left + evidence.basis.count * errors.projected
    if evidence.ride_along is not None:
        bound = evidence.ride_along.bound_with(errors.main, sharp=sharp)
        whole = min(whole, bound + 4.0 * errors.main_loss * largest)
    found: list[Statement] = []
    if evidence.phase is not None:
        phase = evidence.phase
        filled = phase.basis.complete
        bound = phase.run.largest + errors.probe if filled else phase.bounded.bound_with(errors.probe, sharp=sharp)
        bound += 4.0 * errors.probe_loss * largest
        whole = min(whole, bound)
        if evidence.frozen is not None and evidence.frozen < evidence.basis.count:
            found.append(Statement(evidence.frozen, bound))
    return [Statement(evidence.basis.count, whole), *found]


def bounds_from_basis(
    evidence: Evidence, errors: Errors, count: int, prototype: Array, *, sharp: bool = True
) -> np.ndarray:
    """Upper bounds of the first `count` values, rounding included."""
    basis = evidence.basis
    known = known_statements(evidence, errors, count, prototype, sharp=sharp)
    if basis.complete:
        return np.asarray(known.values[:count] + errors.below(known.largest))
    return np.asarray(np.min([with_rounding(known, s, errors, count) for s in known.list], axis=0))


def with_rounding(known: Known, statement: Statement, errors: Errors, count: int) -> np.ndarray:
    """Upper bounds of the first `count` values, rounding included: the smaller of the two in the module docstring."""
    if not np.isfinite(statement.bound):
        return np.full(count, np.inf)
    residual = float(np.sqrt(np.max(np.sum(known.coupled[:, :count] ** 2, axis=0), initial=0.0)))
    projected, coupled = known.compression(statement)
    # a = eta / r makes (1 + a) r^2 + (1 + 1/a) eta^2 = (r + eta)^2; a larger than 1 is never needed.
    part = errors.main / max(residual, errors.main) if errors.main > 0.0 else 0.0
    bounds = upper_bounds(projected, (1.0 + part) ** 0.5 * coupled, statement.bound, count, known.prototype)
    squared = errors.main**2 + errors.main * max(residual, errors.main)
    gaps = bounds - statement.bound
    separated = gaps > 0.0
    second = np.full(count, np.inf)
    second[separated] = squared / gaps[separated] + errors.below(known.largest)
    return np.asarray(bounds + np.minimum(second, errors.allowance(known.largest)))


@dataclass(frozen=True)
class Known:
    """The leading Ritz values, R_c X, and proved bounds of complements."""

    values: np.ndarray
    coupled: np.ndarray
    list: list[Statement]
    basis: Basis | None = None
    """The basis of the Ritz vectors, if not all of them are known."""
    prototype: Array | None = None

    @property
    def largest(self) -> float:
        return max(float(self.values[0]), 0.0)

    def compression(self, statement: Statement) -> tuple[np.ndarray, np.ndarray]:
        """G on the vectors of a statement, and its coupling to their complement.

        For the whole basis T and R_c: with all eigenvectors of T, Theta and R_c X would give the same bounds, but the
        eigenvectors take longer than the bounds.
        """
        if self.basis is not None and statement.count == self.basis.count:
            return self.basis.projected, self.basis.coupling
        return self.values[: statement.count], self.coupled[:, : statement.count]


def known_statements(evidence: Evidence, errors: Errors, count: int, prototype: Array, *, sharp: bool = True) -> Known:
    """The statements of this cycle, and the one that survived a restart, with `count` Ritz values or more."""
    basis, retained = evidence.basis, evidence.retained
    used = max(count, evidence.frozen or 0, 0 if retained is None else retained.index)
    values, coefficients = basis.ritz(min(used, basis.count), prototype)
    coupled = basis.coupled_to(coefficients)
    largest = max(float(values[0]), 0.0)
    found = statements(evidence, errors, largest, sharp=sharp)
    if retained is not None and retained.index <= basis.count:
        bound = retained_bound(retained, values, coupled, errors.allowance(largest))
        if np.isfinite(bound):
            found.append(Statement(retained.index, bound))
    return Known(values, coupled, found, basis, prototype)


def bounds_from_refined(
    evidence: Evidence, errors: Errors, refined: Refined, prototype: Array, count: int, *, sharp: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) from the refined pairs; the main basis bounds everything beyond them.

    The complement of the refined vectors V = M X_1 consists of M X_2 and the complement of (X_1, X_2). It is therefore
    at most lambda_1([[Theta_2, (R X_2)^T], [R X_2, s]]), plus the rounding errors of the main basis.
    """
    held = len(refined.values)
    known = known_statements(evidence, errors, evidence.basis.count, prototype, sharp=sharp)
    beyond = 0.0 if evidence.basis.complete and held == len(known.values) else np.inf
    for statement in known.list:
        between = slice(held, statement.count)
        if statement.count <= held:
            beyond = min(beyond, statement.bound)
        else:
            bound = 0.0 if evidence.basis.complete else statement.bound
            beyond = min(beyond, float(upper_bounds(known.values[between], known.coupled[:, between], bound, 1)[0]))
    beyond += errors.allowance(known.largest)
    upper = upper_bounds(refined.values, coupling_factor(refined.residual_gram), beyond, min(count, held))
    return refined.values - refined.error, upper + GOLDEN * refined.error
