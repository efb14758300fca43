"""What a reader makes of a file, in memory and in blocks, compared with each other and with an independent reader."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import re
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import scipy.io
import scipy.io._fast_matrix_market as market
from pyarrow import feather, ipc, parquet
from scipy import sparse

import eckart as ek
from eckart.errors import EckartError
from eckart.io.open_rows import open_table
from eckart.io.text.cells import MISSING
from tests.anomalies.fuzz import optional

h5py, zarr = optional("h5py"), optional("zarr")

VALUE_NOTES = {
    "missing_values", "missing_code", "empty_columns", "empty_rows", "numbering_column", "numbering_column_set_aside",
}  # fmt: skip
"""Notes on single values, which only a reader that has seen all of them can make."""


_FIGURES = re.compile(r", rows [\d,]+ to [\d,]+ cannot be read \(.*\)|, rows [\d,]+ to [\d,]+|-?\d[\d,.]*")
"""Free memory, which changes from one message to the next, and the rows of a block with what was found in them."""


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
            same = _FIGURES.sub("", self.refusal) == _FIGURES.sub("", other.refusal)
            return "" if same else f"the refusals: {self.refusal} | {other.refusal}"
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
    if matrix.dtype in (bool, np.float32):  # as the engine does: truth values count once, sums are rounded to float32
        matrix = sparse.csr_array(matrix, copy=True)
        matrix.sum_duplicates()
    # By parts: SciPy loads matrices of float16, but neither copies nor converts them.
    if hasattr(matrix, "indptr"):
        matrix = type(matrix)((matrix.data.astype(np.float64), matrix.indices, matrix.indptr), shape=matrix.shape)
    if hasattr(matrix, "offsets"):
        matrix = type(matrix)((matrix.data.astype(np.float64), matrix.offsets), shape=matrix.shape)
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
    notes = tuple(sorted(note for note in metadata.all_notes if getattr(note, "code", "") not in VALUE_NOTES))
    return Outcome(whole, metadata.column_names, metadata.row_names, notes, labels=metadata.labels)


def in_pieces(path: Path) -> Outcome:
    """A text read as one too large to be read whole: its layout from the first lines, its rows from small pieces."""
    with contextlib.ExitStack() as stack:
        for place, size in (
            ("text.rows._HELD", 0),
            ("text.rows._HEAD", 500),
            ("text.index._CHUNK", 300),
            ("bytes.CHUNK", 300),
        ):
            stack.enter_context(mock.patch(f"eckart.io.{place}", size))
        return outcome(path, stream=True)


class Judgement(NamedTuple):
    """What is wrong with how a file is read (empty if nothing is), and whether it was refused."""

    fault: str
    refused: bool = False


def judge(path: Path) -> Judgement:
    """Read `path` in every way and compare."""
    memory, blocks = outcome(path, stream=False), outcome(path, stream=True)
    for found in (memory, blocks):
        if found.fault:
            return Judgement(found.fault)
    if fault := memory.differs(blocks):
        return Judgement(f"whole and blocks differ, {fault}")
    if path.name.removesuffix(".gz").endswith((".csv", ".tsv", ".txt")):
        large = in_pieces(path)
        if large.fault:
            return Judgement(large.fault)
        if not large.refusal and memory.refusal:
            return Judgement(f"a text in pieces is read and refused whole: {memory.refusal}")
        if not large.refusal and (large.columns != memory.columns or unequal(large.matrix, memory.matrix)):
            return Judgement("a text in pieces differs")
    if memory.refusal:
        return Judgement("", refused=True)
    fault = compared(path, memory)
    return Judgement(f"an independent reader differs, {fault}" if fault else "")


def compared(path: Path, found: Outcome, *, always: bool = False) -> str:
    """The reading by the libraries themselves; with `always`, one that is not possible is a difference."""
    suffix = path.name.removesuffix(".gz").rpartition(".")[2]
    try:
        other = INDEPENDENT[suffix](path, found)
    except Exception as error:  # noqa: BLE001 - what the other reader cannot read is no standard
        return f"it fails: {error}" if always or suffix in ("npy", "parquet") else ""
    if other is None:
        return "it finds nothing to compare" if always else ""
    return unequal(found.matrix, other)


def decomposed(path: Path) -> str:
    """The first singular value, whole and in blocks: compiled loops see what was read."""
    found: list[Any] = []
    for options in ({"stream": False}, {"stream": True, "memory": 200_000}):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(float(ek.decompose(path, "svd", k=1, **options).values[0]))
        except EckartError as error:
            found.append(type(error).__name__)
        except Exception:  # noqa: BLE001 - any other exception is what is looked for
            return traceback.format_exc()
    numbers = [value for value in found if isinstance(value, float)]
    same = len(numbers) == 0 or (len(numbers) == 2 and np.isclose(*numbers, rtol=1e-8, atol=0))
    # The budget of the blocks is so small that one piece may exceed it.
    return "" if same or found[1] == "MemoryBudgetError" else f"the first singular value differs: {found}"


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
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    market.PARALLELISM = 1  # its threads have waited for each other without end on machines with many cores
    # SciPy crashes if an array ends in a blank without a line end.
    matrix = scipy.io.mmread(io.BytesIO(content + b"\n"))
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
    table = _spread(table)
    names = [name for name in table.column_names if table.column_names.count(name) == 1]
    if any(name not in names for name in found.columns):
        return None
    columns = [[np.nan if x is None else float(x) for x in table.column(name).to_pylist()] for name in found.columns]
    return np.array(columns, np.float64).T.astype(found.matrix.dtype)


def _spread(table: Any) -> Any:
    """Columns of fixed-size lists as one column for each element."""
    columns: dict[str, Any] = {}
    if len(set(table.column_names)) < table.num_columns:
        return table
    for name in table.column_names:
        column = table.column(name)
        if not pa.types.is_fixed_size_list(column.type) or not _is_numeric(column.type.value_type):
            columns[name] = column
            continue
        for place in range(column.type.list_size):
            columns[f"{name}[{place}]"] = pa.array([None if x is None else x[place] for x in column.to_pylist()])
    return pa.table(columns)


def _is_numeric(kind: Any) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


def _stored(root: Any, found: Outcome) -> Any:
    place = root["X"] if "X" in root else root.get("matrix")
    if place is None:
        return None
    if hasattr(place, "keys"):
        data, indices, indptr = (np.asarray(place[part][...]) for part in ("data", "indices", "indptr"))
        data = data if data.dtype == bool else _doubles(data)
        return sparse.csr_array((data, indices, indptr), shape=tuple(place.attrs["shape"]))
    return np.asarray(place[...]).astype(found.matrix.dtype)


def _hdf5(path: Path, found: Outcome) -> Any:
    with h5py.File(path, "r") as file:
        return _stored(file, found)


def _zarr(path: Path, found: Outcome) -> Any:
    root = zarr.open(str(path), mode="r")
    return np.asarray(root[...]).astype(found.matrix.dtype) if isinstance(root, zarr.Array) else _stored(root, found)


def _text(path: Path, found: Outcome) -> Any:
    """By the csv module, where the names of the columns are in the first line as they were found."""
    import gzip

    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    text = _decoded(data)
    delimiter = {"comma.csv": ";", "tabs.tsv": "\t", "blanks.txt": " ", "bars.csv": "|"}.get(path.name, ",")
    decimal = "," if path.name == "comma.csv" else "."
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    names = [name.strip() for name in rows[0]]
    if len(names) == 1 and any(not cell.strip() for row in rows for cell in row):
        return None  # a blank line or a missing value: readers differ
    if any(names.count(name) != 1 for name in found.columns) or any(len(row) != len(names) for row in rows):
        return None
    indices = [names.index(name) for name in found.columns]
    cells = [[row[j].strip() for j in indices] for row in rows[1:]]
    cells = [[x.replace("\u2212", "-").replace("\u2013", "-") for x in row] for row in cells]
    truth = {"true": "1", "false": "0"}
    return np.array(
        [
            [np.nan if x in MISSING else float(truth.get(x.lower(), x.replace(decimal, "."))) for x in row]
            for row in cells
        ]
    )


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


INDEPENDENT = {
    "npy": _npy, "npz": _npz, "mtx": _mtx, "parquet": _parquet, "feather": _arrow, "arrow": _arrow, "h5": _hdf5,
    "h5ad": _hdf5, "zarr": _zarr, "csv": _text, "tsv": _text, "txt": _text,
}  # fmt: skip
