"""Data frames of every library as sources."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import eckart as ek
from eckart.engine.blocks.source import MemorySource
from eckart.errors import InputError, ParameterError
from eckart.io.frames import frame_source

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

COLUMNS: dict[str, Any] = {
    "who": ["r1", "r2", "r3"],
    "x": [1.0, None, 3.0],
    "n": [1, 2, None],
    "yes": [True, False, True],
}


def taken(frame: Any) -> Any:
    source = frame_source(frame)
    assert isinstance(source, MemorySource)
    return source


def nullable() -> Any:
    return pd.DataFrame(
        {
            "who": COLUMNS["who"],
            "x": pd.array(COLUMNS["x"], dtype="Float64"),
            "n": pd.array(COLUMNS["n"], dtype="Int64"),
            "yes": pd.array(COLUMNS["yes"], dtype="boolean"),
        }
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(COLUMNS),
        nullable,
        lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        lambda: pl.DataFrame(COLUMNS),
        lambda: pa.table(COLUMNS),
        lambda: pa.table(COLUMNS).to_batches()[0],
    ],
    ids=["pandas", "nullable", "pandas-arrow", "polars", "arrow", "batch"],
)
def test_same_answer_from_every_library(make: Any) -> None:
    source = taken(make())
    np.testing.assert_array_equal(source.matrix, [[1, 1, 1], [np.nan, 2, 0], [3, np.nan, 1]])
    assert source.dtype == np.float64
    assert source.metadata.row_names == ("r1", "r2", "r3")
    assert source.metadata.column_names == ("x", "n", "yes")
    notes = " ".join(source.metadata.notes)
    assert "2 of 9 values are missing" in notes
    assert "'yes' contains true and false, which are read as 1 and 0" in notes


@pytest.mark.parametrize(
    "thing", [np.eye(2), [[1, 2]], "a.csv", sparse.eye_array(2), None, pl.Series([1, 2]), pd.Series([1])]
)
def test_what_is_no_frame(thing: Any) -> None:
    assert frame_source(thing) is None


def test_dtypes_are_kept() -> None:
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    for frame in (pd.DataFrame(values), pl.DataFrame(values), pa.table({"a": values[:, 0], "b": values[:, 1]})):
        assert taken(frame).dtype == np.float32
    mixed = pl.DataFrame({"a": pl.Series([1.0], dtype=pl.Float32), "b": [1]})
    assert taken(mixed).dtype == np.float64
    assert taken(pd.DataFrame({"a": np.array([1], np.float16)})).dtype == np.float64


def test_pandas_memory_is_shared() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((5, 3)))
    assert np.shares_memory(taken(frame).matrix, frame.to_numpy())


def test_pandas_names() -> None:
    frame = pd.DataFrame([[1.0, 2, 3], [4, 5, 6]], columns=["a", "a", 3], index=["u", "v"])
    source = taken(frame)
    assert source.metadata.column_names == ("a", "a.2", "3")
    assert source.metadata.row_names == ("u", "v")
    assert source.matrix.tolist() == [[1, 2, 3], [4, 5, 6]]
    levels = pd.DataFrame([[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert taken(levels).metadata.column_names == ("a 1", "a 2")


def test_pandas_sparse() -> None:
    matrix = sparse.random_array((6, 4), density=0.3, rng=np.random.default_rng(0))
    # Not from_spmatrix, which fills with NaN in pandas 3.0.
    frame = pd.DataFrame(matrix.toarray(), columns=list("abcd")).astype(pd.SparseDtype(float, 0.0))
    source = taken(frame)
    assert isinstance(source.matrix, sparse.csr_array)
    np.testing.assert_array_equal(source.matrix.toarray(), matrix.toarray())
    assert source.metadata.column_names == ("a", "b", "c", "d")
    with pytest.raises(InputError, match="fill value other than 0"):
        frame_source(pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 1.0], fill_value=1.0)}))


def test_categories_are_set_aside() -> None:
    for frame in (
        pd.DataFrame({"kind": pd.Categorical(["u", None, "u"]), "x": [1.0, 2, 3]}),
        pl.DataFrame({"kind": pl.Series(["u", None, "u"], dtype=pl.Categorical), "x": [1.0, 2, 3]}),
    ):
        source = taken(frame)
        assert source.metadata.labels == {"kind": ("u", "", "u")}
        assert source.metadata.row_names is None


def test_objects() -> None:
    """Case 53: objects that are numbers are numbers; text among them is named by column and row."""
    frame = pd.DataFrame({"a": np.array([1, 2.5, None], object), "b": [1, 2, 3]})
    assert taken(frame).matrix[:2, 0].tolist() == [1, 2.5]
    with pytest.raises(InputError, match=r"column 'a' mixes numbers and text: row 2 contains 'x'"):
        frame_source(pd.DataFrame({"a": np.array([1, "x", 3], object)}))
    with pytest.raises(InputError, match=r"column 'a', row 1: a value of type dict is not a number"):
        frame_source(pd.DataFrame({"a": np.array([{}, 1], object)}))


@pytest.mark.parametrize(
    "when",
    [
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        pd.to_timedelta([3, 4], unit="s"),
        pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
        [dt.date(2020, 1, 1), None],
        [dt.time(1), dt.time(2)],
        pd.period_range("2020", periods=2, freq="M"),
    ],
    ids=["date", "span", "day", "objects", "times", "periods"],
)
def test_dates_and_spans_label_rows_and_are_never_numbers(when: Any) -> None:
    frame = (pl if isinstance(when, pl.Series) else pd).DataFrame({"x": [1.0, 3.0], "when": when})
    source = frame_source(frame)
    assert source is not None
    assert source.metadata.column_names == ("x",)
    assert list(source.metadata.labels) == ["when"]
    with pytest.raises(InputError, match="not numeric: 'when'"):
        ek.PCA(1).fit(frame)


@pytest.mark.parametrize(
    "index",
    [pd.date_range("2020", periods=3), pd.period_range("2020Q1", periods=3, freq="Q")],
    ids=["days", "quarters"],
)
def test_dates_in_the_index_are_labels(index: Any) -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 4], "y": [1.0, 3, 2]}, index=index)
    source = taken(frame)
    assert source.metadata.labels == {"index": tuple(map(str, index))}
    assert source.metadata.row_names is None
    assert list(taken(frame.rename_axis("day")).metadata.labels) == ["day"]
    assert ek.PCA(1).fit(frame).n_features_in_ == 2


def test_unique_identifiers_name_rows() -> None:
    codes = [uuid.UUID(int=i) for i in range(3)]
    assert taken(pd.DataFrame({"x": [1.0, 2, 4], "who": codes})).metadata.row_names == tuple(map(str, codes))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1.0, 2], "when": ["1", "2"], "t": ["a", "a"]})[["x", "t", "when"]].assign(when=["1", "1"]),
        pd.DataFrame({"x": [1.0], "when": [1j]}),
    ],
    ids=["digits", "complex"],
)
def test_refused_by_name(frame: Any) -> None:
    """Case 54: digits as text are never taken for numbers."""
    with pytest.raises(InputError, match="'when'"):
        frame_source(frame)


def test_empty_frames() -> None:
    with pytest.raises(InputError, match="no rows"):
        frame_source(pd.DataFrame({"a": []}))
    with pytest.raises(InputError, match="no numeric column"):
        frame_source(pl.DataFrame({"a": ["u"]}))


def test_other_columns_are_left_out_by_name() -> None:
    source = taken(pl.DataFrame({"l": [[1], [2]], "x": [1.0, 2.0]}))
    assert source.metadata.column_names == ("x",)
    assert any("l (List" in note for note in source.metadata.notes)


def test_whole_column_missing_and_large_integers() -> None:
    source = taken(pl.DataFrame({"gone": [None, None], "x": [2**53 + 1, 1]}))
    assert np.isnan(source.matrix[:, 0]).all()
    notes = " ".join(source.metadata.notes)
    assert "These columns contain no values: 'gone'" in notes
    assert "2**53" in notes


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("index", "names"),
    [
        ([7, 3, 5], ("7", "3", "5")),
        (pd.RangeIndex(1, 4), ("1", "2", "3")),
        (pd.Index([2, 0, 1], name="user"), ("2", "0", "1")),
        (pd.RangeIndex(3, name="user"), None),
        ([0, 1, 2], None),
        ([4, 4, 5], None),
        ([0.5, 1.5, 2.5], None),
    ],
    ids=str,
)
def test_whole_numbers_in_the_index_name_the_rows(index, names, sparse):
    frame = pd.DataFrame({"x": [1.0, 0, 4], "y": [1.0, 3, 2]}, index=index)
    frame = frame.astype(pd.SparseDtype(float, 0)) if sparse else frame
    assert ek.open_data(frame).metadata.row_names == names


def test_text_names_the_rows_before_an_index_without_a_name():
    frame = pd.DataFrame({"city": ["Rome", "Oslo"], "x": [1.0, 4], "y": [3.0, 2]}, index=[7, 3])
    assert ek.open_data(frame).metadata.row_names == ("Rome", "Oslo")
    found = ek.open_data(frame.rename_axis("user")).metadata
    assert found.row_names == ("7", "3")
    assert found.labels["city"] == ("Rome", "Oslo")
    assert ek.open_data(frame, row_names="city").metadata.row_names == ("Rome", "Oslo")
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(frame.rename_axis("user")[["x", "y"]], npartitions=2, sort=False)
    assert ek.open_data(lazy).metadata.row_names == ("7", "3")


def test_columns_named_by_whole_numbers_are_chosen_by_name():
    frame = pd.DataFrame([[1.0, 2, 3], [4, 5, 7]], columns=[1, 2, 3])
    assert ek.open_data(frame, columns=[1, 3]).metadata.column_names == ("1", "3")
    with pytest.raises(
        ParameterError, match=r"There is no column 0. The names of the columns are whole numbers: 1, 2, 3"
    ):
        ek.open_data(frame, columns=[0])
    mixed = frame.set_axis(["a", "b", "0"], axis=1)
    assert ek.open_data(mixed, columns=[1]).metadata.column_names == ("b",)
    with pytest.raises(ParameterError, match="0 is the name of a column and the index of 'a'"):
        ek.open_data(mixed, columns=[0])


def test_tables_with_views_of_strings_are_read():
    """PyArrow 19 cannot tell how many bytes these take."""
    table = pa.table({"a": [1.0, 2.0, 3.0], "name": pa.array(["x", "y", "z"], pa.string_view())})
    source = ek.open_data(table)
    assert source.metadata.row_names == ("x", "y", "z")
    np.testing.assert_array_equal(source.matrix, [[1.0], [2.0], [3.0]])


def test_a_type_that_the_library_of_a_frame_rejects_is_an_input_error() -> None:
    """Decimals with a negative scale, and arrays of two dimensions: other libraries raise ValueError."""
    hundreds = pa.array([decimal.Decimal(100 * i) for i in (1, 2, 3)], pa.decimal128(10, -2))
    square = pl.Series([[[1.0, 2.0], [3.0, 4.0]]] * 3, dtype=pl.Array(pl.Float64, (2, 2)))
    ids = pl.from_arrow(pa.table({"y": pa.FixedShapeTensorArray.from_numpy_ndarray(square.to_numpy())}))
    for frame in (pa.table({"x": [1.0, 2.0, 3.0], "y": hundreds}), pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": ids["y"]})):
        with pytest.raises(InputError, match=r"The data frame cannot be read \(.*leave out columns of other types"):
            ek.decompose(frame, "svd", k=1)
