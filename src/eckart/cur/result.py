"""A CUR as a Decomposition: units, names, proved bounds and a priori bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import Array, Matrix, astype, from_numpy, is_numpy, is_sparse, namespace, to_numpy
from eckart.cur import bounds as cur_bounds
from eckart.cur import core as cur_core
from eckart.cur.core import Core
from eckart.cur.details import Bound, CURDetails, factor_of
from eckart.cur.rank_k import CURSettings, Found, RankComponents, unscaled, working_bytes
from eckart.engine.backends.cuda import device_rows
from eckart.engine.backends.cuda.arrays import on_device_of
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.gather import as_sparse, dense
from eckart.engine.backends.select import backend_of
from eckart.engine.exponent import times_power_of_two
from eckart.engine.matrix import Opened
from eckart.errors import NotFiniteError
from eckart.formatting import counted, percent
from eckart.notes import Note
from eckart.result import Certificate, Decomposition
from eckart.wording import assigned


def assemble(
    opened: Opened, components: RankComponents, found: Found, wanted: CURSettings, *, left: bool
) -> Decomposition[CURDetails]:
    """values = lengths of the columns of C, right = (U R)^T; the rest is in `details`."""
    exponent, matrix = opened.exponent, opened.matrix
    with np.errstate(over="ignore"):
        norm = float(np.ldexp(found.seen.total**0.5, -exponent))
    if not np.isfinite(norm):
        raise NotFiniteError(
            "The sum of the squared entries overflows float64. Divide the data by a large number first."
        )
    kept_columns = _columns(opened, found)
    lengths = np.ldexp(_lengths(kept_columns, exponent), -exponent)
    rows = _times(found.stored_rows, found.rows.scales[:, None], matrix.dtype)
    scaled_rows = times_power_of_two(_dense(found.stored_rows), exponent)
    scaled_rows = scaled_rows * from_numpy(found.rows.scales, scaled_rows)[:, None]
    image = cur_core.times_rows(found.core, found.space, best=wanted.core == "best", rows=scaled_rows)
    notes = _notes(found, wanted)
    metadata = opened.metadata
    unit = np.where(lengths > 0.0, lengths, 1.0)
    assert components.found.plan is not None
    assert components.found.info is not None
    return Decomposition(
        method="cur",
        values=_device(lengths, opened),
        right=_device(np.ascontiguousarray(image.T) if is_numpy(image) else image.T, opened),
        rows=matrix.shape[0],
        columns=matrix.shape[1],
        norm=norm,
        weight=float(matrix.shape[0]),
        left=_device(_dense(kept_columns) / from_numpy(unit, opened.matrix.prototype), opened) if left else None,
        row_names=metadata.row_names,
        column_names=metadata.column_names,
        certificate=_certificate(components, found, lengths, components.found.info.passes + matrix.passes),
        plan=replace(
            components.found.plan,
            method="cur",
            k=found.k,
            passes=components.found.plan.passes + (2 if wanted.select == "norm" else 1),
            peak_bytes=max(components.found.plan.peak_bytes, working_bytes(opened, wanted, found.k)),
            why=(f"{components.found.plan.why} One more pass over the data combines the chosen columns and rows."),
            settings={"select": wanted.select, "core": wanted.core},
        ),
        info=replace(components.found.info, passes=components.found.info.passes + matrix.passes, seed=wanted.seed),
        notes=(*metadata.all_notes, *notes),
        details=_details(opened, components, found, wanted, norm, kept_columns, rows),
    )


def _details(
    opened: Opened, components: RankComponents, found: Found, wanted: CURSettings, norm: float, C: object, R: object
) -> CURDetails:
    metadata, columns, rows = opened.metadata, found.columns, found.rows
    core = _core(found.core, opened.exponent, best=wanted.core == "best")
    error, slack = found.error, found.rounding
    low, high = components.best(found.k)
    ratio = (
        max(0.0, error - slack) / high if high > 0.0 else 1.0,
        (error + slack) / low if low > 0.0 else (1.0 if error + slack == 0.0 else np.inf),
    )
    return CURDetails(
        k=found.k, select=wanted.select, core_kind=wanted.core,
        columns=columns.indices, column_scales=columns.scales, column_times=columns.times,
        rows=rows.indices, row_scales=rows.scales, row_times=rows.times,
        C=as_sparse(C) if isinstance(C, DeviceCsr) else C, R=as_sparse(R) if isinstance(R, DeviceCsr) else R,
        core=factor_of(core, opened.matrix.prototype),
        error=error * norm, error_rounding=slack * norm + float(np.spacing(error * norm)), relative_error=error,
        best_error=(_outwards(low * norm, 0.0), _outwards(high * norm, np.inf)), ratio=ratio,
        bounds=_bounds(components, found, wanted, norm),
        chosen_column_names=_chosen_names(metadata.column_names, columns.indices),
        chosen_row_names=_chosen_names(metadata.row_names, rows.indices),
    )  # fmt: skip


def _outwards(bound: float, away: float) -> float:
    """A bound in the units of the data, where it may be subnormal and thus rounded."""
    return float(np.nextafter(bound, away)) if bound > 0.0 else 0.0


def _chosen_names(names: tuple[str, ...] | None, indices: np.ndarray) -> tuple[str, ...] | None:
    return None if names is None else tuple(names[index] for index in indices)


def _columns(opened: Opened, found: Found) -> Matrix:
    """C, sparse if the data are, in their units and dtype."""
    matrix, pieces = opened.matrix, found.seen.stored
    if pieces[0] is None:
        # Arrays on a device are used as given.
        whole = matrix.backend.take_columns(matrix.matrix, found.columns.indices)
        whole = unscaled(opened, whole) if matrix.sparse else whole
    elif is_sparse(pieces[0]):
        from scipy import sparse

        whole = sparse.vstack(pieces, format="csr")[:, found.kept]
        whole.data = np.ldexp(whole.data, -opened.exponent)
    else:
        whole = np.ldexp(np.concatenate(pieces)[:, found.kept], -opened.exponent)
    scaled = _times(whole, found.columns.scales, matrix.dtype)
    return scaled if is_sparse(scaled) or isinstance(scaled, DeviceCsr) else _device(scaled, opened)


def _times(stored: Matrix, scales: np.ndarray, dtype: object) -> Matrix:
    """Entries times the scales of their columns (one number each) or rows (a column of numbers)."""
    plain = bool(np.all(scales == 1.0))
    if isinstance(stored, DeviceCsr):
        return stored if plain else _times_stored(stored, scales)
    if is_sparse(stored):
        from scipy import sparse

        if plain:
            return stored
        return sparse.csr_array(stored.astype(np.float64).multiply(scales)).astype(stored.dtype)
    if plain:
        return stored if "int" not in str(stored.dtype) and "bool" not in str(stored.dtype) else astype(stored, dtype)
    return astype(astype(stored, namespace(stored).float64) * from_numpy(scales, stored), dtype)


def _times_stored(stored: DeviceCsr, scales: np.ndarray) -> DeviceCsr:
    scale = device_rows.scale_columns if scales.ndim == 1 else device_rows.scale_rows
    with on_device_of(stored.prototype):
        return scale(stored.astype(np.float64), scales.ravel()).astype(stored.dtype)


def _dense(stored: Matrix) -> Array:
    """As a dense float64 array on the same device."""
    if isinstance(stored, DeviceCsr):
        return dense(stored)
    whole = stored.toarray() if is_sparse(stored) else stored
    return astype(whole, namespace(whole).float64)


def _lengths(columns: Matrix, exponent: int) -> np.ndarray:
    """Lengths of the columns, in the units of the opened matrix, on the host."""
    if is_sparse(columns):
        squares = np.ldexp(columns.data.astype(np.float64), exponent) ** 2
        return np.asarray(np.sqrt(np.bincount(columns.indices, weights=squares, minlength=columns.shape[1])))
    whole = times_power_of_two(_dense(columns), exponent)
    if is_numpy(whole):
        return np.asarray(np.linalg.norm(whole, axis=0))
    return np.asarray(np.sqrt(to_numpy(namespace(whole).sum(whole * whole, axis=0))))


def _device(numbers: Array, opened: Opened) -> Array:
    there = from_numpy(numbers, opened.matrix.prototype) if is_numpy(numbers) else numbers
    return astype(there, opened.matrix.dtype)


def _core(core: Core, exponent: int, *, best: bool) -> Core:
    """The core in the units of the data: C U R has these units, so U has their inverse."""
    values = np.ldexp(core.left_values, -exponent)
    if not best:
        return replace(core, left_values=values)
    middle, right = np.ldexp(core.middle, -exponent), np.ldexp(core.right_values, -exponent)
    return replace(core, left_values=values, middle=middle, right_values=right)


def _bounds(components: RankComponents, found: Found, wanted: CURSettings, norm: float) -> dict[str, Bound]:
    k, (columns, rows), best = found.k, found.asked, components.best(found.k)[1] * norm
    fits, rounding = wanted.core == "best", found.rounding * norm
    drawn = fits and wanted.select == "norm" and wanted.cutoff is None
    bounds = {
        "additive": cur_bounds.additive(k, columns, rows, best, norm, rounding, drawn=drawn),
        "relative": cur_bounds.relative(k, columns, rows, best, drawn=fits and wanted.select == "leverage"),
    }
    used = min(k, components.rank)
    enough = fits and 0 < used <= min(len(found.columns.indices), len(found.rows.indices))
    if wanted.select == "volume" and enough:
        bounds["volume"] = cur_bounds.volume(used, best, rounding)
    if wanted.select == "pivot" and enough and components.left is not None:
        right = _taken(components.right, found.columns.indices, used)
        bounds["pivot"] = cur_bounds.pivot(right, _taken(components.left, found.rows.indices, used), best, rounding)
    return bounds


def _taken(vectors: Array, indices: np.ndarray, count: int) -> np.ndarray:
    """Some rows of the first `count` singular vectors."""
    return to_numpy(backend_of(vectors).take_rows(vectors, indices))[:, :count]


def shortages(found: Found, wanted: CURSettings) -> list[Note]:
    """Notes on fewer independent columns or rows than requested."""
    if wanted.select == "norm" or found.seen.total == 0.0:
        return []
    counts = (
        ("columns", wanted.n_columns or found.k, len(found.columns.indices)),
        ("rows", wanted.n_rows or found.k, len(found.rows.indices)),
    )
    return [
        Note(
            "fewer_independent",
            f"{asked} {name} were requested, but only {counted(kept, 'is', 'are')} linearly "
            f"independent. The other {name} were dropped.",
        )
        for name, asked, kept in counts
        if kept < asked
    ]


def _notes(found: Found, wanted: CURSettings) -> tuple[Note, ...]:
    if found.seen.total == 0.0:
        return (Note("zero_matrix", "The matrix is zero, so any column and any row explain it."),)
    return (*_worse_than_zero(found, wanted), *_notes_on_choice(found, wanted))


def _worse_than_zero(found: Found, wanted: CURSettings) -> tuple[Note, ...]:
    if found.error <= 1.0:
        return ()
    text = "The error is larger than the norm of the data, so the approximation explains 0 % of them."
    if wanted.core == "intersection":
        text = f"{text} The intersection is nearly singular. Use {assigned('core', 'best')}."
    return (Note("worse_than_zero", text),)


def _notes_on_choice(found: Found, wanted: CURSettings) -> tuple[Note, ...]:
    if wanted.select != "norm":
        return tuple(shortages(found, wanted))
    drawn = (("columns", found.columns, found.rank[0]), ("rows", found.rows, found.rank[1]))
    return tuple(
        Note(
            "repeated_draws",
            f"{len(chosen.indices)} different {name} were drawn, of which {counted(rank, 'is', 'are')} "
            "linearly independent.",
        )
        for name, chosen, rank in drawn
        if rank < len(chosen.indices)
    )


def _certificate(components: RankComponents, found: Found, lengths: np.ndarray, passes: int) -> Certificate:
    proof = components.found.certificate
    assert proof is not None
    count = min(len(found.columns.indices), len(found.rows.indices))
    captured = max(0.0, 1.0 - (found.error + found.rounding) ** 2)
    unit = float(np.finfo(np.float64).eps) * lengths
    return Certificate(
        explained=(captured, max(captured, components.captured(max(count, found.k))[1])),
        lower=lengths - unit,
        upper=lengths + unit,
        residuals=np.zeros(len(lengths)),
        angle=1.0,
        failure_probability=proof.failure_probability,
        rounding=proof.rounding,
        tolerance=proof.tolerance,
        proved=proof.proved and found.missed is None,
        passes=passes,
        summary=_summary(components, found),
    )


def _summary(components: RankComponents, found: Found) -> str:
    low, high = components.best(found.k)
    columns, rows = len(found.columns.indices), len(found.rows.indices)
    taken = f"{columns} column{'s' if columns > 1 else ''} and {rows} row{'s' if rows > 1 else ''}"
    best = f"{percent(high, 4)}" if high - low < 1e-6 else f"{percent(low, 4)} to {percent(high, 4)}"
    ratio = f", {found.error / high:.3f} times the best possible error" if high > 1e-12 else ""
    missed = "" if found.missed is None else f" The requested error of {found.missed:.3g} could not be proved."
    return (
        f"{taken} leave a relative error of {percent(found.error, 4)}{ratio}; the best approximation "
        f"of rank {found.k} leaves {best}.{missed}"
    )
