"""From the eigenpairs of a centred kernel to a Decomposition: certificate, counts, parts."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, Matrix, astype, dtype_name, from_numpy, namespace, to_numpy
from eckart.engine.certify import angle_bound, check_range, summary_of, ties
from eckart.engine.returned import explained
from eckart.engine.solution import Solution
from eckart.engine.threads import threads
from eckart.errors import AccuracyWarning, DataWarning, InputError
from eckart.formatting import counted, percent
from eckart.kernel_pca.constants import LARGEST_KERNEL_VALUE
from eckart.kernel_pca.details import KernelPCADetails
from eckart.kernel_pca.options import KernelSettings
from eckart.kernel_pca.positive_part import PositivePart
from eckart.notes import Note
from eckart.result import Certificate, Decomposition, Plan, SolveInfo
from eckart.wording import assigned, either


def refuse_out_of_range(diagonal: Array, name: str) -> None:
    """Refuse a kernel whose values, or their squares, float64 cannot represent."""
    xp = namespace(diagonal)
    if not bool(xp.all(xp.isfinite(diagonal))) or float(xp.max(diagonal)) > LARGEST_KERNEL_VALUE:
        raise np.linalg.LinAlgError("the kernel, or the squares of its values, are not finite")
    largest = float(xp.max(xp.abs(diagonal)))
    if 0.0 < largest < 1.0 / LARGEST_KERNEL_VALUE:
        scaled = "the kernel" if name == "precomputed" else "the data"
        raise InputError(
            f"The diagonal of kernel {name!r} is at most {largest:.2g}, so the squares of its values "
            f"underflow float64. Multiply {scaled} by a large number first."
        )


def overflow_message(name: str) -> str:
    if name == "precomputed":
        return (
            "The squares of the values of the precomputed kernel overflow float64. Multiply the "
            "kernel by a small number first, such as 1e-100."
        )
    return (
        f"Overflow in kernel {name!r}: its values, or their squares, exceed the range of float64, "
        "although the data do not. Divide the data by a large number, or choose a smaller degree or "
        "gamma."
    )


def cut(solution: Solution, values: np.ndarray) -> Solution:
    """The first pairs with these values, some of which were set to zero; their residuals grow accordingly.

    A value that was set to zero explains nothing.
    """
    k = len(values)
    return replace(
        solution, values=values, vectors=solution.vectors[:, :k],
        lower=np.where(values > 0.0, np.maximum(solution.lower[:k], 0.0), 0.0),
        upper=np.maximum(solution.upper, 0.0)[: k + 1],
        residuals=solution.residuals[:k] + np.abs(solution.values[:k] - values),
    )  # fmt: skip


def certify(
    solution: Solution, part: PositivePart, settings: Any, passes: int, tolerance: float, dtype: str, *,
    norm: float = 0.0,
) -> Certificate:  # fmt: skip
    """Bounds on the eigenvalues as shares of the positive ones, and as singular values of the points.

    `dtype` is that of the returned values and vectors, `norm` the largest absolute eigenvalue of H K H if it exceeds
    the largest eigenvalue.
    """
    k = len(solution.values)
    # Relative to the true largest eigenvalue, which may be below the computed one.
    least = float(solution.lower.max(initial=0.0))
    total, (middle, half) = part.total, part.interval
    low, high = explained(solution, middle, half + 1e-14 * abs(middle))
    unit = float(np.finfo(dtype).eps)
    # Vectors are rounded by u, and so are values (roots of eigenvalues): (G - l) v moves by at most 4 u |G|.
    rounded = solution.residuals + 2.0 * unit * max(norm, solution.largest_bound)
    residuals = rounded / least if least else np.full(k, np.inf if solution.largest_bound else 0.0)
    return Certificate(
        explained=(low, high), lower=np.sqrt(solution.lower[:k]), upper=np.sqrt(solution.upper[:k]),
        residuals=residuals,
        angle=angle_bound(solution, settings, unit) if k else 0.0,
        undetermined=ties(solution, settings, "float64") if k else (),
        failure_probability=solution.failure_probability, rounding=solution.rounding / total if total > 0 else 0.0,
        tolerance=tolerance, proved=bool(solution.proved), passes=passes,
        summary=summary_of(solution, low, high) if k else "",
    )  # fmt: skip


def relative_width(lower: np.ndarray, upper: np.ndarray) -> float:
    """The widest interval of an eigenvalue, relative to the upper bound of the largest one: at most 1."""
    widest = float(np.max(upper - lower, initial=0.0))
    if not np.isfinite(widest):  # no bound is known
        return 1.0
    return widest / float(np.max(upper)) if widest > 0.0 else 0.0


def warn_unproved(passes: int, *, converged: bool) -> None:
    """Warn that bounds are wider than requested: because of rounding if `converged`, or because passes ran out."""
    remedy = "Rounding errors limit the bounds."
    if not converged:
        remedy = either("Allow more passes, or request less accuracy with a larger tol.", "")
    warnings.warn(
        f"The requested accuracy could not be proved after {counted(passes, 'pass', 'passes')} over the kernel. "
        f"{remedy}",
        AccuracyWarning,
        stacklevel=5,
    )


def as_info(solution: Solution, passes: int, settings: KernelSettings, plan: Plan) -> SolveInfo:
    return SolveInfo(
        solver=plan.solver, passes=passes, steps=solution.steps, block=solution.block, basis=solution.basis,
        restarts=solution.restarts, precision=solution.precision, seed=settings.seed, threads=threads(),
        history=solution.history,
    )  # fmt: skip


def assembled(
    rows: Matrix, values: np.ndarray, vectors: Array, total: float, plan: Plan, certificate: Certificate,
    info: SolveInfo, details: KernelPCADetails, notes: tuple[Note, ...], rank: int | None,
) -> Decomposition[KernelPCADetails]:  # fmt: skip
    """The result in the dtype of the rows, and in the library of the vectors."""
    size, columns = rows.shape
    check_range(np.sqrt(values), dtype_name(rows), "singular values")
    xp = namespace(vectors)
    dtype = xp.float32 if dtype_name(rows) == "float32" else xp.float64

    def on_device_of(array: np.ndarray) -> Array:
        return astype(from_numpy(array, vectors), dtype)

    return Decomposition(
        method="kernel_pca", values=on_device_of(np.sqrt(values)), right=on_device_of(np.zeros((columns, 0))),
        rows=size, columns=columns, norm=float(np.sqrt(max(total, 0.0))), weight=float(size),
        left=astype(vectors, dtype), rank=rank, certificate=certificate, plan=plan, info=info, notes=notes,
        details=details,
    )  # fmt: skip


def eigenvalues_of(d: Decomposition) -> Array:
    """Squares of the singular values, refused if the dtype of the data cannot represent them."""
    with np.errstate(over="ignore"):
        check_range(to_numpy(d.values).astype(np.float64) ** 2, dtype_name(d.values), "eigenvalues")
    squares: Array = d.values**2
    return squares


def moved(parts: Keywords, prototype: Array) -> Keywords:
    """The parts with their arrays on the device of `prototype`; everything else unchanged."""
    return {name: from_numpy(part, prototype) if isinstance(part, np.ndarray) else part for name, part in parts.items()}


def inverse_or_zero(numbers: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(1.0, numbers, out=np.zeros_like(numbers), where=numbers > 0))


def _proved(d: Decomposition[KernelPCADetails]) -> bool:
    return d.certificate is not None and d.certificate.proved


def warn_if_unconverged(d: Decomposition[KernelPCADetails], settings: KernelSettings) -> None:
    """Warn if the approximation misses its error or cannot determine a share, or if the kernel is indefinite."""
    details = d.details
    missing, rank = details.approximation_error, 0 if details.dual is None else details.dual.shape[0]
    if missing > settings.approximation_error:
        warnings.warn(
            f"The approximation of rank {rank} leaves out {percent(missing, 2)} of the trace of the "
            f"kernel, but at most {percent(settings.approximation_error, 2)} was requested. "
            f"{either('Allow a larger max_rank or more memory.', 'Allow more memory with --memory.')} "
            "The certificate remains valid.",
            AccuracyWarning,
            stacklevel=4,
        )
    elif details.pivots is not None and settings.target_ratio is not None and not _proved(d):
        warnings.warn(
            "The approximation error of the kernel is too large to tell whether "
            f"{counted(d.k, 'component')} explain the requested share of "
            f"{percent(settings.target_ratio, 2)}. "
            f"{either('Use a smaller approximation_error, or specify k.', 'Use -k to set the number.')}",
            AccuracyWarning,
            stacklevel=4,
        )
    elif details.pivots is not None and not _proved(d):
        warnings.warn(
            "The kernel may be indefinite, and its approximation by some of its rows does not bound the negative "
            f"eigenvalues. The explained share is therefore unknown. Use {assigned('solver', 'lanczos')}"
            f"{either(' with all rows in memory', ' with data that fit in memory')}.",
            AccuracyWarning,
            stacklevel=4,
        )
    share = details.negative_share
    if share > settings.significant:
        warnings.warn(
            f"The kernel is indefinite: its negative eigenvalues sum to {percent(share, 2)} of the "
            "positive eigenvalues, so it is not an inner product. The components describe only its "
            "positive part.",
            DataWarning,
            stacklevel=4,
        )
