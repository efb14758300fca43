"""Exact: G = B^T B on the short side in one read, shifted and added up in float64; then LAPACK.

An eigenvalue l of G carries an error of about u l_1, so a singular value s one of u (s_1 / s)^2 / 2, relatively. Where
that is too much, a second read mends it: with G = V L V^T, the matrix B V L^-1/2 is nearly orthonormal, its Gram matrix
H is well conditioned, and B = (B V L^-1/2) L^1/2 V^T has the singular values of H^1/2 L^1/2 V^T.
"""

from __future__ import annotations

import itertools

import numpy as np

from eckart.arrays import Array, astype, fast_float64, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends.symmetric import ONE_THREAD, leading_pairs
from eckart.engine.direct import check_finite, singular_triplets
from eckart.engine.parallel import together
from eckart.engine.solution import Request, Solution, count_for, pick
from eckart.engine.standardize.standardized import Standardized
from eckart.engine.threads import one_blas_thread

_UNIT = float(np.finfo(np.float64).eps)
_FAST_WORK = 4e9
"""Below this many multiplications a float64 Gram matrix costs nothing worth saving."""
_SAMPLED = 16
"""Columns of a block on which the error of float32 products is measured."""


def solve_gram(problem: Standardized, request: Request, *, full: bool = False) -> Solution:
    """The wanted pairs of G. `full` asks for the accuracy of a singular value decomposition of B itself."""
    rows, size = problem.shape
    # Products of stored entries cost the same in float64, and no dense block of them could be measured.
    cheap = rows * size * size <= _FAST_WORK or problem.sparse or fast_float64(problem.workbench)
    if problem.precision != "float64" and (full or cheap):
        problem.sharpen()
    gram = problem.first(gram=True)
    check_finite(float(namespace(gram).sum(gram)))
    solution = _solve(problem, gram, request)
    if problem.precision != "float64" and not _good(solution, request):
        problem.sharpen()
        gram = problem.first(gram=True)
        solution = _solve(problem, gram, request)
    if not _good(solution, request) and problem.total > 0.0:
        return refine(problem, to_numpy(gram), request)
    return solution


def _solve(problem: Standardized, gram: Array, request: Request) -> Solution:
    size = gram.shape[0]
    whole = request.k is None or 4 * request.k >= size or size <= 128
    count = size if whole else min(size, request.k + 1)  # type: ignore[operator]
    smallest = request.smallest and not whole
    # Two threads' work where BLAS would not use a second one.
    (values, vectors), error = together(
        lambda: leading_pairs(gram, count, smallest=smallest, like=problem.workbench),
        lambda: _rounding(problem, gram),
        workers=None if size <= ONE_THREAD and is_host(problem.workbench) else 1,
    )
    values = np.maximum(values, 0.0)
    k = count_for(values, problem.total, request)
    chosen = pick(values, k, smallest=request.smallest) if whole else np.arange(k)
    beyond = np.arange(min(k + 1, len(values))) if not request.smallest else chosen
    return Solution(
        solver="gram",
        values=values[chosen],
        vectors=from_numpy(np.ascontiguousarray(vectors[:, chosen]), problem.like),
        lower=np.maximum(values[beyond] - error, 0.0),
        upper=values[beyond] + error,
        residuals=np.full(k, error),
        spectrum=values if whole else None,
        rounding=error,
        precision=problem.precision,
    )


def _good(solution: Solution, request: Request) -> bool:
    """Whether the error of one eigenvalue is small beside the least of the wanted ones."""
    least = float(solution.values.min(initial=np.inf))
    return solution.rounding <= max(request.tolerance, 1e-14) * least


def _rounding(problem: Standardized, gram: Array) -> float:
    """Bound of ||G - B^T B||: a few units of float64; for products in float32, measured on one block."""
    raw = problem.raw_trace(float(namespace(gram).linalg.trace(gram)))
    error = problem.sum_error(raw)
    if problem.precision != "float64":
        error += _measured(problem) * raw
    return error


def _measured(problem: Standardized) -> float:
    """Error of the float32 Gram matrix relative to its trace, from the difference to float64 on two blocks.

    Errors of N blocks that have nothing in common add up to sqrt(N) times one; what they have in common, to N times.
    """
    blocks, count = problem.sample_blocks()
    differences = []
    with one_blas_thread():
        for block in blocks:
            columns = block[:, :: max(1, block.shape[1] // _SAMPLED)]
            xp = namespace(block)
            exact = to_numpy(astype(block, xp.float64).T @ astype(columns, xp.float64))
            difference = to_numpy(block.T @ columns) - exact
            trace = float(xp.sum(block * block))
            part = columns.shape[1] / block.shape[1]
            differences.append(difference.ravel() / max(trace * part**0.5, 1e-300))
    own = max(float(d @ d) for d in differences)
    common = max((abs(float(a @ b)) for a, b in itertools.combinations(differences, 2)), default=own)
    return 2.0 * float(np.sqrt(own / count + common))


def refine(problem: Standardized, gram: np.ndarray, request: Request) -> Solution:
    """A second read gives all singular values to a few units of rounding times the largest."""
    values, vectors = leading_pairs(gram, gram.shape[0])
    largest = float(values[0])
    roots = np.sqrt(np.maximum(values, _UNIT * gram.shape[0] * largest))
    right = vectors / roots
    operator, centring = problem.recentred()
    middle = to_numpy(operator.gram(from_numpy(np.ascontiguousarray(right), problem.like)))
    inner, rotation = np.linalg.eigh((middle + middle.T) / 2.0)
    half = np.sqrt(np.maximum(inner, 0.0))[:, None] * rotation.T
    _, singular, turn = singular_triplets(half * roots)
    spectrum = singular**2
    k = count_for(spectrum, problem.total, request)
    chosen = pick(spectrum, k, smallest=request.smallest)
    slack = 16 * _UNIT * gram.shape[0] ** 0.5 * float(singular[0])
    basis: Array = from_numpy(np.ascontiguousarray(vectors @ turn[chosen].T), problem.like)
    return Solution(
        solver="gram",
        values=spectrum[chosen],
        vectors=basis,
        lower=np.maximum(np.maximum(singular[chosen] - slack, 0.0) ** 2 - centring, 0.0),
        upper=(singular[chosen] + slack) ** 2 + centring,
        residuals=np.full(k, slack * float(singular[0]) + centring),
        spectrum=spectrum,
        rounding=2 * slack * float(singular[0]) + centring,
    )
