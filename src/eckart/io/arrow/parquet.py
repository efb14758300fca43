"""Parquet, Feather and Arrow files: typed columns, nothing guessed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.environment import check_fits, check_whole
from eckart.errors import FileError
from eckart.fingerprint import FileState
from eckart.io.arrow.batches import ArrowPieces
from eckart.io.arrow.columns import matrix_of
from eckart.io.arrow.footer import message_size
from eckart.io.arrow.pieces import ParquetPieces, arrow_input, check_layout, text_columns
from eckart.io.arrow.roles import Roles, empty_matrix, roles_of, source_of
from eckart.io.arrow.rows import arrow_layout
from eckart.io.bytes import OpenedFile
from eckart.io.entries.triplets import read_entries, table_entries
from eckart.io.guard import reading
from eckart.io.roles import most_text, names_dropped, refuse_empty
from eckart.notes import Note
from eckart.wording import AS_PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

ENTRIES_NOTE = Note(
    "entries",
    "The three columns contain row numbers and column numbers (both counted from 0) and values, so the "
    "file is read as a sparse matrix. To read it as a table of three columns instead, use "
    f"{AS_PARQUET}.",
)
_END_MARKERS = (8, 4)
"""Bytes of the marker at the end of an Arrow stream, in the present format and in that before version 0.15."""


def read_parquet(opened: OpenedFile, row_names: str | None = "auto", *, entries: bool = True) -> MemorySource:
    """A Parquet file as a source; with `entries`, one of (row, column, value) as a sparse matrix."""
    found = table_entries(opened) if entries else None
    if found is not None:
        matrix = read_entries(found)
        return MemorySource(matrix, Metadata(opened.name, notes=(ENTRIES_NOTE, *found.rounded.notes())))
    with reading(opened.name, kind="Parquet file"), arrow_input(opened) as stream:
        file = ParquetPieces(stream, ())
        check_layout(file.file)
        roles = roles_of(file.schema, opened.name, row_names)
        return _from_pieces(
            roles, file.counts(), lambda columns: ParquetPieces(stream, columns, threads=True), opened, "row group"
        )


def read_arrow(opened: OpenedFile, row_names: str | None = "auto") -> MemorySource:
    """A Feather or Arrow IPC file, or an Arrow stream, as a source."""
    with opened.stream() as head:
        magic = head.read(6)
    if magic[:4] == b"FEA1":
        raise FileError(
            f"{opened.name} is a Feather file of version 1. pyarrow crashes on damaged files of this "
            "version, so Eckart does not read them. If you trust the file, read it with "
            "pyarrow.feather.read_table and save it as Parquet."
        )
    with reading(opened.name, kind="Arrow file"):
        if opened.path is None or magic != b"ARROW1":
            return _read_stream(opened, row_names, in_file=magic == b"ARROW1")
        state = FileState.of(opened.path)
        roles, counts = arrow_layout(state, opened.name, row_names)
        return _from_pieces(roles, counts, lambda columns: ArrowPieces(state, columns), opened, "batch")


def _from_pieces(
    roles: Roles,
    counts: Sequence[int],
    pieces: Callable[[Sequence[int]], ParquetPieces | ArrowPieces],
    opened: OpenedFile,
    piece: str,
) -> MemorySource:
    """The whole table, piece by piece, with the refusals of a table that is read in blocks."""
    rows, wanted, name = sum(counts), len(roles.columns) + len(roles.texts), opened.name
    refuse_empty(rows, len(roles.columns), name)
    check_fits(rows * wanted * 8, name, f"a table of {rows} rows and {wanted} columns")
    check_whole(2 * rows * len(roles.columns) * 8, name, opened.memory)  # decoded columns, and as a matrix
    kept = [(group, count) for group, count in enumerate(counts) if count]
    most = most_text(opened.memory)
    texts = text_columns(pieces(roles.texts), kept, name, piece, most) if roles.texts else {}
    matrix, numbers, start = empty_matrix(roles, rows), pieces(roles.numbers), 0
    for group, count in kept:
        with reading(name, f"{piece} {group + 1}"):
            numbers.fill(matrix[start : start + count], group, 0, name)
        start += count
    found = source_of(roles, {j: texts[j] for j in roles.texts} if texts else {}, matrix, name)
    return found if texts is not None else _without_texts(found, roles, most)


def _without_texts(found: MemorySource, roles: Roles, most: int) -> MemorySource:
    """The same with a note that the texts take more than `most` bytes."""
    note = names_dropped([roles.names[j] for j in roles.texts], most)
    return replace(found, metadata=replace(found.metadata, notes=(*found.metadata.notes, note)))


def _read_stream(opened: OpenedFile, row_names: str | None, *, in_file: bool) -> MemorySource:
    """An Arrow stream, or the bytes of an Arrow file, which can only be read whole.

    From memory: PyArrow allocates what the messages of a stream claim as their size, unless it can see where it ends.
    """
    import pyarrow as pa
    from pyarrow import ipc

    check_whole(3 * opened.size, opened.name, opened.memory)
    with opened.stream() as file, pa.BufferReader(file.read()) as stream:
        if not in_file:
            _check_messages(stream, opened)
        table = ipc.open_file(stream).read_all() if in_file else _whole_stream(stream, opened.name)
    roles = roles_of(table.schema, opened.name, row_names)
    for j in (*roles.numbers, *roles.texts):
        table.column(j).validate(full=True)
    refuse_empty(table.num_rows, len(roles.columns), opened.name)
    matrix = matrix_of([table.column(j) for j in roles.numbers], table.num_rows, opened.name)
    return source_of(roles, {j: table.column(j) for j in roles.texts}, matrix, opened.name)


def _check_messages(stream: pa.BufferReader, opened: OpenedFile) -> None:
    """Refuse a stream whose compressed batches decode to more than the allowed memory."""
    from pyarrow import ipc

    size = 0
    for message in ipc.MessageReader.open_stream(stream):
        size += message_size(message.metadata.to_pybytes(), _Body(message.body))
        check_fits(2 * size, opened.name, "decompressing the file")
        check_whole(2 * size + opened.size, opened.name, opened.memory)
    stream.seek(0)


@dataclass(frozen=True)
class _Body:
    """The body of a message, which slices into bytes."""

    buffer: pa.Buffer | None

    def __len__(self) -> int:
        return 0 if self.buffer is None else int(self.buffer.size)

    def __getitem__(self, span: slice) -> bytes:
        start, stop, _ = span.indices(len(self))
        return b"" if self.buffer is None else self.buffer.slice(start, max(stop - start, 0)).to_pybytes()


def _whole_stream(stream: pa.BufferReader, name: str) -> pa.Table:
    """All batches of an Arrow stream, after checking that it ends with its end marker and the file with the stream.

    PyArrow also accepts the end of the file between two batches, so it reads a truncated file as a shorter table, and
    only the first of two streams in one file.
    """
    import pyarrow as pa
    from pyarrow import ipc

    reader = ipc.open_stream(stream)
    batches, end = [], stream.tell()
    with contextlib.suppress(StopIteration):
        while True:
            batches.append(reader.read_next_batch())
            end = stream.tell()
    if stream.tell() - end not in _END_MARKERS:
        raise FileError(
            f"{name} is truncated after batch {len(batches):,}, or its writer was not closed: the Arrow stream "
            "has no end marker. Copy the file again, or write it again and close the writer."
        )
    if stream.tell() != stream.size():
        raise FileError(
            f"{name} has {stream.size() - stream.tell():,} extra bytes after the end of its Arrow stream. If it "
            "contains several streams, write them to separate files. Otherwise, write the file again."
        )
    return pa.Table.from_batches(batches, reader.schema)
