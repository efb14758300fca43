"""Dask data frames: the numbers stay in their partitions; text columns name or label the rows, as in a pandas frame."""

from __future__ import annotations

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


def dask_frame_rows(data: Any, row_names: str | None = "auto") -> DaskRows:
    """The rows of a Dask data frame; the declared types decide which columns are numbers."""
    names, notes = unique_names(column_labels(data._meta))
    if list(data.columns) != names:
        data = data.copy()
        data.columns = names
    declared = series_of(data._meta, names)
    kinds = kinds_of(declared)
    numbers = [name for name in names if kinds[name] in ("number", "truth")]
    others = [name for name in names if name not in numbers]
    check_row_names(row_names, others, "The data frame")
    refuse_without_numbers(numbers, names)
    with named_errors("the number of rows of each partition"):
        lengths = tuple(int(length) for length in data.map_partitions(len).compute())
    refuse_empty_frame((sum(lengths), len(names)))
    parts = Parts(np.empty((0, len(numbers))), numbers, notes=notes)
    series = {name: declared[name] for name in numbers}
    if sum(lengths) > MOST_NAMES:
        parts.notes += [names_dropped(others)] if others else []
    elif others or data._meta.index.dtype.kind == "O":
        with named_errors("the columns that are not numeric"):
            computed = data[others].compute()
        series |= series_of(computed, others)
        parts.row_names = index_names(computed) if row_names == "auto" else None
    kinds = kinds_of(series)
    _refuse_objects(kinds)
    parts.texts = set_aside(series, kinds)
    parts.notes += kind_notes(series, kinds)
    long = tuple(place for place, name in enumerate(numbers) if declared[name].dtype.is_integer())
    rows = dask_rows(_array(data[numbers], lengths))
    return replace(rows, metadata=assemble(parts, "dask", row_names).metadata, integers=long)


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
