"""Kernel PCA: H K H ~ left diag(values^2) left^T, the principal components of the points phi(x) that K compares.

A component is a combination of the data points, v_k = sum_i dual_ik phi(x_i), of unit length (a^T K a = 1). The score
of a point is k(x, support) dual - offset: its kernel with the support, centred. With the linear kernel this is PCA.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import (
    Array,
    astype,
    device,
    dtype_name,
    from_numpy,
    is_array,
    is_host,
    is_numpy,
    is_sparse,
    namespace,
    refuse_other_device,
    to_numpy,
)  # fmt: skip
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.blocks.dask_rows import is_dask
from eckart.engine.blocks.source import RowSource
from eckart.engine.matrix import Opened
from eckart.engine.parallel import each
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError, ParameterError
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix
from eckart.kernel_pca.constants import DEVICE_SCORE_TILE, SCORE_ENTRIES, SCORE_TILE
from eckart.kernel_pca.details import KernelPCADetails
from eckart.kernel_pca.exact import solve
from eckart.kernel_pca.kernel_functions import Kernel, column_means, doubles, in_format_of
from eckart.kernel_pca.linear import linear_components, linear_rows, project_linear
from eckart.kernel_pca.options import KernelPCAKeywords, KernelPCAOptions, check_kernel, table
from eckart.kernel_pca.preimage import Expansion, preimages
from eckart.kernel_pca.result import warn_if_unconverged
from eckart.kernel_pca.streamed import median_rows, solve_blocks
from eckart.kernel_pca.widths import NAMED, named_gamma
from eckart.notes import Note
from eckart.options import memory_bytes
from eckart.result import Decomposition, details_of

if TYPE_CHECKING:
    from eckart.arrays import Matrix


def decompose(data: object, **given: Unpack[KernelPCAKeywords]) -> Decomposition[KernelPCADetails]:
    """The leading components of a kernel, with a certificate for that kernel.

    k, explain : number of components, or the share of the positive eigenvalues to explain; all components that
        are not zero if neither is given.
    gamma : a number, "auto", "local" or "median" for a width derived from distances between rows (`named_gamma`), or
        None for 1 / columns.
    solver : "auto", "direct", "lanczos" or "cholesky". The last approximates K by randomly pivoted Cholesky until at
        most `approximation_error` of its trace is missing, or `max_rank` rows are used. "auto" does so for data too
        large to keep or recompute tiles.
    stream, callback : rows too large for `memory` are read in blocks, a few times, and approximated in the same way,
        with only the chosen rows in memory; `stream` overrides the choice. `callback` is called after every block, and
        after every pass over a kernel in memory.

    Dense PyTorch and CuPy rows are processed on their device, and the results stay there. Sparse rows on a GPU, and
    kernels that are Python functions, are processed on the host, with a note.
    """
    options = KernelPCAOptions(**given)
    opened = _opened(data, options.memory, options.stream)
    settings = check_kernel(opened.matrix.shape, options)
    if not opened.matrix.resident:
        opened.matrix.reading.callback = options.callback
        some = median_rows(opened) if options.gamma in NAMED else _Columns(opened.matrix.shape)
        chosen, width = _kernel_of(some, options)
        result = solve_blocks(opened, chosen, settings)
        result = replace(result, notes=(*result.notes, *width))
        warn_if_unconverged(result, settings)
        return result
    rows, notes = _at_hand(opened, options.kernel)
    with one_blas_thread():  # more threads would sum in another order
        chosen, width = _kernel_of(rows, options)
        if chosen.name in ("linear", "cosine"):
            result = linear_components(opened, rows, chosen, settings)
        else:
            result = solve(opened, rows, chosen, settings)
        more = (*notes, *width)
        result = replace(result, notes=(*result.notes, *more)) if more else result
        result = _with_correlations(result, rows, chosen)
    warn_if_unconverged(result, settings)
    return result if options.left else replace(result, left=None)


def _kernel_of(rows: Matrix | _Columns, options: KernelPCAOptions) -> tuple[Kernel, tuple[Note, ...]]:
    """The kernel, with a width derived from the rows if it is named, and a note on that width."""
    kernel, gamma = options.kernel, options.gamma
    notes: tuple[Note, ...] = ()
    if isinstance(gamma, str) and gamma in NAMED and isinstance(kernel, str):
        gamma, notes = named_gamma(rows, kernel, gamma)
    return make_kernel(kernel, rows, gamma, options.degree, options.coef0, options.kernel_params), notes


def _at_hand(opened: Opened, kernel: object) -> tuple[Matrix, tuple[Note, ...]]:
    """The rows on the device that processes them, and a note if that is another device."""
    rows = table(opened)
    if isinstance(opened.matrix.matrix, DeviceCsr):
        return rows, (
            Note("computed_on_host", "The rows are sparse and on a GPU, so the kernel was computed on the CPU."),
        )
    if callable(kernel) and not is_sparse(rows) and not is_numpy(rows):
        return to_numpy(rows), (
            Note("computed_on_host", "The kernel is a Python function of two rows, so it was called on the host."),
        )
    return rows, ()


@dataclass(frozen=True)
class _Columns:
    """The part of a table that determines the default width of a kernel."""

    shape: tuple[int, int]


def _opened(data: object, memory: str | int | None, stream: bool | None) -> Opened:
    """Open the data: only files may be read in blocks automatically.

    Data in memory stay there unless `stream` is True.
    """
    # Arrays first: whether something is a RowSource takes as long as a product of a hundred rows.
    if stream is None and (is_numpy(data) or not (isinstance(data, str | os.PathLike | RowSource) or is_dask(data))):
        stream = False
    return open_matrix(data, memory=memory_bytes(memory), stream=stream)


def make_kernel(
    kernel: str | Callable[..., float],
    rows: Matrix,
    gamma: float | str | None = None,
    degree: float = 3,
    coef0: float = 1,
    kernel_params: Keywords | None = None,
) -> Kernel:
    """A kernel; None for `gamma` is 1 / columns."""
    if callable(kernel):
        return Kernel("function", 0.0, 0.0, 0.0, kernel, dict(kernel_params or {}))
    if gamma is None:
        gamma = 1.0 / rows.shape[1]
    if isinstance(gamma, str) or not np.isfinite(gamma) or gamma < 0:
        raise ParameterError(
            f"gamma={gamma!r} is not valid. Use a non-negative number, 'auto', 'local', 'median' or None."
        )
    return Kernel(kernel, float(gamma), float(degree), float(coef0))


def project(decomposition: Decomposition[KernelPCADetails], data: object) -> Array:
    """Scores of rows: k(x, support) dual - offset, tile by tile."""
    d = decomposition
    opened = open_matrix(data, stream=False)
    if opened.matrix.shape[1] != d.columns:
        raise InputError(
            f"The data have {counted(opened.matrix.shape[1], 'column')}, but the decomposition has {d.columns}. "
            "Use the same columns in the same order."
        )
    details = details_of(d, KernelPCADetails)
    if details.dual is None:
        return project_linear(d, data)
    rows = table(opened)
    if _stays_on_host(d) and not is_sparse(rows):
        rows = to_numpy(rows)
    d = on_device_of(d, rows)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = _kernel_scores(d, rows)
    xp = namespace(scores)
    if not bool(xp.all(xp.isfinite(scores))):
        raise InputError(
            f"Overflow in kernel {details.kernel!r}: its values exceed the range of float64. Divide "
            "the data by a large number first."
        )
    return astype(scores, xp.float32 if dtype_name(d.values) == dtype_name(rows) == "float32" else xp.float64)


_ARRAYS = ("support", "shift", "support_scores", "dual", "base", "means", "offset")


def on_device_of(d: Decomposition[KernelPCADetails], rows: Matrix) -> Decomposition[KernelPCADetails]:
    """The decomposition with its arrays on the device of the rows; a model on a GPU accepts only rows on that GPU."""
    prototype = np.empty(0) if is_sparse(rows) else rows[:0, :0]
    if type(d.values) is type(prototype) and device(d.values) == device(prototype):
        return d
    if not is_numpy(d.values):
        refuse_other_device(d.values, prototype, "The decomposition")
    details = details_of(d, KernelPCADetails)
    arrays = {name: getattr(details, name) for name in _ARRAYS}
    moved = {name: from_numpy(value, prototype) for name, value in arrays.items() if isinstance(value, np.ndarray)}
    return replace(d, values=from_numpy(d.values, prototype), details=replace(details, **moved))


def _kernel_scores(d: Decomposition, rows: Matrix) -> Array:
    kernel, details = kernel_of(d), details_of(d, KernelPCADetails)
    if kernel.name == "precomputed":
        if details.pivots is not None:
            rows = rows[:, details.pivots] if is_sparse(rows) or is_numpy(rows) else _columns(rows, details.pivots)
        return np.asarray(rows @ details.dual - details.offset) if is_sparse(rows) or is_numpy(rows) else (
            doubles(rows) @ details.dual - details.offset
        )  # fmt: skip
    kernel = replace(kernel, lowered=details.lowered)
    # Exponentials have no offset that would amplify rounding: float32 is enough for float32 rows.
    single = kernel.name == "rbf" and dtype_name(rows) == dtype_name(d.values) == "float32"
    precision = "float32" if single else "float64"
    support = kernel.points(details.support, details.shift, precision)
    xp = namespace(details.dual)
    dual = astype(details.dual, getattr(xp, precision))
    result = xp.empty((rows.shape[0], dual.shape[1]), dtype=xp.float64, device=device(dual))
    tile, height = _tile_shape(dual)

    def step(start: int) -> None:
        stop = min(start + height, rows.shape[0])
        points = kernel.points(in_format_of(rows[start:stop], details.support), details.shift, precision)
        total = xp.zeros((stop - start, dual.shape[1]), dtype=xp.float64, device=device(dual))
        for first in range(0, support.count, tile):
            made = kernel.tile(points, support.part(first, first + tile))
            total += made @ astype(dual[first : first + tile, :], made.dtype)
        result[start:stop, :] = total - details.offset

    each(step, list(range(0, rows.shape[0], height)), workers=None if is_numpy(dual) else 1)
    return result


def _tile_shape(dual: Array) -> tuple[int, int]:
    """(points of the support, rows) of a tile of scores."""
    if is_host(dual):
        return SCORE_TILE, SCORE_TILE
    tile = min(DEVICE_SCORE_TILE, dual.shape[0])
    return tile, max(DEVICE_SCORE_TILE, SCORE_ENTRIES // tile)


def _columns(rows: Array, index: np.ndarray) -> Array:
    return namespace(rows).take(rows, from_numpy(index, rows), axis=1)


def reconstruct(
    decomposition: Decomposition[KernelPCADetails], scores: Array, *, how: str = "ridge", alpha: float | str = "auto"
) -> Array:
    """Rows whose images are close to the points with these scores: exact for a linear kernel, else pre-images."""
    d = decomposition
    scores = scores if is_array(scores) else np.asarray(scores)
    if scores.ndim != 2 or scores.shape[1] != d.k:
        raise InputError(
            f"Scores must have the shape (rows, {d.k}) for {counted(d.k, 'component')}, but these "
            f"scores have the shape {tuple(scores.shape)}."
        )
    if not scores.shape[0]:
        return from_numpy(np.empty((0, d.columns), dtype_name(scores)), scores)
    if details_of(d, KernelPCADetails).is_linear:
        return linear_rows(d, scores)
    scores, d = scores_with_model(d, scores)
    rows = preimages(expansion_of(d), scores, how=how, alpha=alpha, measure=False).rows
    return astype(rows, scores.dtype)


def scores_with_model(
    d: Decomposition[KernelPCADetails], scores: Array
) -> tuple[Array, Decomposition[KernelPCADetails]]:
    """Scores and decomposition on the same device; on the host if the decomposition can only be there."""
    if _stays_on_host(d):
        scores = to_numpy(scores)
    return scores, on_device_of(d, scores)


def _stays_on_host(d: Decomposition) -> bool:
    details = details_of(d, KernelPCADetails)
    return details.kernel == "function" or is_sparse(details.support)


def kernel_of(d: Decomposition) -> Kernel:
    details = details_of(d, KernelPCADetails)
    if details.kernel == "function":
        return Kernel("function", function=details.function, params=dict(details.kernel_params or {}))
    return Kernel(details.kernel, details.gamma or 0.0, details.degree, details.coef0)


def expansion_of(d: Decomposition) -> Expansion:
    """The points with given scores as combinations of the support."""
    details = details_of(d, KernelPCADetails)
    if details.kernel == "precomputed":
        raise InputError("A precomputed kernel does not contain the rows, so they cannot be reconstructed.")
    wanted = ("support", "shift", "support_scores", "dual", "base", "means", "grand", "offset")
    known: Keywords = {name: getattr(details, name) for name in wanted}
    return Expansion(kernel_of(d), **known)


def _with_correlations(
    d: Decomposition[KernelPCADetails], rows: object, kernel: Kernel
) -> Decomposition[KernelPCADetails]:
    """Correlation of the scores with the original columns, which relates components to the measured variables."""
    if kernel.name == "precomputed":
        return d
    return replace(d, details=replace(d.details, correlations=correlations(rows, d.left)))


def correlations(rows: Matrix, scores: Array) -> Array:
    """Pearson correlation of every column with every column of scores; 0 if one of the two does not vary."""
    xp = namespace(scores)
    scores = scores - xp.mean(scores, axis=0)
    if is_sparse(rows):
        mean = np.asarray(rows.mean(axis=0), np.float64).ravel()
        squares = np.asarray(rows.multiply(rows).mean(axis=0), np.float64).ravel() - mean**2
        cross = np.asarray(rows.T @ scores, np.float64)
    else:
        centred = doubles(rows) - column_means(rows)
        squares = _column_squares(centred) / centred.shape[0]
        cross = centred.T @ (scores if is_numpy(scores) else doubles(scores))
    spread = xp.where(squares > 0, squares, xp.zeros_like(squares))
    size = xp.sqrt(spread[:, None] * _column_squares(scores) * rows.shape[0])
    result = xp.where(size > 0, cross / xp.where(size > 0, size, xp.ones_like(size)), xp.zeros_like(cross))
    return xp.clip(result, -1.0, 1.0)


def _column_squares(columns: Array) -> Array:
    if is_numpy(columns):
        return np.asarray(np.einsum("ij,ij->j", columns, columns))
    columns = doubles(columns)
    return namespace(columns).sum(columns * columns, axis=0)
