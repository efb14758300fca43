"""xarray objects, with the names of their coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eckart.engine.blocks.dask_rows import dask_rows, is_dask
from eckart.engine.blocks.source import MemorySource, Metadata, RowSource
from eckart.errors import InputError
from eckart.io.arrays.npy import value_notes
from eckart.io.arrays.packing import packing_notes
from eckart.io.objects.arrow_stream import reader_source
from eckart.io.objects.records import record_table
from eckart.io.roles import listed
from eckart.wording import KEY


def is_labelled(data: object) -> bool:
    """An xarray DataArray or Dataset."""
    return type(data).__module__.partition(".")[0] == "xarray" and hasattr(data, "coords")


def labelled_source(data: Any, key: str | None = None, row_names: str | None = "auto") -> Any:
    """A two-dimensional DataArray, the variable `key` of a Dataset, or a table of its one-dimensional variables."""
    if hasattr(data, "data_vars"):
        return _dataset(data, key, row_names)
    if data.ndim != 2:
        raise InputError(
            f"The DataArray has the dimensions {data.dims} with sizes {data.shape}, but a table has "
            "two dimensions. Stack some dimensions, for example with data.stack(row=('lat', 'lon')), "
            "or select a slice with .sel."
        )
    rows, columns = (_names(data, dimension) for dimension in data.dims)
    name = str(data.name or "data")
    metadata = Metadata(name, rows, columns, notes=packing_notes(data, name))
    if is_dask(data.data):
        found: RowSource = replace(dask_rows(data.data), metadata=metadata)
        return found
    values = _numbers(data)
    metadata = replace(metadata, notes=(*metadata.notes, *value_notes(values)))
    return MemorySource(values if values.dtype in (np.float32, np.float64) else values.astype(np.float64), metadata)


def _names(data: Any, dimension: str) -> tuple[str, ...] | None:
    """The coordinate of a dimension as names; None if it has none."""
    if dimension not in data.coords:
        return None
    values = data.coords[dimension].values
    if np.issubdtype(values.dtype, np.integer) and np.array_equal(values, np.arange(len(values))):
        return None
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return tuple(np.datetime_as_string(values, unit="D" if np.array_equal(days, values) else "s").tolist())
    if values.dtype.kind == "m":
        values = values.astype("timedelta64[us]")
    return tuple(" ".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values.tolist())


def _numbers(data: Any) -> Any:
    values = np.asarray(data.data)
    if values.dtype.kind not in "fiub":
        raise InputError(
            f"The DataArray {data.name!r} contains values of type {values.dtype}, not numbers. Convert it "
            "to numbers first."
        )
    return values


def _dataset(data: Any, key: str | None, row_names: str | None) -> Any:
    names = [str(name) for name in data.data_vars]
    if key is not None and key not in data:
        raise InputError(f"The Dataset has no variable {key!r}. Its variables are {listed(names)}.")
    only = names[0] if key is None and len(names) == 1 and data[names[0]].ndim == 2 else key
    return _table(data, names, row_names) if only is None else labelled_source(data[only])


def _table(data: Any, names: list[str], row_names: str | None) -> Any:
    """The variables of a Dataset as columns."""
    dimensions = {data[name].dims for name in names}
    if [len(found) for found in dimensions] != [1]:
        shown = listed([f"{name} {data[name].dims}" for name in names])
        raise InputError(
            f"The variables of the Dataset do not all have the same single dimension, so they are not the columns of "
            f"a table: {shown}. Choose one variable with {KEY}, or select only one-dimensional variables."
            if names
            else "The Dataset has no variables, so there is nothing to analyse."
        )
    table = record_table(names, [data[name].values for name in names])
    source = reader_source(table.to_reader(), "data", row_names)
    rows = _names(data, next(iter(dimensions))[0])
    return source if rows is None else replace(source, metadata=replace(source.metadata, row_names=rows))
