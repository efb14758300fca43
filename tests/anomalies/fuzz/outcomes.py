"""What a reader makes of a file, in memory and in blocks, compared with each other and with an independent reader."""

from __future__ import annotations

import csv
import io
import itertools
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io
import zarr
from pyarrow import feather, ipc, parquet
from scipy import sparse

from eckart.errors import EckartError
from eckart.io.open_rows import open_table
from eckart.io.text import rows as text_rows
from eckart.io.text.cells import MISSING

VALUE_NOTES = ("missing", "Without any value", "beyond 2**53", "double precision", "only numbers the rows")
"""Notes on single values, which only a reader that has seen all of them can make."""


@dataclass
class Outcome:
    """A matrix with names, a refusal, or (`fault`) what must never happen."""

    matrix: Any = None
    columns: Any = None
    rows: Any = None
    notes: tuple[str, ...] = ()
    refusal: str = ""
    fault: str = ""
    labels: Any = field(default_factory=dict)

    def differs(self, other: Outcome) -> str:
        if bool(self.refusal) != bool(other.refusal):
            return f"one refuses: {self.refusal or 'read'} | {other.refusal or 'read'}"
        if self.refusal:
            return ""
        for name in ("columns", "rows", "notes", "labels"):
            if getattr(self, name) != getattr(other, name):
                return f"{name}: {getattr(self, name)!r} | {getattr(other, name)!r}"[:600]
        return unequal(self.matrix, other.matrix)


def unequal(first: Any, second: Any) -> str:
    if first.shape != second.shape:
        return f"shapes {first.shape} | {second.shape}"
    if sparse.issparse(first) or sparse.issparse(second):
        a, b = (entries_of(matrix) for matrix in (first, second))
        same = all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True))
        return "" if same else "other entries"
    return "" if np.array_equal(first, second, equal_nan=True) else "other values"


def entries_of(matrix: Any) -> tuple[np.ndarray, ...]:
    """(row, column, value) in order, duplicates summed, without zeros."""
    # By parts: SciPy loads matrices of float16, but neither copies nor converts them.
    if hasattr(matrix, "indptr"):
        matrix = type(matrix)((matrix.data.astype(np.float64), matrix.indices, matrix.indptr), shape=matrix.shape)
    found = matrix.tocoo()
    rows = sparse.csr_array((found.data.astype(np.float64), found.coords), shape=matrix.shape)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    found = rows.tocoo()
    return found.row.astype(np.int64), found.col.astype(np.int64), found.data


