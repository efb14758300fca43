"""Non-negative matrix factorisation: A ~ W H with non-negative factors, so that parts only add.

As a Decomposition: left diag(values) right^T = W H with columns of unit length in `left` and `right`; the coordinates
of a row are left * values, and the lengths of the rows of H are in `details.lengths`.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Unpack

import numpy as np

from eckart.arrays import Array, Matrix, astype, dtype_name, from_numpy, is_host, is_numpy, namespace, to_numpy
from eckart.engine.backends.cuda.arrays import on_device_of
from eckart.engine.blocks.reading import in_memory
from eckart.engine.certify import check_range
from eckart.engine.exponent import times_power_of_two
from eckart.engine.settings import generator
from eckart.engine.threads import one_blas_thread, threads
from eckart.errors import AccuracyWarning, InputError
from eckart.formatting import counted
from eckart.nmf.certificate import certificate_of, moved_by_rounding
from eckart.nmf.details import NMFDetails
from eckart.nmf.factors import transposed
from eckart.nmf.fit import Fitted, fit, rows_for
from eckart.nmf.loss import predicted_squares
from eckart.nmf.options import CoordinateOptions, NMFKeywords, NMFOptions, Settings, check_settings
from eckart.nmf.streamed_result import blocks_of, factorise_blocks
from eckart.nmf.table import NonnegativeTable, open_nonnegative
from eckart.result import Decomposition, Plan, SolveInfo, details_of
from eckart.wording import ITERATIONS


def decompose(data: object, **given: Unpack[NMFKeywords]) -> Decomposition[NMFDetails]:
    """Factorise a non-negative table as W H. The options are those of `eckart.NMF`.

    A table too large for `memory` is read in blocks, once per iteration. `stream`, `checkpoint`, `callback` and
    `executor` are as in `eckart.decompose`.

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1.0, 2.0], [2.0, 4.0]], "nmf", k=1, left=True)
    >>> ek.reconstruct(d, d.left * d.values).round(6)
    array([[1., 2.],
           [2., 4.]])
    """
    options = NMFOptions(**given)
    in_blocks = options.checkpoint is not None or options.executor is not None
    blocks = blocks_of(data, options.memory, stream=True if in_blocks else options.stream)
    result = factorise(data, options)[0] if blocks is None else factorise_blocks(blocks, options)
    if not result.details.converged and options.tol > 0.0:
        warnings.warn(
            f"NMF did not converge within {counted(options.max_iter, 'iteration')}. Allow more with {ITERATIONS}.",
            AccuracyWarning,
            stacklevel=4,
        )
    return result


def factorise(data: Matrix, options: NMFOptions) -> tuple[Decomposition[NMFDetails], Array, Array]:
    """(decomposition, W, H) in the dtype, the library and on the device of the data."""
    table = open_nonnegative(data, missing=options.missing)
    settings = check_settings(table.matrix.shape, options)
    seed, random = generator(options.rng)
    callback = options.callback
    with np.errstate(under="ignore", over="ignore"), one_blas_thread(), _there(table):
        report = None if callback is None else in_memory(callback, table.matrix.shape[0], settings.max_iter)
        each = None if report is None else lambda iteration, _objective: report(iteration)
        fitted = fit(table, settings, random, W=options.W, H=options.H, callback=each)
        root = 2.0 ** (-table.exponent / 2)
        rows, columns = (_given_back(factor * root, table) for factor in (fitted.outcome.left, fitted.outcome.right))
        result = _assemble(table, settings, fitted, rows, seed, keep_left=options.left)
    return result, rows, transposed(columns)


def project(d: Decomposition, data: object) -> Array:
    """Coordinates of rows: the closest non-negative combination of the parts, for each row independently."""
    details = details_of(d, NMFDetails)
    lengths = from_numpy(to_numpy(details.lengths), d.right)
    found = coordinates(data, (astype(d.right, lengths.dtype) * lengths).T, details.options)
    return found * _like(lengths, found)


def coordinates(data: object, H: Array, options: CoordinateOptions) -> Array:
    """W for given parts H (k x columns), in the library and on the device of the data."""
    table = open_nonnegative(data, missing=options.missing)
    k, columns = H.shape
    if table.matrix.shape[1] != columns:
        raise InputError(
            f"The data have {counted(table.matrix.shape[1], 'column')}, but the model has {columns}. "
            "Use the same columns in the same order."
        )
    settings = Settings(**vars(options), k=k, init="random", n_runs=1)
    with np.errstate(under="ignore", over="ignore"), one_blas_thread(), _there(table):
        # H is fixed, so the whole scale of the data goes to W, and so do the penalties.
        left = rows_for(table, settings, transposed(_like(H, table.prototype, table.working)))
        return _given_back(times_power_of_two(left, -table.exponent) if table.exponent else left, table)


def reconstruct(d: Decomposition, scores: Array) -> Array:
    """Rows from their coordinates: coordinates right^T."""
    scores = np.asarray(scores) if not hasattr(scores, "shape") else scores
    if scores.ndim != 2 or scores.shape[1] != d.k:
        raise InputError(
            f"Scores must have the shape (rows, {d.k}) for {counted(d.k, 'component')}, but these "
            f"scores have the shape {tuple(scores.shape)}."
        )
    return scores @ _like(d.right, scores).T


def _there(table: NonnegativeTable) -> AbstractContextManager[None]:
    """Run on the device of the data and on the stream of their library."""
    return nullcontext() if is_host(table.prototype) else on_device_of(table.prototype)


def _given_back(factor: Array, table: NonnegativeTable) -> Array:
    """A factor in the precision and on the device of the data, even if NumPy computed it."""
    return astype(from_numpy(factor, table.prototype) if is_numpy(factor) else factor, table.dtype)


def _like(array: Array, prototype: Array, dtype: object = None) -> Array:
    """A host array on the device of `prototype`, in its dtype; arrays already there are unchanged."""
    array = array if type(array) is type(prototype) else from_numpy(to_numpy(array), prototype)
    return astype(array, prototype.dtype if dtype is None else dtype)


def _lengths(factor: Array) -> np.ndarray:
    """Lengths of the columns, on the host."""
    if is_numpy(factor):
        return np.asarray(np.linalg.norm(factor, axis=0))
    xp = namespace(factor)
    return np.asarray(np.sqrt(to_numpy(xp.sum(factor * factor, axis=0, dtype=xp.float64))))


def _sums(factor: Array) -> np.ndarray:
    xp = namespace(factor)
    return to_numpy(xp.sum(factor, axis=0, dtype=xp.float64))


def _unit(factor: Array, lengths: np.ndarray) -> Array:
    """Each column divided by its length."""
    return factor / _like(np.where(lengths > 0, lengths, 1), factor)


def _assemble(
    table: NonnegativeTable,
    settings: Settings,
    fitted: Fitted,
    rows: Array,
    seed: int | None,
    *,
    keep_left: bool,
) -> Decomposition[NMFDetails]:
    shape, outcome = table.matrix.shape, fitted.outcome
    # For the scaled table: squares of entries of about 1e154 overflow.
    widths, lengths = _lengths(outcome.left), _lengths(outcome.right)
    # With unknown entries, the norm is that of the table with their predictions, of which the parts explain shares.
    predicted = predicted_squares(table.matrix, outcome.left, outcome.right) if table.observed else 0.0
    norm = float(np.ldexp(np.sqrt(table.squared_norm + predicted), -table.exponent))
    values = np.ldexp(widths * lengths, -table.exponent)
    check_range(np.append(values, norm), table.dtype, "component lengths")
    moved = moved_by_rounding(widths * lengths, dtype_name(rows), table.exponent)
    off = _root_error(fitted) + (moved if settings.squares else 0.0)
    error = float(_as_given(np.sqrt(2.0 * fitted.loss), table, settings, root=0.5))
    return Decomposition(
        method="nmf",
        values=_like(values, rows),
        right=_given_back(_unit(outcome.right, lengths), table),
        left=_given_back(_unit(outcome.left, widths), table) if keep_left else None,
        rows=shape[0],
        columns=shape[1],
        norm=norm,
        weight=float(shape[0]),
        row_names=table.metadata.row_names,
        column_names=table.metadata.column_names,
        certificate=certificate_of(table, settings, fitted, moved),
        plan=_plan(table, settings),
        info=SolveInfo(
            solver=settings.solver, passes=outcome.iterations, steps=outcome.iterations, seed=seed, threads=threads()
        ),
        details=NMFDetails(
            lengths=np.ldexp(lengths, -table.exponent // 2),
            options=settings.for_coordinates,
            history=_as_given(np.array(outcome.history), table, settings),
            error=error,
            # In units of the data, numbers may be subnormal, and thus rounded.
            error_rounding=float(_as_given(off, table, settings, root=0.5) + np.spacing(error)),
            iterations=outcome.iterations,
            compressed_iterations=fitted.compressed,
            converged=outcome.converged,
            why=outcome.why,
            runs=_as_given(np.array(fitted.losses), table, settings),
            agreement=fitted.agreement,
            sums=_sums(rows),
        ),
    )


def _root_error(fitted: Fitted) -> float:
    """Error of sqrt(2 loss), given the error of the loss."""
    high, low = fitted.loss + fitted.rounding, max(fitted.loss - fitted.rounding, 0.0)
    root = np.sqrt(2.0 * fitted.loss)
    return float(max(np.sqrt(2.0 * high) - root, root - np.sqrt(2.0 * low)))


def _as_given(losses: object, table: NonnegativeTable, settings: Settings, root: float = 1.0) -> Array:
    """Losses (or their roots) in the units of the data; infinite if they overflow."""
    factor = np.exp2(-table.exponent * settings.beta * root)
    return np.where(losses == 0.0, 0.0, losses * factor)


def _plan(table: NonnegativeTable, settings: Settings) -> Plan:
    rows, columns = table.matrix.shape
    by_products = settings.squares and not table.observed
    if settings.solver != "auto":
        why = "The requested solver is used, without acceleration."
    elif by_products:
        why = (
            "NMF uses coordinate descent with extrapolation, in which each step needs only products with "
            "the other factor."
        )
    elif settings.beta == 1.0 or table.observed:
        why = "NMF uses Newton steps with extrapolation, row by row, on the known entries only."
    else:
        why = "NMF uses multiplicative updates, which are computed in tiles of the data."
    itemsize = 4 if table.precision == "float32" else 8
    copy = 0 if table.dense or by_products else int(table.matrix.nnz) * (itemsize + 4)
    return Plan(
        method="nmf", solver=settings.solver, rows=rows, columns=columns, k=settings.k, passes=settings.max_iter,
        peak_bytes=8 * 6 * settings.k * (rows + columns) + copy, why=why,
    )  # fmt: skip
