"""open_rows: a file as rows read on demand; open_table: rows on demand or the whole file, depending on its size."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from eckart.engine.blocks.source import MemoryRows, Metadata, RowSource, Source
from eckart.environment import MAX_EXPANSION, SMALL, free_memory
from eckart.errors import FileError, ParameterError
from eckart.files import ZARR_MARKS
from eckart.io.arrays.npy import check_size, precision_notes, read_header, refuse_shape
from eckart.io.arrays.npz_rows import npz_rows, npz_table_rows
from eckart.io.arrays.probe import check_metadata
from eckart.io.arrays.stored import stored_rows
from eckart.io.arrow.parquet import ENTRIES_NOTE
from eckart.io.arrow.rows import ArrowRows, arrow_rows, parquet_rows
from eckart.io.bytes import PARSING, OpenedFile, open_path, shown
from eckart.io.entries.spooled import SpooledRows, spooled_rows
from eckart.io.entries.triplets import EntryBlocks, market_entries, table_entries
from eckart.io.guard import reading
from eckart.io.open_source import FORMATS, STORED, kind_of, open_source
from eckart.io.read_options import DEFAULT, ReadOptions
from eckart.io.roles import MOST_NAMES
from eckart.io.rows import FileState, NpyRows
from eckart.io.several import files_below, hive_labels, stacked_sources
from eckart.io.text.rows import DelimitedRows, text_rows
from eckart.notes import Note
from eckart.wording import assigned


def open_table(
    path: str | os.PathLike[str],
    *,
    memory: int | None = None,
    stream: bool | None = None,
    options: ReadOptions = DEFAULT,
) -> Source | RowSource:
    """A file whole if it fits comfortably into memory, otherwise its rows in blocks; `stream` overrides the choice."""
    place = os.fsdecode(os.fspath(path))
    suffix = _suffix(place, options.format)
    _refuse_unused(place, suffix, options)
    if (table := _as_table(place, options, memory)) is not None:
        return table
    by_rows = _is_pattern(place) or _is_folder(place) or suffix.removeprefix(".") in STORED
    return _rows_or_whole(place, suffix, options, memory, by_rows=by_rows or stream)


def _rows_or_whole(
    path: str, suffix: str, options: ReadOptions, memory: int | None, *, by_rows: bool | None
) -> Source | RowSource:
    """The rows of one file in blocks, or the whole file; `by_rows` is None if the size decides."""
    if not by_rows and _surely_small(path, suffix, memory):
        return open_source(path, options, memory=memory)
    if by_rows is False:
        return open_source(path, options)
    rows = open_rows(path, memory=memory, options=options)
    if rows is None:
        return open_source(path, options, memory=memory)
    if by_rows or _stays_on_disk(rows, memory):
        return rows
    # The limit applies to the texts of Arrow formats, whose size the matrix does not tell.
    return open_source(path, options, memory=memory if isinstance(rows, ArrowRows) else None)


def _stays_on_disk(rows: RowSource, memory: int | None) -> bool:
    # Read what was sorted on disk from there: parsing it again would take several times the memory of the numbers.
    if isinstance(rows, SpooledRows) or too_large(rows, memory):
        return True
    # Text takes memory whatever the matrix takes.
    return isinstance(rows, DelimitedRows) and memory is not None and PARSING * rows.state.size > max(memory, SMALL)


def _as_table(place: str, o: ReadOptions, memory: int | None) -> RowSource | None:
    """A folder or pattern of Parquet files to be read as a table, whatever its columns; None otherwise."""
    if o.format is None or _suffix(place, o.format) != ".parquet":
        return None
    if not _is_pattern(place) and not _is_folder(place):
        return None
    found = _matching(place) if _is_pattern(place) else _in_folder(place)
    with reading(shown(place)):
        return _several_parquet(found, PurePath(place).name, o.row_names, memory, entries=False)


def open_paths(paths: Sequence[str], options: ReadOptions, *, memory: int | None = None) -> Source | RowSource:
    """Several files of equal columns as one table, in the order given."""
    found = [match for path in paths for match in (_matching(path) if _is_pattern(path) else [path])]
    if len(found) == 1:
        return open_table(found[0], memory=memory, options=options)
    name = f"{len(found)} files"
    if all(PurePath(path.lower()).suffix in _PARQUET for path in found):
        return _several_parquet(found, name, options.row_names, memory, entries=options.format is None)
    share = None if memory is None else memory // len(found)
    sources = [open_table(path, memory=share, options=options) for path in found]
    stacked: Source | RowSource = stacked_sources(sources, found, name)
    return stacked


def _several_parquet(
    paths: list[str], name: str, row_names: str | None, memory: int | None = None, *, entries: bool = True
) -> RowSource:
    """Parquet files of one schema; the keys of hive folders become labels. Entries form one sparse matrix."""
    found = _sorted_rows(paths, name, table_entries(*paths), memory, (ENTRIES_NOTE,)) if entries else None
    if found is not None:
        return found
    rows = parquet_rows(paths, name, row_names, memory)
    if rows.shape[0] > MOST_NAMES:
        return rows
    counts = [0] * len(paths)
    for (number, _), first, last in zip(rows.pieces, rows.edges, rows.edges[1:], strict=False):
        counts[number] += last - first
    labels = hive_labels(paths, counts)
    return replace(rows, metadata=replace(rows.metadata, labels=rows.metadata.labels | labels)) if labels else rows


def _is_folder(place: str) -> bool:
    return os.path.isdir(place)  # noqa: PTH112 - a name too long is not a folder, and not an error here


def _is_file(place: str) -> bool:
    return os.path.isfile(place)  # noqa: PTH113


def _surely_small(place: str, suffix: str, memory: int | None) -> bool:
    """Whether a text file is so small that counting its rows in advance would be wasteful."""
    packed = place.lower().endswith(".gz")
    if suffix not in (*_TEXTS, ".mtx") or not _is_file(place):
        return False
    limit = free_memory() // 3 if memory is None else memory // 4
    return Path(place).stat().st_size * (4 * MAX_EXPANSION if packed else 4) <= limit


def _suffix(place: str, format: str | None) -> str:
    """The suffix of a file without that of gzip, or the one of its format if that is given."""
    if format is not None:
        return f".{kind_of(format, place)}"
    name = place.lower().rstrip("/")
    suffix = PurePath(name.removesuffix(".gz")).suffix
    return suffix if suffix in (*_TEXTS, ".mtx") else PurePath(name).suffix


def stored_kind(place: str, format: str | None) -> str | None:
    """ "hdf5" or "zarr" if the path is that of such a file or store, otherwise None."""
    if _is_folder(place):
        return "zarr" if _suffix(place, format) == ".zarr" or _is_zarr(place) else None
    return STORED.get(_suffix(place, format).removeprefix("."))


def _refuse_unused(place: str, suffix: str, options: ReadOptions) -> None:
    """Refuse options that select a part of the file, if files of this kind have no such parts."""
    stored = stored_kind(place, options.format) is not None
    suffix = ".parquet" if _is_folder(place) and not stored else suffix
    if suffix not in FORMATS and not stored:
        return  # another message says that it cannot be read
    for name, unused, reason in (
        ("layer", not stored, "only AnnData files have layers"),
        ("key", not stored and suffix != ".npz", "a file of this format contains a single table"),
        ("row_names", stored or suffix in (".npy", ".npz", ".mtx"), "it has no column of row names"),
    ):
        given = getattr(options, name)
        if unused and given not in (None, getattr(DEFAULT, name)):
            raise ParameterError(f"{assigned(name, given)} does not apply to {shown(place)}: {reason}. Leave it out.")


def too_large(rows: RowSource, memory: int | None) -> bool:
    """Whether the numbers take more than a quarter of the allowed memory, or a third of free memory."""
    limit = free_memory() // 3 if memory is None else memory // 4
    return rows.entries * (rows.dtype.itemsize + (4 if rows.sparse else 0)) > limit


def open_rows(
    path: str | os.PathLike[str], *, memory: int | None = None, options: ReadOptions = DEFAULT
) -> RowSource | None:
    """The rows of a file, of a folder or pattern of Parquet files, or of a Zarr store.

    None for files that can only be read whole.

    `memory` bounds the size of one piece (a chunk, a compressed batch).
    """
    place = os.fsdecode(os.fspath(path))
    with reading(shown(place)):
        return _open_rows(place, memory, options)


def _open_npz(opened: OpenedFile, place: str, key: str | None, memory: int | None) -> RowSource | None:
    return (npz_rows(opened, place, memory) if key is None else None) or npz_table_rows(opened, place, key)


def _open_folder(place: str, memory: int | None, options: ReadOptions) -> RowSource:
    if PurePath(place.lower().rstrip("/")).suffix == ".zarr" or _is_zarr(place):
        return stored_rows(place, "zarr", options.place, memory)
    return _several_parquet(_in_folder(place), PurePath(place).name, options.row_names, memory)


def _open_stored(place: str, kind: str, key: str | None, memory: int | None) -> RowSource:
    """Arrays of an HDF5 file or a Zarr store."""
    if kind == "hdf5":
        open_path(place, MAX_EXPANSION)  # refuses folders, pipes and missing files
        check_metadata(place, key, memory)
    elif not _is_folder(place):
        open_path(place, MAX_EXPANSION)
        raise FileError(
            f"{shown(place)} is a file, but a Zarr store is a folder. If the file is an archive, unpack it first."
        )
    return stored_rows(place, kind, key, memory)


def _open_rows(place: str, memory: int | None, options: ReadOptions) -> RowSource | None:
    name, suffix = PurePath(place).name, _suffix(place, options.format)
    if _is_pattern(place):
        return _open_matching(place, name, options, memory)
    if _is_folder(place) and options.format is None:
        return _open_folder(place, memory, options)
    if suffix.removeprefix(".") in STORED:
        return _open_stored(place, STORED[suffix.removeprefix(".")], options.place, memory)
    opened = open_path(place, MAX_EXPANSION)
    if suffix in _TEXTS:
        return text_rows(opened, place, options.text, tab=suffix in (".tsv", ".tab"))
    if suffix == ".npz":
        return _open_npz(opened, place, options.place, memory)
    if suffix in _PARQUET and options.format is not None:
        return parquet_rows([place], name, options.row_names, memory)
    if suffix not in _OPENERS:
        return None
    found: RowSource | None = _OPENERS[suffix](opened, place, name, memory, options.row_names)
    return found


def _npy(opened: OpenedFile, path: str, name: str, _memory: int | None, _names: str | None) -> RowSource:
    state = FileState.of(path)
    with opened.stream() as stream:
        header = read_header(stream, opened.name)
        check_size(header, opened.size, opened.name)
        refuse_shape(header.shape, opened.name)
    shape = (header.shape[0], header.shape[1])
    metadata = Metadata(name, notes=precision_notes(header.dtype))
    return NpyRows(state, shape, header.dtype, header.start, header.fortran, metadata)


def _market(_opened: OpenedFile, path: str, name: str, memory: int | None, _names: str | None) -> RowSource | None:
    return _sorted_rows([path], name, market_entries(path), memory)


def _parquet(_opened: OpenedFile, path: str, name: str, memory: int | None, row_names: str | None) -> RowSource:
    entries = _sorted_rows([path], name, table_entries(path), memory, (ENTRIES_NOTE,))
    return entries or parquet_rows([path], name, row_names, memory)


def _arrow(_opened: OpenedFile, path: str, name: str, memory: int | None, row_names: str | None) -> RowSource | None:
    return arrow_rows(path, name, memory, row_names)


def _sorted_rows(
    paths: Sequence[str], name: str, found: EntryBlocks | None, memory: int | None, notes: tuple[Note, ...] = ()
) -> RowSource | None:
    """Sort entries by rows first, in a temporary file."""
    return None if found is None else spooled_rows(paths, name, found, notes=notes, memory=memory)


def _is_pattern(place: str) -> bool:
    return any(mark in place for mark in "*?[") and not os.path.lexists(place)


def _open_matching(pattern: str, name: str, options: ReadOptions, memory: int | None) -> RowSource:
    """Parquet files by row groups; files of other kinds one after another."""
    found = _matching(pattern)
    if options.format is None and all(PurePath(path.lower()).suffix in _PARQUET for path in found):
        return _several_parquet(found, name, options.row_names, memory)
    share = None if memory is None else memory // len(found)
    source = stacked_sources([open_table(path, memory=share, options=options) for path in found], found, name)
    return MemoryRows(source.matrix, source.metadata) if hasattr(source, "matrix") else source


def _matching(pattern: str) -> list[str]:
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - a pattern may begin at the root
    if not found:
        raise FileError(f"No file matches {shown(pattern)}. Check the pattern.")
    return found


def _in_folder(folder: str) -> list[str]:
    found = files_below(folder, _PARQUET)
    if not found:
        raise FileError(
            f"{shown(folder)} is neither a Zarr store nor a folder of Parquet files. Give the name of "
            f"a file, or a pattern such as {shown(os.path.join(folder, '*.csv'))}."  # noqa: PTH118
        )
    return found


def _is_zarr(folder: str) -> bool:
    return any((Path(folder) / mark).exists() for mark in ZARR_MARKS)


_PARQUET = (".parquet", ".pq")
_TEXTS = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")


_OPENERS: dict[str, Callable[..., RowSource | None]] = {
    ".npy": _npy,
    ".mtx": _market,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
}
