"""Rows from inside the record batches of an Arrow file, without reading whole batches if the format allows.

An uncompressed batch is stored column by column, so any rows of a fixed-width column can be read directly. Compressed
batches and columns of other types are decoded whole.

Arrow locates the columns in a copy of the file in memory that contains only its metadata. A memory map of the file
would also do, but truncating a mapped file ends the process (SIGBUS).
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from eckart.environment import check_piece
from eckart.io.arrow.footer import Span, batch_heads, decoded_sizes, dictionary_size, metadata_spans
from eckart.io.arrow.pieces import fill_rows
from eckart.io.arrow.plain_columns import element_type, width_of
from eckart.io.rows import FileState

if TYPE_CHECKING:
    import pyarrow as pa

_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0
"""MAP_NORESERVE: pages that are never written take no memory."""


class ArrowPieces:
    """The columns `wanted` of an Arrow file, by record batches."""

    path: str
    wanted: list[int]

    def __init__(self, state: FileState, wanted: Sequence[int]) -> None:
        import pyarrow as pa
        from pyarrow import ipc

        self.path, self.wanted, self._size = state.path, sorted(wanted), state.size
        with Path(state.path).open("rb", buffering=0) as stream:
            stored = _Bytes(stream, state.size)
            self._heads = batch_heads(stored)
            self._layout = pa.py_buffer(_copied(stored, metadata_spans(stored)))
        self.schema = ipc.open_file(pa.OSFile(state.path)).schema
        self._kept: tuple[int, dict[int, pa.Array]] | None = None
        self._readers: dict[tuple[int, ...], Any] = {}
        self._places: Any = None
        self._text_sizes: list[int] | None = None

    def counts(self) -> list[int]:
        """The rows of the batches according to the metadata; every read compares them with the batch."""
        for group, head in enumerate(self._heads):
            if not head.rows and self._reader(tuple(self.wanted)).get_batch(group).num_rows:  # or it raises
                raise ValueError(f"record batch {group + 1} has more rows than its metadata declares")
        return [head.rows for head in self._heads]

    def _check_rows(self, *, stored: int) -> None:
        """Refuse batches with more rows, of `stored` bits each, than the file has room for."""
        for group, head in enumerate(self._heads):
            if head.rows < 0:
                raise ValueError(f"batch {group + 1} declares {head.rows:,} rows")
            if not head.packed and head.rows * stored > 8 * self._size:
                raise ValueError(
                    f"record batch {group + 1} declares {head.rows:,} rows, which is more than the file can contain"
                )

    def check_sizes(self, name: str, memory: int | None) -> None:
        """Refuse more rows than the file has room for, and batches that take more than the allowed memory to decode."""
        types = [self.schema.field(j).type for j in self.wanted]
        self._check_rows(stored=sum(_bits(kind) for kind in types if not _has_runs(kind)))
        most = max(head.rows for head in self._heads)
        check_piece(self._largest_decoded(types), name, f"decoding one record batch of {most:,} rows", memory)
        with Path(self.path).open("rb", buffering=0) as stream:
            dictionaries = dictionary_size(_Bytes(stream, self._size))
        check_piece(dictionaries, name, "the list of dictionaries of the columns", memory)

    def _largest_decoded(self, types: list[pa.DataType]) -> int:
        """Bytes of the largest decoded batch. While a compressed batch is decoded, it is in memory as well."""
        packed = any(head.packed for head in self._heads)
        decoded = sum(_bits(kind) for kind in types if packed or not _is_fixed(kind))
        return max(head.rows * decoded // 8 + (head.size if head.packed else 0) for head in self._heads)

    def text_size(self, group: int) -> int:
        """The decoded size of the batch without the columns of numbers: an upper bound."""
        if self._text_sizes is None:
            with Path(self.path).open("rb", buffering=0) as stream:
                sizes = decoded_sizes(_Bytes(stream, self._size))
            numbers = sum(_bits(field.type) for field in self.schema if _is_fixed(field.type))
            self._text_sizes = [size - head.rows * numbers // 8 for size, head in zip(sizes, self._heads, strict=True)]
        return max(self._text_sizes[group], 0)

    def read(self, group: int, first: int, count: int) -> Iterator[dict[int, pa.Array]]:
        columns = self._columns(group)
        with Path(self.path).open("rb", buffering=0) as stream:
            yield {
                j: self._stored(stream, column, first, count) if self._in_file(column) else column.slice(first, count)
                for j, column in columns.items()
            }

    def fill(self, out: np.ndarray, group: int, first: int, name: str) -> None:
        """Write rows first... of a batch into `out`."""
        fill_rows(out, self.read(group, first, len(out)), self.wanted, name)

    def _columns(self, group: int) -> dict[int, pa.Array]:
        if self._kept is None or self._kept[0] != group:
            self._kept = None
            found = {} if self._heads[group].packed else self._laid_out(group)
            others = tuple(j for j in self.wanted if j not in found)
            if others:
                found |= dict(zip(others, self._reader(others).get_batch(group).columns, strict=True))
            for column in found.values():
                self._validate(column)
                if len(column) != self._heads[group].rows:
                    raise ValueError(
                        f"the metadata declares {self._heads[group].rows} rows, but a column has {len(column)}"
                    )
            self._kept = (group, found)
        return self._kept[1]

    def _reader(self, columns: tuple[int, ...]) -> Any:
        """Reads these columns, or all if there are none, and copies them from the file."""
        import pyarrow as pa
        from pyarrow import ipc

        if columns not in self._readers:
            options = ipc.IpcReadOptions(included_fields=list(columns), use_threads=False)
            self._readers = {columns: ipc.open_file(pa.OSFile(self.path), options=options)}
        return self._readers[columns]

    def _laid_out(self, group: int) -> dict[int, pa.Array]:
        """Columns of fixed width as laid out in the file: positions only, without values."""
        import pyarrow as pa
        from pyarrow import ipc

        try:
            if self._places is None:
                self._places = ipc.open_file(self._layout)
            batch = self._places.get_batch(group)
        except (pa.ArrowException, OSError):  # an unwanted column may be damaged; OSError is Arrow's as well
            return {}
        columns = {j: batch.column(j) for j in self.wanted if _is_fixed(self.schema.field(j).type)}
        return {j: column for j, column in columns.items() if self._in_file(column)}

    def _validate(self, column: pa.Array) -> None:
        """The checks of validate(full=True), without reading the numbers of columns in the file."""
        import pyarrow as pa

        if not self._in_file(column):
            column.validate(full=True)
            return
        column.validate()
        if column.buffers()[0] is None:
            return
        with Path(self.path).open("rb", buffering=0) as stream:
            bitmap = self._bits(stream, column.buffers()[0], 1, column.offset, len(column))
        bits = pa.Array.from_buffers(pa.bool_(), len(column), [None, bitmap], offset=column.offset % 8)
        if len(column) - bits.true_count != column.null_count:
            raise ValueError(
                f"the metadata declares {column.null_count} missing values, but the number stored is different"
            )

    def _in_file(self, array: pa.Array) -> bool:
        start = self._layout.address
        buffers = [buffer for buffer in array.buffers() if buffer is not None]
        return _is_fixed(array.type) and all(
            start <= buffer.address and buffer.address + buffer.size <= start + self._layout.size for buffer in buffers
        )

    def _stored(self, stream: BinaryIO, array: pa.Array, first: int, count: int) -> pa.Array:
        """Rows of one column, read from its position in the file."""
        import pyarrow as pa

        place = array.offset + first
        buffers = [
            None if buffer is None else self._bits(stream, buffer, bits, place, count)
            for buffer, bits in zip(array.buffers(), (1, array.type.bit_width), strict=True)
        ]
        return pa.Array.from_buffers(array.type, count, buffers, offset=place % 8)

    def _bits(self, stream: BinaryIO, buffer: pa.Buffer, bits: int, place: int, count: int) -> pa.Buffer:
        """Elements of this many bits, starting at a multiple of eight, because bits are packed by eight."""
        import pyarrow as pa

        begin, end = (place - place % 8) * bits // 8, -(-(place + count) * bits // 8)
        if end > buffer.size:
            raise ValueError("a column is shorter than its batch")
        content = os.pread(stream.fileno(), end - begin, buffer.address - self._layout.address + begin)
        if len(content) != end - begin:
            raise ValueError("the file ends early")
        return pa.py_buffer(content)


class _Bytes:
    """A file that slices into bytes, like a memory map."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._size = stream, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, span: slice) -> bytes:
        start, stop, _ = span.indices(self._size)
        return os.pread(self._stream.fileno(), max(stop - start, 0), start)


def _copied(stored: _Bytes, spans: Sequence[Span]) -> mmap.mmap:
    """Memory of the size of the file with these parts of it; the rest is zeros and takes no space."""
    flags = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE}
    copy = mmap.mmap(-1, len(stored), **flags)
    for span in spans:
        content = stored[span.start : span.stop]
        copy[span.start : span.start + len(content)] = content
    return copy


def _bits(kind: pa.DataType) -> int:
    """Bits of one row, by the columns of the matrix."""
    width = width_of(kind)
    if width:
        return width * int(element_type(kind).bit_width)
    return int((kind.value_type if _has_runs(kind) else kind).bit_width)


def _has_runs(kind: pa.DataType) -> bool:
    """Whether a value may stand for many rows."""
    from pyarrow import types

    return bool(types.is_run_end_encoded(kind))


def _is_fixed(kind: object) -> bool:
    from pyarrow import types

    return types.is_primitive(kind) and not types.is_temporal(kind)
