"""Dask data frames: the numbers stay in their partitions; text columns name or label the rows, as in a pandas frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eckart.engine.blocks.dask_rows import DaskRows, dask_rows, named_errors
from eckart.errors import InputError
from eckart.io.frames import (
    column_labels,
    index_names,
    kind_notes,
    kinds_of,
    refuse_empty_frame,
    refuse_without_numbers,
    series_of,
    set_aside,
    stacked_numbers,
)
from eckart.io.roles import MOST_NAMES, Parts, assemble, check_row_names, names_dropped, quoted, unique_names
from eckart.notes import Note


def dask_frame_rows(data: Any, row_names: str | None = "auto") -> DaskRows:
    """The rows of a Dask data frame; the declared types decide which columns are numbers."""
    data, names, notes = _renamed(data)
    declared = series_of(data._meta, names)
    kinds = kinds_of(declared)
    numbers = [name for name in names if kinds[name] in ("number", "truth")]
    others = [name for name in names if name not in numbers]
    check_row_names(row_names, others, "The data frame")
    refuse_without_numbers(numbers, names)
    lengths = _lengths(data)
    refuse_empty_frame((sum(lengths), len(names)))
    parts = Parts(np.empty((0, len(numbers))), numbers, notes=notes)
    series = {name: declared[name] for name in numbers}
    if sum(lengths) > MOST_NAMES:
        parts.notes += [names_dropped(others)] if others else []
    elif others or data._meta.index.dtype.kind == "O":
        computed = _computed(data[others])
        series |= series_of(computed, others)
        parts.row_names = index_names(computed) if row_names == "auto" else None
    kinds = kinds_of(series)
    _refuse_objects(kinds)
    parts.texts = set_aside(series, kinds)
    parts.notes += kind_notes(series, kinds)
    rows = dask_rows(_array(data[numbers], lengths))
    integers = _integers([declared[name] for name in numbers])
    return replace(rows, metadata=assemble(parts, "dask", row_names).metadata, integers=integers)


def _renamed(data: Any) -> tuple[Any, list[str], list[Note]]:
    """The frame with unique names of columns, these names, and notes on those that changed."""
    names, notes = unique_names(column_labels(data._meta))
    if list(data.columns) != names:
        data = data.copy()
        data.columns = names
    return data, names, notes


def _lengths(data: Any) -> tuple[int, ...]:
    with named_errors("the number of rows of each partition"):
        return tuple(int(length) for length in data.map_partitions(len).compute())


def _computed(columns: Any) -> Any:
    with named_errors("the columns that are not numeric"):
        return columns.compute()


def _integers(series: Sequence[Any]) -> tuple[int, ...]:
    """Positions of the columns of integers."""
    return tuple(place for place, column in enumerate(series) if column.dtype.is_integer())


def _array(columns: Any, lengths: tuple[int, ...]) -> Any:
    """Columns of numbers as one Dask array of float32 or float64."""
    return columns.map_partitions(_numbers, meta=_numbers(columns._meta)).to_dask_array(lengths=lengths)


def _numbers(frame: Any) -> Any:
    """The columns of a partition as numbers of one type; runs on the workers."""
    import pandas as pd

    names = [str(place) for place in range(frame.shape[1])]
    return pd.DataFrame(stacked_numbers(series_of(frame, names)), columns=names)


def _refuse_objects(kinds: dict[str, str]) -> None:
    objects = [name for name, kind in kinds.items() if kind == "object"]
    if objects:
        raise InputError(
            f"The column {quoted(objects[0])} contains Python objects that are neither text nor numbers of one type. "
            "Convert it to numbers with astype(float), or leave it out."
        )
