"""Broken and hostile files: each is refused in one sentence that names the file, before memory or time is spent."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet
from scipy import sparse

from eckart import environment as limits
from eckart.errors import EckartError, FileError, MemoryBudgetError, NotFiniteError, ParameterError
from eckart.io.arrow import parquet as parquet_module
from eckart.io.open_rows import open_rows
from eckart.io.open_source import open_source
from eckart.io.read_options import ReadOptions

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


def refused(path: Any, *words: str, error: type[Exception] = FileError, **options: Any) -> str:
    """One plain sentence or two, no more than a screen line or so, found quickly and without large memory."""
    start = time.process_time()  # of our own work, however busy the machine is
    with pytest.raises(error) as caught, memory_added() as added:
        open_source(path, ReadOptions(**options))
    spent = time.process_time() - start
    message = str(caught.value)
    for word in words:
        assert word in message
    assert "\n" not in message
    assert len(message) < 700
    assert spent < 5
    assert added() < 300e6
    return message


@contextmanager
def memory_added() -> Iterator[Callable[[], int]]:
    """A function that returns the peak of resident memory inside the block, less the memory before; 0 if unknown.

    Not with tracemalloc: Arrow's threads may release buffers of Python after a refusal, and tracemalloc.stop() during
    such a release ends the process with a segmentation fault (CPython issue 128679).
    """
    resettable = os.access("/proc/self/clear_refs", os.W_OK)
    if resettable:
        with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123 - a test replaces Path.open
            file.write("5")  # the peak becomes the present size
    before = resident_peak() if resettable else 0
    peaks: list[int] = []
    try:
        yield lambda: peaks[0] - before
    finally:
        peaks.append(resident_peak() if resettable else 0)


def resident_peak() -> int:
    with open("/proc/self/status") as file:  # noqa: PTH123
        return 1024 * int(file.read().partition("VmHWM:")[2].split()[0])


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin-1") + b"\n"
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(text))
    return b"\x93NUMPY" + version + length + text + body


def described(shape: Any, descr: str = "'<f8'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def put(tmp_path: Path, name: str, content: bytes | str) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Cases 86 and 105: what is no file.


def test_places_that_are_no_files(tmp_path: Path) -> None:
    refused(tmp_path, "is a folder")
    refused(tmp_path / "nothing.csv", "does not exist")
    put(tmp_path, "iris.csv", "a\n1\n")
    refused(tmp_path / "iriss.csv", "Did you mean 'iris.csv'?")
    refused(tmp_path / "no" / "such.csv", "does not exist")
    refused(put(tmp_path, "empty.csv", b""), "empty (0 bytes)")
    refused(put(tmp_path, "x.xyz", b"1"), "suffix '.xyz'", ".parquet")
    refused(put(tmp_path, "noend", b"1"), "format=")
    refused(put(tmp_path, "x.xlsx", b"1"), "Save the sheet as CSV")
    refused("a" * 5000 + ".csv", "cannot be opened")
    refused("a\0b.csv", "cannot be opened")
    refused(tmp_path / "line\nbreak;rm -rf.csv", "line\\nbreak;rm")
    refused(io.BytesIO(b""), "empty")
    refused(7, "neither a path", error=ParameterError)
    refused(io.StringIO("a\n1\n"), "binary")


@needs_posix
def test_pipes_and_devices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "pipe or a device", "'rb'")
    refused("/dev/zero", "pipe or a device")


@needs_posix
def test_pipes_in_folders_are_not_waited_for(tmp_path: Path) -> None:
    """Metadata of a Zarr store, or one of several Parquet files."""
    zarr = pytest.importorskip("zarr")
    store, tables = tmp_path / "a.zarr", tmp_path / "tables"
    zarr.create_array(str(store), shape=(4, 3), dtype="f8")[:] = 1.0
    (store / "zarr.json").unlink()
    tables.mkdir()
    parquet.write_table(pa.table({"a": [1.0, 2.0]}), tables / "a.parquet")
    for pipe, place in ((store / "zarr.json", store), (tables / "b.parquet", tables)):
        os.mkfifo(pipe)
        with pytest.raises(FileError, match="is a pipe or a device"):
            open_rows(place)
    with pytest.raises(FileError, match="is a pipe or a device"):
        open_rows(str(tables / "*.parquet"))


@needs_posix
def test_no_permission(tmp_path: Path, monkeypatch: Any) -> None:
    path = put(tmp_path, "secret.csv", "a\n1\n")

    def forbidden(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    refused(path, "permission denied")


def test_a_file_named_oddly_is_read(tmp_path: Path) -> None:
    assert open_source(put(tmp_path, "a\nb;rm -rf.csv", "a,b\n1,2\n")).shape == (1, 2)


# Cases 46, 69 to 72, 97 to 100: delimited text.


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "# only\n", "\n\n", "a,b\n\n\n"])
def test_no_rows(tmp_path: Path, text: str) -> None:
    refused(put(tmp_path, "t.csv", text), "t.csv", "no rows")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3\n", ["line 3 has 1 cell, but"]),
        ("a,b\n1,2\n3,4,5\n", ["line 3 has 3 cells"]),
        ("a,b\n1,2,3\n4,5,6\n", ["line 2 has 3 cells", "the header has 2"]),
        ("a,b\n1,2\n3,\0\n", ["line 3", "NUL"]),
        ('a,b\n"x,1\ny,2\n', ["line 2", "quote"]),
        ('a,b\n"x,1\n"y,2\n', ["line 2", "quote"]),
        ('a,b\nx,1\n5" pipe,2\n', ["line 3", "quote"]),
        ("a,b\nx,y\n", ["no numeric column"]),
        ("a,b\n1,2\n1,x\n1,3\n1,4\n", ["line 3", "'b'", "'x'"]),
        ("a,b\n1,50%\n1,3\n1,4\n", ["line 2", "'50%'", "without a symbol"]),
        ("a;b\n1,5;2\n2,5;2.5\n", ["line 3", "decimal comma", "'2.5'"]),
    ],
)
def test_broken_tables(tmp_path: Path, text: str, words: list[str]) -> None:
    refused(put(tmp_path, "t.csv", text), "t.csv", *words)


@pytest.mark.parametrize("cell", ["1e400", "-1e400", "inf", "-Infinity", "INF"])
def test_infinite_cells(tmp_path: Path, cell: str) -> None:
    refused(put(tmp_path, "t.csv", f"a,b\n1,2\n3,{cell}\n"), "line 3", "'b'", "infinite", error=NotFiniteError)
    refused(put(tmp_path, "t.csv", f"a;b\n1,5;2\n3; {cell}\n"), "line 3", "'b'", "infinite", error=NotFiniteError)


def test_other_files_called_csv(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.eye(2))
    refused(put(tmp_path, "t.csv", buffer.getvalue()), "zip archive", "Excel")
    refused(put(tmp_path, "t.csv", pickle.dumps(np.eye(20))), "t.csv")
    refused(put(tmp_path, "t.csv", os.urandom(2000) + b"\0"), "t.csv")


def test_gzip_bomb_and_broken_gzip(tmp_path: Path) -> None:
    bomb = gzip.compress(b"0,0\n" * (30 << 20))
    refused(put(tmp_path, "t.csv.gz", bomb), "expand", "decompress it first")
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    refused(put(tmp_path, "t.csv.gz", packed[:-10]), "broken gzip")
    refused(put(tmp_path, "t.csv.gz", packed[:20] + b"\xff" * 20 + packed[40:]), "broken gzip")
    refused(put(tmp_path, "t.csv.gz", gzip.compress(b"")), "empty")


def test_one_very_long_line_and_very_many_columns(tmp_path: Path) -> None:
    """Case 100."""
    refused(put(tmp_path, "t.csv", "a" * 20_000_000), "no rows")
    many = 100_000
    path = put(tmp_path, "w.csv", ",".join(f"c{j}" for j in range(many)) + "\n" + ",".join(["1"] * many) + "\n")
    assert open_source(path).shape == (1, many)
    long_cell = open_source(put(tmp_path, "l.csv", "t,x\n" + "y" * 3_000_000 + ",1\nz,2\n"))
    assert long_cell.shape == (2, 1)


@pytest.mark.parametrize("body", [b"1" * 40_000_000, b'"' + b"x\n" * 20_000_000], ids=["line", "quote"])
def test_a_record_that_does_not_end(tmp_path: Path, body: bytes) -> None:
    """One endless line, or a quote that is never closed, whole and in blocks."""
    path = put(tmp_path, "t.csv", b"a,b\n1,2\n" + body)
    refused(path, "t.csv")
    with pytest.raises(FileError, match=r"t\.csv"):
        open_rows(path, memory=100_000_000)


def test_no_memory_is_said_beforehand(tmp_path: Path, monkeypatch: Any) -> None:
    path = put(tmp_path, "t.csv", "a,b\n" + "1,2\n" * 1000)
    monkeypatch.setattr(limits, "free_memory", lambda: 1000)
    refused(path, "memory", "1 kB", error=MemoryBudgetError)


# Cases 88 to 92: .npy.


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x93NUM", ["not a valid .npy"]),
        (b"junk" * 20, ["not a valid .npy"]),
        (npy(described((2, 2)), b"\0" * 32, b"\x09\x00"), ["version 9.0"]),
        (npy(described((2, 2)), b"\0" * 31), ["is truncated", "the file has"]),
        (npy(described((2, 2)), b"\0" * 33), ["extra bytes at its end"]),
        (npy(described((10**6, 10**6)), b"\0" * 8), ["is truncated", "TB"]),
        (npy(described((2**62, 2**62)), b"\0" * 8), ["is truncated"]),
        (npy(described((-1, 2)), b"\0" * 8), ["which is impossible"]),
        (npy(described((True, 2)), b"\0" * 16), ["which is impossible"]),
        (npy(described((1.0, 2)), b"\0" * 16), ["not a valid .npy"]),
        (npy(described((4,)), b"\0" * 32), ["1 dimension", "reshape(-1, 1)"]),
        (npy(described((1, 2, 2)), b"\0" * 32), ["3 dimension"]),
        (npy(described(()), b"\0" * 8), ["0 dimension"]),
        (npy(described((0, 3))), ["no rows"]),
        (npy(described((2, 2), "'|O'"), b"\0" * 32), ["pickle"]),
        (npy(described((2, 2), "'<c16'"), b"\0" * 64), ["complex"]),
        (npy(described((2, 2), "'<M8[s]'"), b"\0" * 32), ["dates"]),
        (npy(described((2, 2), "'<U3'"), b"\0" * 48), ["text"]),
        (npy(described((2, 2), "[('a', '<f8'), ('b', '<f8')]"), b"\0" * 64), ["structured"]),
        (npy(described((2, 2), "'(2,)<f8'"), b"\0" * 64), ["t.npy"]),
        (npy("__import__('os').system('false')"), ["not a valid .npy"]),
        (npy("{'descr': '<f8', 'fortran_order': False}"), ["not a valid .npy"]),
        (npy(described((2, 2)) + " " * 200_000, b"\0" * 32, b"\x02\x00"), ["not a valid .npy"]),
        (npy("(" * 3000 + ")" * 3000), ["not a valid .npy"]),
        (pickle.dumps(np.eye(3)), ["not a valid .npy"]),
    ],
)
def test_hostile_npy(tmp_path: Path, content: bytes, words: list[str]) -> None:
    path = put(tmp_path, "t.npy", content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(path, "t.npy", *words)
        refused(io.BytesIO(content), *[word for word in words if word != "t.npy"], format="npy")


def test_pickles_are_never_read(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([[{}]], object), allow_pickle=True)
    refused(tmp_path / "o.npy", "pickle")
    np.savez(tmp_path / "o.npz", x=np.array([[{}]], object), allow_pickle=True)
    refused(tmp_path / "o.npz", "pickle")
    refused(put(tmp_path, "m.pkl", pickle.dumps([1])), "never read")


# Cases 64 and 93 to 95: .npz.


def archive(path: Path, members: list[tuple[str, bytes]], packed: bool = False) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else 0) as out:
        warnings.simplefilter("ignore")
        for name, content in members:
            out.writestr(name, content)
    return path


def saved(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def test_npz_bomb(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.npz", [("x.npy", saved(np.zeros((1000, 12_500))))], packed=True)
    refused(path, "expand", "decompress it first")
    assert open_source(path, max_expansion=2000).shape == (1000, 12_500)


def test_odd_archives(tmp_path: Path) -> None:
    one = saved(np.eye(2))
    refused(archive(tmp_path / "a.npz", [("x.npy", one), ("x.npy", one)]), "more than once")
    refused(archive(tmp_path / "b.npz", [("x.npy", one), ("readme.txt", b"hi")]), "readme.txt")
    refused(archive(tmp_path / "c.npz", []), "nothing")
    refused(put(tmp_path, "d.npz", b"PK\x03\x04 not really"), "broken .npz")
    refused(archive(tmp_path / "e.npz", [("x.npy", one[:-3])]), "is truncated")
    refused(archive(tmp_path / "f.npz", [("x.npy", npy(described((10**6, 10**6))))]), "is truncated")
    outside = archive(tmp_path / "g.npz", [("../../escaped.npy", one)])
    assert open_source(outside).shape == (2, 2)
    assert not (tmp_path.parent.parent / "escaped.npy").exists()
    damaged = bytearray(archive(tmp_path / "h.npz", [("x.npy", saved(np.arange(2000.0).reshape(2, -1)))]).read_bytes())
    damaged[5000] ^= 0xFF
    refused(put(tmp_path, "h.npz", bytes(damaged)), "broken .npz")


def test_damaged_archives_never_leak_other_errors(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "s.npz", sparse.random_array((9, 7), density=0.4, rng=np.random.default_rng(0)))
    content = (tmp_path / "s.npz").read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(200):
        damaged = bytearray(content)
        place = int(rng.integers(len(damaged)))
        damaged[place : place + int(rng.integers(0, 20))] = rng.bytes(int(rng.integers(0, 5)))
        try:
            open_source(put(tmp_path, "bad.npz", bytes(damaged)))
        except EckartError:
            continue


def spoilt(tmp_path: Path, kind: str, **changes: Any) -> Path:
    matrix = sparse.random_array((6, 4), density=0.5, rng=np.random.default_rng(0), format="coo").asformat(kind)
    matrix = matrix.tobsr((2, 2)) if kind == "bsr" else matrix
    good = tmp_path / "good.npz"
    sparse.save_npz(good, matrix)
    with np.load(good) as content:
        arrays = dict(content)
    for key, change in changes.items():
        arrays[key] = change(arrays[key].copy()) if callable(change) else change
    path = tmp_path / "bad.npz"
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def at(place: int, value: int) -> Any:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("kind", "changes", "word"),
    [
        ("csr", {"indices": at(3, 4)}, "entry 3 of 'indices' is 4"),
        ("csr", {"indices": at(0, -1)}, "is -1"),
        ("csr", {"indices": at(0, 2**31 - 1)}, "outside"),
        ("csr", {"indptr": at(0, 1)}, "increase from 0"),
        ("csr", {"indptr": at(-1, 10**6)}, "increase from 0"),
        ("csr", {"indptr": at(3, 10**6)}, "increase from 0"),
        ("csr", {"indptr": lambda a: a[:-1]}, "instead of 7"),
        ("csr", {"indices": lambda a: a.astype(float)}, "array of integers"),
        ("csr", {"indices": None}, "is missing"),
        ("csr", {"shape": np.array([-6, 4])}, "shape"),
        ("csr", {"shape": np.array([6, 4, 1])}, "shape"),
        ("csr", {"data": lambda a: a.reshape(2, -1)}, "values have shape"),
        ("csr", {"data": lambda a: a.astype(complex)}, "complex"),
        ("csr", {"data": lambda a: a.astype(object)}, "pickle"),
        ("csc", {"indices": at(1, 6)}, "outside 0 to 5"),
        ("coo", {"row": at(0, 6)}, "outside 0 to 5"),
        ("coo", {"col": at(0, -1)}, "outside 0 to 3"),
        ("coo", {"col": lambda a: a[:-1]}, "should be equal"),
        ("bsr", {"indices": at(0, 99)}, "outside"),
        ("bsr", {"shape": np.array([6, 5])}, "do not fill"),
        ("dia", {"offsets": at(0, 99)}, "outside"),
        ("dia", {"offsets": lambda a: a[:-1]}, "diagonals, but"),
        ("csr", {"format": np.array(b"xyz")}, "unknown format"),
    ],
)
def test_sparse_indices_are_checked_before_any_product(tmp_path: Path, kind: str, changes: Any, word: str) -> None:
    path = spoilt(tmp_path, kind, **changes)
    refused(path, "bad.npz", word)


def test_sparse_shape_larger_than_memory(tmp_path: Path) -> None:
    for kind in ("coo", "csc"):
        refused(spoilt(tmp_path, kind, shape=np.array([10**15, 4])), "memory", error=MemoryBudgetError)


# Case 96: Matrix Market.

REAL = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("junk\n2 2 1\n1 1 1\n", "line 1"),
        ("%%MatrixMarket tensor coordinate real general\n2 2 1\n1 1 1\n", "line 1"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n", "complex"),
        ("%%MatrixMarket matrix coordinate real round\n2 2 1\n1 1 1\n", "not a known kind"),
        (REAL, "size line"),
        (REAL + "% only comments\n", "size line"),
        (REAL + "2 2\n1 1 1\n", "line 2: the size line"),
        (REAL + "2 -2 1\n1 1 1\n", "size line"),
        (REAL + "2 2 1000000000000\n1 1 1\n", "declares 1,000,000,000,000 entries"),
        (REAL + "2 2 3\n1 1 1\n", "declares 3 entries"),
        (REAL + "2 2 2\n1 1 1.000000000000\n", "declares 2 entries but contains 1"),
        (REAL + "2 2 1\n1 1 1\n2 2 2\n", "declares 1 entry but contains 2"),
        (REAL + "2 2 1\n0 1 1\n", "line 3: the index (0, 1)"),
        (REAL + "2 2 2\n\n1 1 1\n3 1 1\n", "line 5: the index (3, 1)"),
        (REAL + "2 2 1\n1 1 x\n", "line 3: the character 'x'"),
        (REAL + "2 2 1\n1 1 1e5e5\n", "line 3: '1 1 1e5e5' is not of the form"),
        (REAL + "2 2 2\n1 1 1\n1 2\n\n\n\n", "line 4: '1 2' is not of the form"),
        (REAL + "2 2 1\n1.5 1 1\n", "not of the form"),
        (REAL + "2 2 1\n99999999999999999999 1 1\n", "not of the form"),
        (REAL + "2 2 1\n1 1 1\x02", "line 3: the character '\\x02'"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n", "both sides"),
        (REAL + "0 2 0\n", "no rows"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "symmetric"),
        ("%%MatrixMarket matrix array real general\n100000 100000\n1\n", "declares"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "declares 4 entries"),
    ],
)
def test_hostile_matrix_market(tmp_path: Path, text: str, word: str) -> None:
    refused(put(tmp_path, "m.mtx", text), "m.mtx", word)


def test_infinite_entries_of_matrix_market(tmp_path: Path) -> None:
    refused(put(tmp_path, "m.mtx", REAL + "2 2 2\n1 1 1\n1 2 1e400\n"), "line 4", "infinite", error=NotFiniteError)


def test_damaged_matrix_market_never_crashes(tmp_path: Path) -> None:
    text = REAL + "5 4 6\n" + "".join(f"{i % 5 + 1} {i % 4 + 1} {i / 7:.6E}\n" for i in range(6))
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(text.encode())
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        try:
            open_source(put(tmp_path, "m.mtx", bytes(damaged)))
        except EckartError:
            continue


def test_matrix_market_larger_than_memory(tmp_path: Path) -> None:
    refused(put(tmp_path, "m.mtx", REAL + "999999999999999 2 1\n1 1 1\n"), "memory", error=MemoryBudgetError)


# Case 101: Parquet and Arrow.


def test_broken_parquet_and_arrow(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(1000.0), "b": np.arange(1000.0)})
    parquet.write_table(table, tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    refused(put(tmp_path, "cut.parquet", content[:-20]), "broken Parquet")
    refused(put(tmp_path, "head.parquet", b"PAR1" + content[4 : len(content) // 2]), "broken Parquet")
    refused(put(tmp_path, "junk.parquet", b"nothing of the kind"), "broken Parquet")
    refused(put(tmp_path, "junk.arrow", b"nothing of the kind"), "broken Arrow")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    refused(put(tmp_path, "cut.arrow", (tmp_path / "t.arrow").read_bytes()[:-500]), "broken Arrow")
    parquet.write_table(pa.table({"t": ["a", "b"]}), tmp_path / "text.parquet")
    refused(tmp_path / "text.parquet", "no numeric column")
    parquet.write_table(table.slice(0, 0), tmp_path / "none.parquet")
    refused(tmp_path / "none.parquet", "no rows")


def test_parquet_flipped_bytes_never_crash(tmp_path: Path) -> None:
    table = pa.table({"t": [f"w{i % 5}" for i in range(200)], "a": np.arange(200.0)})
    parquet.write_table(table, tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(4, len(content) - 8, 60):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        try:
            open_source(put(tmp_path, "bad.parquet", bytes(damaged)))
        except EckartError:
            continue


def test_dictionary_bomb_stays_small(tmp_path: Path) -> None:
    """One long word repeated: the file is small, its plain text would be 2 GB."""
    words = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), pa.array(["w" * 100_000]))
    parquet.write_table(pa.table({"w": words, "x": np.arange(20_000.0)}), tmp_path / "t.parquet")
    with memory_added() as added:
        source = open_source(tmp_path / "t.parquet")
    assert source.shape == (20_000, 1)
    assert added() < 100e6


def test_parquet_larger_than_memory(tmp_path: Path, monkeypatch: Any) -> None:
    parquet.write_table(pa.table({"x": np.zeros(100_000)}), tmp_path / "t.parquet")

    def tiny(needed: int, name: str, what: str) -> None:
        raise MemoryBudgetError(f"{name}: {needed} bytes for {what}")

    monkeypatch.setattr(parquet_module, "check_fits", tiny)
    refused(tmp_path / "t.parquet", "800000 bytes", error=MemoryBudgetError)


def test_extension_types_are_left_out_by_name(tmp_path: Path) -> None:
    ids = pa.array([b"0" * 16, b"1" * 16], pa.uuid() if hasattr(pa, "uuid") else pa.binary(16))
    parquet.write_table(pa.table({"u": ids, "x": [1.0, 2.0]}), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert source.metadata.column_names == ("x",)
    assert any("'u (" in note for note in source.metadata.notes)


def test_odd_pandas_metadata(tmp_path: Path) -> None:
    for meta in (b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": ["nope"]}', b"\xff"):
        table = pa.table({"x": [1.0, 2.0]}).replace_schema_metadata({b"pandas": meta})
        parquet.write_table(table, tmp_path / "t.parquet", store_schema=True)
        assert open_source(tmp_path / "t.parquet").shape == (2, 1)
