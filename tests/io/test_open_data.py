"""Every kind of source by the one opener: the same values as NumPy, names kept, unknown objects refused at once."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import io
import sqlite3
import tempfile
from pathlib import Path

import dask
import dask.array as da
import h5py
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr

import eckart as ek
from eckart.errors import EckartError, FileError, InputError, ParameterError

NAMES = ["a", "b", "c", "d"]
X = np.random.default_rng(5).normal(size=(60, 4)) * [3, 2, 1, 0.5] + [1, 2, 3, 4]
WANTED = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:2]
FRAME = pd.DataFrame(X, columns=NAMES)
TABLE = pa.table({name: X[:, j] for j, name in enumerate(NAMES)})


class Capsule:
    """Nothing but the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


class Interchange:
    """Nothing but the data frame interchange protocol."""

    def __dataframe__(self, **options):
        return TABLE.__dataframe__(**options)


class Exchanged:
    """Nothing but DLPack."""

    def __dlpack__(self, **options):
        return X.__dlpack__(**options)

    def __dlpack_device__(self):
        return X.__dlpack_device__()


def _temporary(text):
    file = tempfile.NamedTemporaryFile("w+")  # noqa: SIM115 - removed with the object
    file.write(text)
    file.seek(0)
    return file


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return X


def batches(size=7):
    return (X[start : start + size] for start in range(0, 60, size))


def fixed_lists():
    return pa.table({"e": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 4)})


Row = dataclasses.make_dataclass("Row", NAMES)
NAMED = {
    "pandas": lambda: FRAME,
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
    "polars lazy": lambda: pl.LazyFrame(X, schema=NAMES),
    "narwhals": lambda: nw.from_native(pl.DataFrame(X, schema=NAMES)),
    "narwhals lazy": lambda: nw.from_native(pl.LazyFrame(X, schema=NAMES)),
    "arrow table": lambda: TABLE,
    "arrow batch": lambda: TABLE.to_batches()[0],
    "arrow reader": lambda: TABLE.to_reader(7),
    "capsule": Capsule,
    "interchange": Interchange,
    "dict of arrays": lambda: {name: X[:, j] for j, name in enumerate(NAMES)},
    "dict of lists": lambda: {name: X[:, j].tolist() for j, name in enumerate(NAMES)},
    "dict of series": lambda: {name: FRAME[name] for name in NAMES},
    "list of dicts": lambda: [dict(zip(NAMES, row, strict=True)) for row in X.tolist()],
    "dataclasses": lambda: [Row(*row) for row in X.tolist()],
    "generator of dicts": lambda: (dict(zip(NAMES, row, strict=True)) for row in X.tolist()),
    "generator of frames": lambda: (FRAME[start : start + 9] for start in range(0, 60, 9)),
    "list of frames": lambda: [FRAME[:9], FRAME[9:]],
    "list of record batches": lambda: TABLE.to_batches(max_chunksize=7),
    "generator of dicts of columns": lambda: (
        {n: X[i : i + 9, j] for j, n in enumerate(NAMES)} for i in range(0, 60, 9)
    ),
    "records": lambda: np.rec.fromarrays(X.T, names=NAMES),
    "arrow dictionaries": lambda: pa.table({name: TABLE[name].combine_chunks().dictionary_encode() for name in NAMES}),
    "arrow runs": lambda: pa.table(
        {name: pc.run_end_encode(TABLE[name].combine_chunks()) for name in NAMES}
    ).to_reader(),
    "text file": lambda: io.StringIO(FRAME.to_csv(index=False)),
    "temporary file": lambda: _temporary(FRAME.to_csv(index=False)),
    "binary file": lambda: io.BytesIO(FRAME.to_csv(index=False).encode()),
}
PLAIN = {
    "array": lambda: X,
    "list": X.tolist,
    "list of arrays": lambda: list(X),
    "deque": lambda: collections.deque(X.tolist()),
    "memoryview": lambda: memoryview(X),
    "array-like": ArrayLike,
    "dlpack": Exchanged,
    "csr": lambda: sp.csr_array(X),
    "generator of batches": batches,
    "generator of rows": lambda: iter(X),
    "generator of pairs": lambda: ((block, None) for block in batches()),
    "generator of CSR": lambda: (sp.csr_array(block) for block in batches()),
    "dict of one array": lambda: {"X": X},
    "polars array column": lambda: pl.DataFrame({"e": pl.Series(X.tolist(), dtype=pl.Array(pl.Float64, 4))}),
    "arrow fixed lists": fixed_lists,
    "reader of fixed lists": lambda: fixed_lists().to_reader(11),
    "dask": lambda: da.from_array(X, chunks=(20, 4)),
}


