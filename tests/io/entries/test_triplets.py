"""Entries in pieces of a file, packed or not; large column numbers are kept, never wrapped."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import parquet

import eckart as ek
from eckart.errors import FileError
from eckart.io.convert import convert
from eckart.io.open_rows import open_rows

COLUMN = 2**32 + 1
"""1 once its upper half is lost."""


def triplets(path):
    table = {"row": [0, 1, 2], "column": [0, COLUMN, 3], "value": [1.0, 2.0, 3.0]}
    parquet.write_table(pa.table(table), path)


def market(path):
    header = f"%%MatrixMarket matrix coordinate real general\n3 {COLUMN + 1} 3\n"
    path.write_text(f"{header}1 1 1.0\n2 {COLUMN + 1} 2.0\n3 4 3.0\n")


@pytest.mark.parametrize(("name", "write"), [("a.parquet", triplets), ("a.mtx", market)])
def test_columns_beyond_32_bits(tmp_path, name, write):
    write(tmp_path / name)
    convert(tmp_path / name, tmp_path / "out.npz")
    found = sp.load_npz(tmp_path / "out.npz").tocoo()
    assert found.shape == (3, COLUMN + 1)
    entries = zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True)
    assert sorted(entries) == [(0, 0, 1.0), (1, COLUMN, 2.0), (2, 3, 3.0)]
    rows = open_rows(tmp_path / name)
    block = rows.read(1, 2)
    np.testing.assert_array_equal((block.indices, block.data), ([COLUMN], [2.0]))


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_a_packed_file_is_sorted_like_one_that_is_not(tmp_path, monkeypatch, symmetry):
    monkeypatch.setattr("eckart.io.entries.triplets._PIECE", 500)
    monkeypatch.setattr("eckart.io.bytes.CHUNK", 333)
    matrix = sp.random_array((60, 60), density=0.2, rng=np.random.default_rng(8))
    matrix = matrix + matrix.T if symmetry == "symmetric" else matrix
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix, comment="c" * 900 + "\n" + "d" * 40, symmetry=symmetry)
    (tmp_path / "b.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    rows = open_rows(tmp_path / "b.mtx.gz")
    np.testing.assert_allclose(rows.read(7, 60).toarray(), matrix.toarray()[7:], rtol=1e-12)
    convert(tmp_path / "b.mtx.gz", tmp_path / "b.npz")
    np.testing.assert_allclose(sp.load_npz(tmp_path / "b.npz").toarray(), matrix.toarray(), rtol=1e-12)


def test_the_line_of_a_wrong_entry_in_a_later_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("eckart.io.entries.triplets._PIECE", 50)
    monkeypatch.setattr("eckart.io.bytes.CHUNK", 33)
    lines = ["%%MatrixMarket matrix coordinate real general", "% a comment", "100 2 100"]
    lines += [f"{i} 1 0.5" for i in range(1, 101)]
    lines[77] = "75 3 0.5"
    (tmp_path / "a.mtx").write_text("\n".join(lines) + "\n")
    with pytest.raises(FileError, match="line 78: the index"):
        open_rows(tmp_path / "a.mtx")


@pytest.mark.parametrize("stream", [False, True])
def test_parts_of_one_table_are_one_sparse_matrix(tmp_path, stream):
    """As programs write ratings in parts. One file has one meaning, also where a pattern matches it alone."""
    matrix = sp.random_array((70, 9), density=0.7, rng=np.random.default_rng(12), format="coo")
    for part in range(3):
        some = slice(part, None, 3)
        columns = {"user": matrix.row[some], "item": matrix.col[some], "rating": matrix.data[some]}
        parquet.write_table(pa.table(columns), tmp_path / f"part-{part}.parquet")
    names = [str(tmp_path / f"part-{part}.parquet") for part in range(3)]
    for source in (tmp_path, str(tmp_path / "*.parquet"), names):
        rows = ek.open_data(source, stream=stream)
        np.testing.assert_array_equal(rows.read(0, 70).toarray(), matrix.toarray())
        assert any("read as a sparse matrix" in note for note in rows.metadata.notes)
        table = ek.open_data(source, format="parquet", stream=stream)
        assert table.metadata.column_names == ("user", "item", "rating")
        assert table.shape == (matrix.nnz, 3)
    alone = [ek.open_data(place, stream=stream) for place in (names[0], [names[0]], str(tmp_path / "*-0.parquet"))]
    assert len({source.shape for source in alone}) == 1
    assert all(source.sparse for source in alone)


def test_parts_that_change_under_a_checkpoint_have_another_fingerprint(tmp_path):
    for part in range(2):
        parquet.write_table(
            pa.table({"row": [part, 5], "col": [1, 0], "value": [1.0, 2.0]}), tmp_path / f"{part}.parquet"
        )
    before = open_rows(tmp_path).fingerprint()
    assert open_rows(tmp_path).fingerprint() == before
    parquet.write_table(pa.table({"row": [1, 5], "col": [1, 0], "value": [1.0, 2.5]}), tmp_path / "1.parquet")
    assert open_rows(tmp_path).fingerprint()["content"] != before["content"]


@pytest.mark.parametrize("stream", [False, True])
def test_truth_values_that_occur_twice_count_once(tmp_path, stream):
    entries = {"row": [0, 0, 2, 2], "column": [1, 1, 0, 0], "value": [True, True, False, True]}
    parquet.write_table(pa.table(entries), tmp_path / "a.parquet")
    sp.save_npz(tmp_path / "a.npz", sp.coo_array((entries["value"], (entries["row"], entries["column"]))))
    convert(tmp_path / "a.parquet", tmp_path / "b.npz")
    for name in ("a.parquet", "a.npz", "b.npz"):
        source = ek.open_data(tmp_path / name, stream=stream)
        matrix = source.read(0, 3) if hasattr(source, "read") else source.matrix
        np.testing.assert_array_equal(matrix.toarray(), [[0, 1], [0, 0], [1, 0]])
    numbers = {**entries, "value": [1.0, 1.0, 0.0, 1.0]}
    parquet.write_table(pa.table(numbers), tmp_path / "c.parquet")
    assert ek.open_data(tmp_path / "c.parquet", stream=False).matrix.toarray()[0, 1] == 2
    entries["value"] = [True, None, False, True]
    parquet.write_table(pa.table(entries), tmp_path / "d.parquet")
    with pytest.raises(FileError, match="truth value is missing"):
        ek.open_data(tmp_path / "d.parquet", stream=stream)


def test_unsorted_truth_values_of_an_archive_are_read(tmp_path):
    arrays = {"data": np.ones(4, bool), "indices": np.array([1, 1, 2, 0]), "indptr": np.array([0, 2, 4])}
    np.savez(tmp_path / "a.npz", format=np.array(b"csr"), shape=np.array([2, 3]), **arrays)
    source = ek.open_data(tmp_path / "a.npz", stream=False)
    np.testing.assert_array_equal(source.matrix.toarray(), [[0, 1, 0], [1, 0, 1]])
