"""convert: write any table in a format that loads fast, .npy for dense and .npz for sparse data."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import numpy as np

from eckart.engine.blocks.edges import edges_for
from eckart.engine.blocks.source import DataSource, MemoryRows, MemorySource, RowSource
from eckart.environment import free_memory, say_bytes
from eckart.errors import ParameterError
from eckart.files import input_conflict, new_file
from eckart.formatting import counted
from eckart.io.bytes import shown
from eckart.io.entries.csr_file import Entries, write_csr
from eckart.io.entries.triplets import EntryBlocks, market_entries, table_entries
from eckart.io.guard import reading
from eckart.io.open_rows import open_rows
from eckart.io.open_source import open_source
from eckart.notes import Note
from eckart.options import hint_keywords

_BLOCK = 1 << 26


@hint_keywords
def convert(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, single: bool = False, overwrite: bool = False
) -> str:
    """Convert a file to .npy or .npz for faster loading.

    The file is read and written in blocks, so it can be larger than memory.

    Parameters
    ----------
    source : str or path
        File to convert, of any format that `decompose` reads.
    target : str or path
        File to write: .npy for dense data, .npz for sparse data.
    single : bool, default False
        Store the numbers in single precision (float32).
    overwrite : bool, default False
        Replace an existing target.

    Returns
    -------
    str
        A sentence that states the shape, the data type and the size of the new file.

    Raises
    ------
    ParameterError
        If the suffix of the target is neither .npy nor .npz, or if the target is the source.
    FileError
        If the source cannot be read, or the target exists.

    See Also
    --------
    open_data : Open data with reading options.

    Examples
    --------
    >>> import eckart as ek, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "arrests.npy"
    ...     print(ek.convert(ek.datasets.path("usarrests"), target))
    Wrote 50 rows x 4 columns (float64, 1.6 kB) to ...arrests.npy
    """
    path, goal = os.fsdecode(os.fspath(source)), PurePath(os.fsdecode(os.fspath(target)))
    if goal.suffix.lower() not in (".npy", ".npz"):
        raise ParameterError(f"{goal.name} must end in .npy (for a dense table) or .npz (for a sparse table).")
    if conflict := input_conflict(goal, [path]):
        raise ParameterError(f"{goal.name} {conflict}. Choose another name.")
    with reading(shown(path)):
        return _converted(path, goal, single, overwrite)


def _converted(path: str, goal: PurePath, single: bool, overwrite: bool) -> str:
    found = _entries(path)
    if found is not None:
        return _with_note(_write_sparse(found, path, goal, overwrite), found.rounded.notes())
    rows = open_rows(path) or _in_memory(open_source(path))
    if rows.sparse:
        entries = EntryBlocks(rows.shape, lambda: _entries_of(rows), rows.metadata.rounded)
        done = _write_sparse(entries, path, goal, overwrite)
    else:
        done = _write_dense(rows, goal, single, overwrite)
    return _with_note(done, [note for note in rows.metadata.all_notes if note.code == "rounded_integers"])


def _with_note(done: str, notes: Sequence[Note]) -> str:
    return ". ".join([done, *(note.removesuffix(".") for note in notes)])


def _entries(path: str) -> EntryBlocks | None:
    suffix = PurePath(path.lower()).suffix
    if path.lower().endswith((".mtx", ".mtx.gz")):
        return market_entries(path)
    return table_entries(path) if suffix in (".parquet", ".pq") and Path(path).is_file() else None


def _in_memory(source: DataSource) -> RowSource:
    matrix = source.matrix if isinstance(source, MemorySource) else np.concatenate(list(source.blocks()))
    return MemoryRows(matrix, source.metadata)


def _write_dense(rows: RowSource, goal: PurePath, single: bool, overwrite: bool) -> str:
    if goal.suffix.lower() != ".npy":
        raise ParameterError(f"{rows.metadata.name} is a dense table, so the name of the output file must end in .npy.")
    dtype = np.dtype("<f4" if single or rows.dtype == np.float32 else "<f8")
    edges = edges_for(rows, _BLOCK)
    with new_file(goal, overwrite=overwrite) as file:
        header = {"descr": dtype.str, "fortran_order": False, "shape": rows.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start, stop in itertools.pairwise(edges):
            file.write(np.ascontiguousarray(rows.read(start, stop), dtype=dtype).data)
    size = rows.entries * dtype.itemsize
    shape = f"{counted(rows.shape[0], 'row')} x {counted(rows.shape[1], 'column')}"
    return f"Wrote {shape} ({dtype.name}, {say_bytes(size)}) to {goal.name}"


def _entries_of(rows: RowSource) -> Iterator[Entries]:
    edges = edges_for(rows, _BLOCK)
    for start, stop in itertools.pairwise(edges):
        block = rows.read(start, stop).tocoo()
        yield block.row.astype(np.int64) + start, block.col.astype(np.int64), block.data.astype(np.float64)


def _write_sparse(entries: EntryBlocks, path: str, goal: PurePath, overwrite: bool) -> str:
    if goal.suffix.lower() != ".npz":
        raise ParameterError("The input is a sparse matrix, so the name of the output file must end in .npz.")
    (rows, columns), dtype = entries.shape, entries.dtype
    name, memory = PurePath(path).name, free_memory() // 3
    count = write_csr(
        str(goal), (rows, columns), entries.blocks, overwrite=overwrite, name=name, memory=memory, dtype=dtype
    )
    shape = f"{counted(rows, 'row')} x {counted(columns, 'column')}"
    return f"Wrote {shape} with {counted(count, 'entry', 'entries')} to {goal.name}"
