"""Messages about imputation: refusals of tables that cannot be filled, and notes on what was filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.blocks.dask_rows import DaskRows
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.errors import InputError
from eckart.formatting import counted, percent
from eckart.notes import Note
from eckart.wording import either

if TYPE_CHECKING:
    from eckart.missing.fill import Filled


def refuse_blocks(opened: Opened) -> None:
    if opened.matrix.resident:
        return
    if isinstance(opened.matrix.source, DaskRows):
        raise InputError(
            "Missing values can be imputed only in memory, but Dask data are always read in blocks. If the table fits "
            "into memory, pass data.compute(); otherwise impute the values with Dask first."
        )
    raise InputError(
        "Missing values can be imputed only in memory, but this table is read in blocks. "
        f"{either('Use stream=False and allow more memory', 'Allow more memory with --memory')}, "
        "or impute the values first with eckart.fill_missing on a machine with more memory."
    )


def refuse(table: np.ndarray, gone: np.ndarray, opened: Opened) -> None:
    if np.isinf(table).any():
        refuse_not_finite(np.where(gone, 0.0, table), opened.metadata)
    refuse_columns(np.flatnonzero(gone.all(axis=0)), opened)


def refuse_columns(empty: np.ndarray, opened: Opened) -> None:
    if not empty.size:
        return
    names = opened.metadata.column_names
    listed = ", ".join(repr(names[j]) if names else str(j + 1) for j in empty[:5])
    listed += (", ..." if len(empty) > 5 else "") + ("" if names else " (counted from 1)")
    raise InputError(
        Note(
            "empty_rows",
            f"{counted(len(empty), 'column contains', 'columns contain')} no values, so nothing can "
            f"be imputed: {listed}. Leave out such columns.",
        )
    )


def imputation_notes(filled: Filled, shape: tuple[int, int], gone: np.ndarray | None) -> tuple[Note, ...]:
    """Notes on what was imputed, how, and how accurate it is."""
    count = len(filled.values)
    if not count:
        return ()
    touched = len(np.unique(filled.columns))
    cells = shape[0] * shape[1]
    share = percent(count / cells, 2)
    seen = (
        f"{count:,} of {cells:,} values ({share}) {'was' if count == 1 else 'were'} missing, in {touched:,} of "
        f"{shape[1]:,} columns"
    )
    notes = [Note("imputed", f"{seen}. {_way(filled)} All bounds refer to the table with imputed values.")]
    if gone is not None and (empty := int(gone.all(axis=1).sum())):
        notes.append(
            Note(
                "empty_rows",
                f"{counted(empty, 'row without any values was', 'rows without any values were')} filled with the "
                "column means.",
            )
        )
    if not filled.converged:
        notes.append(
            Note(
                "imputation_unconverged",
                f"The imputed values had not converged after {counted(filled.steps, 'iteration')}.",
            )
        )
    return tuple(notes)


def _way(filled: Filled) -> str:
    if filled.how == "mean":
        return (
            "Missing values were replaced by the means of their columns. This understates variances "
            "and correlations: an imputed value is off by about one standard deviation."
        )
    components = f"{filled.k} component{'s' * (filled.k != 1)}"
    model = f"all {components} and {percent(filled.shrink, 2)} noise" if filled.shrink else components
    sentence = f"Missing values were imputed by EM with {model}, in {counted(filled.steps, 'iteration')}."
    if filled.error is None:
        return sentence
    return (
        f"{sentence} On held-out values, the typical error is {filled.error:.2f} standard deviations "
        f"of the column (with column means: {filled.error_of_means:.2f})."
    )
