"""Thick restarts: which Ritz vectors to keep, and which bounds survive.

If lambda_j+1(G) <= rho < theta_j, then the complement of the j leading Ritz vectors of any basis with these Ritz values
is bounded by rho + ||R_j (Theta_j - rho)^-1/2||^2. Proof: G - rho has at most j positive eigenvalues, and Theta_j - rho
already has j. By Haynsworth's inertia theorem the Schur complement S - rho - R_j (Theta_j - rho)^-1 R_j^T has none.
Only the number rho must therefore be kept across a restart: it is a statement about G, not about a basis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eckart.engine.certificate import needed_complement, upper_bounds

_SEARCHED = 10
"""rho is taken at the largest proved gap among this many values after the k-th."""
_SEPARATED = 1e-6
"""Relative gap below which rho separates nothing."""
_RESOLVED = 0.01
"""Ritz pairs with residuals below this share of theta_k are near eigenpairs."""
_FROZEN = (5, 10, 20, 40, 70, 100, 130)
"""Maximum number of Ritz vectors after the k-th that are frozen, unless all are."""
MOST_FROZEN = _FROZEN[-1]
_CLOSEST, _REFINEMENTS, _PARTS = 1e-13, 3, np.arange(1, 33) / 33
"""A distance is found between this share of the largest value and twice it, to a thousandth of itself."""
_TRIED = 3
"""Number of gaps considered for a separation: the widest ones."""
_VERIFIED, _TRIALS = 3, 5
"""Number of candidates to freeze whose bounds are computed, and of bisections for the complement that they need."""


@dataclass(frozen=True)
class Separation:
    """lambda_j+1(G) <= rho."""

    index: int
    rho: float


def kept_vectors(size: int, k: int, block: int, capacity: int, width: int) -> int:
    """Ritz vectors to keep: the wanted ones and some more, with room for two further blocks."""
    return max(1, min(size, max(k + block // 2, min(2 * k, capacity // 2)), capacity - 2 * width))


def room_left(size: int, count: int, capacity: int, k: int) -> int:
    """Number of free columns: in the space, and in the basis after a restart that keeps k + 1 vectors."""
    return min(size - count, capacity - min(count, k) - 1)


def separation(values: np.ndarray, upper: np.ndarray, k: int) -> Separation | None:
    """(j, rho = upper bound of lambda_j+1) with the largest proved gap theta_j - rho, j = k, ..., k + 10."""
    candidates = range(k, min(k + _SEARCHED, len(values) - 1, len(upper) - 1) + 1)
    gaps = {j: float(values[j - 1] - upper[j]) for j in candidates}
    best = max(gaps, key=lambda j: gaps[j], default=0)
    if not gaps or gaps[best] <= _SEPARATED * max(float(values[0]), 0.0):
        return None
    return Separation(best, float(upper[best]))


def retained_bound(found: Separation, values: np.ndarray, coupling: np.ndarray, error: float) -> float:
    """Bound of the complement of the first j Ritz vectors, given the coupling R_c X_j and a bound of its error."""
    gaps = values[: found.index] - error - found.rho
    if gaps.min(initial=np.inf) <= 0.0:
        return np.inf
    scaled = coupling[:, : found.index] / np.sqrt(gaps)
    length = float(np.linalg.norm(scaled, 2)) if scaled.size else 0.0
    return found.rho + (length + error / float(np.sqrt(gaps.min(initial=np.inf)))) ** 2


def separating_complement(values: np.ndarray, projected: np.ndarray, coupling: np.ndarray, k: int) -> float:
    """The largest bound of the complement that would prove one of the widest gaps after the k-th to k+10-th value."""
    best = -np.inf
    gaps = {j: float(values[j - 1] - values[j]) for j in range(k, min(k + _SEARCHED, len(values) - 1) + 1)}
    for j in sorted(gaps, key=lambda j: -gaps[j])[:_TRIED]:
        limit = 0.5 * float(values[j - 1] + values[j])
        if gaps[j] > 4.0 * _SEPARATED * values[0]:
            best = max(best, needed_complement(projected, coupling, j + 1, limit, j))
    return best


@dataclass(frozen=True)
class Frozen:
    """The first `count` Ritz vectors, and the bound of their complement that proves the goal."""

    count: int
    needed: float
    expected: float
    """Expected bound of the complement."""


def choose_frozen(
    values: np.ndarray, coupling: np.ndarray, k: int, goal: float, most: int, whole: float
) -> Frozen | None:
    """How many Ritz vectors to freeze so that a proof takes few passes, given all Ritz values and R_c X.

    The bound of the k-th value may exceed it by `goal`, and those of the first k by twice that together.

    Candidates are k + 5, ..., k + 130 and all. The best has the largest distance from the expected complement (`whole`
    if all are frozen) to the needed one. The complement of f vectors is at least lambda_f+1. That is about theta_f+1
    while the Ritz vector is resolved. Beyond the last resolved one, theta falls faster than lambda, so its theta is
    used.
    """
    size, limit = len(values), float(values[k - 1]) + goal
    above = int(np.sum(values > limit))
    residuals = np.sqrt(np.sum(coupling**2, axis=0))
    unresolved = np.flatnonzero(residuals > _RESOLVED * values[k - 1])
    level = float(values[max(int(unresolved[0]) - 1, 0)]) if unresolved.size else 0.0
    together = _complement_for_sum(values[:k], residuals[:k], 1.6 * goal)
    found: list[Frozen] = []
    for count in (*(k + more for more in _FROZEN), size):
        if count > min(size, most):
            continue
        expected = whole
        if count < size:
            expected = float(values[count] + residuals[count])
            expected = max(expected, level) if unresolved.size and count >= unresolved[0] else expected
        needed = min(needed_complement(values[:count], coupling[:, :count], k, limit, above), together)
        if needed > expected:
            found.append(Frozen(count, needed, expected))
    found.sort(key=lambda frozen: frozen.expected - frozen.needed)
    return _first_verified(found[:_VERIFIED], values, coupling, k, 2.0 * goal)


def _first_verified(
    candidates: list[Frozen], values: np.ndarray, coupling: np.ndarray, k: int, allowed: float
) -> Frozen | None:
    for candidate in candidates:
        verified = _verified(candidate, values, coupling, k, allowed)
        if verified is not None:
            return verified
    return None


def _verified(frozen: Frozen, values: np.ndarray, coupling: np.ndarray, k: int, allowed: float) -> Frozen | None:
    """With a `needed` for which the first k upper bounds exceed the values by at most `allowed` in total; None if none.

    Ritz vectors with large residuals, coupled to the complement, can raise all bounds and not only that of the k-th.
    """
    count = frozen.count

    def suffices(complement: float) -> bool:
        upper = upper_bounds(values[:count], coupling[:, :count], complement, k)
        return float(np.sum(upper - values[:k])) <= allowed

    low, high = frozen.expected, frozen.needed
    if suffices(high):
        return frozen
    if not suffices(low):
        return None
    for _ in range(_TRIALS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if suffices(middle) else (low, middle)
    return replace(frozen, needed=low) if low > frozen.expected else None


def _complement_for_sum(values: np.ndarray, residuals: np.ndarray, allowed: float) -> float:
    """Approximately the largest s for which the upper bounds exceed the values by at most `allowed` in total.

    The i-th exceeds theta_i by about r_i^2 / (theta_i - s). Once the values are resolved, s may be above theta_k, as in
    a cluster that the k-th value cuts: the i-th bound is then the largest eigenvalue of [[theta_i, r_i], [r_i, s]].
    """
    resolved = float(residuals.max(initial=0.0)) <= _RESOLVED * float(values[-1])
    top = float(values[-1]) + (allowed if resolved else 0.0)
    far = max(top + float(values[0]), 1e-300)
    near = _CLOSEST * far
    for _ in range(_REFINEMENTS):  # of the logarithm of the distance top - s
        distances = far * (near / far) ** _PARTS
        half = 0.5 * (values - top + distances[:, None])
        root = np.hypot(half, residuals) if resolved else half
        excess = np.where(half > 0.0, residuals**2 / np.maximum(half + root, 1e-300), root - half)
        enough = int(np.count_nonzero(np.add.reduce(excess, axis=1) <= allowed))
        if enough:
            far = float(distances[enough - 1])
        if enough < len(distances):
            near = float(distances[enough])
    return top - far
