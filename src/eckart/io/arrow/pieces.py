"""Rows from inside a Parquet row group, without decoding all of it if the format allows.

A Parquet row group is decoded page by page from its beginning; going back means starting again. One page of every
column is then in memory. With many columns that may be the whole row group. In that case it is decoded a few columns at
a time, from its beginning for every block. Arrow batches: see `batches`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eckart.environment import SMALL, check_piece, free_memory
from eckart.errors import FileError
from eckart.io.arrow.columns import matrix_of
from eckart.io.arrow.parquet import selection, taken
from eckart.io.rows import FileState

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_BYTES, _WIDE_BATCH_BYTES, _WIDE_BATCH_ROWS = 1 << 22, 1 << 24, 1 << 10
"""Number of values decoded at a time; more for many columns, because each column has a cost per batch."""
_BUFFER_BYTES = 1 << 24
"""Read ahead from the file, for all columns together."""
_PAGE_BYTES = 1 << 20
"""Default size of a page of a column, before compression."""


class ParquetPieces:
    """The columns `wanted` of a Parquet file, by row groups, within a share of `memory` bytes."""

    wanted: list[int]

    def __init__(self, state: FileState, wanted: Sequence[int], memory: int | None = None) -> None:
        from pyarrow import parquet

        # Buffered, so that a column of a row group is read page by page.
        self._buffer = min(max(_BUFFER_BYTES // max(len(wanted), 1), 1 << 14), 1 << 20)
        self.file = parquet.ParquetFile(state.path, buffer_size=self._buffer, pre_buffer=False)
        self.schema, self.wanted = self.file.schema_arrow, list(wanted)
        self.memory = free_memory() if memory is None else memory
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._group, self._place = -1, 0
        self._rest: pa.RecordBatch | None = None

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

    def _by_pages(self, group: int) -> bool:
        """Whether one page of every column, and its read-ahead, take at most a quarter of the memory."""
        found = self.file.metadata.row_group(group)
        count = found.num_columns if selection(self.schema, self.wanted) is None else len(self.wanted)
        pages = sum(min(found.total_byte_size, count * size) for size in (_PAGE_BYTES, self._buffer))
        return bool(pages <= max(self.memory // 4, SMALL))

    def _decoded_bytes(self, group: int) -> int:
        """Decoded size of the row group in memory; a dictionary or a run may represent many rows."""
        return int(self.file.metadata.row_group(group).num_rows) * 8 * len(self.wanted)

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

    def fill_by_columns(self, out: np.ndarray, group: int, first: int, name: str) -> bool:
        """Write rows first... of a row group into `out`, a few columns at a time; False if it is read page by page.

        Every column is decoded from the beginning of the row group, so its first rows are decoded once for each block.
        """
        names = selection(self.schema, self.wanted)
        if names is None or self._by_pages(group):
            return False
        self._batches, self._rest, self._group = iter(()), None, -1  # given back first
        count = int(self.file.metadata.row_group(group).num_rows)
        step = max(1, _BATCH_BYTES // max(8 * count, 1))
        for column in range(0, len(names), step):
            some = slice(column, column + step)
            batches = self.file.iter_batches(
                _PAGE_BYTES // 8, row_groups=[group], columns=names[some], use_threads=False
            )
            place = done = 0
            for batch in batches:
                begin = max(first - place, 0)
                place += len(batch)
                if begin < len(batch) and done < len(out):
                    rows = batch.slice(begin, len(out) - done)
                    columns = taken(rows, self.schema, self.wanted[some])
                    numbers = [columns[j] for j in self.wanted[some]]
                    out[done : done + len(rows), some] = matrix_of(numbers, len(rows), name)
                    done += len(rows)
            if place != count or done != len(out):
                raise ValueError(f"{count:,} rows are declared, but {place:,} are stored")
        return True

    def _begin(self, group: int) -> None:
        width = 8 * max(len(self.wanted), 1)
        rows = max(1, _BATCH_BYTES // width, min(_WIDE_BATCH_ROWS, _WIDE_BATCH_BYTES // width))
        names = selection(self.schema, self.wanted)
        self._batches = self.file.iter_batches(rows, row_groups=[group], columns=names, use_threads=False)
        self._group, self._place, self._rest = group, 0, None

    def _next(self) -> pa.Table:
        import pyarrow as pa

        if self._rest is not None:
            batch, self._rest = self._rest, None
            return batch
        batch = next(self._batches, None)
        if batch is None:
            group, self._group = self._group, -1
            raise FileError(f"row group {group + 1} ends after {self._place:,} rows. Write the file again.")
        return pa.Table.from_batches([batch])
