"""Array files and typed tables through open_source: NumPy, SciPy sparse, Matrix Market, Parquet, Arrow."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import feather, ipc, parquet
from scipy import io as scipy_io
from scipy import sparse

from eckart.engine.blocks.source import Source
from eckart.errors import FileError, ParameterError
from eckart.io.arrays import npy as array_files
from eckart.io.open_source import open_source
from eckart.io.read_options import ReadOptions


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("a.csv.xz", "Unpack the file first"),
        ("a.json", "read_json"),
        ("a.dta", "read_stata"),
        ("a.mat", "loadmat"),
        ("a.nc", "xarray.open_dataset"),
        ("a.avro", "polars.read_avro"),
        ("a.xpt", "read_sas"),
        ("a.svmlight", "load_svmlight_file"),
    ],
)
def test_other_formats_are_refused_with_a_way_to_read_them(tmp_path: Path, name: str, remedy: str) -> None:
    (tmp_path / name).write_bytes(b"content")
    with pytest.raises(FileError, match=remedy):
        open_source(tmp_path / name)


quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
numbers = hnp.arrays(
    st.sampled_from([np.dtype(kind) for kind in ("<f8", "<f4", ">f8", ">f4", "f2", "i1", "u2", "i4", "?")]),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
)


def expected(values: Any) -> Any:
    kind = np.float32 if values.dtype.newbyteorder("=") == np.float32 else np.float64
    return values.astype(kind)


def agree(source: Any, values: Any) -> None:
    assert isinstance(source, Source)
    wanted = expected(values)
    assert source.dtype == wanted.dtype
    assert source.shape == wanted.shape
    np.testing.assert_array_equal(np.vstack(list(source.blocks(2))), wanted)


@quick
@given(values=numbers, fortran=st.booleans())
def test_npy_round_trip(tmp_path: Path, values: Any, fortran: bool) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.asfortranarray(values) if fortran else values)
    agree(open_source(path), values)
    agree(open_source(io.BytesIO(path.read_bytes()), ReadOptions("npy")), values)


@quick
@given(values=numbers, packed=st.booleans())
def test_npz_round_trip(tmp_path: Path, values: Any, packed: bool) -> None:
    path = tmp_path / "x.npz"
    (np.savez_compressed if packed else np.savez)(path, x=values, names=np.array(["a"]), line=np.arange(3))
    source = open_source(path)
    agree(source, values)
    assert "'x'" in source.metadata.notes[0]


def test_npy_is_read_and_not_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))
    source: Any = open_source(tmp_path / "x.npy")
    os.truncate(tmp_path / "x.npy", 0)  # a map of the file would end the process now
    assert (source.matrix == 1).all()
    assert not source.matrix.flags.writeable
    assert source.metadata.name == "x.npy"


def test_whole_numbers_larger_than_memory_are_converted_by_block(tmp_path: Path, monkeypatch: Any) -> None:
    values = np.arange(12, dtype=np.uint8).reshape(6, 2)
    np.save(tmp_path / "x.npy", values)
    monkeypatch.setattr(array_files, "free_memory", lambda: 100)
    source = open_source(tmp_path / "x.npy")
    assert isinstance(source, array_files.ConvertingSource)
    agree(source, values)


def test_npz_with_several_matrices(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", one=np.eye(2), two=np.eye(3))
    with pytest.raises(FileError, match=r"several matrices: 'one' \(2, 2\), 'two' \(3, 3\)"):
        open_source(tmp_path / "x.npz")
    assert open_source(tmp_path / "x.npz", ReadOptions(key="two")).shape == (3, 3)
    with pytest.raises(ParameterError, match="no array 'three'"):
        open_source(tmp_path / "x.npz", ReadOptions(key="three"))


@quick
@given(seed=st.integers(0, 1000), kind=st.sampled_from(["csr", "csc", "coo", "bsr", "dia"]), array=st.booleans())
def test_sparse_npz_round_trip(tmp_path: Path, seed: int, kind: str, array: bool) -> None:
    rng = np.random.default_rng(seed)
    dtype = [np.float64, np.float32, np.int64][seed % 3]
    dense = (rng.integers(-3, 4, (6, 4)) * (rng.random((6, 4)) < 0.4)).astype(dtype)
    sparse.save_npz(tmp_path / "s.npz", (sparse.coo_array if array else sparse.coo_matrix)(dense).asformat(kind))
    source: Any = open_source(tmp_path / "s.npz")
    assert source.sparse
    assert isinstance(source.matrix, sparse.csr_array)
    assert source.dtype == (np.float32 if dtype is np.float32 else np.float64)
    np.testing.assert_array_equal(source.matrix.toarray(), dense)


def test_sparse_is_made_canonical(tmp_path: Path) -> None:
    """Case 61: explicit zeros, duplicates, unsorted indices."""
    coo = sparse.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 0, 1, 0], [2, 2, 1, 0])), shape=(2, 3))
    sparse.save_npz(tmp_path / "coo.npz", coo)
    csr = sparse.csr_array((np.array([3.0, 1.0, 2.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    sparse.save_npz(tmp_path / "csr.npz", csr)
    for name in ("coo.npz", "csr.npz"):
        matrix = open_source(tmp_path / name).matrix
        assert matrix.has_canonical_format
        assert matrix.nnz == 2
    assert open_source(tmp_path / "csr.npz").matrix.toarray().tolist() == [[1, 0, 5], [0, 0, 0]]


@quick
@given(seed=st.integers(0, 1000), packed=st.booleans())
def test_matrix_market_round_trip(tmp_path: Path, seed: int, packed: bool) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((5, 5)) * (rng.random((5, 5)) < 0.5)
    dense = [dense, dense + dense.T, dense - dense.T][seed % 3]
    for value in (sparse.coo_array(dense), dense):
        buffer = io.BytesIO()
        scipy_io.mmwrite(buffer, value, precision=17)
        path = tmp_path / ("m.mtx.gz" if packed else "m.mtx")
        path.write_bytes(gzip.compress(buffer.getvalue()) if packed else buffer.getvalue())
        matrix = open_source(path).matrix
        np.testing.assert_array_equal(matrix.toarray() if sparse.issparse(matrix) else matrix, dense)


def test_matrix_market_pattern_and_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "m.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n% c\n2 2 2\n1 1\n2 2\n")
    assert open_source(path).matrix.toarray().tolist() == [[1, 0], [0, 1]]
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 1 5\n")
    assert open_source(path).matrix.toarray().tolist() == [[3, 0], [5, 0]]


def test_matrix_market_with_loose_blanks(tmp_path: Path) -> None:
    path = tmp_path / "m.mtx"
    path.write_bytes(
        b"%%MatrixMarket Matrix Coordinate Real General\r\n%\r\n\r\n 2  3   2\r\n  1\t1  1.5 \r\n\r\n2 3 -2\r\n"
    )
    assert open_source(path).matrix.toarray().tolist() == [[1.5, 0, 0], [0, 0, -2]]
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 2 0\n")
    assert open_source(path).matrix.nnz == 0


def table() -> Any:
    return pa.table(
        {
            "who": pa.array(["a", "b", "c"]),
            "x": pa.array([1.5, None, 3.0]),
            "n": pa.array([1, 2, 3], pa.int16()),
            "yes": pa.array([True, False, None]),
            "money": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")], pa.decimal128(10, 2)),
            "kind": pa.array(["u", None, "u"]).dictionary_encode(),
            "day": pa.array([dt.date(2020, 1, day) for day in (1, 2, 3)]),
            "list": pa.array([[1], [2], [3]]),
        }
    )


def write(kind: str, content: Any, path: Path) -> None:
    if kind == "parquet":
        parquet.write_table(content, path)
    elif kind == "feather":
        feather.write_feather(content, str(path))
    else:
        new = ipc.new_stream if kind == "stream" else ipc.new_file
        with pa.OSFile(str(path), "wb") as sink, new(sink, content.schema) as writer:
            writer.write_table(content)


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "stream"])
def test_typed_tables(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"t.{'arrow' if kind == 'stream' else kind}"
    write(kind, table(), path)
    source = open_source(path)
    assert source.metadata.row_names == ("a", "b", "c")
    assert source.metadata.column_names == ("x", "n", "yes", "money")
    nan = np.nan
    np.testing.assert_array_equal(source.matrix, [[1.5, 1, 1, 1.25], [nan, 2, 0, nan], [3, 3, nan, -3.5]])
    assert source.metadata.labels == {"kind": ("u", "", "u"), "day": ("2020-01-01", "2020-01-02", "2020-01-03")}
    notes = " ".join(source.metadata.notes)
    for words in (
        "3 of 12 values are missing",
        "list (list<",
        "'yes' contains true and false",
        "'day' contains dates",
        "'kind'",
    ):
        assert words in notes
    agree(open_source(io.BytesIO(path.read_bytes()), ReadOptions(kind.replace("stream", "arrow"))), source.matrix)


@quick
@given(values=hnp.arrays(st.sampled_from([np.float32, np.float64, np.int32]), (4, 3)))
def test_parquet_round_trip(tmp_path: Path, values: Any) -> None:
    parquet.write_table(pa.table({f"c{j}": values[:, j] for j in range(3)}), tmp_path / "t.pq")
    agree(open_source(tmp_path / "t.pq"), values)


def test_pandas_index_in_parquet(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=[7, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert source.metadata.row_names == ("7", "9")
    assert source.metadata.column_names == ("a", "b")


def test_many_chunks_and_row_groups(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((10_000, 3))
    words = [f"w{row % 7}" for row in range(10_000)]
    content = pa.table({"word": words, **{f"c{j}": values[:, j] for j in range(3)}})
    parquet.write_table(content, tmp_path / "t.parquet", row_group_size=999)
    source = open_source(tmp_path / "t.parquet")
    np.testing.assert_array_equal(source.matrix, values)
    assert source.metadata.labels["word"] == tuple(words)


def test_a_stream_that_is_closed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with (tmp_path / "t.csv").open("rb") as stream:
        pass
    with pytest.raises(FileError, match="closed file"):
        open_source(stream)


def test_open_files_mean_what_their_paths_mean(tmp_path):
    """Without a suffix, entries are a sparse matrix as well, and Arrow streams are recognised."""
    import pyarrow as pa
    from pyarrow import ipc, parquet

    parquet.write_table(pa.table({"row": [0, 2], "col": [1, 0], "value": [1.5, 2.0]}), tmp_path / "x.parquet")
    found = open_source(io.BytesIO((tmp_path / "x.parquet").read_bytes()))
    np.testing.assert_array_equal(found.matrix.toarray(), open_source(tmp_path / "x.parquet").matrix.toarray())
    assert [note.code for note in found.metadata.notes] == ["entries"]
    table, sink = pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}), io.BytesIO()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    np.testing.assert_array_equal(open_source(io.BytesIO(sink.getvalue())).matrix, [[1, 3], [2, 4]])
