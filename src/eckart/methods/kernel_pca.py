"""Kernel PCA: H K H ~ left diag(values^2) left^T, the principal components of the points phi(x) that K compares.

A component is a combination of the points of the data, v_k = sum_i dual_ik phi(x_i), of unit length (a^T K a = 1). The
score of a point is k(x, support) dual - offset: its kernel with the support, centred. With the linear kernel it is PCA.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.array_api import Array, is_sparse
from eckart.decomposition import Decomposition
from eckart.errors import AccuracyWarning, DataWarning, InputError, ParameterError
from eckart.methods.kernel_blocks import median_rows, solve_blocks
from eckart.methods.kernel_linear import linear_axes, project_linear
from eckart.methods.kernel_settings import KernelSettings, check_kernel, numbers
from eckart.methods.kernel_solve import solve
from eckart.operators.executors import each
from eckart.operators.kernel import Kernel, alike
from eckart.operators.open_matrix import Opened, open_matrix
from eckart.operators.reading import Watch
from eckart.parameters import memory_bytes
from eckart.solvers.preimage import Expansion, preimages
from eckart.sources.base import RowSource
from eckart.sources.dask_rows import is_dask

_TILE = 512


def decompose(
    data: Any,
    *,
    k: int | None = None,
    explain: float | None = None,
    kernel: str | Callable[..., Any] = "rbf",
    gamma: float | str | None = "median",
    degree: float = 3,
    coef0: float = 1,
    kernel_params: dict[str, Any] | None = None,
    solver: str = "auto",
    tol: float | None = None,
    approximation_error: float = 0.01,
    max_rank: int | None = None,
    left: bool = False,
    rng: Any = None,
    memory: str | int | None = None,
    max_reads: int = 100,
    stream: bool | None = None,
    watch: Watch | None = None,
) -> Decomposition:
    """The leading components of the points behind a kernel, with a certificate about that kernel.

    k, explain : number of components, or the share of the trace of the centred kernel that they are to hold; all
    components that are not zero if neither is given.
    gamma : a number, "median" for what the distances between rows suggest (`median_gamma`), None for 1 / columns.
    solver : "auto", "direct", "lanczos" or "cholesky". The last approximates K by randomly pivoted Cholesky until at
    most `approximation_error` of its trace is missing, or `max_rank` rows were taken; "auto" does so for data beyond
    what can be kept or made again.
    stream, watch : rows too large for `memory` are read in blocks, a few times, and approximated in the same way, with
    nothing but the rows taken in memory; `stream` decides it, `watch` is called after every block.
    """
    opened = _opened(data, memory, stream)
    settings = check_kernel(
        opened.matrix.shape, k=k, explain=explain, kernel=kernel, solver=solver, tol=tol,
        approximation_error=approximation_error, max_rank=max_rank, left=left, rng=rng, memory=memory,
        max_reads=max_reads,
    )  # fmt: skip
    if not opened.matrix.resident:
        opened.matrix.reading.watch = watch
        some = median_rows(opened) if gamma == "median" else _Columns(opened.matrix.shape)
        chosen = make_kernel(kernel, some, gamma, degree, coef0, kernel_params)
        result = solve_blocks(opened, chosen, settings)
        _speak_up(result, settings)
        return result
    rows = numbers(opened)
    chosen = make_kernel(kernel, rows, gamma, degree, coef0, kernel_params)
    if chosen.name in ("linear", "cosine"):
        result = linear_axes(opened, rows, chosen, settings)
    else:
        result = solve(opened, rows, chosen, settings)
    result = _with_correlations(result, rows, chosen)
    _speak_up(result, settings)
    return result if left else replace(result, left=None)


@dataclass(frozen=True)
class _Columns:
    """As much of a table as the default width of a kernel depends on."""

    shape: tuple[int, int]


def _opened(data: Any, memory: str | int | None, stream: bool | None) -> Opened:
    """Only what is on disk may be read in blocks by itself; what is in memory stays there unless `stream` is True."""
    if stream is None and not isinstance(data, str | os.PathLike | RowSource) and not is_dask(data):
        stream = False
    return open_matrix(data, memory=memory_bytes(memory), stream=stream)


def make_kernel(
    kernel: str | Callable[..., Any],
    rows: Any,
    gamma: float | str | None = None,
    degree: float = 3,
    coef0: float = 1,
    kernel_params: dict[str, Any] | None = None,
) -> Kernel:
    """A kernel with the parameters that the data ask for."""
    if callable(kernel):
        return Kernel("function", 0.0, 0.0, 0.0, kernel, dict(kernel_params or {}))
    if gamma is None:
        gamma = 1.0 / rows.shape[1]
    elif gamma == "median":
        gamma = median_gamma(rows, kernel)
    if isinstance(gamma, str) or not np.isfinite(gamma) or gamma < 0:
        raise ParameterError(f"gamma={gamma!r} is not a width: give a number from 0 on, 'median', or None.")
    return Kernel(kernel, float(gamma), float(degree), float(coef0))


def median_gamma(rows: Any, kernel: str = "rbf") -> float:
    """1 / (2 m^2), m the median distance between rows, of at most 500 of them; 1 where they coincide.

    For the laplacian 1 / m with sums of absolute differences; for poly and sigmoid 1 / mean squared length of a row.
    """
    sample = rows[:: -(-rows.shape[0] // 500)]
    sample = np.asarray(sample.toarray() if is_sparse(sample) else sample, np.float64)
    if kernel in ("poly", "sigmoid"):
        size = float(np.mean(np.einsum("ij,ij->i", sample, sample)))
        return 1.0 / size if size > 0 else 1.0
    from scipy.spatial.distance import pdist

    apart = pdist(sample, "cityblock" if kernel == "laplacian" else "sqeuclidean")
    median = float(np.median(apart)) if apart.size else 0.0
    return (1.0 if kernel == "laplacian" else 0.5) / median if median > 0 else 1.0


def project(decomposition: Decomposition, data: Any) -> Array:
    """Scores of rows: k(x, support) dual - offset, tile by tile."""
    d = decomposition
    opened = open_matrix(data, stream=False)
    if opened.matrix.shape[1] != d.columns:
        raise InputError(
            f"The data have {opened.matrix.shape[1]} columns, and the decomposition was made of {d.columns}. "
            "Give the same columns in the same order."
        )
    if "dual" not in d.parts:
        return project_linear(d, data)
    rows = numbers(opened)
    dtype = np.float32 if str(d.values.dtype) == "float32" and rows.dtype == np.float32 else np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        scores = _kernel_scores(d, rows)
    if not np.isfinite(scores).all():
        raise InputError(f"Overflow in kernel {d.parts['kernel']!r}: its values are beyond float64. Scale the data.")
    return scores.astype(dtype)


def _kernel_scores(d: Decomposition, rows: Any) -> np.ndarray:
    kernel, parts = kernel_of(d), d.parts
    if kernel.name == "precomputed":
        if "pivots" in parts:
            rows = rows[:, parts["pivots"]]
        return np.asarray(rows @ parts["dual"] - parts["offset"])
    kernel = replace(kernel, lowered=bool(parts.get("lowered")))
    # Exponentials have no offset that rounding could be large beside: float32 rows need no more than float32.
    single = kernel.name == "rbf" and rows.dtype == d.values.dtype == np.float32
    precision = "float32" if single else "float64"
    support = kernel.points(parts["support"], parts["shift"], precision)
    dual = np.asarray(parts["dual"], precision)
    result = np.empty((rows.shape[0], dual.shape[1]))

    def step(start: int) -> None:
        stop = min(start + _TILE, rows.shape[0])
        points = kernel.points(alike(rows[start:stop], parts["support"]), parts["shift"], precision)
        total = np.zeros((stop - start, dual.shape[1]))
        for first in range(0, support.count, _TILE):
            total += kernel.tile(points, support.part(first, first + _TILE)) @ dual[first : first + _TILE]
        result[start:stop] = total - parts["offset"]

    each(step, list(range(0, rows.shape[0], _TILE)))
    return result


def reconstruct(
    decomposition: Decomposition, scores: Array, *, how: str = "ridge", alpha: float | str = "auto"
) -> Array:
    """Rows whose images come near the points with these scores: exact for the linear kernel, else a pre-image."""
    d = decomposition
    scores = np.asarray(scores)
    if scores.ndim != 2 or scores.shape[1] != d.k:
        raise InputError(f"Scores of shape {tuple(scores.shape)} do not belong to {d.k} axes: expected (rows, {d.k}).")
    if d.parts["kernel"] == "linear" and "dual" not in d.parts:
        rows = scores @ np.asarray(d.right).T
        return rows + d.mean if d.mean is not None else rows
    return preimages(expansion_of(d), scores, how=how, alpha=alpha).rows.astype(scores.dtype)


def kernel_of(d: Decomposition) -> Kernel:
    parts = d.parts
    if parts["kernel"] == "function":
        return Kernel("function", function=parts["function"], params=parts["kernel_params"])
    return Kernel(parts["kernel"], parts["gamma"], parts["degree"], parts["coef0"])


def expansion_of(d: Decomposition) -> Expansion:
    """The points with given scores as combinations of the support."""
    if d.parts["kernel"] == "precomputed":
        raise InputError("A precomputed kernel says nothing of the rows behind it: there is no way back from scores.")
    wanted = ("support", "shift", "support_scores", "dual", "base", "means", "grand", "offset")
    known: dict[str, Any] = {name: d.parts.get(name) for name in wanted}
    return Expansion(kernel_of(d), **known)


def _with_correlations(d: Decomposition, rows: Any, kernel: Kernel) -> Decomposition:
    """Correlation of the scores with the original columns: what a component has to do with what was measured."""
    if kernel.name == "precomputed":
        return d
    return replace(d, parts={**d.parts, "correlations": correlations(rows, np.asarray(d.left))})


def correlations(rows: Any, scores: np.ndarray) -> np.ndarray:
    """Pearson's correlation of every column with every column of scores; 0 where one of the two does not vary."""
    scores = scores - scores.mean(axis=0)
    if is_sparse(rows):
        mean = np.asarray(rows.mean(axis=0), np.float64).ravel()
        squares = np.asarray(rows.multiply(rows).mean(axis=0), np.float64).ravel() - mean**2
        cross = np.asarray(rows.T @ scores, np.float64)
    else:
        centred = np.asarray(rows, np.float64) - np.mean(rows, axis=0, dtype=np.float64)
        squares = np.einsum("ij,ij->j", centred, centred) / len(centred)
        cross = centred.T @ scores
    size = np.sqrt(np.maximum(squares, 0.0)[:, None] * np.einsum("ij,ij->j", scores, scores) * rows.shape[0])
    result = np.divide(cross, size, out=np.zeros_like(cross), where=size > 0)
    return np.asarray(np.clip(result, -1.0, 1.0))


def _speak_up(d: Decomposition, settings: KernelSettings) -> None:
    missing = d.parts.get("approximation_error", 0.0)
    if missing > settings.approximation_error:
        warnings.warn(
            f"{missing:.2%} of the trace of the kernel is missing from its approximation of rank "
            f"{d.parts['dual'].shape[0]}, and {settings.approximation_error:.2%} was asked for. Allow a higher "
            "max_rank or more memory; the certificate holds as it stands.",
            AccuracyWarning,
            stacklevel=4,
        )
    share = d.parts.get("negative_share", 0.0)
    if share > settings.significant:
        warnings.warn(
            f"The kernel is indefinite: its negative eigenvalues come to {share:.2%} of the positive ones, and no "
            "points have such a kernel. The components found are those of the positive part.",
            DataWarning,
            stacklevel=4,
        )
