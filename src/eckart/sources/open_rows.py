"""open_rows: a file as rows that are read when they are asked for; open_table: that, or all of it, by its size."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any

from eckart.sources.array_files import check_size, read_header, refuse_shape
from eckart.sources.base import About, RowSource, Source
from eckart.sources.limits import MAX_EXPANSION, free_memory
from eckart.sources.open_source import open_source
from eckart.sources.opening import open_path
from eckart.sources.rows import FileState, NpyRows


def open_table(
    path: str | os.PathLike[str], *, memory: int | None = None, stream: bool | None = None
) -> Source | RowSource:
    """All of a file that fits comfortably into memory, else its rows, block by block; `stream` decides it."""
    rows = None if stream is False else open_rows(path)
    if rows is not None and (stream or too_large(rows, memory)):
        return rows
    return open_source(path)


def too_large(rows: RowSource, memory: int | None) -> bool:
    """Whether the numbers take more than half of the memory allowed, or a third of what is free."""
    limit = free_memory() // 3 if memory is None else memory // 2
    return rows.entries * (rows.dtype.itemsize + (4 if rows.sparse else 0)) > limit


def open_rows(path: str | os.PathLike[str]) -> RowSource | None:
    """The rows of a file; None where its format can only be read whole."""
    place = os.fsdecode(os.fspath(path))
    suffix = PurePath(place.lower()).suffix
    opener = _OPENERS.get(suffix)
    return None if opener is None else opener(place)


def _npy(path: str) -> RowSource:
    opened = open_path(path, MAX_EXPANSION)
    with opened.stream() as stream:
        header = read_header(stream, opened.name)
        check_size(header, opened.size, opened.name)
        refuse_shape(header.shape, opened.name)
    shape = (header.shape[0], header.shape[1])
    about = About(PurePath(path).name)
    return NpyRows(FileState.of(path), shape, header.dtype, header.start, header.fortran, about)


_OPENERS: dict[str, Any] = {".npy": _npy}