@pytest.mark.parametrize("kind", [*NAMED, *PLAIN])
def test_values_are_those_of_the_array(kind):
    make = (NAMED | PLAIN)[kind]
    np.testing.assert_allclose(ek.decompose(make(), k=2).values, WANTED, rtol=1e-12)
    pca = ek.PCA(2).fit(make())
    np.testing.assert_allclose(pca.singular_values_, WANTED, rtol=1e-12)
    if kind in NAMED:
        assert ek.decompose(make(), k=2).column_names == tuple(NAMES)
        assert list(pca.feature_names_in_) == NAMES


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (object(), "type object"),
        (None, "type NoneType"),
        ({1, 2}, "type set"),
        (lambda: 0, "type function"),
        (b"abc", "type bytes.*io.BytesIO"),
        (dask.delayed(X), "type dask.Delayed.*Compute it first"),
        (da.from_array(X + 1j), "complex128"),
        ([[1.0, 2.0], [3.0]], "row 1 has 2 values, but row 2 has 1"),
        ([[10**400, 1.0], [1.0, 2.0]], "too large for float64"),
        (sqlite3.connect(":memory:"), "Execute a query first"),
        (pl.LazyFrame({"a": [1.0]}).select("b"), r"LazyFrame cannot be read: .*\bb\b"),
        ("", "path is an empty string"),
        ("https://localhost/x.csv", "local files"),
        ("a,b\n1,2\n", "io.StringIO"),
        ("~/no such file.csv", f"'{Path.home()}"),
        (FRAME.groupby("a"), "pandas.DataFrameGroupBy"),
        (FRAME["a"], "a single column" if hasattr(FRAME["a"], "__arrow_c_stream__") else "one column to"),  # pandas 2.2
        (pl.Series([1.0]), "a single column"),
        (ek.PCA(2), "A fitted result cannot be decomposed again"),
        (iter([]), "no rows"),
        (iter([X[:, :3], X]), "same columns"),
        (iter([X.astype(np.float32), X]), "same dtype"),
        ({"X": X, "y": X}, r"key="),
        ({"a": 1.0}, "only single values"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "different lengths"),
        ([{"a": 1.0}, 3], "dicts"),
        (pl.DataFrame({"e": X.tolist()}), "no numeric column"),
    ],
)
def test_what_is_not_a_table_is_refused_by_name(given, message):
    with pytest.raises((InputError, FileError), match=message):
        ek.decompose(given, k=1)


def test_estimators_refuse_lists_and_names_by_cause():
    with pytest.raises(InputError, match="row 1 has 2 values, but row 2 has 1"):
        ek.PCA(1).fit([[1.0, 2.0], [3.0]])
    with pytest.raises(InputError, match="more than once: 'a'"):
        ek.PCA(1).fit(FRAME.set_axis(list("abca"), axis=1))
    file = io.BytesIO(b"a,b\n1,2\n")
    file.close()
    with pytest.raises(InputError, match="closed"):
        ek.PCA(1).fit(file)


def test_a_tensor_without_numbers():
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match="no values"):
        ek.decompose(torch.empty((3, 2), device="meta"), k=1)


def test_short_floats_of_other_libraries_are_exact():
    torch = pytest.importorskip("torch")
    eight = torch.tensor(X).to(torch.float8_e4m3fn)
    np.testing.assert_array_equal(ek.open_data(eight), eight.float())
    ml_dtypes = pytest.importorskip("ml_dtypes")
    short = X.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(ek.open_data(short), short.astype(np.float32))


def test_array_columns_beside_others():
    """Embeddings become one column for each place; a missing one is missing in all of them."""
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "e": pl.Series([[1, 2], None, [3, 5]], dtype=pl.Array(pl.Int64, 2))})
    for given in (frame, frame.to_arrow().to_reader(), frame.lazy()):
        source = ek.open_data(given)
        assert source.metadata.column_names == ("x", "e[0]", "e[1]")
        np.testing.assert_array_equal(source.matrix, [[1, 1, 2], [2, np.nan, np.nan], [4, 3, 5]])


