"""Parquet, Feather and Arrow files: typed columns, nothing guessed. Text comes as dictionaries; they cannot explode."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eckart.engine.blocks.source import MemorySource
from eckart.environment import check_fits
from eckart.errors import FileError
from eckart.io.arrow.columns import kind_of, matrix_of, number_notes, text_of, truth_fates
from eckart.io.bytes import Opened, reason
from eckart.io.roles import Parts, Text, assemble, check_row_names, listed, refuse_empty, unique_names


def read_parquet(opened: Opened, row_names: str | None = "auto") -> MemorySource:
    """A Parquet file as a source."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with _input(opened) as stream:
            meta = parquet.ParquetFile(stream)
            schema = meta.schema_arrow
            wanted = [field.name for field in schema if kind_of(field.type) not in ("other", "empty")]
            rows = meta.metadata.num_rows
            check_fits(rows * len(wanted) * 8, opened.name, f"a table of {rows} rows and {len(wanted)} columns")
            texts = [field.name for field in schema if kind_of(field.type) == "text"]
            others = [f"{field.name} ({field.type})" for field in schema if field.name not in wanted]
            stream.seek(0)
            table = parquet.ParquetFile(stream, read_dictionary=texts).read(wanted if others else None)
            table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(opened, "Parquet", error) from error
    if table.num_rows != rows:
        raise FileError(f"{opened.name} promises {rows} rows and holds {table.num_rows}. Write it again.")
    return arrow_source(table, opened.name, row_names, others)


def read_arrow(opened: Opened, row_names: str | None = "auto") -> MemorySource:
    """A Feather or Arrow IPC file, or an Arrow stream, as a source."""
    import pyarrow as pa
    from pyarrow import feather, ipc

    with opened.stream() as head:
        magic = head.read(6)
    try:
        with _input(opened) as stream:
            if magic[:4] == b"FEA1":
                table = feather.read_table(stream)
            else:
                table = (ipc.open_file if magic == b"ARROW1" else ipc.open_stream)(stream).read_all()
            table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(opened, "Arrow", error) from error
    return arrow_source(table, opened.name, row_names)


def _input(opened: Opened) -> Any:
    import pyarrow as pa

    return pa.BufferReader(opened.content) if opened.path is None else pa.memory_map(opened.path)


def _broken(opened: Opened, kind: str, error: Exception) -> FileError:
    return FileError(f"{opened.name} is a broken {kind} file ({reason(error)}). Copy it again, or write it again.")


def arrow_source(table: Any, name: str, row_names: str | None = "auto", others: Sequence[str] = ()) -> MemorySource:
    """An Arrow table as a source; the index pandas left in it names the rows; `others` are columns not even read."""
    columns, notes = unique_names(table.column_names)
    check_row_names(row_names, columns, name)
    naming = (row_names, _pandas_index(table))
    names, numbers, left_out = [], [], list(others)
    texts: list[Text] = []
    for label, column in zip(columns, table.columns, strict=True):
        kind = kind_of(column.type)
        if label in naming and kind not in ("other", "empty"):
            texts.insert(0, text_of(label, column))
        elif kind in ("number", "truth"):
            names.append(label)
            numbers.append(column)
        elif kind in ("text", "date"):
            texts.append(text_of(label, column, kind))
        else:
            left_out.append(f"{label} ({column.type})")
    refuse_empty(table.num_rows, len(numbers), name)
    matrix = matrix_of(numbers, table.num_rows, name)
    notes += number_notes(names, numbers, matrix)
    if left_out:
        notes.append(f"Left out, because such values are not numbers: {listed(left_out)}.")
    fates = truth_fates(names, numbers) | dict.fromkeys(left_out, "not numbers: left out")
    return assemble(Parts(matrix, names, texts, notes, order=[*columns, *left_out], fates=fates), name, row_names)


def _pandas_index(table: Any) -> str | None:
    """The one column that was the index of a pandas frame."""
    try:
        index = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    columns = [column for column in index if isinstance(column, str)] if isinstance(index, list) else []
    return columns[0] if len(columns) == 1 else None
