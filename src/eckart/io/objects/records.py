"""Columns and records of plain Python: a dict of columns, a list of dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import is_array, to_numpy
from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.errors import InputError
from eckart.formatting import counted
from eckart.io.guard import reason
from eckart.io.roles import listed, quoted
from eckart.mapped import in_memory
from eckart.wording import KEY

if TYPE_CHECKING:
    import pyarrow as pa


def record_table(
    names: Sequence[str], columns: Sequence[Sequence[object]], schema: pa.Schema | None = None
) -> pa.Table:
    """A pyarrow.Table of columns of Python values; None and NaN are missing."""
    import pyarrow as pa

    made = []
    for j, (name, values) in enumerate(zip(names, columns, strict=True)):
        kind = None if schema is None else schema.field(j).type
        made.append(_column(str(name), values, kind))
    if len({len(column) for column in made}) > 1:
        sizes = ", ".join(f"{quoted(str(n))} {len(c):,}" for n, c in zip(names[:5], made, strict=False))
        raise InputError(f"The columns have different lengths: {sizes}. Each column needs one value per row.")
    return pa.table(made, names=[str(name) for name in names])


def _one_per_row(name: str, values: np.ndarray) -> np.ndarray:
    """An array in Arrow's form: one value for each row, masked ones as None, and no half precision."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    if values.ndim != 1:
        raise InputError(
            f"The column {quoted(name)} is an array of shape {values.shape}, but a column needs one value per row."
        )
    return values.astype(np.float32) if values.dtype == np.float16 else values


def _column(name: str, values: Any, kind: pa.DataType | None) -> pa.Array:
    import pyarrow as pa

    values = _one_per_row(name, to_numpy(values)) if is_array(values) else values
    try:
        if kind is not None and not isinstance(values, np.ndarray) and pa.types.is_floating(kind):
            values = [None if value is None else float(value) for value in values]
        return pa.array(values, kind, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The column {quoted(name)} mixes values of several types: {reason(error)}. Convert the column to one type."
        ) from error


def _entry(data: Mapping[Any, Any], key: str, names: str) -> Any:
    if key not in data:
        raise InputError(f"The mapping has no key {key!r}. Its keys are {names}.")
    return data[key]


def mapping_table(data: Mapping[Any, Any], key: str | None) -> Any:
    """The content of a mapping: the array `key`, its only two-dimensional array, or a table of its columns."""
    if not data:
        raise InputError("The mapping is empty: it has no columns.")
    names = listed([str(name) for name in data])
    if key is not None:
        return _entry(data, key, names)
    if all(isinstance(value, Mapping) for value in data.values()):
        raise InputError(
            "The mapping contains a mapping for each name, so the order of the rows is unclear. Convert it to a data "
            "frame, for example with pandas.DataFrame."
        )
    dimensions = {_dimensions(value) for value in data.values()}
    if 2 in dimensions:
        return _only_table(data, names)
    if dimensions == {0}:
        raise InputError(
            "The mapping contains only single values. Pass a list of values for each name, or a list of rows."
        )
    return record_table(list(data), [_values(value) for value in data.values()])


def _only_table(data: Mapping[Any, Any], names: str) -> Any:
    """The only value of a mapping; an error if there are more, because one of them is a table already."""
    if len(data) == 1:
        return next(iter(data.values()))
    tables = [str(name) for name, value in data.items() if _dimensions(value) == 2]
    if len(tables) == 1:
        raise InputError(f"The mapping contains {names}. Choose the table with key={tables[0]!r}.")
    raise InputError(f"The mapping contains {names}. Choose one of the tables ({listed(tables)}) with {KEY}.")


def _values(value: Any) -> Any:
    """One column as a sequence: pandas and polars series through NumPy or Arrow."""
    if hasattr(value, "to_list") and not isinstance(value, np.ndarray):
        return value.to_list()
    if isinstance(value, np.ndarray):
        return in_memory(value)
    return value if is_array(value) else list(value)


def _dimensions(value: object) -> int:
    if isinstance(value, str | bytes):
        return 0
    if hasattr(value, "ndim"):
        return int(value.ndim)
    if isinstance(value, Sequence):
        return 2 if value and isinstance(value[0], list | tuple | np.ndarray) else 1
    return 1 if hasattr(value, "__len__") and not isinstance(value, Mapping) else 0


def records_table(rows: Sequence[Mapping[Any, Any]]) -> pa.Table:
    """A list of dicts: one column for each key; a missing key is a missing value."""
    names: dict[Any, None] = {}
    for row in rows:
        if not isinstance(row, Mapping):
            raise InputError(
                f"The list contains dicts and also values of type {type(row).__name__}. Pass a list "
                "that contains only dicts."
            )
        names.update(dict.fromkeys(row))
    return record_table(list(names), [[row.get(name) for row in rows] for name in names])


def named_table(data: Sequence[Any]) -> MemorySource | None:
    """A table of `eckart.datasets.load`: its numbers with their names; None for other sequences."""
    if getattr(data, "_fields", ()) != ("values", "row_names", "column_names"):
        return None
    values, rows, columns = data
    return MemorySource(values, Metadata("data", rows, columns))


def field_names(row: Any) -> tuple[str, ...] | None:
    """Names of the values of a named tuple or a row of a database; None for other rows, and for repeated names."""
    names = getattr(row, "_fields", None) if isinstance(row, tuple) else None
    if (
        names is None
        and not isinstance(row, Mapping)
        and type(row).__module__.partition(".")[0] in ("sqlite3", "sqlalchemy")
    ):
        names = row.keys() if hasattr(row, "keys") else getattr(row, "_fields", None)
    found = tuple(map(str, names or ()))
    return found if found and len(set(found)) == len(found) == len(row) else None


def columns_of(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Rows of the same type and length as a mapping of columns."""
    kind = type(rows[0])
    for place, row in enumerate(rows):
        if type(row) is not kind or len(row) != len(names):
            raise InputError(
                f"Row 1 is of type {kind.__name__} with {counted(len(names), 'value')}, but row {place + 1} is of type "
                f"{type(row).__name__} with other values. All rows must have the same columns."
            )
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
