"""Rows of Parquet files (one, a folder, a pattern) and of Arrow files: row groups and batches are read on demand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eckart.aliases import JsonObject, Keywords
from eckart.engine.blocks.source import Metadata
from eckart.environment import MAX_EXPANSION
from eckart.errors import FileError
from eckart.fingerprint import fingerprint
from eckart.io.arrow.batches import ArrowPieces
from eckart.io.arrow.columns import long_integers
from eckart.io.arrow.pieces import ParquetPieces, check_layout, text_columns
from eckart.io.arrow.plain_columns import bytes_of
from eckart.io.arrow.roles import Roles, empty_matrix, roles_of, source_of
from eckart.io.bytes import open_path, shown
from eckart.io.guard import reading, reads_rows
from eckart.io.roles import MOST_NAMES, most_text, names_dropped, quoted, refuse_empty
from eckart.io.rows import FileState, PiecedRows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ArrowRows(PiecedRows):
    """Pieces (row groups or record batches) of files in order; `edges` are their first rows."""

    files: tuple[FileState, ...]
    pieces: tuple[tuple[int, int], ...]
    """(file, row group or batch) of each piece."""
    edges: tuple[int, ...]
    columns: tuple[int, ...]
    """Positions of the columns with numbers."""
    single: bool
    parquet: bool
    metadata: Metadata = field(default_factory=Metadata)
    integers: tuple[int, ...] = ()
    """Positions in `columns` of integers that float64 may round."""
    memory: int | None = None
    """Allowed bytes, of which decoding takes a share; None means all free memory."""
    sparse: bool = False
    _readers: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], len(self.metadata.column_names or ())

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.single else np.float64)

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    @reads_rows
    def read(self, start: int, stop: int) -> np.ndarray:
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        with self._readers.setdefault("lock", Lock()):
            for piece, rows, inside in self.overlapping(start, stop):
                self._fill(out[rows], piece, inside.start)
        return out

    def _fill(self, out: np.ndarray, piece: int, first: int) -> None:
        number, group = self.pieces[piece]
        state = self.files[number]
        name = self.metadata.name if len(self.files) == 1 else f"{self.metadata.name}: {PurePath(state.path).name}"
        state.check(name, self.edges[piece], self.edges[piece + 1])
        with reading(shown(state.path), f"{'row group' if self.parquet else 'batch'} {group + 1}"):
            self._reader(number).fill(out, group, first, self.metadata.name)
        state.check(name, self.edges[piece], self.edges[piece + 1])  # while it was read

    def _reader(self, number: int) -> Any:
        if self._readers.get("number") != number:
            self._readers.pop("reader", None)  # closed before the next one opens
            state = self.files[number]
            reader: Any = (
                ParquetPieces(state.path, self.columns, self.memory)
                if self.parquet
                else ArrowPieces(state, self.columns)
            )
            self._readers["number"], self._readers["reader"] = number, reader
        return self._readers["reader"]

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "_readers": {}}

    def fingerprint(self) -> JsonObject:
        names = list(self.metadata.column_names or ())
        return fingerprint(self.files, shape=list(self.shape), columns=[list(self.columns), names])


def parquet_rows(
    paths: Sequence[str], name: str, row_names: str | None = "auto", memory: int | None = None
) -> ArrowRows:
    """One Parquet file, or several of one schema in the order given."""
    for path in paths:
        open_path(path, MAX_EXPANSION)  # opening a pipe in a folder would block
    states = tuple(FileState.of(path) for path in paths)
    pieces, counts, schema = [], [], None
    for number, state in enumerate(states):
        with reading(shown(state.path), kind="Parquet file"):
            file = ParquetPieces(state.path, ())
            check_layout(file.file)
        if schema is None:
            schema = file.schema
        elif not schema.equals(file.schema, check_metadata=False):
            raise FileError(
                f"{shown(state.path)} does not have the same columns as {shown(states[0].path)}. All "
                f"files need the same column names and types. {_difference(schema, file.schema)}"
            )
        found = file.counts()
        pieces += [(number, group) for group in range(len(found))]
        counts += found
    where = shown(paths[0]) if len(paths) == 1 else name
    roles = roles_of(schema, where, row_names)
    for state in states:
        with reading(shown(state.path), kind="Parquet file"):
            ParquetPieces(state.path, roles.numbers, memory).check_sizes(PurePath(state.path).name, memory)
    refuse_empty(sum(counts), len(roles.columns), where)
    groups = _Pieces(states, pieces, counts, parquet=True)
    return replace(_assembled(groups, roles, name, memory), memory=memory)


def _difference(first: Any, second: Any) -> str:
    """The first column in which two schemas differ."""
    for one, other in itertools.zip_longest(first, second):
        if one is None or other is None:
            return f"Only one of the files has the column {quoted((one or other).name)}."
        if one.name != other.name:
            return f"One file has the column {quoted(one.name)} where the other has {quoted(other.name)}."
        if one.type != other.type:
            return f"The column {quoted(one.name)} has type {one.type} in one file and {other.type} in the other."
    return "Some columns allow missing values in only one of the files."


def arrow_rows(path: str, name: str, memory: int | None = None, row_names: str | None = "auto") -> ArrowRows | None:
    """An Arrow or Feather file with batches; None for a stream, which is read whole."""
    with Path(path).open("rb") as stream:
        if stream.read(6) != b"ARROW1":
            return None
    state = FileState.of(path)
    with reading(shown(path), kind="Arrow file"):
        roles, counts = arrow_layout(state, shown(path), row_names, memory)
    refuse_empty(sum(counts), len(roles.columns), shown(path))
    pieces = _Pieces((state,), [(0, i) for i in range(len(counts))], counts, parquet=False)
    return _assembled(pieces, roles, name, memory)


def arrow_layout(
    state: FileState, name: str, row_names: str | None, memory: int | None = None
) -> tuple[Roles, list[int]]:
    """The roles of the columns of an Arrow file and the rows of its batches, after checking the sizes."""
    roles = roles_of(ArrowPieces(state, ()).schema, name, row_names)
    counts = ArrowPieces(state, (*roles.numbers, *roles.texts)).counts()
    if roles.numbers and counts:
        ArrowPieces(state, roles.numbers).check_sizes(name, memory)
    return roles, counts


class _Pieces(NamedTuple):
    """Row groups or batches of some files as (file, number), and their numbers of rows."""

    states: tuple[FileState, ...]
    places: list[tuple[int, int]]
    counts: list[int]
    parquet: bool

    def without_empty(self) -> _Pieces:
        places = list(itertools.compress(self.places, self.counts))
        return self._replace(places=places, counts=[count for count in self.counts if count])

    def of_file(self, file: int) -> list[tuple[int, int]]:
        """(number, rows) of the pieces of one file."""
        return [
            (number, count) for (owner, number), count in zip(self.places, self.counts, strict=True) if owner == file
        ]


def _assembled(pieces: _Pieces, roles: Roles, name: str, memory: int | None) -> ArrowRows:
    pieces = pieces.without_empty()
    edges = (0, *itertools.accumulate(pieces.counts))
    few = edges[-1] <= MOST_NAMES
    most = most_text(memory) if few else 0
    texts = _texts(pieces, roles, most) if few else None
    metadata = source_of(roles, texts or {}, empty_matrix(roles), name).metadata
    if roles.texts and texts is None:
        note = names_dropped([roles.names[j] for j in roles.texts], most if few else None)
        metadata = replace(metadata, notes=(*metadata.notes, note))
    long = tuple(long_integers(roles.types))
    return ArrowRows(
        pieces.states, tuple(pieces.places), edges, roles.numbers, roles.single, pieces.parquet, metadata, long
    )


def _texts(pieces: _Pieces, roles: Roles, most: int) -> dict[int, pa.ChunkedArray] | None:
    """The complete columns that name or label the rows; None if they take more than `most` bytes."""
    import pyarrow as pa

    if not roles.texts:
        return {}
    kind, piece = ("Parquet file", "row group") if pieces.parquet else ("Arrow file", "batch")
    found: dict[int, list[pa.Array]] = {j: [] for j in roles.texts}
    for number, state in enumerate(pieces.states):
        with reading(shown(state.path), kind=kind):
            reader = ParquetPieces(state.path, roles.texts) if pieces.parquet else ArrowPieces(state, roles.texts)
            own = pieces.of_file(number)
            columns = text_columns(reader, own, shown(state.path), piece, most) if own else {}
            if columns is None:
                return None
            for j, column in columns.items():
                found[j] += column.chunks
                most -= bytes_of(column)
    return {j: pa.chunked_array(chunks) for j, chunks in found.items()}
