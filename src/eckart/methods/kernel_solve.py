"""From a kernel to its components: which solver and why, eigenpairs of the centred kernel, certificate, parts."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from eckart.assembly import angle_bound, explained, numerical_rank, ties, word
from eckart.decomposition import Certificate, Decomposition, Plan, SolveInfo
from eckart.errors import AccuracyWarning, InputError, MemoryBudgetError
from eckart.methods.kernel_settings import MEMORY, KernelSettings
from eckart.operators.kernel import Kernel
from eckart.operators.kernel_matrix import KernelMatrix
from eckart.operators.open_matrix import Opened
from eckart.solvers.centred import Centred, solve_few, solve_whole
from eckart.solvers.cholesky import factor_axes, factor_scores, pivoted_cholesky
from eckart.solvers.choose import block_width
from eckart.solvers.orthogonal import flip_signs
from eckart.solvers.solution import Request, Solution
from eckart.threads import threads

_SMALL = {True: 512, False: 2048}
"""Up to this size all eigenvalues are computed: larger for kernels that may have negative ones."""
_WORK = 5e11
"""Operations beyond which tiles are not made again at every read."""
_READS = 12
_TOLERANCE = {"float32": 1e-7, "float64": 1e-9}
_DOUBLE = 4000
"""Up to this size tiles in float64 cost little."""
_MOST_RANK = 4000


def solve(opened: Opened, rows: Any, kernel: Kernel, settings: KernelSettings) -> Decomposition:
    """The components of a kernel that is no plain product of rows."""
    rows, notes = _symmetric(rows) if kernel.name == "precomputed" else (rows, ())
    settings = replace(settings, precision="float32" if rows.dtype == np.float32 else "float64")
    plan = choose(rows.shape, kernel, settings)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            if plan.solver == "cholesky":
                result = _approximated(rows, kernel, settings, plan)
            else:
                result = _exact(rows, kernel, settings, plan)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"Overflow in kernel {kernel.name!r}: its values are beyond the range of float64, although the data are "
            "not. Scale the data down, or choose a smaller degree or gamma."
        ) from error
    return replace(
        result, row_names=opened.about.row_names, column_names=opened.about.column_names,
        notes=(*opened.about.notes, *notes, *result.notes),
    )  # fmt: skip


def choose(shape: tuple[int, int], kernel: Kernel, settings: KernelSettings) -> Plan:
    """direct for small data or many components; Lanczos on tiles, kept or made again; Cholesky beyond that."""
    size, columns = shape
    k = size if settings.everything else settings.k
    budget = settings.memory or MEMORY
    given = kernel.name in ("precomputed", "function")
    kept = 2 * size * (size + 1024)
    many = k is not None and 4 * k >= size
    work = 0.5 * float(size) ** 2 * (columns + 20) * _READS
    solver = settings.solver
    if solver == "auto":
        small = size <= _SMALL[kernel.positive]
        beyond = kept > budget and work > _WORK and not given
        solver = "direct" if small or (many and not beyond) else "cholesky" if beyond else "lanczos"
    elif solver == "lanczos" and many:
        solver = "direct"
    keep = kept <= budget and not given
    if solver == "direct":
        peak, reads, why = 24 * size * size, 1, f"All {size} eigenvalues of the centred kernel by LAPACK."
    elif solver == "lanczos":
        tiles = "tiles kept in float32" if keep else "the kernel as given" if given else "tiles made at every read"
        peak = (kept if keep else 0) + 8 * size * 600
        reads, why = _READS, f"The leading components by block Lanczos on {tiles}; it stops when they are proved."
    else:
        rank = rank_limit(size, settings)
        peak, reads = 4 * size * rank + 8 * rank * rank * 3, 1
        why = (
            f"The kernel is approximated by randomly pivoted Cholesky until {settings.approximation_error:.2%} of its "
            f"trace is missing, or {rank} rows were taken."
        )
    if settings.memory is not None and peak > settings.memory:
        raise MemoryBudgetError(
            f"The work needs about {peak:,} bytes beside the data (solver {solver!r}), and {settings.memory:,} are "
            "allowed. Allow more memory, ask for fewer components, or approximate with solver='cholesky'."
        )
    chosen = {"kernel": kernel.name, "keep": keep, "block": block_width(k or 32, size)}
    return Plan("kernel_pca", solver, size, columns, settings.k, reads, peak, why, chosen)


def rank_limit(size: int, settings: KernelSettings) -> int:
    """Rows that the approximation may take: as asked, or as many as the memory holds."""
    item = 4 if settings.approximation_error >= 1e-3 else 8
    fits = int(0.6 * (settings.memory or MEMORY)) // (item * size)
    return max(1, min(size, settings.max_rank or min(_MOST_RANK, fits)))


def _symmetric(matrix: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """A kernel that was given, its symmetric part where it has another."""
    dense = np.asarray(matrix.toarray() if not isinstance(matrix, np.ndarray) else matrix)
    size = float(np.abs(dense).max(initial=0.0))
    skew = max(
        (float(np.abs(dense[i : i + 512] - dense[:, i : i + 512].T).max()) for i in range(0, len(dense), 512)),
        default=0.0,
    )
    if skew <= 1e-6 * size:
        return (dense, ()) if skew == 0.0 else ((dense + dense.T) / 2, ())
    word = (
        f"The kernel given is not symmetric (by {skew / size:.1e} of its largest entry): its symmetric part was used."
    )
    return (dense + dense.T) / 2, (word,)


def _exact(rows: Any, kernel: Kernel, settings: KernelSettings, plan: Plan) -> Decomposition:
    given = kernel.name in ("function", "precomputed")
    single = not given and rows.shape[0] > _DOUBLE and kernel.diagonal(rows).max(initial=0.0) < 1e30
    matrix = KernelMatrix(kernel, rows, precision="float32" if single else "float64", keep=plan.settings["keep"])
    tolerance = settings.tolerance or _TOLERANCE[matrix.precision]
    k = matrix.size if settings.everything else settings.k
    request = Request(k, settings.share, tolerance=tolerance, max_reads=settings.max_reads)
    if plan.solver == "direct":
        _refuse_overflow(matrix)
        found = solve_whole(matrix, request)
    else:
        width = k or 32
        capacity = min(matrix.size, max(6 * width, 2 * width + 10 * block_width(width, matrix.size), 512))
        found = solve_few(
            matrix, request, block=plan.settings["block"], capacity=capacity if k else min(matrix.size, 1024),
            rng=settings.random, positive=kernel.positive,
        )  # fmt: skip
    values, notes = settle(found, settings)
    vectors = np.asarray(found.solution.vectors)[:, : len(values)]
    vectors = vectors * flip_signs(vectors)
    roots = np.sqrt(values)
    scaled = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    # Centred coefficients: the means of a new point's kernel then drop out of its score.
    dual = (vectors - vectors.mean(axis=0)) * scaled
    means, grand = found.means, float(found.means.mean())
    parts = {
        **_named(kernel, rows), "support_scores": vectors * roots, "dual": dual, "means": means, "grand": grand,
        "base": np.full(matrix.size, 1.0 / matrix.size), "offset": means @ dual,
        "negative_share": found.negative, "smallest": found.smallest,
    }  # fmt: skip
    solution = _cut(found.solution, len(values))
    info = _info(solution, matrix.reads, settings, plan)
    _say_unproved(solution)
    certificate = _certify(solution, found.total, settings, matrix.reads, tolerance)
    rank = numerical_rank(found.solution, 2 * matrix.size)
    return _assembled(rows, values, vectors, found.total, plan, certificate, info, parts, notes, rank)


def _say_unproved(solution: Solution) -> None:
    if not solution.proved and not solution.settled:
        warnings.warn(
            f"The asked accuracy was not reached in {solution.steps} reads of the kernel. Allow more reads, or ask for "
            "less with tol.",
            AccuracyWarning,
            stacklevel=5,
        )


def _refuse_overflow(matrix: KernelMatrix) -> None:
    if not np.isfinite(matrix.diagonal).all():
        raise np.linalg.LinAlgError("the kernel is not finite")


def settle(found: Centred, settings: KernelSettings) -> tuple[np.ndarray, tuple[str, ...]]:
    """Eigenvalues with rounding set to zero; refused where a wanted one is negative, with the share."""
    values = np.asarray(found.solution.values)
    largest = float(values.max(initial=0.0))
    lowest = min(float(values.min(initial=0.0)), found.smallest)
    level = settings.significant * max(largest, -lowest)
    positive = values[values > settings.nothing * largest]
    least = float(positive.min()) if positive.size and not settings.everything else 0.0
    if -lowest > max(level, 1e-10) and (values.min() < -level or -lowest > least or settings.everything):
        share = f"{found.negative:.2%} of the sum of all moduli" if found.solution.spectrum is not None else (
            f"the lowest is {-lowest / largest:.2%} of the largest" if largest > 0 else "there are no positive ones"
        )  # fmt: skip
        raise InputError(
            f"There are significant negative eigenvalues ({share}): the kernel is not positive semi-definite, and no "
            "points have such a kernel. Choose another kernel or other parameters, or fewer components."
        )
    values = np.where(values > settings.nothing * largest, values, 0.0)
    if settings.everything:
        values = values[values > 0]
    return values, ()


def _approximated(rows: Any, kernel: Kernel, settings: KernelSettings, plan: Plan) -> Decomposition:
    matrix = KernelMatrix(kernel, rows, keep=False)
    _refuse_overflow(matrix)
    item = "float32" if settings.approximation_error >= 1e-3 else "float64"
    if item == "float64":
        matrix.sharpen()
    made = pivoted_cholesky(
        matrix, error=settings.approximation_error, most=rank_limit(matrix.size, settings), rng=settings.random,
        precision=item,
    )  # fmt: skip
    if made.lowest < -1e-3 * float(np.abs(matrix.diagonal).max(initial=0.0)) or made.trace < 0:
        raise InputError(
            f"The kernel is not positive semi-definite: pivoted Cholesky met {made.lowest:.2g} on its diagonal. "
            "Choose another kernel or other parameters, or solver='lanczos'."
        )
    axes = factor_axes(made.factor, settings.k or len(made.pivots))
    values = np.where(axes.values > max(settings.nothing, 1e-7) * axes.values.max(initial=0.0), axes.values, 0.0)
    total = axes.total + made.error
    count = len(values) if settings.share is None else _enough(values, total, settings.share)
    values = values[:count][values[:count] > 0] if settings.everything else values[:count]
    axes = replace(axes, values=values, directions=axes.directions[:, : len(values)])
    scores = factor_scores(made.factor, axes)
    signs = flip_signs(scores)
    axes, scores = replace(axes, directions=axes.directions * signs), scores * signs
    parts = {**_named(kernel, rows[made.pivots]), **_through(matrix, made.pivots, axes)}
    parts |= {"shift": kernel.shift(rows), "approximation_error": made.error / made.trace if made.trace else 0.0}
    lower = np.maximum(values - 1e-6 * float(values.max(initial=0.0)), 0.0)
    solution = Solution(
        solver="cholesky", values=values, vectors=scores, lower=lower, upper=values + made.error,
        residuals=np.full(len(values), made.error), precision=item,
    )  # fmt: skip
    certificate = _certify(solution, total, settings, 1, settings.approximation_error)
    # K - F^T F is positive semi-definite: all eigenvalues together gain no more than its trace.
    low = min(1.0, float(values.sum()) * (1.0 - 1e-6) / total) if total > 0 else 0.0
    high = min(1.0, (float(values.sum()) * (1.0 + 1e-6) + made.error) / total) if total > 0 else 0.0
    certificate = replace(certificate, explained=(low, high), word=word(solution, low, high))
    share = parts["approximation_error"]
    sentence = f"{certificate.word} The kernel is approximated at rank {len(made.pivots)}, {share:.3%} of it missing."
    certificate = replace(certificate, word=sentence, proved=bool(share <= settings.approximation_error))
    roots = np.sqrt(values)
    vectors = scores * np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    info = _info(solution, 1, settings, plan)
    return _assembled(rows, values, vectors, total, plan, certificate, info, parts, (), None)


def _enough(values: np.ndarray, total: float, share: float) -> int:
    return min(len(values), int(np.searchsorted(np.cumsum(values), share * total)) + 1)


def _through(matrix: KernelMatrix, pivots: np.ndarray, axes: Any) -> dict[str, Any]:
    """Coefficients on the pivots: features of a point are L^-1 k(pivots, x), L L^T = K[pivots, pivots]."""
    block = matrix.block(pivots)
    block[np.diag_indices_from(block)] += 8 * np.finfo(np.float64).eps * float(np.trace(block))
    triangle = np.linalg.cholesky(block)
    together = np.hstack([axes.directions, axes.mean[:, None]])
    weights = linalg.solve_triangular(triangle, together, lower=True, trans="T")
    features = triangle - axes.mean
    return {
        "support_scores": features @ axes.directions, "dual": weights[:, :-1], "base": weights[:, -1],
        "means": triangle @ axes.mean, "grand": float(axes.mean @ axes.mean), "offset": axes.mean @ axes.directions,
    }  # fmt: skip


def _named(kernel: Kernel, support: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {"kernel": kernel.name, "support": support, "shift": kernel.shift(support)}
    if kernel.name == "function":
        return {**parts, "function": kernel.function, "kernel_params": kernel.params}
    if kernel.name == "precomputed":
        del parts["support"]
    return {**parts, "gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}


def _cut(solution: Solution, k: int) -> Solution:
    return replace(
        solution, values=np.maximum(solution.values[:k], 0.0), vectors=solution.vectors[:, :k],
        lower=np.maximum(solution.lower, 0.0)[:k], upper=np.maximum(solution.upper, 0.0)[: k + 1],
        residuals=solution.residuals[:k],
    )  # fmt: skip


def _certify(solution: Solution, total: float, settings: Any, reads: int, tolerance: float) -> Certificate:
    """Bounds on the eigenvalues as shares of the trace, and as singular values of the points."""
    k, largest = len(solution.values), float(solution.values.max(initial=0.0))
    low, high = explained(solution, total, 1e-14 * abs(total))
    return Certificate(
        explained=(low, high), lower=np.sqrt(solution.lower[:k]), upper=np.sqrt(solution.upper[:k]),
        residuals=solution.residuals / largest if largest else np.zeros(k),
        angle=angle_bound(solution, settings, 1e-15) if k else 0.0,
        undetermined=ties(solution, settings, "float64") if k else (),
        failure_probability=solution.failure_probability, rounding=solution.rounding / total if total > 0 else 0.0,
        tolerance=tolerance, proved=bool(solution.proved), reads=reads, word=word(solution, low, high) if k else "",
    )  # fmt: skip


def _info(solution: Solution, reads: int, settings: KernelSettings, plan: Plan) -> SolveInfo:
    return SolveInfo(
        solver=plan.solver, reads=reads, steps=solution.steps, block=solution.block, basis=solution.basis,
        restarts=solution.restarts, precision=solution.precision, seed=settings.seed, threads=threads(),
        history=solution.history,
    )  # fmt: skip


def _assembled(
    rows: Any, values: np.ndarray, vectors: np.ndarray, total: float, plan: Plan, certificate: Certificate,
    info: SolveInfo, parts: dict[str, Any], notes: tuple[str, ...], rank: int | None,
) -> Decomposition:  # fmt: skip
    size, columns = rows.shape
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    return Decomposition(
        method="kernel_pca", values=np.sqrt(values).astype(dtype), right=np.zeros((columns, 0), dtype), rows=size,
        columns=columns, norm=float(np.sqrt(max(total, 0.0))), weight=float(size), left=vectors.astype(dtype),
        rank=rank, certificate=certificate, plan=plan, info=info, notes=notes, parts=parts,
    )  # fmt: skip
