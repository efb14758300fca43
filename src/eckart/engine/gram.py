"""G = B^T B on the short side in one pass over the data, then LAPACK.

In float64, ||G^ - G|| <= `problem.gram_error()` for any data. An eigenvalue l of G has that error, so a singular value
s has it divided by 2 s. If that is too much, `refine` takes a second pass.

Large float32 data are multiplied in float32 first. The error of these products is measured, not modelled, in one
float64 pass with the leading eigenvectors Q of G^ and random columns Z. Z is drawn after G^ is known, from a seed that
depends on every number of the data:

    eta = ||(G - G^) Z||_2 / c >= ||G - G^||_2 with probability 1 - p, c^2 the p-quantile of chi-square (one degree of
    freedom for each column of Z): with the leading triplet (s, x, y) of G - G^, ||(G - G^) Z|| >= s ||y^T Z||, and
    y^T Z is standard normal.

Outside Q, G^ is at most l_{q+1}, hence G at most l_{q+1} + eta. `certificate.residual_bounds` turns this and the
float64 residual of Q into bounds of the wanted values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from eckart.arrays import Array, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.select import backend_of
from eckart.engine.backends.symmetric import SymmetricMatrix, by_all, leading_pairs, squares_without
from eckart.engine.certificate import residual_bounds
from eckart.engine.choose import FAST_WORK, SMALL_WORK
from eckart.engine.digest import generator
from eckart.engine.direct import check_finite, singular_triplets, solve_direct
from eckart.engine.solution import Request, Solution, count_for, is_accurate, is_undecided, pick, remaining_squares
from eckart.engine.standardize.problem import Problem
from eckart.engine.standardize.rounding import UNIT, gamma, lapack_eigenvalue_error, lapack_svd_error
from eckart.engine.threads import one_blas_thread

_SAVING = 16
"""A float32 Gram matrix saves n/4 float64 multiplications per entry. The pass that measures its error takes two per
column, plus conversions. It pays if the data have this many times as many columns (measured).
"""
_RANDOM, _CLEAR = (8, 16), 4e-6
"""Columns of Z: few if the gap between the wanted values and those outside Q is clear, relative to the trace. With few,
eta is about a hundred times the error, which is 1e-9 to 3e-8 of the trace in float32; with many, ten times.
"""
_LARGE, _STRICT = 400, 1e-7
"""Columns and tolerance for which the pairs of a second pass are computed in advance, because it is often needed."""
_EXTRA = 8
"""Number of eigenvectors after the k-th in Q: the gap to the rest of the spectrum determines the bounds."""


def _solve_in_float32(problem: Problem, request: Request) -> Solution | None:
    """The wanted pairs of G from products in float32; None if that saves no time or is not accurate enough."""
    if not _saves_time_in_float32(problem, request):
        return None
    return _solve_measured(problem, _finite_gram(problem), request)


def _finite_gram(problem: Problem) -> Array:
    gram = problem.first(gram=True)
    assert gram is not None
    check_finite(float(np.add.reduce(gram, axis=None) if is_numpy(gram) else namespace(gram).sum(gram)))
    return gram


def solve_gram(problem: Problem, request: Request, *, full: bool = False, or_direct: bool = False) -> Solution:
    """The wanted pairs of G. `full` requests the accuracy of a singular value decomposition of B itself.

    With `or_direct`, if G is not accurate enough and B is small, decompose B instead of taking a second pass.
    """
    rows, size = problem.shape
    if problem.precision != "float64":
        if not full and (measured := _solve_in_float32(problem, request)) is not None:
            return measured
        problem.sharpen()
    symmetric = SymmetricMatrix(_finite_gram(problem), problem.workbench)
    solution = _solve(problem, symmetric, request)
    if problem.total <= 0.0 < problem.total_error():
        return replace(solution, proved=False)  # all that is known is that everything is within rounding
    if _good(solution, request) or problem.total <= 0.0:
        return solution
    if or_direct and rows * size * size <= SMALL_WORK:
        return solve_direct(problem, request)
    return _second_pass(problem, symmetric, request, full=full)


def _second_pass(problem: Problem, gram: SymmetricMatrix, request: Request, *, full: bool) -> Solution:
    """The same from a second pass over the wanted vectors if these are few, otherwise over all of them."""
    partly = not full and _partly(request, problem.shape[1])
    leading = refine_leading(problem, gram, request) if partly else None
    return refine(problem, to_numpy(gram.matrix), request) if leading is None else leading


def _saves_time_in_float32(problem: Problem, request: Request) -> bool:
    # Products of stored entries cost the same in float64.
    fast = problem.sparse or backend_of(problem.workbench).fast_float64
    return not fast and worth_measuring(problem.shape, request)


def worth_measuring(shape: tuple[int, int], request: Request) -> bool:
    """Whether a Gram matrix in float32 and the pass that measures its error cost less than one in float64."""
    rows, size = shape
    few = request.k is None or _SAVING * (request.k + _EXTRA + _RANDOM[1]) <= size
    return few and rows * size * size > FAST_WORK and not request.smallest


def _solve(problem: Problem, gram: SymmetricMatrix, request: Request) -> Solution:
    size = gram.matrix.shape[0]
    count = _pairs_to_compute(problem, request, size)
    whole = count == size
    smallest = request.smallest and not whole
    values, vectors = gram.leading(count, smallest=smallest)
    # The values are sorted, so the first or the last has the largest modulus.
    norm = problem.total if smallest else max(abs(float(values[0])), abs(float(values[-1])))
    error = problem.gram_error() + lapack_eigenvalue_error(size, norm)
    values = np.maximum(values, 0.0)
    k = count_for(values, problem.total, request)
    undecided = is_undecided(
        request.target_ratio, values[:k] - error, values[:k] + error, problem.total, problem.total_error(), size
    )
    chosen = pick(values, k, smallest=request.smallest) if whole and request.smallest else slice(0, k)
    beyond = chosen if request.smallest else slice(0, k + 1)
    return Solution(
        solver="gram",
        values=values[chosen],
        vectors=from_numpy(np.ascontiguousarray(vectors[:, chosen]), problem.prototype),
        lower=np.maximum(values[beyond] - error, 0.0),
        upper=values[beyond] + error,
        residuals=np.zeros(k) + 2.0 * error,
        spectrum=values if whole else None,
        remaining_squares=remaining_squares(values, k, smallest=request.smallest)
        if whole
        else squares_without(gram.matrix, values[chosen], vectors[:, chosen]),
        spectrum_error=error,
        proved=not undecided,
        undecided=undecided,
        rounding=error,
        precision=problem.precision,
    )


def _pairs_to_compute(problem: Problem, request: Request, size: int) -> int:
    """How many eigenpairs of the Gram matrix LAPACK computes: all of them, or the leading ones and one more."""
    count = size if request.k is None else min(size, request.k + 1)
    if 4 * count >= size or by_all(size, count, problem.workbench):
        return size
    if size >= _LARGE and _partly(request, size) and request.tolerance <= _STRICT:
        return count + _EXTRA  # `refine_leading` needs these too, and computing all pairs again costs more
    return count


def _good(solution: Solution, request: Request) -> bool:
    """Whether the error of one eigenvalue is small relative to the smallest requested one and does not affect k."""
    return solution.proved and solution.rounding <= max(request.tolerance, 1e-14) * solution.least


def _partly(request: Request, size: int) -> bool:
    """Whether a second pass over the leading vectors is much cheaper than one over all."""
    return request.k is not None and 3 * (request.k + _EXTRA) <= size and not request.smallest


# Products in float32, measured in float64


def _solve_measured(problem: Problem, gram: Array, request: Request) -> Solution | None:
    """Rayleigh-Ritz in float64 on the leading eigenvectors of a float32 Gram matrix.

    None if a float64 Gram matrix costs less, because many are wanted, or if the bounds are too wide.
    """
    size = gram.shape[0]
    approximate = to_numpy(gram)
    approximate = (approximate + approximate.T) / 2.0
    if request.k is None:
        values, vectors = leading_pairs(approximate, size, prototype=problem.workbench)
        k = count_for(np.maximum(values, 0.0), problem.total, request)
    else:
        k = request.k
        values, vectors = leading_pairs(approximate, min(size, k + _EXTRA + 1), prototype=problem.workbench)
    width = k + _EXTRA
    if 4 * (width + _RANDOM[1]) > size:
        return None
    with one_blas_thread():
        basis = np.linalg.qr(vectors[:, :width])[0]
    probability = 0.5 * request.failure_probability
    clear = float(values[k - 1] - values[width]) > _CLEAR * problem.raw_trace(problem.total)
    count = _RANDOM[0] if clear else _RANDOM[1]
    random = generator(request.seed, problem.data, "gram").standard_normal((size, count))
    factor = from_numpy(np.concatenate([basis, random], axis=1), problem.prototype)
    product = to_numpy(problem.exact().normal(factor))
    each = problem.product_error() + gamma(size + 4) * float(values[0])
    with one_blas_thread():
        apart = product[:, width:] - approximate @ random
        lengths = np.sqrt(np.sum(random**2, axis=0))
        slip = (each + gamma(2 * size) * float(np.linalg.norm(approximate))) * float(np.linalg.norm(lengths))
        shortest = float(np.sqrt(2.0 * special.gammaincinv(count / 2, probability)))
        eta = (float(np.linalg.norm(apart, 2)) + slip) / shortest
    outside = max(float(values[width]), 0.0) + eta + lapack_eigenvalue_error(size, float(values[0]))
    with one_blas_thread():
        found = residual_bounds(basis, product[:, :width], outside, error=each)
    if request.k is None:
        k = min(count_for(found.values, problem.total, request), width)
        if is_undecided(
            request.target_ratio, found.lower[:k], found.upper[:k], problem.total, problem.total_error(), size
        ):
            return None
    if np.max(found.upper[:k] - found.lower[:k], initial=0.0) > max(request.tolerance, 1e-14) * found.values[k - 1]:
        return None
    return Solution(
        solver="gram",
        values=np.maximum(found.values[:k], 0.0),
        vectors=from_numpy(np.ascontiguousarray(found.vectors[:, :k]), problem.prototype),
        lower=np.maximum(found.lower[: k + 1], 0.0),
        upper=found.upper[: k + 1],
        residuals=found.residuals[:k],
        remaining_squares=squares_without(approximate, values[:k], vectors[:, :k]),
        failure_probability=probability,
        rounding=found.error,
        precision=problem.precision,
    )


# A second pass


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


def refine_leading(problem: Problem, gram: SymmetricMatrix, request: Request) -> Solution | None:
    """A second pass over only the k + 8 leading eigenvectors V of the computed Gram matrix G^ (Rayleigh-Ritz).

    With e >= ||G - G^||: Ritz values theta_i are those of `_refined`. The Ritz vectors V W^T have the residual V (L W^T
    - W^T Theta) + (G - G^) V W^T + rounding, at most r in norm, and G is at most s = l_{k+9} + e outside V. Then
    lambda_i(G) <= max(s, t_i), where t_i is the larger eigenvalue of [[theta_i, r], [r, s]]: e enters squared. None if
    the gap between theta_k and s is too small.
    """
    assert request.k is not None
    width, size = request.k + _EXTRA, gram.matrix.shape[0]
    with one_blas_thread():
        values, vectors = gram.leading(width + 1)
        kept = np.ascontiguousarray(vectors[:, :width])
        found = _refined(problem, values[:width], kept)
    theta, near = found.singular**2, found.absolute + found.relative * found.singular
    above = (found.singular + near) ** 2 + found.squared
    below = np.maximum(np.maximum(found.singular - near, 0.0) ** 2 - found.squared, 0.0)
    rounding = lapack_eigenvalue_error(size, float(values[0]))
    error = problem.gram_error() + rounding
    rotated = values[:width, None] * found.rotation.T - found.rotation.T * theta
    residuals = np.sqrt(np.sum(rotated**2, axis=0)) + error
    largest, beyond = float(np.linalg.norm(rotated)) + error, max(float(values[width]), 0.0) + error
    half = (above - beyond) / 2.0
    upper = np.maximum(beyond, beyond + half + np.sqrt(half**2 + largest**2))
    k = request.k
    if float(np.max(upper[:k] - above[:k])) > max(request.tolerance, 1e-14) * float(theta[k - 1]):
        return None
    return Solution(
        solver="gram",
        values=theta[:k],
        vectors=from_numpy(np.ascontiguousarray(kept @ found.rotation[:k].T), problem.prototype),
        lower=below[: k + 1],
        upper=upper[: k + 1],
        residuals=residuals[:k],
        remaining_squares=squares_without(gram.matrix, values[:k], kept[:, :k]),
        proved=is_accurate(below[:k], upper[:k], float(theta[k - 1]), float(theta[0]), request.tolerance),
        rounding=float(np.max(2.0 * near * found.singular + near**2)) + found.squared,
    )


def _refined(problem: Problem, values: np.ndarray, vectors: np.ndarray) -> _Refined:
    """Singular values of B = X L^1/2 V^T, with X = B V L^-1/2 nearly orthonormal and H = X^T X well conditioned.

    Errors, all bounded for the numbers in use:
    - X^ = X + E: column j of E is at most 2 gamma(n) ||D||_F / l_j^1/2, half of it for D v and half for the mean r
      of D, whether r is subtracted from D or r^T v from D v: sqrt(W) ||r|| <= ||D||_F. So B is off by E L^1/2 V^T, of
      norm at most 2 sqrt(c) gamma(n) ||D||_F, for c columns.
    - H^ = X^T X + F, ||F|| <= e = gamma tr H + LAPACK's error for H: G is off by V L^1/2 F L^1/2 V^T, which lies
      between -e and e times V L V^T, and V L V^T is at most G + f, f the error of the first Gram matrix and the floor
      under its eigenvalues. So values are off by e / 2, relatively, and their squares by e f. Negative eigenvalues of
      H^, which are set to zero, add their size to e: it is large where centring has cancelled every digit.
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
    return _Refined(
        singular,
        rotation,
        relative=0.5 * spread + lost + problem.moments.scale_error,
        absolute=2.0 * np.sqrt(count) * gamma(size + 8) * norm + 2.0 * lapack_svd_error(count, float(singular[0])),
        squared=spread * (first_error + floor + centring) + centring,
    )
