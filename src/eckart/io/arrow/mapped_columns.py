"""Arrow columns in mapped files, copied into memory before their values are used (see `eckart.mapped`)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eckart.mapped import LARGE, bytes_in_memory, process_maps

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 8
"""Copies start at a multiple of this row, which begins a byte of the bits that tell missing values."""


def frame_in_memory(frame: Any) -> Any:
    """An Arrow table without columns in mapped files; tables in memory and other objects unchanged."""
    pa = sys.modules.get("pyarrow")
    is_table = pa is not None and isinstance(frame, pa.Table | pa.RecordBatch)
    return _table(frame) if is_table and frame.get_total_buffer_size() >= LARGE else frame


def _table(table: Any) -> Any:
    maps = process_maps()
    columns = [_column(column, maps) for column in table.columns]
    same = all(new is old for new, old in zip(columns, table.columns, strict=True))
    return table if same else type(table).from_arrays(columns, schema=table.schema)


def _column(column: Any, maps: list[bytes]) -> Any:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return _array(column, maps)
    chunks = [_array(chunk, maps) for chunk in column.chunks]
    same = all(new is old for new, old in zip(chunks, column.chunks, strict=True))
    return column if same else pa.chunked_array(chunks, column.type)


def _array(array: pa.Array, maps: list[bytes]) -> pa.Array:
    """The array itself, or a copy of its rows if they are in a mapped file.

    Structs, maps and lists of any length are returned unchanged, because they are not analysed.
    """
    import pyarrow as pa

    types, kind = pa.types, array.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = _array(array.storage, maps)
        return array if stored is array.storage else pa.ExtensionArray.from_storage(kind, stored)
    if types.is_dictionary(kind):
        indices, words = array.indices, array.dictionary
        copies = _array(indices, maps), _array(words, maps)
        same = copies[0] is indices and copies[1] is words
        return array if same else pa.DictionaryArray.from_arrays(*copies, ordered=kind.ordered, safe=False)
    if types.is_fixed_size_list(kind):
        size, first = kind.list_size, array.offset - array.offset % _ROWS
        values = array.values.slice(first * size, (array.offset - first + len(array)) * size)
        copy = _array(values, maps)
        return array if copy is values else _copied(array, maps, [copy])
    return array if kind.num_fields else _copied(array, maps)


def _copied(array: pa.Array, maps: list[bytes], children: Sequence[pa.Array] | None = None) -> pa.Array:
    """The array itself if no buffer is in a mapped file, otherwise a copy of its rows."""
    import pyarrow as pa

    first, kept = array.offset - array.offset % _ROWS, array.buffers()[: array.type.num_buffers if children else None]
    copied = children is not None
    buffers: list[pa.Buffer | None] = []
    for buffer, bits in zip(kept, [1, *_bits_of_row(array.type), *[0] * len(kept)], strict=False):
        if buffer is None:
            buffers.append(None)
            continue
        start, size = first * bits // 8, buffer.size
        if bits:  # one more entry, because offsets have one more than rows
            size = min(size - start, ((array.offset - first + len(array) + 1) * bits + 7) // 8)
        else:
            start = 0
        copy = bytes_in_memory(buffer.address + start, size, maps)
        copied = copied or copy is not None
        buffers.append(buffer.slice(start, size) if copy is None else pa.py_buffer(copy))
    if not copied:
        return array
    return pa.Array.from_buffers(array.type, len(array), buffers, offset=array.offset - first, children=children)


def _bits_of_row(kind: pa.DataType) -> tuple[int, ...]:
    """Bits that a row takes in the second buffer; none if the size of its entries is not known."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(kind) or types.is_binary(kind):
        return (32,)
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return (64,)
    if str(kind) in ("string_view", "binary_view"):
        return (128,)
    return (kind.bit_width,) if types.is_primitive(kind) or types.is_decimal(kind) else ()
