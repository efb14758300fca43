"""Kernel PCA of an approximated kernel: K ~ F^T F by randomly pivoted Cholesky, components those of the columns of F.

What is missing, K - F^T F, is positive semi-definite and its trace is known: it bounds every eigenvalue and their sum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from eckart.arrays import Array, device, from_numpy, is_numpy, namespace
from eckart.engine.backends.orthogonal import flip_signs
from eckart.engine.certify import word
from eckart.engine.rows import cross_products
from eckart.engine.solution import Solution
from eckart.errors import InputError
from eckart.kernel_pca.cholesky import Factor, FactorAxes, factor_axes, factor_scores, pivoted_cholesky
from eckart.kernel_pca.kernel_functions import Kernel, chosen_rows
from eckart.kernel_pca.kernel_matrix import KernelMatrix
from eckart.kernel_pca.options import KernelSettings
from eckart.kernel_pca.result import (
    as_info,
    assembled,
    certify,
    inverse_or_zero,
    moved,
    named_parts,
    refuse_overflow,
)  # fmt: skip
from eckart.result import Certificate, Decomposition, Plan

MOST_RANK = 4000


def rank_limit(size: int, settings: KernelSettings) -> int:
    """Rows that the approximation may take: as asked, or as many as the memory holds."""
    item = 4 if settings.approximation_error >= 1e-3 else 8
    fits = int(0.6 * settings.budget) // (item * size)
    return max(1, min(size, settings.max_rank or min(MOST_RANK, fits)))


def approximate(rows: Any, kernel: Kernel, settings: KernelSettings, plan: Plan) -> Decomposition:
    """The components of F, and what they prove of K."""
    matrix = KernelMatrix(kernel, rows, keep=False)
    refuse_overflow(matrix.diagonal)
    precision = "float32" if settings.approximation_error >= 1e-3 else "float64"
    if precision == "float64":
        matrix.sharpen()
    made = pivoted_cholesky(
        matrix, error=settings.approximation_error, least=settings.k or 1, most=rank_limit(matrix.size, settings),
        rng=settings.random, precision=precision,
    )  # fmt: skip
    _refuse_indefinite(made, matrix.diagonal)
    axes = wanted_axes(factor_axes(made.factor, settings.k or len(made.pivots), cross_products), made, settings)
    scores = factor_scores(made.factor, axes)
    signs = flip_signs(scores)
    axes, scores = replace(axes, directions=axes.directions * signs), scores * from_numpy(signs, scores)
    missing = made.error / made.trace if made.trace else 0.0
    triangle = triangle_of(matrix.block(from_numpy(made.pivots, scores)))
    parts = {
        **named_parts(kernel, chosen_rows(rows, made.pivots)), **moved(through(triangle, axes), scores),
        "shift": kernel.shift(rows), "pivots": made.pivots, "approximation_error": missing,
    }  # fmt: skip
    values, total = axes.values, axes.total + made.error
    lower = np.maximum(values - 1e-6 * float(values.max(initial=0.0)), 0.0)
    solution = Solution(
        solver="cholesky", values=values, vectors=scores, lower=lower, upper=values + made.error,
        residuals=np.full(len(values), made.error), precision=precision,
    )  # fmt: skip
    certificate = certified(solution, made, total, settings)
    vectors = scores * from_numpy(inverse_or_zero(np.sqrt(values)), scores)
    info = as_info(solution, 1, settings, plan)
    return assembled(rows, values, vectors, total, plan, certificate, info, parts, (), None)


def _refuse_indefinite(made: Factor, diagonal: Array) -> None:
    xp = namespace(diagonal)
    least, largest = min(float(xp.min(diagonal)), 0.0), float(xp.max(xp.abs(diagonal)))
    if made.lowest < -1e-3 * largest or least < 0:
        lowest = min(made.lowest, least)
        raise InputError(
            f"The kernel is not positive semi-definite: pivoted Cholesky met {lowest:.2g} on its diagonal. "
            "Choose another kernel or other parameters, or solver='lanczos'."
        )


def wanted_axes(axes: FactorAxes, made: Factor, settings: KernelSettings) -> FactorAxes:
    """As many as asked for; what is rounding is zero."""
    values = np.where(axes.values > max(settings.nothing, 1e-7) * axes.values.max(initial=0.0), axes.values, 0.0)
    count = len(values)
    if settings.share is not None:
        held = np.cumsum(values) / max(axes.total + made.error, np.finfo(np.float64).tiny)
        count = min(count, int(np.searchsorted(held, settings.share)) + 1)
    elif settings.everything:
        count = int(np.sum(values > 0))
    return replace(axes, values=values[:count], directions=axes.directions[:, :count])


def certified(solution: Solution, made: Factor, total: float, settings: KernelSettings) -> Certificate:
    certificate = certify(solution, total, settings, 1, settings.approximation_error)
    held = float(solution.values.sum())
    # K - F^T F is positive semi-definite: all eigenvalues together gain no more than its trace.
    low = min(1.0, held * (1.0 - 1e-6) / total) if total > 0 else 0.0
    high = min(1.0, (held * (1.0 + 1e-6) + made.error) / total) if total > 0 else 0.0
    share = made.error / made.trace if made.trace else 0.0
    sentence = word(solution, low, high) if len(solution.values) else ""
    sentence += f" The kernel is approximated at rank {len(made.pivots)}, {share:.3%} of it missing."
    proved = bool(share <= settings.approximation_error)
    return replace(certificate, explained=(low, high), word=sentence, proved=proved)


def triangle_of(block: Array) -> Array:
    """L with L L^T = K[pivots, pivots], which rounding may have left a little indefinite."""
    xp = namespace(block)
    more = 8 * float(np.finfo(np.float64).eps) * float(xp.linalg.trace(block))
    if is_numpy(block):
        block[np.diag_indices_from(block)] += more
        return np.linalg.cholesky(block)
    try:
        found = xp.linalg.cholesky(block + more * xp.eye(block.shape[0], dtype=block.dtype, device=device(block)))
    except RuntimeError as error:  # PyTorch's word for what NumPy calls LinAlgError
        raise np.linalg.LinAlgError(str(error)) from error
    if not np.isfinite(float(found[-1, -1])):  # and CuPy's
        raise np.linalg.LinAlgError("the kernel of the pivots is not positive definite")
    return found


def _solved(upper: Array, right: Array) -> Array:
    """U^-1 B. Elimination finds nothing below the diagonal, so the array API's `solve` loses nothing but time."""
    solvers = namespace(upper).linalg
    if hasattr(solvers, "solve_triangular"):  # PyTorch's
        return solvers.solve_triangular(upper, right, upper=True)
    return solvers.solve(upper, right)


def through(triangle: Array, axes: FactorAxes) -> dict[str, Any]:
    """Coefficients on the pivots: features of a point are L^-1 k(pivots, x)."""
    together = from_numpy(np.hstack([axes.directions, axes.mean[:, None]]), triangle)
    if is_numpy(triangle):
        weights = linalg.solve_triangular(triangle, together, lower=True, trans="T")
    else:
        weights = _solved(triangle.T, together)
    directions, mean = from_numpy(axes.directions, triangle), from_numpy(axes.mean, triangle)
    return {
        "support_scores": (triangle - mean) @ directions, "dual": weights[:, :-1], "base": weights[:, -1],
        "means": triangle @ mean, "grand": float(axes.mean @ axes.mean), "offset": axes.mean @ axes.directions,
    }  # fmt: skip
