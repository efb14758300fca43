"""Some columns of a source: kept by position or by name, in memory or as they are read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.edges import edges_for
from eckart.engine.blocks.source import Block, DataSource, Metadata, OfSource, RowSource
from eckart.errors import InputError, ParameterError
from eckart.formatting import counted
from eckart.io.roles import MOST_NAMES, Parts, column_notes, listed, quoted
from eckart.notes import Note
from eckart.options import near_match, place_by_number

_NUMBERED = re.compile(r"column [0-9]+")
_PIECE = 1 << 24
"""Bytes of all columns read at a time."""


@dataclass(frozen=True)
class ChosenColumns(OfSource):
    """The columns `indices` of another source, in this order."""

    source: RowSource
    indices: tuple[int, ...]
    metadata: Metadata

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], len(self.indices)

    @property
    def entries(self) -> int:
        """For sparse rows, the proportional share of entries in these columns; counting them would take a pass."""
        return -(-self.source.entries * len(self.indices) // self.source.shape[1])

    @cached_property
    def _edges(self) -> tuple[int, ...]:
        return edges_for(self.source, _PIECE)

    def read(self, start: int, stop: int) -> Block:
        """Read in pieces: with all columns, this many rows may take much more memory than with the chosen ones."""
        inner = [edge for edge in self._edges if start < edge < stop]
        pieces = (
            self.source.read(first, last)[:, list(self.indices)]
            for first, last in itertools.pairwise([start, *inner, stop])
        )
        if self.sparse:
            from scipy import sparse

            return sparse.vstack(list(pieces), format="csr") if inner else next(pieces)
        out, done = np.empty((stop - start, len(self.indices)), self.dtype), 0
        for piece in pieces:
            out[done : done + len(piece)] = piece
            done += len(piece)
        return out

    def fingerprint(self) -> JsonObject:
        found = self.source.fingerprint()
        return {**found, "content": {**found["content"], "columns": list(self.indices)}}


def column_names(source: DataSource) -> tuple[str, ...]:
    """The names of the columns, or x1, x2, ..."""
    return source.metadata.column_names or tuple(f"x{j + 1}" for j in range(source.shape[1]))


def are_numbered(names: Sequence[str]) -> bool:
    """Whether these are the names 'column 1', 'column 2', ... of a file without column names."""
    return all(map(_NUMBERED.fullmatch, names))


def compare_names(names: Sequence[str] | None, fitted: Sequence[str] | None) -> None:
    """Refuse columns with other names than those of a model: another order would silently give wrong results.

    A different number of columns is refused elsewhere.
    """
    if names is None or fitted is None or not _contradict(names, fitted):
        return
    place = next(i for i, (name, other) in enumerate(zip(names, fitted, strict=True)) if name != other)
    same = set(names) == set(fitted)
    raise InputError(
        f"The columns are {'not in the same order as those' if same else 'not the same as those'} of the model: "
        f"column {place + 1} is {quoted(names[place])}, but in the model it is {quoted(fitted[place])}. Use the same "
        "columns in the same order."
    )


def _contradict(names: Sequence[str], fitted: Sequence[str]) -> bool:
    """Whether two lists of equal length differ; the numbers of columns without names agree with all names."""
    if len(names) != len(fitted) or tuple(names) == tuple(fitted):
        return False
    numbered = are_numbered(names) or are_numbered(fitted)
    return not numbered or bool(set(names) & set(fitted))


def keep(source: DataSource, indices: Sequence[int]) -> DataSource:
    """The source with only these columns, in this order."""
    metadata, names = source.metadata, column_names(source)
    chosen = tuple(names[j] for j in indices)
    left = set(names) - set(chosen)
    column_roles = {
        name: "left out, as requested" if name in left else role for name, role in metadata.column_roles.items()
    }
    if not hasattr(source, "matrix"):
        kept = replace(metadata, column_names=chosen, column_roles=column_roles)
        return ChosenColumns(source, tuple(indices), kept)
    matrix = source.matrix[:, list(indices)]
    notes = metadata.notes
    if not source.sparse and metadata.column_names:
        given, roles = metadata.row_names, metadata.column_roles
        before = column_notes(Parts(source.matrix, list(names), column_roles=roles), given)
        after = column_notes(Parts(matrix, list(chosen), column_roles=roles), given)
        notes = tuple(note for note in notes if note not in before) + tuple(after)
    return replace(
        source, matrix=matrix, metadata=replace(metadata, column_names=chosen, notes=notes, column_roles=column_roles)
    )


def named_by(kept: DataSource, source: DataSource, indices: Sequence[int]) -> DataSource:
    """`kept`, if it has no row names, with the numbers in the first of these columns of `source` that identifies rows.

    A column that counts the rows from 1 names them as they are named anyway.
    """
    matrix = getattr(source, "matrix", None)
    if kept.metadata.row_names is not None or not isinstance(matrix, np.ndarray) or len(matrix) > MOST_NAMES:
        return kept
    for j in indices:
        column = matrix[:, j]
        if np.array_equal(column, np.arange(1, len(column) + 1)) or not _all_different(column):
            continue
        note = Note("row_names", f"The row names come from the column {quoted(column_names(source)[j])}.")
        metadata = kept.metadata
        names = tuple(f"{value:.0f}" for value in column.tolist())
        notes, parsing = (*metadata.notes, note), (*metadata.parsing_notes, note)
        return replace(kept, metadata=replace(metadata, row_names=names, notes=notes, parsing_notes=parsing))
    return kept


def _all_different(column: np.ndarray) -> bool:
    whole = bool(np.isfinite(column).all() and (column == np.rint(column)).all())
    return whole and len(np.unique(column)) == len(column)


def places_of(source: DataSource, columns: Sequence[str | int]) -> list[int]:
    """Positions of columns given by name or by position."""
    names = column_names(source)
    where = {name: j for j, name in enumerate(names)}
    found = []
    for column in columns:
        if isinstance(column, str):
            if column not in where:
                _refuse_column(source, column, names)
            found.append(where[column])
            continue
        if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
            raise ParameterError(
                f"columns: {column!r} is neither a column name nor a position. Use names, or "
                "positions counted from 0. To select columns by true and false values, use mask=."
            )
        named = place_by_number(int(column), source.metadata.column_names, "column")
        place = int(column) if named is None else named
        if not -len(names) <= place < len(names):
            raise ParameterError(
                f"columns: there is no column at position {place}, because {source.metadata.name} has "
                f"only {counted(len(names), 'column')}. Positions are counted from 0."
            )
        found.append(place % len(names))
    if not found:
        raise ParameterError("columns is empty, so no columns are left to analyse. Give at least one column.")
    return found


def _refuse_column(source: DataSource, column: str, names: Sequence[str]) -> None:
    title = source.metadata.name
    if column in source.metadata.labels:
        raise ParameterError(
            f"columns: the column {quoted(column)} of {title} contains row labels, not numbers. Choose "
            "only numeric columns."
        )
    near = near_match(column, names)
    hint = near if near != "." else f". Its numeric columns are {listed(names)}."
    raise ParameterError(f"columns: {title} has no numeric column {quoted(column)}{hint}")
