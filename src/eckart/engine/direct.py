"""Small matrices: centre them exactly and let LAPACK do the rest. B = U S V^T."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eckart.arrays import from_numpy
from eckart.engine.solution import Request, Solution, count_for, pick
from eckart.engine.standardize.standardized import Standardized

_UNIT = float(np.finfo(np.float64).eps)


def solve_direct(problem: Standardized, request: Request) -> Solution:
    """All singular triplets, the wanted ones kept. Errors are a few units of rounding times the largest value."""
    matrix = problem.materialize()
    check_finite(problem.total)
    left, values, right = singular_triplets(matrix)
    spectrum = values**2
    k = count_for(spectrum, problem.total, request)
    chosen = pick(spectrum, k, smallest=request.smallest)
    largest = float(values[0]) if len(values) else 0.0
    slack = 4 * _UNIT * max(matrix.shape) ** 0.5 * largest
    like = problem.like
    return Solution(
        solver="direct",
        values=spectrum[chosen],
        vectors=from_numpy(np.ascontiguousarray(right[chosen].T), like),
        long_vectors=from_numpy(np.ascontiguousarray(left[:, chosen]), like),
        lower=np.maximum(values[chosen] - slack, 0.0) ** 2,
        upper=(values[chosen] + slack) ** 2,
        residuals=np.full(k, slack * largest),
        spectrum=spectrum,
        rounding=2 * slack * largest,
    )


def check_finite(total: float) -> None:
    """LAPACK may loop for ever on infinity: stop before it."""
    if not np.isfinite(total):
        raise np.linalg.LinAlgError("the sum of squares is not finite")


def singular_triplets(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, s, V^T by divide and conquer; by QR iteration where that fails to converge."""
    try:
        left, values, right = linalg.svd(matrix, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        left, values, right = linalg.svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return left, values, right
