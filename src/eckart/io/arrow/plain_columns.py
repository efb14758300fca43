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

    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if not pa.types.is_fixed_size_list(kind):
        return 0
    types, inner = pa.types, kind.value_type
    known = types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner)
    return int(kind.list_size) if known else 0


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
        return pa.bool_() if kind.extension_name == "arrow.bool8" else None
    if types.is_decimal(kind):
        return pa.float64() if kind.bit_width != 128 else None
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        inner = kind.value_type
        return inner if types.is_integer(inner) or types.is_floating(inner) else None
    return None


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
            kind = _number_type(field.type)
            fields += [pa.field(name, kind) for name in place_names(field.name, width)]
        else:
            fields.append(field.with_type(_decoded(field) or field.type))
    return pa.schema(fields, schema.metadata)


def _number_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return pa.float32() if kind.value_type in (pa.float32(), pa.float16()) else pa.float64()


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
        numbers = list_matrix(column)
        columns += [pa.array(np.ascontiguousarray(numbers[:, place])) for place in range(width)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def list_matrix(column: pa.Array) -> np.ndarray:
    """rows x width; a missing list is a row of NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    width, dtype = int(column.type.list_size), _number_type(column.type)
    first = column.offset * width
    values = column.values.slice(first, len(column) * width)
    numbers: np.ndarray = pc.cast(values, dtype, safe=False).to_numpy(zero_copy_only=False).reshape(len(column), width)
    if column.null_count:
        numbers = np.where(column.is_null().to_numpy(zero_copy_only=False)[:, None], np.nan, numbers)
        numbers = numbers.astype(dtype.to_pandas_dtype())
    return numbers
