"""Parquet, Feather and Arrow files: typed columns, nothing guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.environment import check_fits, check_whole
from eckart.errors import FileError
from eckart.io.arrow.columns import matrix_of
from eckart.io.arrow.pieces import ParquetPieces, arrow_input, check_layout, text_columns
from eckart.io.arrow.roles import Roles, Typed, empty_matrix, roles_of, source_of
from eckart.io.bytes import OpenedFile
from eckart.io.entries.triplets import read_entries, table_entries
from eckart.io.guard import reading
from eckart.io.roles import refuse_empty
from eckart.notes import Note
from eckart.wording import AS_PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

ENTRIES_NOTE = Note(
    "entries",
    "The columns are a row number, a column number and a value (the numbers are counted from 0), so "
    "the file is read as a sparse matrix. To read it as a table of three columns instead, use "
    f"{AS_PARQUET}.",
)


def read_parquet(opened: OpenedFile, row_names: str | None = "auto", *, entries: bool = True) -> MemorySource:
    """A Parquet file as a source; with `entries`, one of (row, column, value) as a sparse matrix."""
    found = table_entries(opened) if entries else None
    if found is not None:
        matrix = read_entries(*found, opened.name)
        return MemorySource(matrix, Metadata(opened.name, notes=(ENTRIES_NOTE,)))
    with reading(opened.name, kind="Parquet file"), arrow_input(opened) as stream:
        file = ParquetPieces(stream, ())
        rows, counts = file.file.metadata.num_rows, file.counts()
        roles = roles_of(file.schema, opened.name, row_names)
        wanted = len(roles.numbers) + len(roles.texts)
        check_fits(rows * wanted * 8, opened.name, f"a table of {rows} rows and {wanted} columns")
        check_whole(2 * rows * wanted * 8, opened.name, opened.memory)  # texts and decoded columns, and as a matrix
        check_layout(file.file)
        refuse_empty(rows, len(roles.numbers), opened.name)
        matrix = empty_matrix(roles, rows)
        numbers, start = ParquetPieces(stream, roles.numbers, threads=True), 0
        for group, count in enumerate(counts):
            numbers.fill(matrix[start : start + count], group, 0, opened.name)
            start += count
        columns = text_columns(ParquetPieces(stream, roles.texts), enumerate(counts)) if roles.texts else {}
    texts = {j: columns[j] for j in roles.texts}
    return source_of(roles, [Typed(kind) for kind in roles.types], texts, matrix, opened.name)


def read_arrow(opened: OpenedFile, row_names: str | None = "auto") -> MemorySource:
    """A Feather or Arrow IPC file, or an Arrow stream, as a source."""
    from pyarrow import ipc

    with opened.stream() as head:
        magic = head.read(6)
    if magic[:4] == b"FEA1":
        raise FileError(
            f"{opened.name} is a Feather file of version 1. pyarrow crashes on damaged files of this "
            "version, so Eckart does not read them. If you trust the file, read it with "
            "pyarrow.feather.read_table and save it as Parquet."
        )
    with reading(opened.name, kind="Arrow file"), arrow_input(opened) as stream:
        if magic == b"ARROW1":
            schema = ipc.open_file(stream).schema
            roles = roles_of(schema, opened.name, row_names)
            wanted = sorted((*roles.numbers, *roles.texts))
            stream.seek(0)
            options = ipc.IpcReadOptions(included_fields=wanted)
            table = ipc.open_file(stream, options=options).read_all() if wanted else schema.empty_table()
            columns = dict(zip(wanted, table.columns, strict=True)) if wanted else {}
        else:
            check_whole(3 * opened.size, opened.name, opened.memory)
            table = ipc.open_stream(stream).read_all()
            roles = roles_of(table.schema, opened.name, row_names)
            columns = dict(enumerate(table.columns))
        for j in (*roles.numbers, *roles.texts):
            columns[j].validate(full=True)
    return _source(columns, table.num_rows, roles, opened.name)


def _source(columns: dict[int, pa.ChunkedArray], rows: int, roles: Roles, name: str) -> MemorySource:
    refuse_empty(rows, len(roles.numbers), name)
    numbers = [columns[j] for j in roles.numbers]
    matrix = matrix_of(numbers, rows, name)
    return source_of(roles, numbers, {j: columns[j] for j in roles.texts}, matrix, name)
