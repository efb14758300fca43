"""G = B^T B on the short side in one pass over the data, then its pairs: by LAPACK, or by `iterated` if G is large.

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

from dataclasses import replace

import numpy as np
from scipy import special

from eckart.arrays import Array, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.select import backend_of
from eckart.engine.backends.symmetric import SymmetricMatrix, by_all, leading_pairs, squares_without, worth_moving
from eckart.engine.backends.tall import mirrored
from eckart.engine.certificate import residual_bounds
from eckart.engine.choose import FAST_WORK, SMALL_WORK
from eckart.engine.digest import generator
from eckart.engine.direct import check_finite, solve_direct
from eckart.engine.iterated import Leading, iterated, product_in_tiles, worth_iterating
from eckart.engine.second_pass import refine, refine_leading
from eckart.engine.solution import Request, Solution, count_for, is_accurate, is_undecided, pick, remaining_squares
from eckart.engine.standardize.problem import Problem
from eckart.engine.standardize.rounding import gamma, lapack_eigenvalue_error
from eckart.engine.threads import one_blas_thread

_SAVING = 16
"""A float32 Gram matrix saves n/4 float64 multiplications per entry. The pass that measures its error takes two per
column, plus conversions. It pays if the data have this many times as many columns (measured).
"""
_RANDOM, _CLEAR = (8, 16), 4e-6
"""Columns of Z: few if the gap between the wanted values and those outside Q is clear, relative to the trace. With few,
eta is about a hundred times the error, which is 1e-9 to 3e-8 of the trace in float32; with many, ten times.
"""
_MEASURABLE, _LEAST_ERROR, _GAP = 1e-5, 4e-8, 0.5
"""Eigenvalue, relative to the trace, below which eta often exceeds the gap to the values outside Q. The smallest eta of
tables with strong components, relative to the trace. Its largest share of the gap for which a float64 pass pays.
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


def solve_gram(problem: Problem, request: Request, *, or_direct: bool = False) -> Solution:
    """The wanted pairs of G.

    With `or_direct`, if G is not accurate enough and B is small, decompose B instead of taking a second pass.
    """
    rows, size = problem.shape
    if problem.precision != "float64":
        if (measured := _solve_in_float32(problem, request)) is not None:
            return measured
        problem.sharpen()
    symmetric = SymmetricMatrix(_finite_gram(problem), problem.workbench)
    if (iterated := _solve_iterated(problem, symmetric, request)) is not None:
        return iterated
    solution = _solve(problem, symmetric, request)
    if problem.total <= 0.0 < problem.total_error():
        return replace(solution, proved=False)  # all that is known is that everything is within rounding
    if _good(solution, request) or problem.total <= 0.0:
        return solution
    if or_direct and rows * size * size <= SMALL_WORK:
        return solve_direct(problem, request)
    return _second_pass(problem, symmetric, request)


def _second_pass(problem: Problem, gram: SymmetricMatrix, request: Request) -> Solution:
    """The same from a second pass over the wanted vectors if these are few, otherwise over all of them."""
    refined = None
    if _partly(request, problem.shape[1]):
        assert request.k is not None
        refined = refine_leading(problem, gram.matrix, _by_lapack(gram, request.k + _EXTRA), request)
    return refine(problem, to_numpy(gram.matrix), request) if refined is None else refined


def _by_lapack(gram: SymmetricMatrix, width: int) -> Leading:
    with one_blas_thread():
        values, vectors = gram.leading(width + 1)
    rounding = lapack_eigenvalue_error(gram.matrix.shape[0], float(values[0]))
    kept = np.ascontiguousarray(vectors[:, :width])
    return Leading(values[:width], kept, max(float(values[width]), 0.0) + rounding, rounding)


def _saves_time_in_float32(problem: Problem, request: Request) -> bool:
    # Products of stored entries cost the same in float64.
    fast = problem.sparse or backend_of(problem.workbench).fast_float64
    return not fast and worth_measuring(problem.shape, request)


def worth_measuring(shape: tuple[int, int], request: Request) -> bool:
    """Whether a Gram matrix in float32 and the pass that measures its error cost less than one in float64."""
    rows, size = shape
    few = request.k is None or _SAVING * (request.k + _EXTRA + _RANDOM[1]) <= size
    iterates = request.k is not None and worth_iterating(size, request.k, _EXTRA, "float32")
    return few and (iterates or rows * size * size > FAST_WORK) and not request.smallest


def is_measurable(value: float, trace: float) -> bool:
    """Whether the error that is measured of a float32 Gram matrix probably leaves a gap after this value."""
    return value > _MEASURABLE * trace


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


# Iteration instead of LAPACK


def _iterates(problem: Problem, request: Request, size: int, precision: str) -> bool:
    """Whether the leading pairs of G are likely to take less time by iteration than by LAPACK or elsewhere."""
    if request.k is None or request.smallest or worth_moving("pairs", size, problem.workbench):
        return False
    return worth_iterating(size, request.k, _EXTRA, precision)


