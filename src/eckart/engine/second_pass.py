"""A second pass over the data, with the eigenvectors of a Gram matrix whose error is too large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, from_numpy, to_numpy
from eckart.engine.backends.symmetric import leading_pairs, squares_without
from eckart.engine.direct import singular_triplets
from eckart.engine.iterated import Leading
from eckart.engine.solution import Request, Solution, count_for, is_accurate, is_undecided, pick, remaining_squares
from eckart.engine.standardize.problem import Problem
from eckart.engine.standardize.rounding import UNIT, gamma, lapack_eigenvalue_error, lapack_svd_error
from eckart.engine.threads import one_blas_thread


@dataclass(frozen=True)
class _Refined:
    singular: np.ndarray
    rotation: np.ndarray
    relative: float
    """Bound of the relative error of each value."""
    absolute: float
    """Bound of the absolute error of each value, in addition."""
    squared: float
    """Bound of the absolute error of each squared value, in addition."""


def refine(problem: Problem, gram: np.ndarray, request: Request) -> Solution:
    """All singular values to a few units of rounding times the largest, from a second pass."""
    with one_blas_thread():
        values, vectors = leading_pairs((gram + gram.T) / 2.0, gram.shape[0])
        found = _refined(problem, values, vectors)
    singular, largest = found.singular, float(found.singular[0])
    spectrum = singular**2
    slack = found.absolute + found.relative * singular
    rounding = float(np.max(2.0 * slack * singular + slack**2)) + found.squared
    k = count_for(spectrum, problem.total, request)
    undecided = is_undecided(
        request.target_ratio, spectrum[:k], spectrum[:k], problem.total, problem.total_error(), len(spectrum)
    )
    chosen = pick(spectrum, k, smallest=request.smallest)
    with one_blas_thread():  # BLAS adds in another order on several threads
        basis: Array = from_numpy(np.ascontiguousarray(vectors @ found.rotation[chosen].T), problem.prototype)
    near = slack[chosen]
    lower = np.maximum(np.maximum(singular[chosen] - near, 0.0) ** 2 - found.squared, 0.0)
    upper = (singular[chosen] + near) ** 2 + found.squared
    sharp = is_accurate(lower, upper, float(spectrum[chosen].min(initial=np.inf)), largest**2, request.tolerance)
    return Solution(
        solver="gram",
        values=spectrum[chosen],
        vectors=basis,
        lower=lower,
        upper=upper,
        residuals=np.full(k, 2.0 * rounding + 2.0 * float(slack[0]) * largest),
        spectrum=spectrum,
        remaining_squares=remaining_squares(spectrum, k, smallest=request.smallest),
        proved=sharp and not undecided,
        undecided=undecided,
        rounding=rounding,
    )


def refine_leading(problem: Problem, gram: np.ndarray, leading: Leading, request: Request) -> Solution | None:
    """A second pass over only the k + 8 leading eigenvectors V of the computed Gram matrix G^ (Rayleigh-Ritz).

    With e >= ||G - G^||: Ritz values theta_i are those of `_refined`. The Ritz vectors V W^T have the residual V (L W^T
    - W^T Theta) + (G^ V - V L) W^T + (G - G^) V W^T. Its part outside V is that of the last two terms, at most r in
    norm, and G is at most s + e there, where s is the bound for G^. Then lambda_i(G) <= max(s + e, t_i), where t_i is
    the larger eigenvalue of [[theta_i, r], [r, s + e]] (`certificate`, and Weyl's inequality for the Schur complement):
    e enters squared. None if the gap between theta_k and s + e is too small.
    """
    assert request.k is not None
    width, k, values, kept = len(leading.values), request.k, leading.values, leading.vectors
    with one_blas_thread():
        found = _refined(problem, values, kept, leading.residual)
    theta, near = found.singular**2, found.absolute + found.relative * found.singular
    above = (found.singular + near) ** 2 + found.squared
    below = np.maximum(np.maximum(found.singular - near, 0.0) ** 2 - found.squared, 0.0)
    error = problem.gram_error() + leading.residual
    rotated = values[:, None] * found.rotation.T - found.rotation.T * theta
    residuals = np.sqrt(np.sum(rotated**2, axis=0)) + error
    beyond = max(leading.beyond, 0.0) + problem.gram_error()
    half = (above - beyond) / 2.0
    upper = beyond + half + np.hypot(half, error)
    if float(np.max(upper[:k] - above[:k])) > max(request.tolerance, 1e-14) * float(theta[k - 1]):
        return None
    with one_blas_thread():
        vectors = np.ascontiguousarray(kept @ found.rotation[:k].T)
    return Solution(
        solver="gram",
        values=theta[:k],
        vectors=from_numpy(vectors, problem.prototype),
        lower=below[: min(k + 1, width)],
        upper=upper[: min(k + 1, width)],
        residuals=residuals[:k],
        remaining_squares=squares_without(gram, values[:k], kept[:, :k]),
        proved=is_accurate(below[:k], upper[:k], float(theta[k - 1]), float(theta[0]), request.tolerance),
        rounding=float(np.max(2.0 * near * found.singular + near**2)) + found.squared,
    )


def _refined(problem: Problem, values: np.ndarray, vectors: np.ndarray, residual: float = 0.0) -> _Refined:
    """Singular values of B = X L^1/2 V^T, with X = B V L^-1/2 nearly orthonormal and H = X^T X well conditioned.

    Errors, all bounded for the numbers in use:
    - X^ = X + E: column j of E is at most 2 gamma(n) ||D||_F / l_j^1/2, half of it for D v and half for the mean r
      of D, whether r is subtracted from D or r^T v from D v: sqrt(W) ||r|| <= ||D||_F. So B is off by E L^1/2 V^T, of
      norm at most 2 sqrt(c) gamma(n) ||D||_F, for c columns. The error of r itself adds to G (`recentred_gram`).
    - H^ = X^T X + F, ||F|| <= e = gamma tr H + LAPACK's error for H: G is off by V L^1/2 F L^1/2 V^T, which lies
      between -e and e times V L V^T, and V L V^T is at most G + f, f the error of the first Gram matrix, the floor
      under its eigenvalues, and `residual`, that of pairs not computed by LAPACK. So values are off by e / 2,
      relatively, and their squares by e f. Negative eigenvalues of H^, which are set to zero, add their size to e: it
      is large where centring has cancelled every digit.
    - V^T V = I + O(h), h measured: another h, relatively. Then LAPACK's error for the last decomposition.
    """
    size, count, largest = vectors.shape[0], len(values), float(values[0])
    # The total is known even if the Gram matrix is only rounding errors.
    floor = 2.0 * UNIT * size * (largest if largest > 0.0 else problem.total)
    roots = np.sqrt(np.maximum(values, floor))
    right = vectors / roots
    middle, centring = problem.recentred_gram(from_numpy(np.ascontiguousarray(right), problem.prototype))
    middle = to_numpy(middle)
    middle = (middle + middle.T) / 2.0
    inner_values, turn = np.linalg.eigh(middle)
    half = np.sqrt(np.maximum(inner_values, 0.0))[:, None] * turn.T
    _, singular, rotation = singular_triplets(half * roots)
    first_error = problem.gram_error()
    # gamma of the additions in the first pass, at least, and of those in this one
    additions = max(first_error / max(problem.raw_trace(problem.total), 1e-300), problem.recentred_growth())
    # If centring has cancelled every digit, diagonal entries can be negative, but bounds must not be.
    trace = float(np.sum(np.abs(np.diagonal(middle))))
    spread = additions * trace + lapack_eigenvalue_error(count, float(np.abs(inner_values).max())) + UNIT * size
    spread += max(0.0, -float(inner_values.min(initial=0.0)))
    lost = float(np.linalg.norm(vectors.T @ vectors - np.eye(count))) + gamma(size)
    norm = float(np.sqrt(max(problem.raw_trace(problem.total), problem.total)))
    given = first_error + lapack_eigenvalue_error(size, abs(largest)) + floor + residual
    return _Refined(
        singular,
        rotation,
        relative=0.5 * spread + lost + problem.moments.scale_error,
        absolute=2.0 * np.sqrt(count) * gamma(size + 8) * norm + 2.0 * lapack_svd_error(count, float(singular[0])),
        squared=spread * (given + centring) + centring,
    )
