"""Columns with numbers in another form, converted to plain columns.

Fixed-size lists (embeddings) become one column per element, name[0], name[1], ... Decimal numbers of a database, which
ADBC sends as text of the opaque type "numeric", become doubles. Numbers stored as a dictionary, as runs or as decimals
of unusual width are decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_NUMERIC = b"ADBC:postgresql:typname"
"""Metadata of a field: its type in the database."""


def width_of(kind: pa.DataType) -> int:
    """Length of the lists of a column of fixed-size lists of numbers; 0 for every other type."""
    import pyarrow as pa

    kind = _storage(kind)
    if not pa.types.is_fixed_size_list(kind):
        return 0
    types, inner = pa.types, kind.value_type
    known = any(test(inner) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))
    return int(kind.list_size) if known else 0


def _storage(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_decimal_text(field: pa.Field) -> bool:
    """Whether it is the opaque type, or its text with a plain type: before PyArrow 18, and from ADBC before 1.3."""
    plain = (field.metadata or {}).get(_NUMERIC, b"").decode()
    return bool(getattr(field.type, "type_name", plain) == "numeric")


def _decoded(field: pa.Field) -> pa.DataType | None:
    """The plain type of numbers stored in another form; None for columns that are used unchanged."""
    import pyarrow as pa

    types, kind = pa.types, field.type
    if _is_decimal_text(field):
        return pa.float64()
    if isinstance(kind, pa.BaseExtensionType):
        return pa.bool_() if is_bool8(kind) else None
    if types.is_decimal(kind):
        return pa.float64() if kind.bit_width != 128 else None
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        inner = kind.value_type
        return inner if types.is_integer(inner) or types.is_floating(inner) else None
    return None


def is_bool8(kind: pa.DataType) -> bool:
    """Whether the values are true and false of one byte each."""
    import pyarrow as pa

    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.bool8"


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves: dictionaries, runs and bytes for bits are ways to store them."""
    import pyarrow as pa

    if is_bool8(kind):
        return pa.bool_()
    return kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) else kind


def decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Runs and bytes for bits as their values, which Arrow does not cast to other types; other columns unchanged."""
    import pyarrow as pa

    kind = column.type
    if not pa.types.is_run_end_encoded(kind) and not is_bool8(kind):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_decode(chunk, stored_type(kind)) for chunk in column.chunks], stored_type(kind))
    return _decode(column, stored_type(kind))


def _decode(column: pa.Array, target: pa.DataType) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_run_end_encoded(column.type):
        return pc.run_end_decode(column)
    if pa.types.is_decimal(column.type):
        column = pc.cast(column, pa.string())  # exact; see `columns`
    return pc.cast(column, target)


def place_names(name: str, width: int) -> list[str]:
    return [f"{name}[{place}]" for place in range(width)]


def expanded_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with one field for each element of a fixed-size list."""
    import pyarrow as pa

    if not any(width_of(field.type) or _decoded(field) for field in schema):
        return schema
    fields = []
    for field in schema:
        width = width_of(field.type)
        if width:
            kind = element_type(field.type)
            fields += [pa.field(name, kind) for name in place_names(field.name, width)]
        else:
            fields.append(field.with_type(_decoded(field) or field.type))
    return pa.schema(fields, schema.metadata)


def element_type(kind: pa.DataType) -> pa.DataType:
    """The type of the columns that a fixed-size list of numbers becomes."""
    import pyarrow as pa

    inner = _storage(kind).value_type
    if pa.types.is_integer(inner):
        return inner
    return pa.float32() if inner in (pa.float32(), pa.float16()) else pa.float64()


def expanded_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same rows under `schema`, the result of `expanded_schema`."""
    import pyarrow as pa

    if not any(width_of(field.type) or _decoded(field) for field in batch.schema):
        return batch
    columns: list[pa.ChunkedArray] = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        width = width_of(field.type)
        if not width:
            target = _decoded(field)
            columns.append(column if target is None else _decode(column, target))
            continue
        columns += list_parts(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def list_parts(column: pa.Array | pa.ChunkedArray) -> list[pa.Array] | list[pa.ChunkedArray]:
    """One array for each element of a column of fixed-size lists; the elements of a missing list are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, width = element_type(column.type), width_of(column.type)
    if isinstance(column, pa.ChunkedArray):
        chunks = [list_parts(chunk) for chunk in column.chunks]
        return [pa.chunked_array([parts[place] for parts in chunks], kind) for place in range(width)]
    column = column.storage if isinstance(column.type, pa.BaseExtensionType) else column
    first, count = column.offset * width, len(column)
    values = column.values.slice(first, count * width)
    if pa.types.is_decimal(values.type):
        values = pc.cast(values, pa.string())  # exact; see `columns`
    values = pc.cast(values, kind, safe=False)
    parts = [values.take(_indices(place, width, count)) for place in range(width)]
    if column.null_count:
        missing = pa.nulls(1, kind)[0]
        parts = [pc.if_else(column.is_valid(), part, missing) for part in parts]
    return parts


def _indices(place: int, width: int, count: int) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(np.arange(place, count * width, width))])


def bytes_of(values: pa.Array | pa.ChunkedArray | pa.Table) -> int:
    """Bytes that the values refer to, or those of their whole buffers for types of which PyArrow cannot tell."""
    import pyarrow as pa

    try:
        return int(values.nbytes)
    except pa.ArrowTypeError:  # views of strings in PyArrow 19
        return int(values.get_total_buffer_size())
