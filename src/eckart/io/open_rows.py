"""open_rows: a file as rows that are read when they are asked for; open_table: that, or all of it, by its size."""

from __future__ import annotations

import glob
import os
from pathlib import Path, PurePath
from typing import Any

from eckart.engine.blocks.source import About, RowSource, Source
from eckart.environment import MAX_EXPANSION, free_memory
from eckart.errors import FileError
from eckart.io.arrays.npy import check_size, read_header, refuse_shape
from eckart.io.arrays.npz_rows import npz_rows
from eckart.io.arrays.stored import stored_rows
from eckart.io.arrow.rows import arrow_rows, parquet_rows
from eckart.io.bytes import Opened, open_path, shown
from eckart.io.entries.spooled import spooled_rows
from eckart.io.entries.triplets import market_entries, table_entries
from eckart.io.open_source import open_source
from eckart.io.rows import FileState, NpyRows
from eckart.io.text.rows import delimited_rows


def open_table(
    path: str | os.PathLike[str], *, memory: int | None = None, stream: bool | None = None
) -> Source | RowSource:
    """All of a file that fits comfortably into memory, else its rows, block by block; `stream` decides it."""
    only = only_by_rows(path)
    if not stream and not only and _surely_small(path, memory):
        return open_source(path)
    rows = None if stream is False and not only else open_rows(path)
    if rows is not None and (only or stream or too_large(rows, memory)):
        return rows
    return open_source(path)


def _is_folder(place: str) -> bool:
    return os.path.isdir(place)  # noqa: PTH112 - a name too long is no folder, and no error here


def _is_file(place: str) -> bool:
    return os.path.isfile(place)  # noqa: PTH113


def _surely_small(path: str | os.PathLike[str], memory: int | None) -> bool:
    """Whether a text is so small that counting its rows beforehand would be a waste."""
    place = os.fsdecode(os.fspath(path))
    packed = place.lower().endswith(".gz")
    if PurePath(place.lower().removesuffix(".gz")).suffix not in (*_TEXTS, ".mtx") or not _is_file(place):
        return False
    limit = free_memory() // 3 if memory is None else memory // 4
    return Path(place).stat().st_size * (40 if packed else 4) <= limit


def only_by_rows(path: str | os.PathLike[str]) -> bool:
    """Whether it is of a kind that is always read by rows: HDF5, AnnData, Zarr, folders and patterns."""
    place = os.fsdecode(os.fspath(path))
    suffix = PurePath(place.lower().rstrip("/")).suffix
    pattern = any(mark in place for mark in "*?[") and not os.path.lexists(place)
    return pattern or _is_folder(place) or suffix in (".h5", ".hdf5", ".h5ad", ".he5", ".zarr")


def too_large(rows: RowSource, memory: int | None) -> bool:
    """Whether the numbers take more than a quarter of the memory allowed, or a third of what is free."""
    limit = free_memory() // 3 if memory is None else memory // 4
    return rows.entries * (rows.dtype.itemsize + (4 if rows.sparse else 0)) > limit


def open_rows(path: str | os.PathLike[str], *, key: str | None = None) -> RowSource | None:
    """The rows of a file, a folder or pattern of Parquet files, a Zarr store; None for what can only be read whole."""
    place = os.fsdecode(os.fspath(path))
    name = PurePath(place).name
    suffix = PurePath(place.lower().rstrip("/")).suffix
    if any(mark in place for mark in "*?[") and not os.path.lexists(place):
        return parquet_rows(_matching(place), name)
    if suffix == ".zarr" or (_is_folder(place) and _is_zarr(place)):
        return stored_rows(place, "zarr", key)
    if _is_folder(place):
        return parquet_rows(_in_folder(place), name)
    if suffix in (".h5", ".hdf5", ".h5ad", ".he5"):
        open_path(place, MAX_EXPANSION)
        return stored_rows(place, "hdf5", key)
    if is_text(place):
        open_path(place, MAX_EXPANSION)
        return delimited_rows(place)
    opener = _OPENERS.get(suffix)
    if opener is None:
        return None
    found: RowSource | None = opener(open_path(place, MAX_EXPANSION), place, name)
    return found


def is_text(path: str) -> bool:
    """Whether it is called like a delimited text, packed or not."""
    return PurePath(path.lower().removesuffix(".gz")).suffix in _TEXTS


def _npy(opened: Opened, path: str, name: str) -> RowSource:
    with opened.stream() as stream:
        header = read_header(stream, opened.name)
        check_size(header, opened.size, opened.name)
        refuse_shape(header.shape, opened.name)
    shape = (header.shape[0], header.shape[1])
    return NpyRows(FileState.of(path), shape, header.dtype, header.start, header.fortran, About(name))


def _sorted_rows(path: str, found: Any) -> RowSource | None:
    """Entries in any order are sorted by rows first, in a temporary file."""
    if found is None:
        return None
    return spooled_rows(path, *found)


def _table_rows(path: str, name: str) -> RowSource:
    return _sorted_rows(path, table_entries(path)) or parquet_rows([path], name)


def _matching(pattern: str) -> list[str]:
    found = sorted(glob.glob(pattern))  # noqa: PTH207 - a pattern may begin at the root
    if not found:
        raise FileError(f"No file matches {shown(pattern)}. Check the pattern.")
    return found


def _in_folder(folder: str) -> list[str]:
    found = sorted(str(path) for path in Path(folder).iterdir() if path.suffix.lower() in (".parquet", ".pq"))
    if not found:
        raise FileError(f"{shown(folder)} is a folder without Parquet files, and no Zarr store. Name a file.")
    return found


def _is_zarr(folder: str) -> bool:
    return any((Path(folder) / mark).exists() for mark in ("zarr.json", ".zarray", ".zgroup"))


_TEXTS = (".csv", ".tsv", ".tab", ".txt", ".dat")


_OPENERS: dict[str, Any] = {
    ".npy": _npy,
    ".mtx": lambda _opened, path, _name: _sorted_rows(path, market_entries(path)),
    ".npz": lambda _opened, path, _name: npz_rows(path),
    ".parquet": lambda _opened, path, name: _table_rows(path, name),
    ".pq": lambda _opened, path, name: _table_rows(path, name),
    ".arrow": lambda _opened, path, name: arrow_rows(path, name),
    ".feather": lambda _opened, path, name: arrow_rows(path, name),
}