def _solve_iterated(problem: Problem, gram: SymmetricMatrix, request: Request) -> Solution | None:
    """The wanted pairs by iteration, with a second pass if the error of G is too large.

    None if LAPACK takes less time, or if the bounds are too wide.
    """
    size = gram.matrix.shape[0]
    if problem.total <= 0.0 or not _iterates(problem, request, size, "float64"):
        return None
    assert request.k is not None
    matrix = mirrored(to_numpy(gram.matrix))
    leading = iterated(matrix, request.k, _EXTRA, request.tolerance, "float64")
    if leading is None:
        return None
    with one_blas_thread():
        product, each = product_in_tiles(matrix, leading.vectors)
        found = residual_bounds(leading.vectors, product, leading.beyond, error=each)
    k, error = request.k, found.error + problem.gram_error()
    lower, upper = found.lower - problem.gram_error(), found.upper + problem.gram_error()
    if not is_accurate(lower[:k], upper[:k], float(found.values[k - 1]), 0.0, request.tolerance):
        rest = product - leading.vectors * leading.values
        residual = float(np.linalg.norm(rest)) + each * len(leading.values) ** 0.5
        last, gap = float(leading.values[k - 1]), float(leading.values[k - 1]) - leading.beyond - problem.gram_error()
        if not (residual + problem.gram_error()) ** 2 < request.tolerance * last * gap:
            return None
        refined = refine_leading(problem, matrix, replace(leading, residual=residual), request)
        return refined if refined is not None and refined.proved else None
    return Solution(
        solver="gram",
        values=np.maximum(found.values[:k], 0.0),
        vectors=from_numpy(np.ascontiguousarray(found.vectors[:, :k]), problem.prototype),
        lower=np.maximum(lower[: k + 1], 0.0),
        upper=upper[: k + 1],
        residuals=found.residuals[:k] + 2.0 * problem.gram_error(),
        remaining_squares=squares_without(matrix, found.values[:k], found.vectors[:, :k]),
        rounding=error,
        precision=problem.precision,
    )


# Products in float32, measured in float64


def _solve_measured(problem: Problem, gram: Array, request: Request) -> Solution | None:
    """Rayleigh-Ritz in float64 on the leading eigenvectors of a float32 Gram matrix.

    None if a float64 Gram matrix costs less, because many are wanted, or if the bounds are too wide.
    """
    size = gram.shape[0]
    approximate = mirrored(to_numpy(gram))
    leading = None
    if request.k is not None and _iterates(problem, request, size, "float32"):
        leading = iterated(approximate, request.k, _EXTRA, request.tolerance, "float32")
    if leading is None:
        leading = _by_lapack_for(problem, approximate, request)
    if leading is None:
        return None
    values, basis, width = leading.values, leading.vectors, len(leading.values)
    k = width - _EXTRA
    trace, gap = problem.raw_trace(problem.total), float(values[k - 1]) - leading.beyond
    if _LEAST_ERROR * trace > _GAP * gap:
        return None
    probability = 0.5 * request.failure_probability
    clear = gap > _CLEAR * trace
    count = _RANDOM[0] if clear else _RANDOM[1]
    random = generator(request.seed, problem.data, "gram").standard_normal((size, count))
    factor = from_numpy(np.concatenate([basis, random], axis=1), problem.prototype)
    precision = problem.precision
    product = to_numpy(problem.exact_product(factor))  # means of wide rows in float32 are not accurate enough
    each = problem.product_error() + gamma(size + 4) * float(values[0])
    with one_blas_thread():
        apart = product[:, width:] - approximate @ random
        lengths = np.sqrt(np.sum(random**2, axis=0))
        slip = (each + gamma(2 * size) * float(np.linalg.norm(approximate))) * float(np.linalg.norm(lengths))
        shortest = float(np.sqrt(2.0 * special.gammaincinv(count / 2, probability)))
        eta = (float(np.linalg.norm(apart, 2)) + slip) / shortest
        found = residual_bounds(basis, product[:, :width], leading.beyond + eta, error=each)
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
        remaining_squares=squares_without(approximate, values[:k], basis[:, :k]),
        failure_probability=probability,
        rounding=found.error,
        precision=precision,
    )


def _by_lapack_for(problem: Problem, approximate: np.ndarray, request: Request) -> Leading | None:
    """The k + 8 leading vectors by LAPACK; None if these are too many for a float64 pass to pay."""
    size, prototype = len(approximate), problem.workbench
    if request.k is None:
        values, vectors = leading_pairs(approximate, size, prototype=prototype)
        k = count_for(np.maximum(values, 0.0), problem.total, request)
    else:
        k = request.k
        values, vectors = leading_pairs(approximate, min(size, k + _EXTRA + 1), prototype=prototype)
    width = k + _EXTRA
    if 4 * (width + _RANDOM[1]) > size:
        return None
    with one_blas_thread():
        basis = np.linalg.qr(vectors[:, :width])[0]
    rounding = lapack_eigenvalue_error(size, float(values[0]))
    return Leading(values[:width], basis, max(float(values[width]), 0.0) + rounding, rounding)