def outcome(path: Path, *, stream: bool) -> Outcome:
    """What open_table gives, all of it or in three blocks and a few rows over again."""
    try:
        source = open_table(path, stream=stream)
        if not hasattr(source, "read"):
            pieces = list(source.blocks())
        elif stream:
            count = source.shape[0]
            edges = sorted({0, min(7, count), count // 2, count})
            pieces = [source.read(start, stop) for start, stop in itertools.pairwise(edges)]
            source.read(0, min(3, count))
        else:
            pieces = [source.read(0, source.shape[0])]
        whole = sparse.vstack(pieces, format="csr") if sparse.issparse(pieces[0]) else np.concatenate(pieces)
    except EckartError as error:
        return Outcome(refusal=f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - any other exception is what is looked for
        return Outcome(fault=traceback.format_exc())
    metadata = source.metadata
    notes = tuple(note for note in metadata.notes if not any(word in note for word in VALUE_NOTES))
    return Outcome(whole, metadata.column_names, metadata.row_names, notes, labels=metadata.labels)


def in_pieces(path: Path) -> Outcome:
    """A text read as one too large to be read whole."""
    kept = text_rows._HELD
    text_rows._HELD = 0
    try:
        return outcome(path, stream=True)
    finally:
        text_rows._HELD = kept


def judge(path: Path) -> str:
    """What is wrong with how `path` is read; empty where nothing is."""
    memory, blocks = outcome(path, stream=False), outcome(path, stream=True)
    for found in (memory, blocks):
        if found.fault:
            return found.fault
    if fault := memory.differs(blocks):
        return f"whole and blocks differ, {fault}"
    suffix = path.name.removesuffix(".gz").rpartition(".")[2]
    if suffix in ("csv", "tsv", "txt"):
        large = in_pieces(path)
        if large.fault:
            return large.fault
        if not large.refusal and memory.refusal:
            return f"a text in pieces is read and refused whole: {memory.refusal}"
        if not large.refusal and (large.columns != memory.columns or unequal(large.matrix, memory.matrix)):
            return "a text in pieces differs"
    if memory.refusal:
        return ""
    fault = compared(path, suffix, memory)
    return f"an independent reader differs, {fault}" if fault else ""


def compared(path: Path, suffix: str, found: Outcome) -> str:
    """The reading by the libraries themselves."""
    try:
        other = INDEPENDENT[suffix](path, found)
    except Exception as error:  # noqa: BLE001 - what the other reader cannot read is no standard
        return f"it fails: {error}" if suffix in ("npy", "parquet") else ""
    return "" if other is None else unequal(found.matrix, other)


def _npy(path: Path, _found: Outcome) -> Any:
    return _doubles(np.load(path, allow_pickle=False))


def _npz(path: Path, found: Outcome) -> Any:
    if sparse.issparse(found.matrix):
        matrix = sparse.load_npz(path)
        matrix.check_format(full_check=True) if hasattr(matrix, "check_format") else None
        return matrix
    with np.load(path, allow_pickle=False) as archive:
        tables = [archive[name] for name in archive.files if _is_table(archive, name)]
    return _doubles(tables[0]) if len(tables) == 1 else None


def _is_table(archive: Any, name: str) -> bool:
    try:
        return archive[name].ndim == 2
    except ValueError:
        return False


def _doubles(array: Any) -> Any:
    return array.astype(np.float32 if array.dtype.newbyteorder("=") == np.float32 else np.float64)


def _mtx(path: Path, _found: Outcome) -> Any:
    matrix = scipy.io.mmread(path)
    return sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix, np.float64)


def _parquet(path: Path, found: Outcome) -> Any:
    file = parquet.ParquetFile(path)
    names = file.schema_arrow.names
    plain = found.columns and set(found.columns) <= set(names) and len(set(names)) == len(names)
    # Columns that are left out need not be readable; a name with a dot would select others as well.
    return _frame(file.read(list(found.columns) if plain and "." not in "".join(names) else None), found)


def _arrow(path: Path, found: Outcome) -> Any:
    if path.read_bytes()[:6] == b"ARROW1":
        return _frame(feather.read_table(path, memory_map=False), found)
    with path.open("rb") as stream:
        return _frame(ipc.open_stream(stream).read_all(), found)


def _frame(table: Any, found: Outcome) -> Any:
    if sparse.issparse(found.matrix):
        row, column, value = (table.column(j).to_numpy() for j in range(3))
        return sparse.coo_array((value, (row, column)), shape=found.matrix.shape)
    names = [name for name in table.column_names if table.column_names.count(name) == 1]
    if any(name not in names for name in found.columns):
        return None
    columns = [[np.nan if x is None else float(x) for x in table.column(name).to_pylist()] for name in found.columns]
    return np.array(columns, np.float64).T.astype(found.matrix.dtype)


def _stored(root: Any, found: Outcome) -> Any:
    place = root["X"] if "X" in root else root.get("matrix")
    if place is None:
        return None
    if hasattr(place, "keys"):
        data, indices, indptr = (np.asarray(place[part][...]) for part in ("data", "indices", "indptr"))
        return sparse.csr_array((_doubles(data), indices, indptr), shape=tuple(place.attrs["shape"]))
    return np.asarray(place[...]).astype(found.matrix.dtype)


def _hdf5(path: Path, found: Outcome) -> Any:
    with h5py.File(path, "r") as file:
        return _stored(file, found)


def _zarr(path: Path, found: Outcome) -> Any:
    return _stored(zarr.open(str(path), mode="r"), found)


def _text(path: Path, found: Outcome) -> Any:
    """By the csv module, where the names of the columns are in the first line as they were found."""
    import gzip

    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    text = data.decode("utf-8-sig")
    delimiter = {"comma.csv": ";", "tabs.tsv": "\t", "blanks.txt": " "}.get(path.name, ",")
    decimal = "," if path.name == "comma.csv" else "."
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    names = [name.strip() for name in rows[0]]
    if any(names.count(name) != 1 for name in found.columns) or any(len(row) != len(names) for row in rows):
        return None
    indices = [names.index(name) for name in found.columns]
    cells = [[row[j].strip() for j in indices] for row in rows[1:]]
    truth = {"true": "1", "false": "0"}
    return np.array(
        [
            [np.nan if x in MISSING else float(truth.get(x.lower(), x.replace(decimal, "."))) for x in row]
            for row in cells
        ]
    )


INDEPENDENT = {
    "npy": _npy, "npz": _npz, "mtx": _mtx, "parquet": _parquet, "feather": _arrow, "arrow": _arrow, "h5": _hdf5,
    "h5ad": _hdf5, "zarr": _zarr, "csv": _text, "tsv": _text, "txt": _text,
}  # fmt: skip
