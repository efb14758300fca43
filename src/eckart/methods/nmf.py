"""Non-negative matrix factorisation: A ~ W H with nothing negative, so that parts are only ever added.

As a Decomposition: left diag(values) right^T = W H with columns of unit length in `left` and `right`; the coordinates
of a row are left * values, and the lengths of the rows of H are in `parts["lengths"]`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from eckart.array_api import Array, from_numpy, is_array, to_numpy
from eckart.decomposition import Decomposition, Plan, SolveInfo
from eckart.errors import AccuracyWarning, InputError
from eckart.methods.nmf_blocks_result import blocks_of, factorise_blocks
from eckart.methods.nmf_fit import Fitted, Watch, certificate_of, fit, rows_for
from eckart.methods.nmf_settings import Settings, check_settings
from eckart.methods.nmf_table import Table, open_table
from eckart.settings import generator
from eckart.threads import one_blas_thread, threads


def decompose(
    data: Any,
    *,
    k: int | None = None,
    init: str | None = None,
    solver: str = "auto",
    beta_loss: str | float = "frobenius",
    tol: float = 1e-4,
    max_iter: int = 200,
    rng: Any = None,
    alpha_W: float = 0.0,
    alpha_H: float | str = "same",
    l1_ratio: float = 0.0,
    missing: str = "error",
    n_runs: int = 1,
    left: bool = False,
    W: Any = None,
    H: Any = None,
    memory: str | int | None = None,
    stream: bool | None = None,
    checkpoint: Any = None,
    watch: Any = None,
    executor: Any = None,
) -> Decomposition:
    """Parts of a table: W H nearest to A, nothing negative; the options are those of `eckart.NMF`.

    A table too large for `memory` is read in blocks, once per iteration; `stream`, `checkpoint`, `watch` and `executor`
    are those of `eckart.decompose` for the others.

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1.0, 2.0], [2.0, 4.0]], "nmf", k=1, left=True)
    >>> ek.reconstruct(d, d.left * d.values).round(6)
    array([[1., 2.],
           [2., 4.]])
    """
    options: dict[str, Any] = {
        "init": init, "solver": solver, "beta_loss": beta_loss, "tol": tol, "max_iter": max_iter, "alpha_W": alpha_W,
        "alpha_H": alpha_H, "l1_ratio": l1_ratio, "missing": missing, "n_runs": n_runs,
    }  # fmt: skip
    blocks = blocks_of(data, memory, stream=True if checkpoint is not None or executor is not None else stream)
    if blocks is not None:
        result = factorise_blocks(
            blocks, k=k, rng=rng, keep_left=left, H=H, checkpoint=checkpoint, watch=watch, executor=executor, **options
        )
    else:
        result, _, _ = factorise(data, k=k, rng=rng, keep_left=left, W=W, H=H, **options)
    if not result.parts["converged"] and tol > 0.0:
        warnings.warn(
            f"All {max_iter} iterations were used before the tolerance was reached. Allow more with max_iter.",
            AccuracyWarning,
            stacklevel=4,
        )
    return result


def factorise(
    data: Any, *, k: int | None, rng: Any, keep_left: bool, W: Any = None, H: Any = None, watch: Watch | None = None,
    **options: Any,
) -> tuple[Decomposition, np.ndarray, np.ndarray]:  # fmt: skip
    """(decomposition, W, H) in the dtype of the data."""
    table = open_table(data, missing=options["missing"])
    settings = check_settings(table.matrix.shape, k=table.matrix.shape[1] if k is None else k, **options)
    seed, random = generator(rng)
    with np.errstate(under="ignore", over="ignore"), one_blas_thread():
        fitted = fit(table, settings, random, W=W, H=H, watch=watch)
        root = 2.0 ** (-table.exponent / 2)
        rows, columns = ((factor * root).astype(table.dtype) for factor in (fitted.outcome.left, fitted.outcome.right))
        result = _assemble(table, settings, fitted, rows, columns, seed, keep_left=keep_left, like=data)
    return result, rows, np.ascontiguousarray(columns.T)


def project(d: Decomposition, data: Any) -> Array:
    """Coordinates of rows: the non-negative combination of the parts that comes nearest, each row by itself."""
    lengths = to_numpy(d.parts["lengths"])
    H = (to_numpy(d.right) * lengths).T
    return from_numpy(coordinates(data, H, d.parts["options"]) * lengths, d.right)


def coordinates(data: Any, H: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """W for given parts H (k x columns)."""
    table = open_table(data, missing=options["missing"])
    k, columns = H.shape
    if table.matrix.shape[1] != columns:
        raise InputError(
            f"The data have {table.matrix.shape[1]} columns, and the parts were made of {columns}. "
            "Give the same columns in the same order."
        )
    settings = check_settings(table.matrix.shape, k=k, init="random", n_runs=1, **options)
    factor = 2.0**table.exponent
    with np.errstate(under="ignore", over="ignore"), one_blas_thread():
        # H stays as it is, so all of the scale of the data goes to W, and so do the penalties.
        left = rows_for(table, settings, np.ascontiguousarray(H.T, dtype=np.float64))
        return np.asarray((left / factor).astype(table.dtype))


def reconstruct(d: Decomposition, scores: Array) -> Array:
    """Rows from their coordinates: coordinates right^T."""
    scores = np.asarray(scores) if not hasattr(scores, "shape") else scores
    if scores.ndim != 2 or scores.shape[1] != d.k:
        raise InputError(f"Scores of shape {tuple(scores.shape)} do not belong to {d.k} parts: expected (rows, {d.k}).")
    return scores @ d.right.T


def _assemble(
    table: Table, settings: Settings, fitted: Fitted, rows: np.ndarray, columns: np.ndarray, seed: int | None, *,
    keep_left: bool, like: Any,
) -> Decomposition:  # fmt: skip
    widths, lengths = np.linalg.norm(rows, axis=0), np.linalg.norm(columns, axis=0)
    shape, outcome = table.matrix.shape, fitted.outcome
    like = like if is_array(like) else rows
    unit = from_numpy(rows / np.where(widths > 0, widths, 1), like) if keep_left else None
    return Decomposition(
        method="nmf",
        values=from_numpy(widths * lengths, like),
        right=from_numpy(columns / np.where(lengths > 0, lengths, 1), like),
        left=unit,
        rows=shape[0],
        columns=shape[1],
        norm=float(np.ldexp(np.sqrt(table.squared_norm), -table.exponent)),
        weight=float(shape[0]),
        row_names=table.about.row_names,
        column_names=table.about.column_names,
        certificate=certificate_of(table, settings, fitted),
        plan=_plan(table, settings),
        info=SolveInfo(
            solver=settings.solver, reads=outcome.iterations, steps=outcome.iterations, seed=seed, threads=threads()
        ),
        parts={
            "lengths": lengths,
            "options": _options(settings),
            "history": _as_given(np.array(outcome.history), table, settings),
            "error": float(_as_given(np.sqrt(2.0 * fitted.loss), table, settings, root=0.5)),
            "iterations": outcome.iterations,
            "compressed_iterations": fitted.compressed,
            "converged": outcome.converged,
            "why": outcome.why,
            "runs": _as_given(np.array(fitted.losses), table, settings),
            "agreement": fitted.agreement,
            "sums": rows.sum(axis=0, dtype=np.float64),
        },
    )


def _as_given(losses: Any, table: Table, settings: Settings, root: float = 1.0) -> Any:
    """Losses (or their roots) of the data as they were given; infinite where they are beyond the range of numbers."""
    factor = np.exp2(-table.exponent * settings.beta * root)
    return np.where(losses == 0.0, 0.0, losses * factor)


def _options(settings: Settings) -> dict[str, Any]:
    """What `project` needs to know."""
    names = ("solver", "tol", "max_iter", "alpha_W", "alpha_H", "l1_ratio", "missing")
    return {"beta_loss": settings.beta, **{name: getattr(settings, name) for name in names}}


def _plan(table: Table, settings: Settings) -> Plan:
    rows, columns = table.matrix.shape
    entries = rows * columns if table.dense else int(table.matrix.nnz)
    if settings.squares and not table.observed:
        why = "Coordinate descent from the products with the other factor, extrapolated."
    elif settings.beta == 1.0 or table.observed:
        why = "Newton steps over the known entries, row by row, extrapolated."
    else:
        why = "Multiplicative updates, a tile at a time."
    if settings.solver != "auto":
        why = "As asked for, without acceleration."
    copy = 0 if table.dense or (settings.squares and not table.observed) else entries * (table.dtype.itemsize + 4)
    return Plan(
        method="nmf", solver=settings.solver, rows=rows, columns=columns, k=settings.k, reads=settings.max_iter,
        peak_bytes=8 * 6 * settings.k * (rows + columns) + copy, why=why,
    )  # fmt: skip
