"""Columns that say nothing about noise: constant ones, and exact multiples of another column.

A constant column has no noise, and a copy has the noise of its original: tests against independent noise in all columns
would count the copies as components. Descriptive rules keep the copies, which are part of the variance to describe.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import to_numpy
from eckart.engine.matrix import Opened, as_given
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix
from eckart.notes import Note

_LARGEST = 4_000_000
"""Tables with more entries are not checked, and those with more columns than _WIDEST."""
_WIDEST = 3000
_EXACT = 1e-12
"""Columns are multiples of each other if their squared correlation is this close to 1."""
_FEWEST = 4
"""With fewer degrees of freedom, unrelated columns are nearly multiples by chance."""


def without_redundant(opened: Opened, *, center: bool) -> tuple[Opened, Opened, tuple[Note, ...]]:
    """(the table without constant columns, that without copies as well, notes)."""
    rows, columns = opened.matrix.shape
    if not opened.matrix.resident or rows * columns > _LARGEST or columns > _WIDEST:
        return opened, opened, ()
    table = _on_host(opened)
    varying = np.any(table != (table[:1] if center else 0.0), axis=0)
    if not np.isfinite(table).all() or not varying.any():
        return opened, opened, ()  # infinite values are refused later, with the positions of the entries
    distinct = varying.copy()
    distinct[varying] = ~_copies(table[:, varying], center=center)
    constant, copied = columns - int(varying.sum()), int((varying & ~distinct).sum())
    described = _reduced(opened, varying) if constant else opened
    return described, _reduced(opened, distinct) if copied else described, _notes(constant, copied, center=center)


def _on_host(opened: Opened) -> np.ndarray:
    """The whole table in float64."""
    given = as_given(opened)
    host = given.to_host() if hasattr(given, "to_host") else given
    return np.asarray(host.toarray() if opened.matrix.sparse else to_numpy(host), dtype=np.float64)


def _notes(constant: int, copied: int, *, center: bool) -> tuple[Note, ...]:
    notes = []
    if constant:
        kind = "constant" if center else "zero"
        notes.append(Note("constant_columns", f"The rules ignore {counted(constant, f'{kind} column')}."))
    if copied:
        notes.append(
            Note(
                "copied_columns",
                "The rules about noise ignore "
                f"{counted(copied, 'column that is a multiple', 'columns that are multiples')} of "
                "another column.",
            )
        )
    return tuple(notes)


def _copies(table: np.ndarray, *, center: bool) -> np.ndarray:
    """Whether each column is a multiple of an earlier one, apart from its mean if that is subtracted."""
    if len(table) - center < _FEWEST:
        return np.zeros(table.shape[1], dtype=bool)
    table = table / np.max(np.abs(table), axis=0)
    table = table - table.mean(axis=0) if center else table
    table = table / np.maximum(np.linalg.norm(table, axis=0), 1e-300)
    return np.asarray(np.any(np.triu((table.T @ table) ** 2, 1) >= 1.0 - _EXACT, axis=0))


def _reduced(opened: Opened, kept: np.ndarray) -> Opened:
    return open_matrix(as_given(opened)[:, np.flatnonzero(kept)])
