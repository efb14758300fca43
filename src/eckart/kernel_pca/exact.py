"""From a kernel to its components: choice of solver, eigenpairs of the centred kernel, certificate, parts."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import cast

import numpy as np

from eckart.arrays import Array, Matrix, dtype_name, from_numpy, is_sparse, namespace
from eckart.engine.backends.orthogonal import signs_of
from eckart.engine.blocks.reading import in_memory
from eckart.engine.choose import block_width
from eckart.engine.digest import array_generator
from eckart.engine.matrix import Opened
from eckart.engine.solution import Request
from eckart.engine.threads import one_blas_thread
from eckart.errors import AccuracyWarning, InputError, MemoryBudgetError
from eckart.formatting import allowed, counted, percent
from eckart.kernel_pca.approximate import approximate, rank_limit
from eckart.kernel_pca.centered import Centred, solve_whole
from eckart.kernel_pca.constants import (
    DEVICE_WORK,
    DIRECT_SIZE,
    DOUBLE_SIZE,
    EIGENVALUE_TOLERANCE,
    EXPECTED_PASSES,
    FEW_COMPONENTS,
    HOST_WORK,
    INDEFINITE_SIZE,
    TILE_MEMORY,
    USELESS_WIDTH,
)
from eckart.kernel_pca.details import KernelPCADetails, kernel_details
from eckart.kernel_pca.kernel_functions import Kernel, doubles
from eckart.kernel_pca.kernel_matrix import KernelMatrix
from eckart.kernel_pca.leading import solve_few
from eckart.kernel_pca.options import KernelSettings, free_bytes
from eckart.kernel_pca.result import (
    as_info,
    assembled,
    certify,
    cut,
    inverse_or_zero,
    overflow_message,
    refuse_out_of_range,
    relative_width,
    warn_unproved,
)  # fmt: skip
from eckart.notes import Note
from eckart.result import Decomposition, Plan
from eckart.wording import MEMORY, K, assigned


def solve(opened: Opened, rows: Matrix, kernel: Kernel, settings: KernelSettings) -> Decomposition[KernelPCADetails]:
    """The components of a kernel that is not a plain product of rows."""
    rows, notes = _symmetric(rows) if kernel.name == "precomputed" else (rows, ())
    settings = replace(settings, precision=dtype_name(rows), card=free_bytes(rows))
    plan = choose(rows.shape, kernel, settings)
    try:
        # With more threads BLAS would sum in another order.
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            if plan.solver == "cholesky":
                result = approximate(rows, kernel, settings, plan)
            else:
                result = _exact(rows, kernel, settings, plan)
    except np.linalg.LinAlgError as error:
        raise InputError(overflow_message(kernel.name)) from error
    return replace(
        result, row_names=opened.metadata.row_names, column_names=opened.metadata.column_names,
        notes=(*opened.metadata.all_notes, *notes, *result.notes),
    )  # fmt: skip


_TILES = {
    True: "tiles of the kernel that are stored in float32",
    False: "tiles of the kernel that are recomputed in every pass",
}


def choose(shape: tuple[int, int], kernel: Kernel, settings: KernelSettings) -> Plan:
    """Direct for small data or many components; Lanczos on tiles, kept or recomputed; Cholesky beyond that."""
    size, columns = shape
    k = size if settings.everything else settings.k
    given = kernel.name in ("precomputed", "function")
    kept = _tile_bytes(size)
    solver = _solver(shape, kernel, settings, k)
    keep = kept <= settings.budget and not given
    if solver == "direct":
        peak, passes, why = 24 * size * size, 1, f"LAPACK computes all {size} eigenvalues of the centred kernel matrix."
    elif solver == "lanczos":
        tiles = "the kernel matrix that was passed" if given else _TILES[keep]
        peak = kept * keep + 8 * size * 600
        passes, why = (
            EXPECTED_PASSES,
            (f"Block Lanczos computes the leading components from {tiles}. It stops when the accuracy is proved."),
        )
    else:
        rank = rank_limit(size, settings)
        peak, passes = 4 * size * rank + 8 * rank * rank * 3, 1
        why = (
            "The kernel is approximated by randomly pivoted Cholesky. It stops when at most "
            f"{percent(settings.approximation_error, 2)} of the trace is left, or when {rank} rows "
            "are used."
        )
    _refuse_beyond_memory(solver, peak, settings)
    # Tiles of many rows may be recomputed at every pass; the result must not depend on it.
    dear = settings.card is not None or size > DOUBLE_SIZE
    chosen = {
        "kernel": kernel.name,
        "keep": keep,
        "block": block_width(k or 32, size, few=0 if dear else FEW_COMPONENTS),
    }
    return Plan("kernel_pca", solver, size, columns, settings.k, passes, peak, why, chosen)


def _tile_bytes(size: int) -> int:
    """Memory of all tiles of the kernel in float32, half of them by symmetry."""
    return 2 * size * (size + 1024)


def _solver(shape: tuple[int, int], kernel: Kernel, settings: KernelSettings, k: int | None) -> str:
    """The requested solver, or the cheapest exact one; the approximation if none fits."""
    size, columns = shape
    many = k is not None and 4 * k >= size
    if settings.solver != "auto":
        return "direct" if settings.solver == "lanczos" and many else settings.solver
    beyond = kernel.name not in ("precomputed", "function") and _beyond_reach(size, columns, settings, many=many)
    if size <= DIRECT_SIZE[kernel.positive] or (many and not beyond):
        return "direct"
    return "cholesky" if beyond else "lanczos"


def _beyond_reach(size: int, columns: int, settings: KernelSettings, *, many: bool) -> bool:
    """Whether an exact solver would take too long or, for many components, too much memory."""
    if many and 6 * size * size > (settings.card or TILE_MEMORY):
        return True
    work = 0.5 * float(size) ** 2 * (columns + 20) * EXPECTED_PASSES
    return _tile_bytes(size) > settings.budget and work > (HOST_WORK if settings.card is None else DEVICE_WORK)


def _refuse_beyond_memory(solver: str, peak: int, settings: KernelSettings) -> None:
    if settings.memory is not None and peak > settings.memory:
        raise MemoryBudgetError(
            f"The computation needs about {peak:,} bytes in addition to the data (solver {solver!r}), "
            f"but only {allowed(settings.memory)}. Allow more memory with {MEMORY}, "
            "request fewer components, or approximate the kernel with "
            f"{assigned('solver', 'cholesky')}."
        )


def _symmetric(matrix: Array) -> tuple[Array, tuple[Note, ...]]:
    """The symmetric part of a given kernel."""
    dense = matrix.toarray() if is_sparse(matrix) else matrix
    xp = namespace(dense)
    size = float(xp.max(xp.abs(dense)))
    starts = range(0, dense.shape[0], 512)
    skew = max((float(xp.max(xp.abs(dense[i : i + 512, :] - dense[:, i : i + 512].T))) for i in starts), default=0.0)
    if skew <= 1e-6 * size:
        # In float64 the mean of two entries loses nothing.
        return (dense, ()) if skew == 0.0 else (_symmetric_part(dense), ())
    sentence = Note(
        "asymmetric_kernel",
        f"The kernel matrix is not symmetric (asymmetry: {skew / size:.1e} of its largest entry), so "
        "Eckart uses its symmetric part.",
    )
    return _symmetric_part(dense), (sentence,)


def _symmetric_part(dense: Array) -> Array:
    whole = doubles(dense)
    return (whole + whole.T) / 2.0


def _basis_size(k: int | None, size: int) -> int:
    """Columns of the Lanczos basis before a restart."""
    if not k:
        return min(size, 1024)
    return min(size, max(6 * k, 2 * k + 10 * block_width(k, size), 512))


def _exact(rows: Matrix, kernel: Kernel, settings: KernelSettings, plan: Plan) -> Decomposition[KernelPCADetails]:
    used = kernel.for_products(rows)
    matrix = KernelMatrix(used, rows, precision=_precision(kernel, rows), keep=bool(plan.settings["keep"]))
    if settings.callback is not None:
        matrix.after_pass = in_memory(settings.callback, matrix.size, plan.passes)
    tolerance = settings.tolerance or EIGENVALUE_TOLERANCE[matrix.precision]
    k = matrix.size if settings.everything else settings.k
    request = Request(k, settings.target_ratio, tolerance=tolerance, max_passes=settings.max_passes)
    refuse_out_of_range(matrix.diagonal, kernel.name)
    found = _solved(matrix, request, rows, kernel, settings, plan)
    plan = _as_solved(plan, found)
    values, notes = settle(found, settings)
    vectors = found.solution.vectors[:, : len(values)]
    vectors = vectors * signs_of(vectors)
    xp = namespace(vectors)
    roots = np.sqrt(values)
    # Centred coefficients: the means of a new point's kernel then cancel in its score.
    dual = (vectors - xp.mean(vectors, axis=0)) * from_numpy(inverse_or_zero(roots), vectors)
    means = found.means + (1.0 if used.lowered else 0.0)
    details = kernel_details(
        kernel, rows, support_scores=vectors * from_numpy(roots, vectors), dual=dual,
        means=means, grand=float(xp.mean(means)), base=xp.ones_like(means) / matrix.size,
        offset=means @ dual, lowered=used.lowered, negative_share=found.part.negative_share, smallest=found.smallest,
    )  # fmt: skip
    solution = cut(found.solution, values)
    # Rounding in the kernel may exceed the tolerance; the certificate states the proved width.
    known = relative_width(solution.lower[: len(values)], solution.upper[: len(values)])
    if known > USELESS_WIDTH:
        solution = replace(solution, proved=False, converged=True)
    tolerance = max(tolerance, known / 2.0)
    info = as_info(solution, matrix.passes, settings, plan)
    if not solution.proved:
        warn_unproved(solution.steps, converged=solution.converged)
    if found.undecided:
        _warn_undecided(len(values))
        solution = replace(solution, proved=False)
    certificate = certify(
        solution, found.part, settings, matrix.passes, tolerance, dtype_name(rows), norm=-found.smallest
    )
    rank = _rank(found.solution.spectrum)
    return assembled(rows, values, vectors, found.part.total, plan, certificate, info, details, notes, rank)


def _precision(kernel: Kernel, rows: Matrix) -> str:
    given = kernel.name in ("function", "precomputed")
    single = not given and rows.shape[0] > DOUBLE_SIZE and _largest(kernel.diagonal(rows)) < 1e30
    return "float32" if single else "float64"


def _solved(
    matrix: KernelMatrix, request: Request, rows: Matrix, kernel: Kernel, settings: KernelSettings, plan: Plan
) -> Centred:
    """The eigenpairs of the centred kernel, by the solver of the plan."""
    if plan.solver == "direct":
        return solve_whole(matrix, request, positive=kernel.positive)
    return solve_few(
        matrix, request, block=cast("int", plan.settings["block"]), capacity=_basis_size(request.k, matrix.size),
        rng=array_generator(settings.probe_seed, rows, "kernel PCA by Lanczos"), positive=kernel.positive,
        whole=_may_be_whole(matrix.size, settings),
    )  # fmt: skip


def _rank(spectrum: np.ndarray | None) -> int | None:
    """Number of eigenvalues beyond n units of rounding of the largest, as in numpy.linalg.matrix_rank."""
    if spectrum is None:
        return None
    size = np.abs(spectrum)
    return int(np.sum(size > size.max(initial=0.0) * len(size) * np.finfo(np.float64).eps))


def _may_be_whole(size: int, settings: KernelSettings) -> bool:
    """Whether all eigenvalues may be computed where the choice was to compute only the leading ones."""
    fits = settings.memory is None or 24 * size * size <= settings.memory
    return settings.solver == "auto" and size <= INDEFINITE_SIZE and fits


def _as_solved(plan: Plan, found: Centred) -> Plan:
    if found.solution.solver == plan.solver:
        return plan
    why = (
        "LAPACK computes all eigenvalues of the centred kernel, because the explained share depends on "
        "the sum of all positive eigenvalues."
    )
    return replace(plan, solver=found.solution.solver, passes=1, why=why)


def _largest(diagonal: Array) -> float:
    return float(namespace(diagonal).max(diagonal))


def _warn_undecided(k: int) -> None:
    warnings.warn(
        "The kernel may be indefinite, and only bounds on the sum of its positive eigenvalues are "
        f"known. So {counted(k, 'component')} may be too few or too many for the requested share. Use "
        f"{assigned('solver', 'direct')}, or specify {K}.",
        AccuracyWarning,
        stacklevel=5,
    )


def settle(found: Centred, settings: KernelSettings) -> tuple[np.ndarray, tuple[Note, ...]]:
    """Eigenvalues with rounding set to zero; raises if a wanted one is negative, with the share."""
    values = np.asarray(found.solution.values)
    largest = float(values.max(initial=0.0))
    lowest = min(float(values.min(initial=0.0)), found.smallest)
    level = settings.significant * max(largest, -lowest)
    if -lowest > max(level, 1e-10) and (values.min() < -level or largest <= level or settings.everything):
        if largest <= level:
            share = "there are no significant positive eigenvalues"
        elif found.solution.spectrum is not None:
            share = f"their sum is {percent(found.part.negative_share, 2)} of the sum of the positive eigenvalues"
        else:
            share = f"the lowest is {percent(-lowest / largest, 2)} of the largest eigenvalue in absolute value"
        raise InputError(
            f"There are significant negative eigenvalues ({share}), so the kernel is not positive "
            "semi-definite and is not an inner product. Choose another kernel, other kernel "
            "parameters or fewer components."
        )
    values = np.where(values > settings.nothing * largest, values, 0.0)
    if settings.everything:
        values = values[values > 0]
    return values, ()
