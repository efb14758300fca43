"""Roles of the columns of an Arrow schema: numbers to analyse, texts that name or label rows, others left out.

The roles depend only on the schema, so a table has the same roles whether it is read whole or in blocks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.blocks.source import MemorySource
from eckart.io.arrow.columns import kind_of, number_notes, stored_type, text_of, truth_roles
from eckart.io.roles import NOT_NUMBERS, Parts, Text, about_columns, assemble, check_row_names, unique_names
from eckart.notes import Note

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Roles:
    """Positions of columns by role, and their names, in the order of the schema."""

    schema: pa.Schema
    names: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    texts: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[Note, ...] = field(default_factory=tuple)
    row_names: str | None = "auto"

    @property
    def types(self) -> list[pa.DataType]:
        return [stored_type(self.schema.field(j).type) for j in self.numbers]

    @property
    def single(self) -> bool:
        """Whether the matrix is float32, because all its columns are."""
        import pyarrow as pa

        return all(kind == pa.float32() for kind in self.types)


def roles_of(schema: pa.Schema, name: str, row_names: str | None = "auto") -> Roles:
    """Roles of the columns. The pandas index in the metadata names or labels the rows; it is never a measurement."""
    names, notes = unique_names(schema.names)
    check_row_names(row_names, names, name)
    index = _pandas_index(schema)
    numbers: list[int] = []
    naming: list[int] = []
    texts: list[int] = []
    left_out: list[str] = []
    for j, label in enumerate(names):
        kind = kind_of(schema.field(j).type)
        if (label == row_names or label in index) and kind not in ("other", "empty"):
            naming.append(j)
        elif kind in ("number", "truth"):
            numbers.append(j)
        elif kind in ("text", "date"):
            texts.append(j)
        else:
            left_out.append(f"{label} ({schema.field(j).type})")
    return Roles(schema, tuple(names), tuple(numbers), (*naming, *texts), tuple(left_out), tuple(notes), row_names)


def source_of(
    roles: Roles,
    numbers: Sequence[pa.ChunkedArray],
    texts: Mapping[int, pa.ChunkedArray],
    matrix: np.ndarray,
    name: str,
) -> MemorySource:
    """The matrix with names, labels and notes. Without rows (`numbers` empty), individual values are not described."""
    labels = [roles.names[j] for j in roles.numbers]
    found: list[Text] = []
    for j, column in texts.items():
        kind = kind_of(column.type)
        found.append(text_of(roles.names[j], column, kind if kind in ("text", "date") else "text"))
    notes = list(roles.notes) + (number_notes(labels, numbers, matrix) if len(matrix) else _truth_note(roles))
    if roles.left_out:
        notes.append(Note("not_numbers", about_columns(list(roles.left_out), *NOT_NUMBERS)))
    column_roles = truth_roles(labels, [Typed(kind) for kind in roles.types])
    column_roles |= dict.fromkeys(roles.left_out, "left out, because its values are not numbers")
    order = [*roles.names, *roles.left_out]
    return assemble(Parts(matrix, labels, found, notes, order=order, column_roles=column_roles), name, roles.row_names)


def empty_matrix(roles: Roles, rows: int = 0) -> np.ndarray:
    return np.empty((rows, len(roles.numbers)), np.float32 if roles.single else np.float64)


@dataclass(frozen=True)
class Typed:
    """A column with a known type only."""

    type: pa.DataType


def _truth_note(roles: Roles) -> list[Note]:
    names = [roles.names[j] for j in roles.numbers]
    return number_notes(names, [Typed(kind) for kind in roles.types], empty_matrix(roles))


def _pandas_index(schema: pa.Schema) -> frozenset[str]:
    """The columns that were the index of a pandas frame."""
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return frozenset()
    known = index if isinstance(index, list) else []
    return frozenset(column.strip() for column in known if isinstance(column, str))