def test_texts_name_and_label_rows():
    table = {"n": ["u", "v", "w"], "kind": ["p", "q", "p"], "x": [1.0, 2.0, 4.0], "y": [0, 1, 0]}
    days = [dt.date(2024, 1, day) for day in (1, 2, 3)]
    for given in (pl.DataFrame(table | {"day": days}), pd.DataFrame(table | {"day": pd.to_datetime(days)})):
        assert ek.open_data(given).metadata.labels["day"][0].startswith("2024-01-01")
    grouped = pd.DataFrame(table | {"group": pd.Categorical([1, 2, 2])})
    assert ek.open_data(grouped).metadata.labels["group"] == ("1", "2", "2")
    for given in (table, pa.table(table).to_reader(), pl.LazyFrame(table), pd.DataFrame(table)):
        metadata = ek.open_data(given).metadata
        assert (metadata.row_names, metadata.labels["kind"], metadata.column_names) == (
            ("u", "v", "w"),
            ("p", "q", "p"),
            ("x", "y"),
        )
    assert ek.open_data(table, row_names=None).metadata.row_names is None
    by_index = ek.open_data(pd.DataFrame(table).set_index(["kind", "n"])).metadata.row_names
    assert by_index == ("p u", "q v", "p w")


def test_records_that_lack_keys_have_missing_values():
    found = ek.open_data([{"a": 1}, {"a": 2, "b": 0.5}])
    np.testing.assert_array_equal(found.matrix, [[1, np.nan], [2, 0.5]])


@pytest.mark.parametrize("kind", ["parquet", "csv", "mixed"])
def test_lists_patterns_and_folders(tmp_path: Path, kind):
    paths = []
    for i in range(3):
        suffix = "csv" if kind == "csv" or (kind == "mixed" and i == 1) else "parquet"
        path = tmp_path / f"part{i}.{suffix}"
        part = FRAME[20 * i : 20 * i + 20].assign(kind=f"k{i}")
        part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path, index=False)
        paths.append(path)
    as_folder = [tmp_path] if kind == "parquet" else []
    for given in [paths, list(map(str, paths)), str(tmp_path / "part*"), *as_folder]:
        d = ek.decompose(given, k=2)
        np.testing.assert_allclose(d.values, WANTED, rtol=1e-12)
        assert ek.open_data(given).metadata.labels["kind"] == ("k0",) * 20 + ("k1",) * 20 + ("k2",) * 20
    np.testing.assert_allclose(ek.decompose((path for path in paths), k=2).values, WANTED, rtol=1e-12)
    pd.DataFrame({"z": [1.0]}).to_csv(tmp_path / "other.csv")
    with pytest.raises(FileError, match="same columns"):
        ek.decompose([paths[0], tmp_path / "other.csv"], k=1)


