"""The format of a file, given or by its suffix."""

from __future__ import annotations

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import zarr
from pyarrow import feather, parquet

import eckart as ek
from eckart.errors import FileError, InputError, ParameterError

TABLE = np.random.default_rng(6).normal(size=(3000, 3)).round(3)


def _written(folder, kind):
    """TABLE in a format, under an unusual name."""
    path, columns = folder / "numbers.out", pa.table({"row": TABLE[:, 0], "column": TABLE[:, 1], "value": TABLE[:, 2]})
    if kind == "npy":
        with path.open("wb") as stream:
            np.save(stream, TABLE)
    elif kind == "parquet":
        parquet.write_table(columns, path, row_group_size=500)
    elif kind == "arrow":
        feather.write_feather(columns, path, chunksize=500)
    else:
        np.savetxt(path, TABLE, fmt="%.3f", delimiter="," if kind == "csv" else "\t", header="a b c", comments="# ")
    return path


@pytest.mark.parametrize("format", ["h5", "hdf5", "H5AD"])
def test_a_format_overrides_the_suffix_of_a_stored_file(format, tmp_path):
    table = np.random.default_rng(5).normal(size=(20, 3))
    with h5py.File(tmp_path / "numbers.out", "w") as file:
        file["X"] = table
    found = ek.decompose(ek.open_data(tmp_path / "numbers.out", format=format), "svd", k=2)
    np.testing.assert_allclose(found.values, np.linalg.svd(table, compute_uv=False)[:2], rtol=1e-12)


def test_a_file_is_no_zarr_store_whatever_its_format(tmp_path):
    (tmp_path / "numbers.out").write_bytes(b"1,2\n")
    with pytest.raises(FileError, match="a Zarr store is a folder"):
        ek.open_data(tmp_path / "numbers.out", format="zarr")


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path):
    (tmp_path / "numbers.out").write_bytes(b"1,2\n")
    with pytest.raises(ValueError, match=r"format='foo' is not a supported format\. Use one of .*h5ad.*zarr"):
        ek.open_data(tmp_path / "numbers.out", format="foo")


@pytest.mark.parametrize("kind", ["npy", "parquet", "arrow", "csv", "tsv"])
def test_a_file_of_a_given_format_is_read_in_blocks(kind, tmp_path):
    path = _written(tmp_path, kind)
    for options in ({"stream": True}, {"memory": 100_000}):
        rows = ek.open_data(path, format=kind, **options)
        np.testing.assert_array_equal(rows.read(10, 2500), TABLE[10:2500])
    d = ek.decompose(path, "svd", k=1, format=kind, memory=600_000, stream=True, checkpoint=tmp_path / "run")
    np.testing.assert_allclose(d.values, np.linalg.svd(TABLE, compute_uv=False)[:1], rtol=1e-12)


def test_row_and_column_numbers_are_read_as_a_table_in_blocks(tmp_path):
    columns = {"row": np.arange(3000), "column": np.arange(3000) % 7, "value": TABLE[:, 0]}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=500)
    rows = ek.open_data(tmp_path / "x.parquet", format="parquet", stream=True)
    np.testing.assert_array_equal(rows.read(0, 3000), np.column_stack(list(columns.values())))
    assert ek.open_data(tmp_path / "x.parquet", stream=True).shape == (3000, 7)


@pytest.mark.parametrize("stream", [False, True])
def test_a_format_applies_to_all_files_of_a_pattern(stream, tmp_path):
    for i in range(3):
        np.savetxt(tmp_path / f"part{i}.out", TABLE[1000 * i : 1000 * i + 1000], fmt="%.3f", delimiter=",")
    rows = ek.open_data(str(tmp_path / "part*.out"), format="csv", stream=stream)
    np.testing.assert_array_equal(rows.read(0, 3000), TABLE)


def _every_kind(folder):
    np.savetxt(folder / "x.csv", TABLE, delimiter=",", fmt="%.3f", header="a,b,c", comments="")
    np.save(folder / "x.npy", TABLE)
    np.savez(folder / "x.npz", x=TABLE)
    (folder / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 3\n")
    columns = pa.table({name: TABLE[:, j] for j, name in enumerate("abc")})
    parquet.write_table(columns, folder / "x.parquet")
    feather.write_feather(columns, folder / "x.feather")
    (folder / "parts").mkdir()
    parquet.write_table(columns, folder / "parts" / "x.parquet")
    with h5py.File(folder / "x.h5", "w") as file:
        file["X"] = TABLE
    zarr.create_array(folder / "x.zarr", data=TABLE)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {"key": "k"}) for name in ("x.csv", "x.npy", "x.mtx", "x.parquet", "x.feather", "parts", "*.csv")),
        *((name, {"layer": "k"}) for name in ("x.csv", "x.npy", "x.npz", "x.mtx", "x.parquet", "parts", "*.csv")),
        *((name, {"row_names": "k"}) for name in ("x.npy", "x.npz", "x.mtx", "x.h5", "x.zarr")),
    ],
    ids=str,
)
def test_options_that_select_what_a_format_does_not_contain_are_refused(name, options, stream, tmp_path):
    _every_kind(tmp_path)
    with pytest.raises(ParameterError, match=rf"^{next(iter(options))}='k' does not apply to '.*Leave it out\.$"):
        ek.open_data(str(tmp_path / name), stream=stream, **options)


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.npz", "x.mtx", "x.parquet", "x.feather", "parts", "*.csv"])
def test_a_mask_by_name_is_refused_where_there_are_no_genes(name, tmp_path):
    _every_kind(tmp_path)
    with pytest.raises(InputError, match="Only AnnData accepts a name"):
        ek.open_data(str(tmp_path / name), mask="k")


@pytest.mark.parametrize("options", [{"key": "k"}, {"layer": "k"}, {"mask": "k"}], ids=str)
def test_a_store_of_one_array_contains_no_other(options, tmp_path):
    zarr.create_array(tmp_path / "x.zarr", data=TABLE)
    with pytest.raises(ParameterError, match=r"x\.zarr has no (array or group '.*'. It contains no named|column 'k')"):
        ek.open_data(tmp_path / "x.zarr", **options)


@pytest.mark.parametrize("name", ["key", "layer", "delimiter", "encoding"])
def test_options_that_are_not_text_are_refused(name, tmp_path):
    np.save(tmp_path / "x.npy", TABLE)
    with pytest.raises(ParameterError, match=rf"{name}=5 is not valid: {name} must be a string"):
        ek.open_data(tmp_path / "x.npy", **{name: 5})


@pytest.mark.parametrize("header", ["no", 0, -1, 2.5])
def test_a_header_is_a_line_or_no_line(header, tmp_path):
    with pytest.raises(ParameterError, match=r"is not valid\. Use the line .* counted from 1, or header=False if no"):
        ek.open_data(tmp_path / "x.csv", header=header)


def test_a_format_that_is_not_text_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", TABLE)
    with pytest.raises(ParameterError, match="format=5 is not a supported format"):
        ek.open_data(tmp_path / "x.npy", format=5)


def test_columns_may_be_any_collection(tmp_path):
    _every_kind(tmp_path)
    for columns in (np.array([2, 0]), iter(("c", "a")), pd.Index(["c", "a"]), ("c", 0)):
        found = ek.open_data(tmp_path / "x.csv", columns=columns)
        assert found.metadata.column_names == ("c", "a")
