"""Dask data frames: the numbers stay in their partitions; text columns name or label the rows, as in a pandas frame."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eckart.engine.blocks.dask_rows import DaskRows, answer, dask_rows, named_errors
from eckart.io.frames import (
    column_labels,
    index_names,
    kind_notes,
    kinds_of,
    series_of,
    set_aside,
    stacked_numbers,
)
from eckart.io.not_tables import refuse_empty_frame, refuse_without_numbers
from eckart.io.roles import MOST_NAMES, Parts, assemble, check_row_names, names_dropped, unique_names
from eckart.notes import Note

_SAMPLE = 100
"""Number of rows that decide whether a column of Python objects contains numbers, as in a pandas frame."""


def dask_frame_rows(data: Any, row_names: str | None = "auto") -> DaskRows:
    """The rows of a Dask data frame; the declared types decide which columns are numbers, or their first objects."""
    data, names, notes = _renamed(data)
    declared = series_of(data._meta, names) | _objects(data)
    kinds = kinds_of(declared, row_names)
    numbers = [name for name in names if kinds[name] in ("number", "truth", "object")]
    others = [name for name in names if name not in numbers]
    check_row_names(row_names, names, "The data frame")
    refuse_without_numbers(numbers, names)
    lengths = _lengths(data)
    refuse_empty_frame((sum(lengths), len(names)))
    parts = Parts(np.empty((0, len(numbers))), numbers, notes=notes)
    series = {name: declared[name] for name in numbers}
    if sum(lengths) <= MOST_NAMES:
        texts, parts.row_names = _texts(data, others, row_names)
        series |= texts
    elif others:
        parts.notes.append(names_dropped(others))
    kinds = kinds_of(series, row_names)
    parts.texts = set_aside(series, kinds)
    parts.notes += kind_notes(series, kinds)
    rows = dask_rows(_array(data[numbers], lengths))
    integers = _integers([declared[name] for name in numbers])
    return replace(rows, metadata=assemble(parts, "dask", row_names).metadata, integers=integers)


def _texts(data: Any, names: list[str], row_names: str | None) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """The columns that are not numbers, and the row names in the index; nothing is computed if there are neither."""
    index = data._meta.index
    if not names and index.dtype.kind != "O" and (index.name is None or index.dtype.kind not in "iu"):
        return {}, None
    computed = _computed(data[names])
    return series_of(computed, names), index_names(computed) if row_names == "auto" else None


def _renamed(data: Any) -> tuple[Any, list[str], list[Note]]:
    """The frame with unique names of columns, these names, and notes on those that changed."""
    names, notes = unique_names(column_labels(data._meta))
    if list(data.columns) != names:
        data = data.copy()
        data.columns = names
    return data, names, notes


def _lengths(data: Any) -> tuple[int, ...]:
    with named_errors("the number of rows of each partition"):
        return tuple(int(length) for length in answer(data.map_partitions(len).compute))


def _computed(columns: Any) -> Any:
    with named_errors("the columns that are not numeric"):
        return answer(columns.compute)


def _integers(series: Sequence[Any]) -> tuple[int, ...]:
    """Positions of the columns of integers."""
    return tuple(place for place, column in enumerate(series) if column.dtype.is_integer())


def _objects(data: Any) -> dict[str, Any]:
    """The first rows of the columns of Python objects, whose declared type does not say what they contain."""
    names = [name for name, kind in data._meta.dtypes.items() if kind.kind == "O" and kind.type is np.object_]
    if not names:
        return {}
    with named_errors("the first rows of the columns of Python objects"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a frame with fewer rows
        return series_of(answer(lambda: data[names].head(_SAMPLE, npartitions=-1)), names)


def _array(columns: Any, lengths: tuple[int, ...]) -> Any:
    """Columns of numbers as one Dask array of float32 or float64."""
    starts = tuple(itertools.accumulate(lengths, initial=0))
    meta = _numbers(columns._meta, starts)
    return columns.map_partitions(_numbers, starts, meta=meta).to_dask_array(lengths=lengths)


def _numbers(frame: Any, starts: Sequence[int], partition_info: Any = None) -> Any:
    """The columns of a partition as numbers of one type; runs on the workers. `starts` are the first rows of all."""
    import pandas as pd

    first = 0 if partition_info is None else starts[partition_info["number"]]
    matrix = stacked_numbers(series_of(frame, list(frame.columns)), first)
    return pd.DataFrame(matrix, columns=[str(place) for place in range(frame.shape[1])])