def test_hive_folders(tmp_path: Path):
    ds.write_dataset(TABLE.append_column("year", pa.array([2020, 2021, 2022] * 20)), tmp_path / "t", format="parquet",
                     partitioning=ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive"))  # fmt: skip
    source = ek.open_data(tmp_path / "t")
    assert collections.Counter(source.metadata.labels["year"]) == {"2020": 20, "2021": 20, "2022": 20}
    np.testing.assert_allclose(ek.decompose(tmp_path / "t", k=2).values, WANTED, rtol=1e-12)
    np.testing.assert_allclose(ek.decompose(ds.dataset(tmp_path / "t"), k=2).values, WANTED, rtol=1e-12)
    partitioned = ek.open_data(ds.dataset(tmp_path / "t", partitioning="hive"))
    assert (partitioned.shape, set(partitioned.metadata.labels["year"])) == ((60, 4), {"2020", "2021", "2022"})


def test_stored_arrays_and_groups_by_key(tmp_path: Path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["m"] = X
        file["g/deep"] = X
        file["g/other"] = X[:, :2]
        for given, key in ((file["m"], None), (file, "m"), (file["g"], "deep")):
            np.testing.assert_allclose(ek.decompose(given, k=2, key=key).values, WANTED, rtol=1e-12)
        with pytest.raises(EckartError, match="key="):
            ek.decompose(file["g"], k=2)
        left_open = file["m"]
    with pytest.raises(InputError, match="Keep its file open"):
        ek.decompose(left_open, k=2)
    for store in (zarr.storage.MemoryStore(), tmp_path / "x.zarr"):
        group = zarr.open_group(store, mode="w")
        group.create_array("m", shape=X.shape, dtype=float, chunks=(20, 4))[:] = X
        for given in (group["m"], group):
            np.testing.assert_allclose(ek.decompose(given, k=2).values, WANTED, rtol=1e-12)
        np.testing.assert_allclose(ek.decompose(group["m"], k=2, stream=True).values, WANTED, rtol=1e-12)


def test_reading_options_are_arguments(tmp_path: Path):
    text = "n;u;v;w\n" + "".join(f"r{i};{i},5;{i * i % 11};{i % 3}\n" for i in range(9))
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("utf-16"))
    d = ek.decompose(path, k=1, delimiter=";", decimal=",", encoding="utf-16", columns=["w", "u"])
    assert d.column_names == ("w", "u")
    assert ek.plan(path, k=1, decimal=",", encoding="utf-16", columns=[0]).columns == 1
    np.savez(tmp_path / "x.npz", first=X, second=X[:, :2])
    with pytest.raises(EckartError, match=r"open_data\(X, key="):
        ek.PCA(1).fit(tmp_path / "x.npz")
    assert ek.PCA(1).fit(ek.open_data(tmp_path / "x.npz", key="second")).n_features_in_ == 2
    assert ek.decompose(tmp_path / "x.npz", "cur", k=1, key="second").columns == 2
    with pytest.raises(ParameterError, match=r"did you mean 'u'|has no numeric column 'uu'"):
        ek.decompose(path, k=1, encoding="utf-16", columns=["uu"])
    with pytest.raises(ParameterError, match="takes a list"):
        ek.decompose(path, k=1, columns="u")


def test_a_stream_beyond_memory_is_kept_on_disk_and_gives_the_same_bits(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path))
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.normal(size=30_000) * (j + 1) for j in range(8)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=3000)
    source = ek.open_data(table.to_reader(1000), memory="4MB")
    assert source.shape == (30_000, 8)
    assert list(tmp_path.glob("eckart-*/rows.npy"))
    d = ek.decompose(source, k=3, memory="4MB")
    wanted = ek.decompose(tmp_path / "x.parquet", k=3, memory="4MB", stream=True)
    np.testing.assert_allclose(d.values, wanted.values, rtol=1e-14)
    assert "temporary file" in " ".join(source.metadata.parsing_notes)
    del source, d
    assert not list(tmp_path.glob("eckart-*/rows.npy"))
    broken = pa.RecordBatchReader.from_batches(table.schema, _breaking(table))
    with pytest.raises(InputError, match=r"after 30,000 rows: .*the server went away"):
        ek.open_data(broken, memory="4MB")
    assert not list(tmp_path.glob("eckart-*/rows.npy"))


def _breaking(table):
    yield from table.to_batches(1000)
    raise OSError("the server went away")


def test_cursors(tmp_path: Path):
    connection = sqlite3.connect(tmp_path / "x.sqlite")
    FRAME.to_sql("s", connection, index=False)
    connection.execute("create table whole as select null as gap, 1 as x, 'u' as t from s limit 0")
    connection.executemany("insert into whole values (?, ?, ?)", [(None, 1, "u"), (2.5, 3.25, "v"), (7, 2, "w")])
    connection.commit()
    np.testing.assert_allclose(ek.decompose(connection.execute("select * from s"), k=2).values, WANTED, rtol=1e-12)
    source = ek.open_data(connection.execute("select * from whole"))
    np.testing.assert_array_equal(source.matrix, [[np.nan, 1], [2.5, 3.25], [7, 2]])
    assert source.metadata.row_names == ("u", "v", "w")
    with pytest.raises(InputError, match="no rows"):
        ek.open_data(connection.execute("select * from s where a > 1e9"))
    with pytest.raises(InputError, match="no result"):
        ek.open_data(connection.cursor())
    connection.close()


