"""Entries (row, column, value) in any order -> CSR rows on disk, by counting first and placing then: two reads.

Matrix Market files run down the columns as a rule, and tables of triplets in any order; rows cannot be read from either
until they are sorted. The sorted matrix is an .npz as scipy.sparse.save_npz writes it, stored without packing.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from eckart.environment import MAX_EXPANSION
from eckart.errors import FileError
from eckart.files import new_file
from eckart.io.bytes import open_path, reason
from eckart.io.entries.matrix_market import Sizes, read_sizes
from eckart.spool import VARIABLE, Spool

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
_LINES = 1 << 24
_WORDS = (("row", "i", "r", "rows", "user", "document"), ("column", "j", "c", "col", "columns", "item", "term"))


def write_csr(
    path: str | Path, shape: tuple[int, int], blocks: Callable[[], Iterator[Entries]], *, overwrite: bool
) -> int:
    """Sort entries by rows into an .npz file; gives their number. `blocks` is called twice."""
    counts = np.zeros(shape[0] + 1, np.int64)
    for rows, _, _ in blocks():
        counts[1:] += np.bincount(rows, minlength=shape[0])
    indptr = np.cumsum(counts)
    total = int(indptr[-1])
    with Spool(Path(path).resolve().parent) as folder:
        data = _mapped(folder / "data", np.dtype(np.float64), total)
        indices = _mapped(folder / "indices", np.dtype(np.int32), total)
        free = indptr[:-1].copy()
        for rows, columns, values in blocks():
            order = np.argsort(rows, kind="stable")
            sorted_rows = rows[order]
            starts = np.flatnonzero(np.r_[True, sorted_rows[1:] != sorted_rows[:-1]])
            within = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
            places = free[sorted_rows] + within
            data[places], indices[places] = values[order], columns[order]
            free += np.bincount(rows, minlength=shape[0])
        with new_file(path, overwrite=overwrite) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            members: dict[str, np.ndarray] = {
                "indices": indices[:total],
                "indptr": indptr,
                "data": data[:total],
                "shape": np.array(shape),
            }
            for name, array in {**members, "format": np.array(b"csr")}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                    _write_npy(stream, array)
    return total


def _mapped(path: Path, dtype: np.dtype[Any], count: int) -> np.ndarray:
    """An array in a file whose room is reserved first: a disk that fills up under a map kills the process (SIGBUS)."""
    size = max(count, 1) * dtype.itemsize
    try:
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        raise FileError(
            f"Sorting the entries by rows takes {size:,} bytes in {path.parent.parent}: {error.strerror or error}. "
            f"Make room, or set {VARIABLE} to a folder with room."
        ) from error
    mapped: np.ndarray = np.memmap(path, dtype, "w+" if not path.stat().st_size else "r+", shape=(max(count, 1),))
    return mapped


def _write_npy(stream: Any, array: np.ndarray) -> None:
    """In pieces: the array may be larger than memory."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    stream.write(head.getvalue())
    flat = array.reshape(-1)
    for start in range(0, len(flat), 1 << 22):
        stream.write(flat[start : start + (1 << 22)].tobytes())


def market_entries(path: str) -> tuple[tuple[int, int], Callable[[], Iterator[Entries]]] | None:
    """The shape of a Matrix Market file and a way to go through its entries; None for a dense one."""
    opened = open_path(path, MAX_EXPANSION)
    sizes = read_sizes(opened)
    if not sizes.coordinate:
        return None
    return (sizes.rows, sizes.columns), lambda: _market_blocks(path, sizes, opened.name)


def _market_blocks(path: str, sizes: Sizes, name: str) -> Iterator[Entries]:
    import pyarrow as pa
    from pyarrow import csv

    names = ["row", "column", "value"][: sizes.words]
    types = {"row": pa.int64(), "column": pa.int64(), "value": pa.float64()}
    seen = 0
    with Path(path).open("rb") as stream:
        stream.seek(sizes.start)
        try:
            reader = csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=csv.ReadOptions(column_names=names, block_size=_LINES),
                parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
                convert_options=csv.ConvertOptions(column_types={k: types[k] for k in names}, null_values=[]),
            )
            for batch in reader:
                row, column = (batch.column(i).to_numpy() - 1 for i in range(2))
                value = np.ones(len(row)) if sizes.pattern else batch.column(2).to_numpy()
                seen += len(row)
                _check_places(row, column, (sizes.rows, sizes.columns), name, seen)
                yield from _mirrored(row, column, value, sizes.symmetry)
        except pa.ArrowInvalid as error:
            raise FileError(f"{name}: an entry after the first {seen:,} cannot be read ({reason(error)}).") from error
    if seen != sizes.entries:
        raise FileError(f"{name} promises {sizes.entries} entries and has {seen}. Copy it or write it again.")


def _mirrored(row: np.ndarray, column: np.ndarray, value: np.ndarray, symmetry: str) -> Iterator[Entries]:
    yield row, column, value
    if symmetry != "general":
        off = row != column
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        yield column[off], row[off], sign * value[off]


def _check_places(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], name: str, seen: int) -> None:
    bad = np.flatnonzero((row < 0) | (row >= shape[0]) | (column < 0) | (column >= shape[1]))
    if bad.size:
        first = int(bad[0])
        place = f"({int(row[first]) + 1}, {int(column[first]) + 1})"
        raise FileError(
            f"{name}: entry {seen - len(row) + first + 1:,} is at {place}, outside {shape[0]} x {shape[1]}."
        )


def table_entries(path: str) -> tuple[tuple[int, int], Callable[[], Iterator[Entries]]] | None:
    """The same for a Parquet table of (row, column, value), counted from 0; None for any other table."""
    import pyarrow as pa
    from pyarrow import parquet, types

    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        message = f"{Path(path).name} is a broken Parquet file ({reason(error)}). Copy it again."
        raise FileError(message) from error
    fields = list(file.schema_arrow)
    if len(fields) != 3 or not all(types.is_integer(field.type) for field in fields[:2]):
        return None
    if any(field.name.lower() not in words for field, words in zip(fields[:2], _WORDS, strict=True)):
        return None

    def blocks() -> Iterator[Entries]:
        for group in range(file.metadata.num_row_groups):
            table = file.read_row_group(group)
            row, column, value = (table.column(i).to_numpy() for i in range(3))
            if len(row):
                yield row.astype(np.int64), column.astype(np.int64), value.astype(np.float64)

    rows = columns = 0
    for row, column, _ in blocks():
        if min(int(row.min()), int(column.min())) < 0:
            raise FileError(f"{Path(path).name}: a row or column number is negative; they are counted from 0.")
        rows, columns = max(rows, int(row.max()) + 1), max(columns, int(column.max()) + 1)
    return (rows, columns), blocks
