"""Kernel PCA of an approximated kernel K ~ F^T F by randomly pivoted Cholesky: the components of the columns of F.

The missing part, K - F^T F, is positive semi-definite and its trace is known, which bounds every eigenvalue and their
sum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from eckart.aliases import Keywords
from eckart.arrays import Array, device, dtype_name, from_numpy, is_numpy, is_sparse, namespace, to_numpy
from eckart.engine.backends.orthogonal import flip_signs
from eckart.engine.backends.select import backend_of
from eckart.engine.certify import summary_of
from eckart.engine.digest import array_generator
from eckart.engine.solution import Solution
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError
from eckart.formatting import percent
from eckart.kernel_pca.centered import off_mean
from eckart.kernel_pca.cholesky import Factor, FactorComponents, factor_components, pivoted_cholesky, take_columns
from eckart.kernel_pca.constants import LARGEST_SINGLE, MOST_RANK, SINGLE_FACTOR_ERROR, TRACE_SHARE
from eckart.kernel_pca.details import KernelPCADetails, kernel_details
from eckart.kernel_pca.factor_bounds import (
    FactorError,
    factor_error,
    read_kernel,
    residuals_of,
    ritz_bounds,
    whole_error,
)  # fmt: skip
from eckart.kernel_pca.kernel_functions import Kernel, chosen_rows, doubles
from eckart.kernel_pca.kernel_matrix import KernelMatrix
from eckart.kernel_pca.options import KernelSettings
from eckart.kernel_pca.positive_part import PositivePart
from eckart.kernel_pca.result import (
    as_info,
    assembled,
    certify,
    inverse_or_zero,
    moved,
    refuse_out_of_range,
)  # fmt: skip
from eckart.kernel_pca.rounding import kernel_error
from eckart.result import Certificate, Decomposition, Plan
from eckart.wording import assigned


def rank_limit(size: int, settings: KernelSettings) -> int:
    """Maximum rank of the approximation: as requested, or as much as fits in memory."""
    item = 4 if settings.approximation_error >= SINGLE_FACTOR_ERROR else 8
    fits = int(0.6 * settings.budget) // (item * size)
    return max(1, min(size, settings.max_rank or min(MOST_RANK, fits)))


def approximate(rows: object, kernel: Kernel, settings: KernelSettings, plan: Plan) -> Decomposition[KernelPCADetails]:
    """The components of F, and the bounds for K that follow.

    If the rounding of a float32 factor exceeds the requested error, the factor is computed in float64.
    """
    # With more threads BLAS sums in another order, and the last bits would depend on their number.
    with one_blas_thread():
        if settings.approximation_error >= SINGLE_FACTOR_ERROR and _in_single(rows, kernel):
            found = _approximate(rows, kernel, settings, plan, "float32")
            pivots = found.details.pivots
            if _accurate(found, settings) or (pivots is not None and len(pivots) >= rank_limit(found.rows, settings)):
                return found
        return _approximate(rows, kernel, settings, plan, "float64")


def _in_single(rows: Any, kernel: Kernel) -> bool:
    """Whether float32 represents the rows, the width and the values of the kernel."""
    largest = float(to_numpy(kernel.diagonal(rows)).max())
    numbers = rows.data if is_sparse(rows) else rows
    xp = namespace(numbers)
    size = float(xp.max(xp.abs(numbers))) if 0 not in numbers.shape else 0.0
    return all(
        number == 0.0 or 1.0 / LARGEST_SINGLE < number < LARGEST_SINGLE for number in (largest, size, kernel.gamma)
    )


def _accurate(found: Decomposition[KernelPCADetails], settings: KernelSettings) -> bool:
    return found.details.approximation_error <= settings.approximation_error


def _approximate(
    rows: object, kernel: Kernel, settings: KernelSettings, plan: Plan, precision: str
) -> Decomposition[KernelPCADetails]:
    matrix = KernelMatrix(kernel, rows, keep=False)
    refuse_out_of_range(matrix.diagonal, kernel.name)
    if precision == "float64":
        matrix.sharpen()
    made = pivoted_cholesky(
        matrix, error=TRACE_SHARE * settings.approximation_error, least=settings.k or 1,
        most=rank_limit(matrix.size, settings), rng=settings.random, precision=precision,
    )  # fmt: skip
    if not np.isfinite(made.error) or (made.trace > 0.0 and not len(made.pivots)):
        raise np.linalg.LinAlgError("rows of the kernel are not finite")
    _refuse_indefinite(made, matrix.diagonal)
    components = wanted_components(
        factor_components(made.factor, settings.k or len(made.pivots), backend_of(made.factor).cross_products),
        made,
        settings,
    )
    index = from_numpy(made.pivots, matrix.diagonal)
    block = matrix.block(index)
    triangle = triangle_of(block + 0.0)
    probes = array_generator(settings.probe_seed, rows, "kernel PCA by Cholesky")
    evidence, small, image = read_kernel(matrix, made, components, through(triangle, components)["dual"], probes)
    scores, turn = _ritz(image)
    turn = turn * flip_signs(scores)
    components, scores = (
        replace(components, directions=components.directions @ turn),
        scores * from_numpy(flip_signs(scores), scores),
    )
    coefficients = through(triangle, components)
    gram = to_numpy(scores.T @ scores)
    values = rounded(np.diagonal(gram), settings)
    rounding = kernel_error(kernel, rows, kernel.shift(rows))
    found = factor_error(
        evidence, small, to_numpy(block), to_numpy(doubles(take_columns(made.factor, index))), components.gram,
        made.error, made.trace, matrix.size, rounding,
    )  # fmt: skip
    if kernel.positive:
        dual = to_numpy(coefficients["dual"])
        lower = ritz_bounds(gram, to_numpy(block), dual, made.trace, matrix.size, rounding)
    else:
        # Only a pass over all of K shows how much of it is negative.
        found = found.indefinite(whole_error(matrix, made.factor, probes) + rounding, matrix.size)
        lower = np.maximum(components.values - found.excess, 0.0)
    vectors = scores * from_numpy(inverse_or_zero(np.sqrt(values)), scores)
    residuals = residuals_of(made.factor, components.mean, vectors, values) + found.apart
    details = kernel_details(
        kernel, chosen_rows(rows, made.pivots), **moved(coefficients, scores) | {"shift": kernel.shift(rows)},
        pivots=made.pivots, approximation_error=found.missing / made.trace if made.trace else 0.0,
    )  # fmt: skip
    solution = Solution(
        solver="cholesky", values=values, vectors=scores, lower=np.minimum(lower, components.values + found.excess),
        upper=components.values + found.excess, residuals=residuals, precision=precision,
        failure_probability=found.failure_probability,
    )  # fmt: skip
    certificate = certified(solution, found, components, made, settings, dtype_name(rows))
    info = as_info(solution, 1, settings, plan)
    return assembled(rows, values, vectors, found.total + made.error, plan, certificate, info, details, (), None)


def _ritz(image: Array) -> tuple[Array, np.ndarray]:
    """(centred columns, rotated to be orthogonal, the rotation), the longest first."""
    centred = off_mean(off_mean(image))
    values, turn = np.linalg.eigh(to_numpy(centred.T @ centred))
    turn = turn[:, np.argsort(-values, kind="stable")]
    return centred @ from_numpy(turn, centred), turn


def _refuse_indefinite(made: Factor, diagonal: Array) -> None:
    xp = namespace(diagonal)
    least, largest = min(float(xp.min(diagonal)), 0.0), float(xp.max(xp.abs(diagonal)))
    if made.lowest < -1e-3 * largest or least < 0:
        lowest = min(made.lowest, least)
        raise InputError(
            f"The kernel is not positive semi-definite: pivoted Cholesky found {lowest:.2g} on its "
            "diagonal. Use another kernel, other kernel parameters, or "
            f"{assigned('solver', 'lanczos')}."
        )


def wanted_components(components: FactorComponents, made: Factor, settings: KernelSettings) -> FactorComponents:
    """The requested number of components."""
    values = rounded(components.values, settings)
    count = len(values)
    if settings.target_ratio is not None:
        held = np.cumsum(values) / max(components.total + made.error, np.finfo(np.float64).tiny)
        count = min(count, int(np.searchsorted(held, settings.target_ratio)) + 1)
    elif settings.everything:
        count = int(np.sum(values > 0))
    return replace(components, values=components.values[:count], directions=components.directions[:, :count])


def rounded(values: np.ndarray, settings: KernelSettings) -> np.ndarray:
    """Eigenvalues with rounding set to zero."""
    level = max(settings.nothing, 1e-7) * values.max(initial=0.0)
    return np.where(values > level, values, 0.0)


def certified(
    solution: Solution,
    found: FactorError,
    components: FactorComponents,
    made: Factor,
    settings: KernelSettings,
    dtype: str,
) -> Certificate:
    """Bounds of shares of the positive part of H K H, for a given error of F."""
    total, k = found.total + made.error, len(solution.values)
    part = PositivePart(total, total - found.slack, total + found.slack + found.negative)
    certificate = certify(solution, part, settings, 1, settings.approximation_error, dtype)
    low, high = 0.0, float(total + found.missing > 0.0)

    def largest_sum(count: int) -> float:
        """Upper bound of the sum of the `count` largest eigenvalues of H K H."""
        return float(components.values[:count].sum()) + float(count**0.5) * found.grams + found.gain(count)

    if total > 0.0:
        low = min(1.0, float(solution.lower[solution.values > 0].sum()) / part.high)
        high = min(1.0, largest_sum(k) / part.low) if part.low > 0.0 else 1.0
    share = found.missing / made.trace if made.trace else 0.0
    decided = not (k and total) or _determines_k(settings.target_ratio, low, part, largest_sum(k - 1))
    sentence = summary_of(solution, low, high) if k else ""
    sentence += (
        f" The kernel is approximated with rank {len(made.pivots)}, which leaves out {percent(share, 3)} of its trace."
    )
    proved = decided and bool(share <= settings.approximation_error) and bool(np.isfinite(solution.upper).all())
    return replace(certificate, explained=(low, max(low, high)), summary=sentence, proved=proved)


def _determines_k(target: float | None, low: float, part: PositivePart, fewer: float) -> bool:
    """Whether k components surely explain the share `target`, and one fewer, with a sum of `fewer`, surely do not."""
    if target is None:
        return True
    return part.low > 0.0 and low >= target > fewer / part.low


def triangle_of(block: Array) -> Array:
    """L with L L^T = K[pivots, pivots], which rounding may have made slightly indefinite; overwrites `block`."""
    xp = namespace(block)
    more = 8 * float(np.finfo(np.float64).eps) * float(xp.linalg.trace(block)) or 1.0  # a kernel of zeros
    if is_numpy(block):
        block[np.diag_indices_from(block)] += more
        return np.linalg.cholesky(block)
    try:
        found = xp.linalg.cholesky(block + more * xp.eye(block.shape[0], dtype=block.dtype, device=device(block)))
    except RuntimeError as error:  # PyTorch's equivalent of NumPy's LinAlgError
        raise np.linalg.LinAlgError(str(error)) from error
    if not np.isfinite(float(found[-1, -1])):  # and CuPy's
        raise np.linalg.LinAlgError("the kernel of the pivots is not positive definite")
    return found


def _solved(upper: Array, right: Array) -> Array:
    """U^-1 B. Elimination finds nothing below the diagonal, so the array API's `solve` costs only time."""
    solvers = namespace(upper).linalg
    if hasattr(solvers, "solve_triangular"):  # PyTorch's
        return solvers.solve_triangular(upper, right, upper=True)
    return solvers.solve(upper, right)


def through(triangle: Array, components: FactorComponents) -> Keywords:
    """Coefficients on the pivots: the features of a point are L^-1 k(pivots, x)."""
    together = from_numpy(np.hstack([components.directions, components.mean[:, None]]), triangle)
    if is_numpy(triangle):
        weights = linalg.solve_triangular(triangle, together, lower=True, trans="T")
    else:
        weights = _solved(triangle.T, together)
    directions, mean = from_numpy(components.directions, triangle), from_numpy(components.mean, triangle)
    return {
        "support_scores": (triangle - mean) @ directions, "dual": weights[:, :-1], "base": weights[:, -1],
        "means": triangle @ mean, "grand": float(components.mean @ components.mean),
        "offset": components.mean @ components.directions,
    }  # fmt: skip
