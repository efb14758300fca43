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
from eckart.formatting import about_columns
from eckart.io.arrow.columns import kind_of, number_notes, text_of, truth_roles
from eckart.io.arrow.plain_columns import element_type, place_names, stored_type, width_of
from eckart.io.roles import NOT_NUMBERS, Parts, Text, assemble, check_row_names, unique_names
from eckart.io.stored_as_text import as_labels
from eckart.notes import Note

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Roles:
    """Positions of columns by role, and their names, in the order of the schema."""

    schema: pa.Schema
    names: tuple[str, ...]
    """Of the columns of the schema."""
    numbers: tuple[int, ...] = ()
    texts: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    """Names of the columns of the matrix: one for each column of numbers, or for each element of its lists."""
    left_out: tuple[str, ...] = ()
    notes: tuple[Note, ...] = field(default_factory=tuple)
    row_names: str | None = "auto"

    @property
    def types(self) -> list[pa.DataType]:
        """Of the columns of the matrix."""
        kinds = [self.schema.field(j).type for j in self.numbers]
        return [part for kind in kinds for part in matrix_types(kind)]

    @property
    def single(self) -> bool:
        """Whether the matrix is float32, because all its columns are."""
        import pyarrow as pa

        return all(kind == pa.float32() for kind in self.types)


def matrix_types(kind: pa.DataType) -> list[pa.DataType]:
    """Types of the columns of the matrix that a column of numbers or of fixed-size lists of numbers becomes."""
    width = width_of(kind)
    return [element_type(kind)] * width if width else [stored_type(kind)]


def _role(kind: pa.DataType, *, names_rows: bool) -> str:
    role = _ROLES.get(kind_of(kind), "left out")
    return "naming" if names_rows and role != "left out" else role


_ROLES = {"number": "numbers", "truth": "numbers", "text": "texts", "date": "texts"}
"""Kind of a column -> its role, unless it names the rows; columns of other kinds are left out."""


def roles_of(schema: pa.Schema, name: str, row_names: str | None = "auto") -> Roles:
    """Roles of the columns. The pandas index in the metadata names or labels the rows; it is never a measurement."""
    widths = [width_of(field.type) for field in schema]
    own, notes = _spread_names(schema.names, widths)
    names = [labels[0] for labels in own]
    check_row_names(row_names, [label for label, width in zip(names, widths, strict=True) if not width], name)
    naming = {row_names, *_pandas_index(schema)}
    places: dict[str, list[int]] = {"numbers": [], "naming": [], "texts": [], "left out": []}
    for j, (label, width) in enumerate(zip(names, widths, strict=True)):
        role = "numbers" if width else _role(schema.field(j).type, names_rows=label in naming)
        places[role].append(j)
    columns = tuple(label for j in places["numbers"] for label in own[j])
    texts = (*places["naming"], *places["texts"])
    left_out = tuple(f"{names[j]} ({schema.field(j).type})" for j in places["left out"])
    return Roles(schema, tuple(names), tuple(places["numbers"]), texts, columns, left_out, tuple(notes), row_names)


def _spread_names(names: Sequence[str], widths: Sequence[int]) -> tuple[list[list[str]], list[Note]]:
    """Unique names of each column, or of the elements of its lists, and a note if some were changed."""
    spread = [place_names(name, width) if width else [name] for name, width in zip(names, widths, strict=True)]
    unique, notes = unique_names([name for some in spread for name in some])
    following = iter(unique)
    return [[next(following) for _ in some] for some in spread], notes


def source_of(roles: Roles, texts: Mapping[int, pa.ChunkedArray], matrix: np.ndarray, name: str) -> MemorySource:
    """The matrix with names, labels and notes. Without rows, individual values are not described."""
    labels, numbers = list(roles.columns), [Typed(kind) for kind in roles.types]
    found: list[Text] = []
    for j, column in texts.items():
        kind = kind_of(column.type)
        found.append(text_of(roles.names[j], column, kind if kind in ("text", "date") else "text"))
    found = as_labels(found, _declared(roles), roles.row_names)
    notes = [*roles.notes, *number_notes(labels, numbers, matrix)]
    if roles.left_out:
        notes.append(Note("not_numbers", about_columns(list(roles.left_out), *NOT_NUMBERS)))
    column_roles = truth_roles(labels, numbers)
    column_roles |= dict.fromkeys(roles.left_out, "left out, because its values are not numbers")
    order = [*_in_order(roles), *roles.left_out]
    return assemble(Parts(matrix, labels, found, notes, order=order, column_roles=column_roles), name, roles.row_names)


def _declared(roles: Roles) -> frozenset[str]:
    """Columns that are meant as names or categories, whatever they contain: the pandas index and dictionaries."""
    kinds = zip(roles.names, (field.type for field in roles.schema), strict=True)
    return _pandas_index(roles.schema) | {name for name, kind in kinds if stored_type(kind) != kind}


def empty_matrix(roles: Roles, rows: int = 0) -> np.ndarray:
    return np.empty((rows, len(roles.columns)), np.float32 if roles.single else np.float64)


@dataclass(frozen=True)
class Typed:
    """A column with a known type only."""

    type: pa.DataType


def _in_order(roles: Roles) -> list[str]:
    """Names of the columns of the schema, with those of the matrix for columns of numbers."""
    found, following = [], iter(roles.columns)
    for j, label in enumerate(roles.names):
        width = len(matrix_types(roles.schema.field(j).type)) if j in roles.numbers else 0
        found += [next(following) for _ in range(width)] or [label]
    return found


def _pandas_index(schema: pa.Schema) -> frozenset[str]:
    """The columns that were the index of a pandas frame."""
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return frozenset()
    known = index if isinstance(index, list) else []
    return frozenset(column.strip() for column in known if isinstance(column, str))
