"""Rows from inside a Parquet row group, without decoding all of it if the format allows.

Files read at once and files read in blocks are both read by `ParquetPieces`, row group by row group: PyArrow checks the
metadata of columns only in the first row group that it is asked for, and damaged text only as a dictionary.

A Parquet row group is decoded page by page from its beginning; going back means starting again. One page of every
column is then in memory. With many columns that may be the whole row group. In that case it is decoded a few columns at
a time, from its beginning for every few megabytes of rows. Arrow batches: see `batches`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from eckart.budget import reader_bytes
from eckart.environment import check_piece, free_memory
from eckart.io.arrow.columns import kind_of, matrix_of
from eckart.io.arrow.parquet_footer import decoded_sizes, only_as_strings, page_sizes, parquet_errors
from eckart.io.arrow.plain_columns import bytes_of, width_of
from eckart.io.bytes import OpenedFile
from eckart.io.guard import reading

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_BATCH_BYTES, _WIDE_BATCH_BYTES, _WIDE_BATCH_ROWS = 1 << 22, 1 << 24, 1 << 10
"""Number of values decoded at a time; more for many columns, because each column has a cost per batch."""
_BUFFER_BYTES = 1 << 24
"""Read ahead from the file, for all columns together."""
_PAGE_BYTES = 1 << 20
"""Default size of a page of a column, before compression."""
_STRINGS, _STRING_BATCHES = 1 << 10, 1 << 12
"""Maximum number of rows decoded at a time, and of batches of a row group with more rows than batches, if texts are in
an encoding that PyArrow does not read as dictionaries."""


class ParquetPieces:
    """The columns `wanted` of a Parquet file, by row groups, within a share of `memory` bytes."""

    wanted: list[int]

    def __init__(
        self, place: str | pa.NativeFile, wanted: Sequence[int], memory: int | None = None, *, threads: bool = False
    ) -> None:
        from pyarrow import parquet

        with parquet_errors(place):
            meta = parquet.read_metadata(place)
        self.schema, self.wanted = meta.schema.to_arrow_schema(), sorted(wanted)
        self._widths = [width_of(self.schema.field(j).type) or 1 for j in self.wanted]
        self._place_of_file, self._meta = place, meta
        self._has_texts = any(kind_of(self.schema.field(j).type) == "text" for j in self.wanted)
        names = self.schema.names  # PyArrow builds the list at every access
        self._names = [names[j] for j in self.wanted]
        self._texts = [names[j] for j in self.wanted if kind_of(self.schema.field(j).type) == "text"]
        # Buffered, so that a column of a row group is read page by page.
        largest = max((meta.row_group(group).total_byte_size for group in range(meta.num_row_groups)), default=0)
        most = min(_BUFFER_BYTES // max(len(wanted), 1), largest // max(meta.num_columns, 1), 1 << 20)
        self._buffer = max(most, 1 << 14)
        self.file = self._opened()
        self.memory, self._threads = free_memory() if memory is None else memory, threads
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._group, self._place = -1, 0
        self._rest: pa.RecordBatch | None = None
        self._text_sizes: list[int] | None = None
        self._held: tuple[int, int, np.ndarray] | None = None
        """(row group, first row, rows) decoded in advance."""
        self._pages: list[int] | None = None

    def _opened(self) -> pq.ParquetFile:
        return parquet_file(
            self._place_of_file, metadata=self._meta, read_dictionary=self._texts, buffer_size=self._buffer
        )

    def check_sizes(self, name: str, memory: int | None) -> None:
        """Refuse row groups that cannot be decoded page by page and whose blocks would be decoded too often."""
        meta = self.file.metadata
        sizes = [meta.row_group(group).total_byte_size for group in range(meta.num_row_groups)]
        if not sizes or not self.wanted:
            return
        group = sizes.index(max(sizes))
        if not self._by_pages(group):
            rows = meta.row_group(group).num_rows
            what = f"row group {group + 1} of {rows:,} rows and {len(self.wanted):,} columns"
            check_piece(self._decoded_bytes(group), name, what, memory, share=1)
            check_piece(max(self._page_sizes(group), default=0), name, "one page of a column", memory)

    def _by_pages(self, group: int) -> bool:
        """Whether the reader may hold one page of every column, and its read-ahead."""
        found = self.file.metadata.row_group(group)
        count = found.num_columns if selection(self.schema, self.wanted) is None else len(self.wanted)
        most, buffers = reader_bytes(self.memory), int(min(found.total_byte_size, count * self._buffer))
        if 2 * found.total_byte_size + buffers <= most:  # decompressed and compressed
            return True
        return count * _PAGE_BYTES + buffers <= most and sum(self._page_sizes(group)) + buffers <= most

    def _page_sizes(self, group: int) -> list[int]:
        """Bytes of one page of each column, as far as known. Writers limit all pages alike: one row group suffices."""
        if self._pages is None:
            columns = self.file.metadata.num_columns
            self._pages = page_sizes(self._place_of_file, self._names, group, columns)
        return self._pages

    def _decoded_bytes(self, group: int) -> int:
        """Decoded size of the row group in memory; a dictionary or a run may represent many rows."""
        return int(self.file.metadata.row_group(group).num_rows) * 8 * sum(self._widths)

    def counts(self) -> list[int]:
        meta = self.file.metadata
        return [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]

    def read(self, group: int, first: int, count: int) -> Iterator[dict[int, pa.Array]]:
        """Rows first..first+count of a row group, as batches of columns by position."""
        if group != self._group or first < self._place:
            self._begin(group)
        while count:
            batch = self._next()
            skipped = min(first - self._place, len(batch))
            used = min(count, len(batch) - skipped)
            if skipped + used < len(batch):
                self._rest = batch.slice(skipped + used)
            self._place += skipped + used
            if used:
                yield taken(batch.slice(skipped, used), self.schema, self.wanted)
            first, count = first + used, count - used

    def fill(self, out: np.ndarray, group: int, first: int, name: str) -> None:
        """Write rows first... of a row group into `out`."""
        if selection(self.schema, self.wanted) is None or self._by_pages(group):
            fill_rows(out, self.read(group, first, len(out)), self.wanted, name)
            return
        self._batches, self._rest, self._group = iter(()), None, -1  # given back first
        rows = max(len(out), reader_bytes(self.memory) // max(8 * sum(self._widths), 1))
        if rows == len(out):
            self._held = None
            self._fill_by_columns(out, group, first, name)
            return
        count = int(self.file.metadata.row_group(group).num_rows)
        if not self._holds(group, first, len(out)):
            self._held = None
            held = np.empty((min(rows, count - first), out.shape[1]), out.dtype)
            self._fill_by_columns(held, group, first, name)
            self._held = (group, first, held)
        assert self._held is not None
        start = first - self._held[1]
        out[:] = self._held[2][start : start + len(out)]

    def _holds(self, group: int, first: int, count: int) -> bool:
        if self._held is None or self._held[0] != group:
            return False
        start = first - self._held[1]
        return start >= 0 and start + count <= len(self._held[2])

    def _fill_by_columns(self, out: np.ndarray, group: int, first: int, name: str) -> None:
        """Write rows first... of a row group into `out`, a few columns at a time.

        Every column is decoded from the beginning of the row group.
        """
        count = int(self.file.metadata.row_group(group).num_rows)
        most = min(max(self.memory // 32, _PAGE_BYTES), _BATCH_BYTES)
        step = max(1, most // max(8 * count * max(self._widths, default=1), 1))
        edges = [0, *itertools.accumulate(self._widths)]
        for column in range(0, len(self.wanted), step):
            some = slice(column, column + step)
            batches = self.file.iter_batches(
                _PAGE_BYTES // 8, row_groups=[group], columns=self._names[some], use_threads=self._threads
            )
            place = done = 0
            for batch in self._guarded(batches):
                begin = max(first - place, 0)
                place += len(batch)
                if begin < len(batch) and done < len(out):
                    rows = batch.slice(begin, len(out) - done)
                    columns = taken(rows, self.schema, self.wanted[some])
                    numbers = [columns[j] for j in self.wanted[some]]
                    block = matrix_of(numbers, len(rows), name)
                    out[done : done + len(rows), edges[column] : edges[column] + block.shape[1]] = block
                    done += len(rows)
            if place != count or done != len(out):
                raise ValueError(f"the file declares {count:,} rows but contains {place:,}")

    def _guarded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with parquet_errors(self._place_of_file):
            yield from batches

    def text_size(self, group: int) -> int:
        if self._text_sizes is None:
            meta = self.file.metadata
            self._text_sizes = decoded_sizes(self._place_of_file, self._names, meta.num_row_groups, meta.num_columns)
        return self._text_sizes[group]

    def _string_rows(self, group: int) -> int:
        """Rows to decode at a time if texts are read as strings.

        A common beginning may be stored once for many strings: each may be as long as all together take in the file.
        """
        count = int(self.file.metadata.row_group(group).num_rows)
        most = _BATCH_BYTES // max(self.text_size(group), 1)
        return min(max(most, count // _STRING_BATCHES, 1), _STRINGS)

    def _begin(self, group: int) -> None:
        width = 8 * max(sum(self._widths), 1)
        threads = self._threads and self._decoded_bytes(group) > _BATCH_BYTES
        rows = max(1, _BATCH_BYTES // width, min(_WIDE_BATCH_ROWS, _WIDE_BATCH_BYTES // width))
        if self._has_texts and not self._texts:
            rows = min(rows, self._string_rows(group))
        names = selection(self.schema, self.wanted)
        self._batches = self.file.iter_batches(rows, row_groups=[group], columns=names, use_threads=threads)
        self._group, self._place, self._rest = group, 0, None

    def _next(self) -> pa.Table:
        import pyarrow as pa

        if self._rest is not None:
            batch, self._rest = self._rest, None
            return batch
        try:
            with parquet_errors(self._place_of_file):
                batch = next(self._batches, None)
        except (pa.ArrowException, OSError):
            if not self._texts or not only_as_strings(self._place_of_file, self._texts):
                raise
            self._texts = []
            self.file = self._opened()
            self._begin(self._group)
            return self._next()
        if batch is None:
            self._group = -1
            raise ValueError(f"it ends after {self._place:,} rows")
        return pa.Table.from_batches([batch])


def arrow_input(opened: OpenedFile) -> pa.BufferReader | pa.OSFile:
    """Read, not mapped: truncating a mapped file would end the process."""
    import pyarrow as pa

    return pa.BufferReader(opened.content) if opened.path is None else pa.OSFile(opened.path)


def parquet_file(place: str | pa.NativeFile, **options: object) -> pq.ParquetFile:
    """A Parquet file that is read page by page; pages with a checksum are compared with it."""
    from pyarrow import parquet

    return parquet.ParquetFile(place, pre_buffer=False, page_checksum_verification=True, **options)


def fill_rows(out: np.ndarray, batches: Iterator[dict[int, pa.Array]], wanted: Sequence[int], name: str) -> None:
    """Write batches of columns of numbers into `out`."""
    done = 0
    for columns in batches:
        numbers = [columns[j] for j in wanted]
        block = matrix_of(numbers, len(numbers[0]), name)
        out[done : done + len(block)] = block
        done += len(block)


def check_layout(file: pq.ParquetFile) -> None:
    """Check that the row groups have the columns of the schema and together the rows of the file.

    The metadata of single columns are left to the reader: asking PyArrow for damaged ones ends the process.
    """
    meta, columns = file.metadata, len(file.schema)
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    for number, group in enumerate(groups):
        if group.num_columns != columns:
            raise ValueError(
                f"row group {number + 1} has {group.num_columns} columns, but the schema declares {columns}"
            )
    counted = sum(group.num_rows for group in groups)
    if counted != meta.num_rows or any(group.num_rows < 0 for group in groups):
        raise ValueError(f"the row groups have {counted} rows, but the file declares {meta.num_rows}")


def selection(schema: pa.Schema, wanted: Sequence[int]) -> list[str] | None:
    """Names that select these columns of a Parquet file; None (all) if a name would select others as well."""
    names = schema.names
    plain = len(set(names)) == len(names) and not any("." in name for name in names)
    return [names[j] for j in wanted] if plain else None


def taken(table: pa.Table, schema: pa.Schema, wanted: Sequence[int]) -> dict[int, pa.ChunkedArray]:
    """The columns read by `selection`, by position, after checking that they are sound."""
    chosen = selection(schema, wanted)
    positions = range(len(wanted)) if chosen is not None else wanted
    columns = {j: table.column(k) for j, k in zip(wanted, positions, strict=True)}
    for column in columns.values():
        column.validate(full=True)
    return columns


class Pieces(Protocol):
    """Row groups or batches of a file, and columns of them."""

    wanted: list[int]

    def read(self, group: int, first: int, count: int) -> Iterator[dict[int, pa.Array]]: ...

    def text_size(self, group: int) -> int:
        """Bytes of text that reading a piece decodes at once, if the file states them; otherwise 0."""
        ...


def text_columns(
    reader: Pieces, counts: Iterable[tuple[int, int]], name: str, piece: str, most: int
) -> dict[int, pa.ChunkedArray] | None:
    """The complete columns of the pieces (number, rows) that name or label the rows. Errors call one `piece`.

    None if they take more than `most` bytes: a compressed file may contain many times its size in text.
    """
    import pyarrow as pa

    found: dict[int, list[pa.Array]] = {j: [] for j in reader.wanted}
    size = 0
    for group, count in counts:
        with reading(name, f"{piece} {group + 1}"):
            if size + reader.text_size(group) > most:
                return None
            for columns in reader.read(group, 0, count):
                for j, column in columns.items():
                    column.validate(full=True)
                    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
                    chunks = [_compact(chunk) for chunk in chunks]
                    size += sum(map(bytes_of, chunks))
                    found[j] += chunks
                if size > most:
                    return None
    return {j: pa.chunked_array(chunks) for j, chunks in found.items()}


def _compact(chunk: pa.Array) -> pa.Array:
    """The same values; a dictionary without the values that do not occur, because every batch has its own copy."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(chunk.type) or len(chunk.dictionary) <= len(chunk):
        return chunk
    used = pc.drop_null(pc.unique(chunk.indices))
    return pa.DictionaryArray.from_arrays(pc.index_in(chunk.indices, used), chunk.dictionary.take(used))
