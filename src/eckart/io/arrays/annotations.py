"""Names, labels and masks of AnnData files: the columns of `obs` (cells) and `var` (genes).

A table is a group of columns, or, before anndata 0.7, one array of records. A categorical column is a group with
`categories` and `codes`; -1 is a missing value.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from eckart.environment import check_piece
from eckart.errors import FileError, ParameterError
from eckart.io.arrays.containers import Container, Hdf5, Zarr, open_container

_NAMES = ("_index", "index", "cell_id", "gene_id")
_MOST_NAMES = 1_000_000
_READ_AT_ONCE = 1 << 8
"""Number of names of variable length that are read before their size is checked."""
_TRUTHS = {"True": True, "False": False, "true": True, "false": False}


def axis_names(container: Container, side: str, size: int, name: str, memory: int | None) -> tuple[str, ...] | None:
    """Names of the rows ('obs') or columns ('var') of AnnData, unless there are too many to keep."""
    table = container.get(container.root, side)
    if table is None or size > _MOST_NAMES:
        return None
    if not hasattr(table, "keys"):
        return _names_of_records(container, table, side, size, name, memory)
    given = str(dict(table.attrs).get("_index", "_index"))
    names = next((found for key in (given, *_NAMES) if (found := container.get(table, key)) is not None), None)
    names = _values(container, names)
    return None if names is None else _texts(container, names, f"{side}/{given}", size, name, memory)


def cell_labels(container: Container, size: int, name: str, memory: int | None) -> dict[str, tuple[str, ...]]:
    """The categorical columns of `obs`, one label for each row."""
    table = container.get(container.root, "obs")
    if table is None or not hasattr(table, "keys") or size > _MOST_NAMES:
        return {}
    found = {
        column: _labels(container, table, f"obs/{column}", size, name, memory) for column in container.names(table)
    }
    return {column: labels for column, labels in found.items() if labels is not None}


def stored_mask(path: str, kind: str, name: str) -> np.ndarray:
    """A column of AnnData's `var` that is true or false."""
    container, file = open_container(path, kind), Path(path).name
    table, column = _column_of_var(container, name, file)
    if _is_categorical(container, column):
        size = int(container.get(column, "codes").shape[0])
        labels = _labels(container, table, f"var/{name}", size, file, None) or ()
        if set(labels) <= _TRUTHS.keys():
            return np.array([_TRUTHS[label] for label in labels], bool)
    found = _values(container, column)
    if found is None or len(found.shape or ()) != 1 or np.dtype(found.dtype).kind not in "biu":
        raise ParameterError(
            f"{file}: the column {name!r} of var does not contain true or false for each gene. Choose another column."
        )
    container.check(found, f"var/{name}")
    container.check_chunks(found, 0, found.shape[0])
    _refuse_missing(container, column, name, file)
    return np.asarray(found[:]).astype(bool)


def _column_of_var(container: Container, name: str, file: str) -> tuple[Any, Any]:
    """AnnData's `var` and one of its columns."""
    table = container.get(container.root, "var")
    has_columns = table is not None and hasattr(table, "keys")
    column = container.get(table, name) if has_columns else None
    if column is None:
        known = ", ".join(map(repr, container.names(table)[:20])) if has_columns else "none"
        raise ParameterError(f"{file} has no column {name!r} in var. The columns of var are {known}.")
    return table, column


def _refuse_missing(container: Container, column: Any, name: str, file: str) -> None:
    """Refuse a nullable column, stored as values and a mask, with missing values."""
    missing = container.get(column, "mask") if hasattr(column, "keys") else None
    if missing is not None and bool(np.any(missing[:])):
        raise ParameterError(
            f"{file}: the column {name!r} of var has missing values, so it is unknown which genes it selects. Replace "
            "them with true or false, or choose another column."
        )


def _values(container: Container, column: Any) -> Any:
    """The array of a column; nullable columns (pandas 3) are groups. None if there is none."""
    if column is not None and hasattr(column, "keys"):
        column = container.get(column, "values")
    return None if column is None or hasattr(column, "keys") else column


def _is_categorical(container: Container, column: Any) -> bool:
    if not hasattr(column, "keys"):
        return False
    parts = [container.get(column, part) for part in ("categories", "codes")]
    return all(part is not None and not hasattr(part, "keys") and len(part.shape or ()) == 1 for part in parts)


def _labels(
    container: Container, table: Any, place: str, size: int, name: str, memory: int | None
) -> tuple[str, ...] | None:
    """A categorical column as one text for each row, "" for missing ones; None for other columns."""
    column = container.get(table, place.partition("/")[2])
    if column is None or not _is_categorical(container, column):
        return None
    categories, codes = (container.get(column, part) for part in ("categories", "codes"))
    known = _texts(container, categories, f"{place}/categories", int(categories.shape[0]), name, memory)
    _check(container, codes, f"{place}/codes", size, name, memory)
    values = np.asarray(codes[:])
    if values.dtype.kind not in "iu" or (values.size and not -1 <= int(values.min()) <= int(values.max()) < len(known)):
        raise FileError(
            f"{name}: {place}/codes contains values other than the whole numbers from -1 to {len(known) - 1}, which "
            "select the categories. Save the file again."
        )
    return tuple("" if code < 0 else known[code] for code in values.tolist())


def _check(container: Container, array: Any, place: str, size: int, name: str, memory: int | None) -> None:
    """Refuse an array that does not have one value for each row or column, or is not stored completely."""
    if array.shape != (size,):
        raise FileError(
            f"{name}: {place.partition('/')[0]!r} contains names of shape {array.shape}, but exactly {size:,} names "
            "are needed. Save the file again."
        )
    container.check(array, place)
    # Fixed-length names may be compressed: a few bytes in the file, gigabytes in memory.
    check_piece(
        size * np.dtype(array.dtype).itemsize, name, f"the list of names in {place.partition('/')[0]!r}", memory
    )
    container.check_chunks(array, 0, size)


def _texts(container: Container, array: Any, place: str, size: int, name: str, memory: int | None) -> tuple[str, ...]:
    _check(container, array, place, size, name, memory)
    step, what = size, f"the list of names in {place.partition('/')[0]!r}"
    if np.dtype(array.dtype).kind in "OT":
        step = _READ_AT_ONCE if isinstance(container, Hdf5) else int(array.chunks[0])
        if isinstance(container, Zarr):  # it decodes a whole chunk at once
            check_piece(container.texts_size(array, sys.maxsize), name, what, memory)
    found: list[str] = []
    total = 0
    for start in range(0, size, max(step, 1)):
        found += _decoded(array[start : start + step], place, name)
        # Many names of variable length may be one text in the file.
        total += sum(map(len, found[start:]))
        check_piece(total, name, what, memory)
    return tuple(found)


def _decoded(values: Any, place: str, name: str) -> tuple[str, ...]:
    try:
        return tuple(value.decode() if isinstance(value, bytes) else str(value) for value in values)
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name}: {place!r} contains names that are not UTF-8 ({error.reason}). Save the file again with anndata."
        ) from error


def _names_of_records(
    container: Container, table: Any, side: str, size: int, name: str, memory: int | None
) -> tuple[str, ...] | None:
    """The field with the names in an array of records."""
    fields = np.dtype(table.dtype).names or ()
    field = next((key for key in _NAMES if key in fields), None)
    if field is None:
        return None
    _check(container, table, side, size, name, memory)
    return _decoded(np.asarray(table[:])[field], f"{side}/{field}", name)
