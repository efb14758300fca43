"""One meaning per file: read whole and in blocks, every kind gives the same matrix, names and notes, or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import eckart as ek
from eckart.io.open_rows import open_table
from eckart.io.open_source import open_source
from eckart.io.read_options import ReadOptions
from tests.anomalies.fuzz.outcomes import judge, outcome
from tests.anomalies.fuzz.valid_files import DENSE, FILES, SPARSE, table, text


@pytest.mark.parametrize("name", FILES)
def test_every_kind(tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / name)
    assert judge(tmp_path / name).fault == ""
    assert not outcome(tmp_path / name, stream=True).refusal


def dated(path: Path) -> None:
    days = pa.array(range(40), pa.int32()).cast(pa.date32())
    parquet.write_table(table(mixed=True).append_column("day", days).append_column("none", pa.nulls(40)), path)


def indexed(path: Path) -> None:
    frame = table().to_pandas()
    frame.index = [f"r{i}" for i in range(40)]
    frame.to_parquet(path)


def counted(path: Path) -> None:
    frame = table().to_pandas()
    frame.index = np.arange(100, 140)
    frame.index.name = "number"
    frame.to_parquet(path)


ODD: dict[str, Any] = {
    "dates.parquet": dated,
    "index.parquet": indexed,
    "number.parquet": counted,
    "twice.parquet": lambda path: parquet.write_table(table().rename_columns(["a", "a", "b", "c", "a.b"]), path),
    "latin.csv": lambda path: path.write_bytes(text().replace(b"town", "tôwn".encode("cp1252"))),
    "wide.csv": lambda path: path.write_bytes(text().decode().encode("utf-16")),
    "truth.csv": lambda path: path.write_bytes(b"a,b\n" + b"true,1\nfalse,2\n" * 20),
    "empty.csv": lambda path: path.write_bytes(b"a,b,c\n" + b"1,,3\n2,,5\n" * 20),
    "blank_lines.csv": lambda path: path.write_bytes(b"a\n" + b"".join(b" \n%d\n" % i for i in range(300))),
    "ragged.csv": lambda path: path.write_bytes(text() + b"1,2\n"),
    "quote.csv": lambda path: path.write_bytes(text() + b'"open,1,2,3,4,5\n'),
    "nul.csv": lambda path: path.write_bytes(text() + b"\0,1,2,3,4,5\n"),
    "letters.mtx": lambda path: path.write_bytes(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 0x1 1\n"),
    "sides.mtx": lambda path: path.write_bytes(
        b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n"
    ),
    "infinite.mtx": lambda path: path.write_bytes(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e999\n"),
    "spaces.mtx": lambda path: path.write_bytes(
        b"%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n 1\t1  3\r\n\r\n2 2 4\r\n"
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files(tmp_path: Path, name: str) -> None:
    ODD[name](tmp_path / name)
    assert judge(tmp_path / name).fault == ""


def test_entries_in_a_table_are_a_sparse_matrix_unless_a_table_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "triplets.parquet"
    FILES["triplets.parquet"](path)
    exact = np.linalg.svd(SPARSE.toarray(), compute_uv=False)[0]
    for stream in (False, True):
        found = open_table(path, stream=stream)
        assert found.sparse
        assert "read as a sparse matrix" in found.metadata.notes[0]
        assert ek.decompose(path, "svd", k=1, stream=stream).values[0] == pytest.approx(exact)
    assert open_source(path, ReadOptions("parquet")).shape == (SPARSE.nnz, 3)


def test_a_large_text_is_read_as_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eckart.io.text.rows._HELD", 0)
    monkeypatch.setattr("eckart.io.text.rows._HEAD", 500)
    monkeypatch.setattr("eckart.io.text.index._CHUNK", 500)
    monkeypatch.setattr("eckart.io.bytes.CHUNK", 300)
    for name in ("plain.csv", "named.csv", "comma.csv", "tabs.tsv", "packed.csv.gz"):
        FILES[name](tmp_path / name)
        rows = open_table(tmp_path / name, stream=True)
        assert len(rows.cuts()) > 2
        np.testing.assert_array_equal(rows.read(0, 40), DENSE)
        np.testing.assert_array_equal(rows.read(11, 29), DENSE[11:29])
    late = b"a,b\n" + b"1,\n" * 300 + b"1,2\n"
    (tmp_path / "late.csv").write_bytes(late)
    with pytest.raises(ek.errors.FileError, match="line 302: the column 'b' contains a value, but it is empty at the"):
        open_table(tmp_path / "late.csv", stream=True)
