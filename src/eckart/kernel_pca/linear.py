"""Kernels that are products of rows: linear, and cosine of rows of unit length. Their kernel PCA is PCA.

H X X^T H = (X - mean)(X - mean)^T, so the components come from the rows themselves, for any offset and any number of
rows, and rows can be reconstructed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eckart.arrays import Array, Matrix, astype, dtype_name, from_numpy, is_numpy, is_sparse, namespace, to_numpy
from eckart.components.find import find_components
from eckart.components.scores import project_on_components, reconstruct_from_components
from eckart.engine.backends import orthogonal
from eckart.engine.matrix import Opened
from eckart.engine.standardize.rounding import ENTRY, euclidean, gamma, lapack_svd_error
from eckart.engine.svd_options import Solver
from eckart.formatting import certified_share
from eckart.io.open_matrix import open_matrix
from eckart.kernel_pca.constants import USELESS_WIDTH
from eckart.kernel_pca.details import KernelPCADetails
from eckart.kernel_pca.kernel_functions import Kernel, unit_rows
from eckart.kernel_pca.options import KernelSettings, table
from eckart.kernel_pca.result import relative_width, warn_unproved
from eckart.result import Certificate, Decomposition, Plan, details_of

_SOLVERS: dict[str, Solver] = {"auto": "auto", "direct": "exact", "lanczos": "lanczos", "cholesky": "auto"}
"""Solver of kernel PCA -> that of PCA."""
_PAIRWISE = 128
"""NumPy adds up to this many numbers one by one, and then pairs of such sums."""


def linear_components(
    opened: Opened, rows: Matrix, kernel: Kernel, settings: KernelSettings
) -> Decomposition[KernelPCADetails]:
    """PCA of the rows (of their directions, for the cosine), presented as kernel PCA."""
    given, cosine = rows, kernel.name == "cosine"
    if cosine:
        rows = _directions(rows)
    most = min(rows.shape)
    k = most if settings.everything else settings.k
    solver = _SOLVERS[settings.solver]
    d: Decomposition = find_components(
        rows, "pca", k=None if k is None else min(k, most), explain=settings.target_ratio, solver=solver,
        tol=settings.tolerance, left=True, rng=settings.random, memory=settings.memory, max_passes=settings.max_passes,
    )  # fmt: skip
    d = _settled(_of_returned(d, rows, cosine=cosine), settings)
    if k is not None and k > most and not settings.everything:
        d = _padded(d, k, settings.random)
    signs = astype(orthogonal.signs_of(d.left), d.values.dtype)
    left = d.left * signs
    details = KernelPCADetails(kernel.name, kernel.gamma, kernel.degree, kernel.coef0)
    if cosine:
        scores = astype(left * d.values, namespace(left).float64)
        details = replace(details, support=given, support_scores=scores)
    made: Any = replace(
        d, method="kernel_pca", left=left, right=d.right * signs, plan=_plan(d.plan), details=details,
        row_names=opened.metadata.row_names, column_names=opened.metadata.column_names,
        notes=tuple(note for note in d.notes if note.code != "units_differ"),
    )  # fmt: skip
    result: Decomposition[KernelPCADetails] = made
    return result


def _plan(plan: Plan | None) -> Plan | None:
    return (
        None
        if plan is None
        else replace(plan, method="kernel_pca", why=(f"Kernel PCA with a linear kernel is the same as PCA. {plan.why}"))
    )


def _of_returned(d: Decomposition, rows: Matrix, *, cosine: bool) -> Decomposition:
    """The certificate for the left vectors and values as returned, and for directions before rounding.

    Vectors and values are rounded by u: (G - l) v moves by at most 4 u |G|. Rows of unit length are rounded by u as
    well, and so is their matrix: singular values and the norm move by at most u sqrt(rows) (Weyl).
    """
    c = d.certificate
    if c is None:
        return d
    unit = float(np.finfo(dtype_name(d.values)).eps)
    if rows.shape[0] >= rows.shape[1]:
        residuals = _of_left(c.residuals, to_numpy(d.values).astype(np.float64), unit)
        c = replace(c, residuals=residuals, angle=_angle_of_left(d, c))
    if not cosine or float(d.norm) == 0.0:  # rows of length 0 are not rounded
        angle = min(1.0, c.angle + unit * len(c.lower) ** 0.5)
        return replace(d, certificate=replace(c, residuals=c.residuals + 2.0 * unit, angle=angle))
    found = _of_rounded_rows(c, rows, float(d.norm), unit)
    if c.proved and not found.proved:
        warn_unproved(c.passes, converged=True)
    return replace(d, certificate=found)


def _of_rounded_rows(c: Certificate, rows: Matrix, norm: float, unit: float) -> Certificate:
    """The certificate for the matrix of rows of unit length before rounding; `norm` is that of the rounded matrix."""
    # Lengths are computed in float64, then each entry is rounded once.
    moved = (0.5 * float(np.finfo(dtype_name(rows)).eps) + (rows.shape[1] + 8) * 2.0**-53) * float(rows.shape[0]) ** 0.5
    lower, upper = np.maximum(c.lower - moved, 0.0), c.upper + moved
    largest = max(float(np.max(c.lower, initial=0.0)), np.finfo(np.float64).tiny)
    # Of G: |E| (|A| + |A + E|).
    residuals = c.residuals + 2.0 * unit + 2.0 * moved * (float(np.max(upper, initial=0.0)) + moved) / largest**2
    low, high = c.explained
    low = max(low**0.5 * norm - moved, 0.0) ** 2 / (norm + moved) ** 2
    high = min(1.0, ((high**0.5 * norm + moved) / (norm - moved)) ** 2) if norm > moved else 1.0
    gap = float(c.lower[-1] ** 2) - norm**2 * max(0.0, 1.0 - c.explained[0]) if len(c.lower) else 0.0
    angle = 1.0
    if c.angle < 1.0 and gap > 0.0:
        angle = min(1.0, c.angle + unit * len(c.lower) ** 0.5 + 4.0 * moved * (float(c.upper[0]) + moved) / gap)
    proved = c.proved and relative_width(lower**2, upper**2) <= USELESS_WIDTH
    return replace(
        c, lower=lower, upper=upper, residuals=residuals, explained=(low, high), angle=angle, proved=proved,
        summary=certified_share(len(lower), low, high),
    )  # fmt: skip


def _of_left(residuals: np.ndarray, values: np.ndarray, unit: float) -> np.ndarray:
    """Residuals of u = B v / s from those of v: B B^T u - s^2 u = B (B^T B v - s^2 v) / s, at most s_1 / s times as
    long.
    """
    largest = float(values.max(initial=0.0))
    ratio = largest / np.maximum(values, max(1e-300 * largest, np.finfo(np.float64).tiny))
    found = np.maximum(residuals - 2.0 * unit, 0.0) * ratio + 2.0 * unit
    return np.minimum(np.where(residuals > 0.0, found, 0.0), 1.0 + 4.0 * unit)


def _angle_of_left(d: Decomposition, c: Certificate) -> float:
    """sin(largest angle) of the span of L = (B V + E + 1 e^T) / s to that of the k leading left vectors U of B.

    With P = I - U U^T, P B V has a norm of at most s_k+1 times the sine for V, which is 0 if V spans the whole space.
    So P L has a norm of at most (s_k+1 sine + |E|) / s_k + |1 e^T / s|. |E| is the rounding of the two terms of A V - 1
    m^T V, relative to ||A||_F, or that of LAPACK. The error e of the means lies along 1, where U has no part, so the
    means of L show it.
    """
    k = len(c.lower)
    least = float(np.min(c.lower, initial=np.inf))
    if not k or least <= 0.0:
        return c.angle if not k else 1.0
    mean = np.zeros(0) if d.mean is None else to_numpy(d.mean).astype(np.float64)
    with np.errstate(over="ignore"):
        raw = float(np.hypot(float(d.norm), np.linalg.norm(mean) * d.rows**0.5))
    rounding = 2.0 * gamma(d.columns + ENTRY) * raw + lapack_svd_error(d.rows, float(c.upper[0]))
    columns = np.ascontiguousarray(to_numpy(d.left).T, dtype=np.float64)  # contiguous, so that NumPy adds pairwise
    off = euclidean(columns.sum(axis=1)) / d.rows**0.5
    off += gamma(_PAIRWISE + float(np.log2(d.rows))) * k**0.5
    return float(min(1.0, (float(c.upper[-1]) * c.angle + rounding * k**0.5) / least + off))


def _settled(d: Decomposition, settings: KernelSettings) -> Decomposition:
    """Set eigenvalues within rounding to zero, and drop them if all components were requested."""
    values = to_numpy(d.values).astype(np.float64)
    single = dtype_name(d.values) == "float32"
    level = (2e-7 if single else 1e-12) ** 0.5 * values.max(initial=0.0)
    kept = int(np.sum(values > level))
    values = _on_device_of(np.where(values > level, values, 0.0), d)
    certificate = None if d.certificate is None else _without(d.certificate, kept, float(d.norm))
    if not settings.everything:
        return replace(d, values=values, certificate=certificate)
    certificate = None if certificate is None else _first(certificate, kept)
    return replace(
        d, values=values[:kept], right=d.right[:, :kept], left=d.left[:, :kept], certificate=certificate  # type: ignore[index]
    )  # fmt: skip


def _without(certificate: Certificate, kept: int, norm: float) -> Certificate:
    """The certificate if values after the first `kept` count as zero: they explain nothing."""
    c = certificate
    if kept == len(c.lower) or norm <= 0.0:
        return c
    low, high = c.explained
    lost = float(np.sum((c.upper[kept:] / norm) ** 2)) * (1.0 + 1e-6)
    lower = np.append(c.lower[:kept], np.zeros(len(c.lower) - kept))
    # A residual moves by the square of the value that was set to zero.
    moved = (c.upper[kept:] / max(float(np.max(c.lower)), np.finfo(np.float64).tiny)) ** 2
    residuals = np.append(c.residuals[:kept], np.minimum(c.residuals[kept:] + moved, 1.0))
    return replace(c, explained=(max(low - lost, 0.0), high), lower=lower, residuals=residuals)


def _on_device_of(array: np.ndarray, d: Decomposition) -> Array:
    return astype(from_numpy(array, d.values), d.values.dtype)


def _directions(rows: Matrix) -> Matrix:
    """The rows at unit length, in their dtype."""
    unit = unit_rows(rows)
    return unit.astype(rows.dtype) if is_sparse(rows) else astype(unit, rows.dtype)


def _first(certificate: Certificate, k: int) -> Certificate:
    """The certificate of the first k components, with the angle of their span (Davis-Kahan)."""
    c, angle = certificate, certificate.angle
    if 0 < k < len(c.lower):
        gap = float(c.lower[k - 1]) ** 2 - float(c.upper[k]) ** 2
        rest = euclidean(c.residuals[:k]) * float(c.upper[0]) ** 2
        angle = min(1.0, rest / gap) if gap > 0.0 else 1.0
    return replace(
        c, angle=angle, lower=c.lower[:k], upper=c.upper[:k], residuals=c.residuals[:k],
        undetermined=tuple((a, min(b, k - 1)) for a, b in c.undetermined if a < k),
    )  # fmt: skip


def _padded(d: Decomposition, k: int, rng: np.random.Generator) -> Decomposition:
    """Pad with zero eigenvalues and orthonormal vectors if there are more components than the rows span."""
    left = to_numpy(d.left).astype(np.float64)
    more = k - left.shape[1]
    known = orthogonal.orthonormalize(left)
    fresh = orthogonal.project_out(rng.standard_normal((left.shape[0], more)), known)
    fresh = orthogonal.orthonormalize(orthogonal.project_out(orthogonal.orthonormalize(fresh), known))
    zeros = np.zeros(more)
    c = d.certificate
    if c is not None:
        # G x = V R^T x for a unit x orthogonal to all V with G V = V L + R, and x is rounded.
        along = min(1.0, float(np.linalg.norm(c.residuals)) + 2.0 * float(np.finfo(dtype_name(d.values)).eps))
        residuals = np.append(c.residuals, zeros + (along if d.norm > 0.0 else 0.0))
        c = replace(c, lower=np.append(c.lower, zeros), upper=np.append(c.upper, zeros), residuals=residuals)
    return replace(
        d, values=_on_device_of(np.append(to_numpy(d.values), zeros), d), certificate=c,
        left=_on_device_of(np.hstack([left, fresh]), d),
        right=_on_device_of(np.hstack([to_numpy(d.right), np.zeros((d.columns, more))]), d),
    )  # fmt: skip


def project_linear(d: Decomposition, data: object) -> Array:
    """(x - mean) right, of unit rows for the cosine."""
    if details_of(d, KernelPCADetails).kernel == "cosine":
        data = _directions(table(open_matrix(data, stream=False)))
    return project_on_components(d, data)


def linear_rows(d: Decomposition, scores: Array) -> Array:
    """Rows from scores: scores right^T + mean."""
    if is_numpy(scores) and is_numpy(d.right):
        rows = scores @ d.right.T
        return rows + d.mean if d.mean is not None else rows
    return reconstruct_from_components(d, scores)
