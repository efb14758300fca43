"""Entries (row, column, value) of Matrix Market files and of Parquet tables, in blocks, repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eckart.engine.blocks.rounded import Rounded, is_rounded
from eckart.environment import MAX_EXPANSION
from eckart.errors import FileError, NotFiniteError
from eckart.io.arrow.columns import kind_of, long_integers, matrix_of, stored_numbers
from eckart.io.arrow.parquet_footer import parquet_errors
from eckart.io.arrow.pieces import arrow_input, parquet_file
from eckart.io.bytes import OpenedFile, open_path
from eckart.io.entries.csr_file import Entries, check_rows
from eckart.io.entries.matrix_market import (
    Sizes,
    Triangle,
    check_promise,
    mirrored,
    parse_entries,
    read_sizes,
    refuse_count,
)
from eckart.io.guard import reading
from eckart.io.text.records import MAX_RECORD, refuse_long

if TYPE_CHECKING:
    import pyarrow as pa

_PIECE = 1 << 22
_BATCH = 1 << 18
_MOST_ROWS = 10_000_000
"""Up to this many rows may be empty, for any number of entries."""
_WORDS = (("row", "i", "r", "rows", "user", "document"), ("column", "j", "c", "col", "columns", "item", "term"))


class EntryBlocks(NamedTuple):
    """Shape of a matrix and an iterator factory for blocks of its entries, which records rounded integers."""

    shape: tuple[int, int]
    blocks: Callable[[], Iterator[Entries]]
    rounded: Rounded
    dtype: np.dtype = np.dtype(np.float64)
    """float64, or bool for truth values: an entry that occurs twice counts once, otherwise it is summed."""


def market_entries(path: str) -> EntryBlocks | None:
    """The entries of a Matrix Market file; None for a dense one."""
    opened = open_path(path, MAX_EXPANSION)
    sizes = read_sizes(opened)
    if not sizes.coordinate:
        return None
    # As much as a compressed file may expand to; the number of entries is checked when they are read.
    check_promise(sizes, int(opened.size * MAX_EXPANSION) if opened.packed else opened.size, opened.name)
    check_rows(sizes.rows, opened.name)
    rounded = Rounded()
    return EntryBlocks((sizes.rows, sizes.columns), lambda: _market_blocks(opened, sizes, rounded), rounded)


def _market_blocks(opened: OpenedFile, sizes: Sizes, rounded: Rounded) -> Iterator[Entries]:
    seen, triangle = 0, Triangle(sizes, opened.name)
    for body, line in _lines(opened, sizes.start):
        row, column, value = parse_entries(body, sizes, opened.name, line)
        rounded.add([""] if sizes.whole and is_rounded(value) else [])
        seen += len(row)
        if sizes.symmetry != "general":
            triangle.add(row, column, value)
            yield from ((row, column, value), mirrored(row, column, value, sizes))
        elif len(row):
            yield row, column, value
    refuse_count(sizes, seen, opened.name)
    triangle.check()


def _lines(opened: OpenedFile, start: int) -> Iterator[tuple[bytes, int]]:
    """The text from byte `start` in pieces of whole lines, each with the number of its first line."""
    line, skip, rest = 1, start, bytearray()
    for chunk in opened.unpacked(whole=False):
        line += chunk.count(b"\n", 0, skip)
        rest += chunk[skip:]
        skip = max(0, skip - len(chunk))
        if len(rest) < _PIECE:
            continue
        text = bytes(rest)
        end = text.rfind(b"\n") + 1
        rest = bytearray(text[end:])
        if len(rest) > MAX_RECORD:
            refuse_long(opened.name, line + text.count(b"\n"))
        if end:
            yield text[:end].replace(b"\r\n", b"\n"), line
            line += text.count(b"\n", 0, end)
    yield bytes(rest).replace(b"\r\n", b"\n"), line


def table_entries(*paths: str | OpenedFile) -> EntryBlocks | None:
    """The same for Parquet tables of (row, column, value), counted from 0; None for any other table.

    Several files are parts of one table: row 5 is the same row in each of them.
    """
    # opened first: opening a pipe in a folder would block
    files = [open_path(path, MAX_EXPANSION) if isinstance(path, str) else path for path in paths]
    kinds = list(map(_kind_of_values, files))
    if not all(kinds):
        return None
    dtype = np.dtype(bool if set(kinds) == {"truth"} else np.float64)
    name = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"

    rounded = Rounded()

    def blocks() -> Iterator[Entries]:
        for file in files:
            yield from _table_blocks(file, dtype, rounded)

    rows = columns = count = 0
    for row, column, _ in blocks():
        rows, columns = max(rows, int(row.max()) + 1), max(columns, int(column.max()) + 1)
        count += len(row)
    if rows > max(_MOST_ROWS, 100 * count):
        raise FileError(
            f"{name}: the largest row number is {rows - 1:,}, but there are only {count:,} entries, "
            "so nearly all rows would be empty. Renumber the rows from 0 without gaps."
        )
    if rows == 0:
        raise FileError(f"{name} has column names but no rows below them. Check that the file is complete.")
    check_rows(rows, name)
    return EntryBlocks((rows, columns), blocks, rounded, dtype)


def _kind_of_values(opened: OpenedFile) -> str | None:
    """The kind of the third of three columns, if the others are whole numbers with names from `_WORDS`."""
    from pyarrow import parquet, types

    with reading(opened.name, kind="Parquet file"), arrow_input(opened) as stream, parquet_errors(stream):
        fields = list(parquet.ParquetFile(stream).schema_arrow)
    if len(fields) != 3 or not all(types.is_integer(field.type) for field in fields[:2]):
        return None
    named = all(field.name.lower() in words for field, words in zip(fields[:2], _WORDS, strict=True))
    kind = kind_of(fields[2].type)
    return kind if named and kind in ("number", "truth") else None


def _table_blocks(opened: OpenedFile, dtype: np.dtype, rounded: Rounded) -> Iterator[Entries]:
    name = opened.name
    with reading(name, kind="Parquet file"), arrow_input(opened) as stream, parquet_errors(stream):
        file, seen = parquet_file(stream, buffer_size=1 << 20), 0
        for batch in file.iter_batches(_BATCH, use_threads=False):
            if len(batch):
                row, column, value = _table_block(batch, name, seen, rounded)
                if dtype.kind == "b" and np.isnan(value).any():
                    raise FileError(
                        f"{name}, column {batch.schema.names[2]!r}: a truth value is missing. Write true or false, or "
                        "store the values as numbers."
                    )
                yield row, column, value.astype(dtype)
            seen += len(batch)
        if seen != file.metadata.num_rows:
            raise FileError(f"{name} declares {file.metadata.num_rows} rows but contains {seen}. Export it again.")


def _table_block(batch: pa.RecordBatch, name: str, seen: int, rounded: Rounded) -> Entries:
    import pyarrow as pa

    batch.validate(full=True)
    for index in range(2):
        if batch.column(index).null_count:
            raise FileError(
                f"{name}, column {batch.schema.names[index]!r}: a row or column number is missing. "
                "Fill in or remove such entries."
            )
    row, column = (stored_numbers(batch.column(index)) for index in range(2))
    for part in (row, column):
        if int(part.min()) < 0 or int(part.max()) >= 2**62:
            raise FileError(
                f"{name}: a row or column number is negative or larger than 2**62. Row and column "
                "numbers must be counted from 0."
            )
    value = matrix_of([pa.chunked_array([batch.column(2)])], len(batch), name)[:, 0].astype(np.float64)
    rounded.add([""] if long_integers([batch.column(2).type]) and is_rounded(value) else [])
    infinite = np.flatnonzero(np.isinf(value))
    if infinite.size:
        where = f"{name}, row {seen + int(infinite[0]) + 1:,}"
        raise NotFiniteError(f"{where}: the value is infinite, or too large for float64. Correct the value.")
    return row.astype(np.int64), column.astype(np.int64), value


def read_entries(entries: EntryBlocks) -> Any:
    """All entries as one csr_array in canonical form."""
    from scipy import sparse

    from eckart.io.arrays.sparse import canonical

    row, column, value = (np.concatenate(parts) for parts in zip(*entries.blocks(), strict=True))
    return canonical(sparse.coo_array((value, (row, column)), shape=entries.shape))
