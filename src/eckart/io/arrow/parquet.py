"""Parquet, Feather and Arrow files: typed columns, nothing guessed.

Text is read as dictionaries, which bounds its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.environment import check_fits, check_whole
from eckart.errors import FileError
from eckart.io.arrow.columns import kind_of, matrix_of
from eckart.io.arrow.roles import Roles, roles_of, source_of
from eckart.io.bytes import OpenedFile
from eckart.io.entries.triplets import read_entries, table_entries
from eckart.io.guard import reading
from eckart.io.roles import refuse_empty
from eckart.notes import Note
from eckart.wording import AS_PARQUET

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ENTRIES_NOTE = Note(
    "entries",
    "The columns are a row number, a column number (both counted from 0) and a value, so the file is read as a sparse "
    f"matrix. To read it as a table of three columns, use {AS_PARQUET}.",
)
_BATCH = 1 << 17
"""Number of rows decoded at a time."""


def read_parquet(opened: OpenedFile, row_names: str | None = "auto", *, entries: bool = True) -> MemorySource:
    """A Parquet file as a source; with `entries`, one of (row, column, value) as a sparse matrix."""
    found = table_entries(opened.path) if entries and opened.path is not None else None
    if found is not None:
        matrix = read_entries(*found, opened.name)
        return MemorySource(matrix, Metadata(opened.name, notes=(ENTRIES_NOTE,)))
    import pyarrow as pa
    from pyarrow import parquet

    with reading(opened.name, kind="Parquet file"), _input(opened) as stream:
        meta = parquet.ParquetFile(stream)
        schema, rows = meta.schema_arrow, meta.metadata.num_rows
        roles = roles_of(schema, opened.name, row_names)
        wanted = sorted((*roles.numbers, *roles.texts))
        check_fits(rows * len(wanted) * 8, opened.name, f"a table of {rows} rows and {len(wanted)} columns")
        check_whole(2 * rows * len(wanted) * 8, opened.name, opened.memory)  # decoded, and as a matrix
        texts = [schema.names[j] for j in roles.texts if kind_of(schema.field(j).type) == "text"]
        check_layout(meta)
        stream.seek(0)
        file = parquet.ParquetFile(stream, read_dictionary=texts, pre_buffer=False)
        # In batches, as for streamed rows: reading whole accepts damaged files that reading in batches refuses.
        chosen = selection(schema, wanted)
        types = file.schema_arrow if chosen is None else pa.schema([file.schema_arrow.field(name) for name in chosen])
        columns = taken(pa.Table.from_batches(file.iter_batches(_BATCH, columns=chosen), types), schema, wanted)
    if any(len(column) != rows for column in columns.values()):
        held = min(map(len, columns.values()))
        raise FileError(f"{opened.name} declares {rows} rows but contains {held}. Write it again.")
    return _source(columns, rows, roles, opened.name)


def check_layout(file: pq.ParquetFile) -> None:
    """Check that the row groups have the columns of the schema and together the rows of the file.

    The metadata of single columns are left to the reader: asking PyArrow for damaged ones ends the process.
    """
    meta, columns = file.metadata, len(file.schema)
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    for number, group in enumerate(groups):
        if group.num_columns != columns:
            raise ValueError(f"row group {number + 1} has {group.num_columns} columns, but the schema has {columns}")
    counted = sum(group.num_rows for group in groups)
    if counted != meta.num_rows or any(group.num_rows < 0 for group in groups):
        raise ValueError(f"the row groups have {counted} rows, but the file declares {meta.num_rows}")


def read_arrow(opened: OpenedFile, row_names: str | None = "auto") -> MemorySource:
    """A Feather or Arrow IPC file, or an Arrow stream, as a source."""
    from pyarrow import ipc

    with opened.stream() as head:
        magic = head.read(6)
    if magic[:4] == b"FEA1":
        raise FileError(
            f"{opened.name} is a Feather file of version 1. pyarrow does not check such files and crashes on damaged "
            "ones, so Eckart does not read them. If you trust it, read it with pyarrow.feather.read_table and write "
            "it again."
        )
    with reading(opened.name, kind="Arrow file"), _input(opened) as stream:
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


def _input(opened: OpenedFile) -> pa.BufferReader | pa.OSFile:
    """Read, not mapped: truncating a mapped file would end the process."""
    import pyarrow as pa

    return pa.BufferReader(opened.content) if opened.path is None else pa.OSFile(opened.path)


def selection(schema: pa.Schema, wanted: Sequence[int]) -> list[str] | None:
    """Names that select these columns of a Parquet file; None (all) if a name would select others as well."""
    names = schema.names
    plain = len(set(names)) == len(names) and not any("." in name for name in names)
    return [names[j] for j in wanted] if plain else None


def taken(table: pa.RecordBatch | pa.Table, schema: object, wanted: Sequence[int]) -> dict[int, pa.ChunkedArray]:
    """The columns read by `selection`, by position, after checking that they are sound."""
    chosen = selection(schema, wanted)
    positions = range(len(wanted)) if chosen is not None else wanted
    columns = {j: table.column(k) for j, k in zip(wanted, positions, strict=True)}
    for column in columns.values():
        column.validate(full=True)
    return columns


def _source(columns: dict[int, pa.ChunkedArray], rows: int, roles: Roles, name: str) -> MemorySource:
    refuse_empty(rows, len(roles.numbers), name)
    numbers = [columns[j] for j in roles.numbers]
    matrix = matrix_of(numbers, rows, name)
    return source_of(roles, numbers, {j: columns[j] for j in roles.texts}, matrix, name)