def test_a_class_is_not_a_table():
    pandas = pytest.importorskip("pandas")
    for given in (pandas.DataFrame, dict):
        with pytest.raises(InputError, match=r"is a class, not a table\. Pass an instance"):
            ek.decompose(given, k=1)


def test_the_home_folder_is_meant_by_a_tilde(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    np.testing.assert_allclose(ek.open_data("~/a.csv").matrix, X)
    assert ek.open_data(["~/a.csv", "~/a.csv"]).shape == (120, 4)


@pytest.mark.parametrize("open_it", [ek.open_data, ek.decompose, lambda X: ek.PCA(2).fit(X)])
def test_pairs_and_mappings_of_mappings_are_refused_by_what_they_are(open_it):
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(InputError, match=r"a tuple of 2 arrays with the shapes \(20, 4\) and \(20,\). Pass only the"):
        open_it((X, X[:, 0]))
    with pytest.raises(InputError, match=r"a mapping for each name"):
        open_it({"a": {0: 1.0, 1: 2.0}, "b": {0: 3.0, 1: 5.0}})


def test_parts_of_anndata_objects_lead_to_the_object() -> None:
    raw = type("Raw", (), {"__module__": "anndata._core.raw"})()
    with pytest.raises(
        InputError, match=r"type anndata.Raw is not a table.* For its raw counts, pass raw.to_adata\(\)"
    ):
        ek.open_data(raw)


def test_a_file_without_a_suffix_says_so(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"has no suffix, but Eckart reads only .*format=\.\.\."):
        ek.open_data(path)


@pytest.mark.parametrize("kind", ["named tuples", "database rows"])
def test_rows_with_names_name_the_columns(kind: str) -> None:
    table = np.random.default_rng(0).normal(size=(12, 3))
    if kind == "named tuples":
        row_of = collections.namedtuple("Row", ["a", "b", "c"])
        rows = [row_of(*row) for row in table.tolist()]
    else:
        shop = sqlite3.connect(":memory:")
        shop.row_factory = sqlite3.Row
        shop.execute("create table t (a, b, c)")
        shop.executemany("insert into t values (?, ?, ?)", table.tolist())
        rows = shop.execute("select * from t").fetchall()
        twice = shop.execute("select a, b as a from t").fetchall()
        assert ek.decompose(twice, k=1).columns == 2
        shop.close()
    right = ek.decompose(table, k=2)
    d = ek.decompose(rows, k=2)
    assert d.column_names == ("a", "b", "c")
    np.testing.assert_allclose(d.values, right.values)
    pca = ek.PCA(2).fit(rows)
    assert pca.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(pca.transform(rows), ek.project(right, table))
    with pytest.raises(InputError, match=r"Row 1 is of type .* with 3 values, but row 13 is of type list"):
        ek.decompose([*rows, [1.0, 2.0]], k=1)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors_are_refused(layout):
    torch = pytest.importorskip("torch")
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=getattr(torch, layout))
    for use in (ek.decompose, ek.PCA().fit):
        with pytest.raises(InputError, match="The tensor is nested: its rows differ in length"):
            use(nested)


def test_objects_that_lead_to_a_table_are_refused_with_the_way_to_it():
    with pytest.raises(InputError, match=r"If they are parts of one table, pass iter\(data\) or stack them"):
        ek.decompose([X[:20], X[20:50]])
    np.testing.assert_allclose(ek.decompose(iter([X[:20], X[20:]]), k=2).values, WANTED)
    with pytest.raises(InputError, match="Pass only the table"):
        ek.decompose([X, X[:, 0]])
    with pytest.raises(FileError, match="Pass the path without 'file://'"):
        ek.decompose("file:///tmp/table.csv")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: pd.DataFrame({"e": list(X)})])
def test_columns_of_lists_are_refused_with_code_that_works(make):
    frame = make({"e": X.tolist()})
    with pytest.raises(InputError, match=r"pass numpy\.array\(frame\['e'\]\.to_list\(\)\)"):
        ek.decompose(frame)
    np.testing.assert_allclose(ek.decompose(np.array(frame["e"].to_list()), k=2).values, WANTED)


def test_numbers_stored_as_text_are_named_even_if_no_column_has_numbers():
    with pytest.raises(InputError, match="The column 'a' contains numbers that are stored as text"):
        ek.decompose(FRAME.astype(str))
