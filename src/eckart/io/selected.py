"""Options that select a part of the data: columns, a mask of columns, a key or a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eckart.arrays import is_array, is_sparse
from eckart.engine.blocks.source import DataSource, MemorySource, Metadata, RowSource, Source
from eckart.errors import InputError, ParameterError
from eckart.io.columns import keep, places_of
from eckart.io.read_options import ReadOptions
from eckart.wording import either


def refuse_parts(data: object, options: ReadOptions) -> None:
    """Refuse a key or a layer of an object that contains a single table, and row names of one without columns."""
    has_columns = _has_columns(data)
    if not has_columns and not is_array(data) and not is_sparse(data):
        return
    table = "which contains a single table"
    row_names = None if has_columns or options.row_names == "auto" else options.row_names
    unused = {
        "layer": (options.layer, table),
        "key": (options.key, table),
        "row_names": (row_names, "which has no column of row names"),
    }
    for name, (given, why) in unused.items():
        if given is not None:
            raise ParameterError(
                f"{name}={given!r} does not apply to an object of type {type(data).__name__}, {why}. Leave it out."
            )


def _has_columns(data: object) -> bool:
    """Whether the object is a data frame or an array of records. Lazy frames compute their columns, so ask the type."""
    return hasattr(type(data), "columns") or (isinstance(data, np.ndarray) and data.dtype.names is not None)


def masked(data: object, place: str | None, found: Any, options: ReadOptions) -> DataSource:
    """The columns that `mask` selects. `place` is the path of the data, if they are a file."""
    from eckart.io.objects.cells import is_anndata, mask_indices

    mask: Any = options.mask
    if is_anndata(data):
        return keep(found, mask_indices(data, mask))
    if place is not None and isinstance(mask, str):
        mask = _mask_of_file(place, mask, options.format)
    selected = np.asarray(mask)
    if selected.dtype != bool or selected.shape != (found.shape[1],):
        raise InputError(
            f"{either('mask=', '--mask')} is {'a name' if isinstance(mask, str) else 'an array'}, but these data need "
            f"one true or false value for each of the {found.shape[1]} columns. Only AnnData accepts a "
            "name, which is a column of `var`."
        )
    indices = np.flatnonzero(selected)
    if not len(indices):
        raise ParameterError(f"{either('mask=', '--mask')} is false everywhere, so no columns are left to analyse.")
    return keep(found, indices.tolist()) if isinstance(found, Source | RowSource) else found[:, indices]


def _mask_of_file(place: str, name: str, format: str | None) -> np.ndarray | str:
    """A column of AnnData's `var`; the name itself if the file is not of a kind that contains AnnData."""
    from eckart.io.arrays.annotations import stored_mask
    from eckart.io.bytes import shown
    from eckart.io.guard import reading
    from eckart.io.open_rows import stored_kind

    kind = stored_kind(place, format)
    if kind is None:
        return name
    with reading(shown(place)):
        return stored_mask(place, kind, name)


def chosen(found: Any, columns: Sequence[str | int]) -> DataSource:
    """The columns with these names or positions, in this order."""
    if isinstance(found, Source | RowSource):
        return keep(found, places_of(found, columns))
    indices = places_of(MemorySource(found, Metadata("The array")), columns)
    return found[:, indices]
