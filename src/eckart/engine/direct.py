"""Small matrices: centre and scale the whole matrix, then call LAPACK. B = U S V^T."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eckart.arrays import from_numpy
from eckart.engine.solution import Request, Solution, count_for, is_accurate, is_undecided, pick, remaining_squares
from eckart.engine.standardize.problem import Problem
from eckart.engine.standardize.rounding import lapack_svd_error
from eckart.engine.threads import one_blas_thread


def solve_direct(problem: Problem, request: Request) -> Solution:
    """Compute all singular triplets and keep the wanted ones.

    LAPACK's triplets are exact for B^ + F, where B^ = B + E + u delta^T is the matrix in memory (`small`). Each value
    is therefore off by at most ||E|| + ||F||, and its square may be too large by W ||delta||^2. The Gram matrices of B
    and of B^ + F differ by 2 s_1 (||E|| + ||F||) to first order; the vectors are rounded as well.
    """
    found = problem.materialize()
    matrix = found.matrix
    check_finite(problem.total)
    with one_blas_thread():  # more threads would sum in another order
        left, values, right = singular_triplets(matrix)
    spectrum = values**2
    largest = float(values[0]) if len(values) else 0.0
    slack = lapack_svd_error(max(matrix.shape), largest) + found.entry_error
    rounding = 2.0 * slack * largest + slack**2 + found.mean_error
    k = count_for(spectrum, problem.total, request)
    undecided = is_undecided(
        request.target_ratio, spectrum[:k], spectrum[:k], problem.total, problem.total_error(), len(spectrum)
    )
    chosen = pick(spectrum, k, smallest=request.smallest)
    prototype = problem.prototype
    lower = np.maximum(np.maximum(values[chosen] - slack, 0.0) ** 2 - found.mean_error, 0.0)
    upper = (values[chosen] + slack) ** 2
    sharp = is_accurate(lower, upper, float(spectrum[chosen].min(initial=np.inf)), largest**2, request.tolerance)
    return Solution(
        solver="direct",
        values=spectrum[chosen],
        vectors=from_numpy(np.ascontiguousarray(right[chosen].T), prototype),
        long_vectors=from_numpy(np.ascontiguousarray(left[:, chosen]), prototype),
        lower=lower,
        upper=upper,
        residuals=np.full(k, 2.0 * rounding + 2.0 * slack * largest),
        spectrum=spectrum,
        remaining_squares=remaining_squares(spectrum, k, smallest=request.smallest),
        proved=sharp and not undecided,
        undecided=undecided,
        rounding=rounding,
    )


def check_finite(total: float) -> None:
    """Raise if an entry is infinite: LAPACK may loop forever on it."""
    if not np.isfinite(total):
        raise np.linalg.LinAlgError("the sum of squares is not finite")


def singular_triplets(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, s, V^T by divide and conquer, or by QR iteration if that does not converge."""
    try:
        left, values, right = linalg.svd(matrix, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        left, values, right = linalg.svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return left, values, right
