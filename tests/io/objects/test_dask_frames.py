"""Dask data frames have the same matrix, names, labels and notes as the pandas frames they are made from."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import ClusterError, InputError, MissingValuesError

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

_RNG = np.random.default_rng(5)
_TABLE = pd.DataFrame(
    {
        "city": [f"city {row}" for row in range(20)],
        "height": _RNG.standard_normal(20),
        "count": _RNG.integers(0, 9, 20),
        "urban": _RNG.random(20) > 0.5,
        "coast": pd.array([True, False] * 10, dtype="boolean"),
        "visits": pd.array(range(20), dtype="Int64"),
        "group": ["north", "south"] * 10,
        "kind": pd.Categorical(["u", "v"] * 10),
        "day": pd.date_range("2020-01-01", periods=20),
    }
)


def frame(table: Any, parts: int = 3) -> Any:
    return dd.from_pandas(table, npartitions=parts, sort=False)


@pytest.mark.parametrize(
    "table",
    [
        _TABLE,
        _TABLE[["height", "urban"]],
        _TABLE[["visits", "coast"]],
        _TABLE[["height", "count"]],
        _TABLE[["height", "group"]],
        _TABLE.set_index("city"),
        _TABLE.set_index("city")[["height", "count"]],
        _TABLE[["height", "visits"]].astype("float32"),
        _TABLE[["height", "count", "visits"]].astype(float).set_axis(["x", "x", "y"], axis=1),
    ],
    ids=["all", "truth", "nullable", "numbers", "label", "index", "index of numbers", "float32", "repeated names"],
)
def test_dask_frames_are_read_like_pandas_frames(table: Any) -> None:
    given, expected = ek.open_data(frame(table)), ek.open_data(table)
    np.testing.assert_array_equal(given.read(0, 20), expected.matrix)
    assert given.dtype == expected.matrix.dtype
    for name in ("row_names", "column_names", "labels", "column_roles"):
        assert getattr(given.metadata, name) == getattr(expected.metadata, name)
    assert given.metadata.all_notes == expected.metadata.all_notes
    found, same = ek.decompose(frame(table), k=1), ek.decompose(table, k=1)
    np.testing.assert_allclose(found.values, same.values, rtol=1e-5 if given.dtype == np.float32 else 1e-12)
    assert found.row_names == same.row_names


@pytest.mark.parametrize("row_names", [None, "group", "city", "count", "other"])
def test_row_names_are_chosen_as_in_pandas_frames(row_names: str | None) -> None:
    if row_names == "other":
        messages = []
        for table in (_TABLE, frame(_TABLE)):
            with pytest.raises(ek.errors.ParameterError, match="no column 'other'") as caught:
                ek.open_data(table, row_names=row_names)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
        return
    given, expected = (ek.open_data(table, row_names=row_names).metadata for table in (frame(_TABLE), _TABLE))
    assert (given.row_names, given.labels) == (expected.row_names, expected.labels)


def test_rounded_integers_are_noted() -> None:
    table = pd.DataFrame({"id": 2**60 + np.arange(20), "height": _TABLE["height"]})
    given, expected = ek.open_data(frame(table)), ek.open_data(table)
    given.read(0, 20)
    assert [note.code for note in given.metadata.all_notes] == ["rounded_integers"]
    assert given.metadata.all_notes[0] in expected.metadata.all_notes


def test_missing_values_of_nullable_columns_are_missing() -> None:
    table = _TABLE[["height"]].assign(visits=pd.array([1, None] * 10, dtype="Int64"))
    with pytest.raises(MissingValuesError):
        ek.decompose(frame(table), k=1)


@pytest.mark.parametrize(
    "table",
    [
        _TABLE[["city", "group"]],
        _TABLE.assign(number=[str(row % 3) for row in range(20)])[["height", "number", "city"]],
        _TABLE[["height"]].iloc[:0],
        _TABLE[["height"]].assign(z=1j),
    ],
    ids=["no numbers", "numbers as text", "no rows", "complex"],
)
def test_dask_frames_are_refused_like_pandas_frames(table: Any) -> None:
    messages = []
    for given in (table, frame(table, 1)):
        with pytest.raises(InputError) as caught:
            ek.open_data(given)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_estimators_refuse_text_columns_of_both() -> None:
    table = _TABLE[["height", "count", "group"]]
    messages = []
    for given in (table, frame(table)):
        with pytest.raises(InputError, match="These columns are not numeric: 'group'") as caught:
            ek.PCA(1).fit(given)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    fitted = ek.PCA(1).fit(frame(table[["height", "count"]]))
    assert list(fitted.feature_names_in_) == ["height", "count"]


_OBJECTS = pd.DataFrame(
    {
        "height": _RNG.standard_normal(250),
        "price": [Decimal(row) / 3 for row in range(250)],
        "share": [Fraction(row, 7) for row in range(250)],
        "count": np.array([1, None, 3, 4, 5] * 50, object),
        "large": np.array([2**70, 1] * 125, object),
        "name": np.array([f"row {row}" for row in range(250)], object),
        "mixed": np.array([1, 2, 3, 4, 5] * 40 + [1, "a", 2, 3, 4] * 10, object),
        "thing": [object()] * 250,
    }
)


@pytest.mark.parametrize("columns", [["height", "price"], ["name", "count", "share"], ["large"], ["price", "name"]])
def test_numbers_in_columns_of_python_objects_are_read_as_in_pandas_frames(columns: list[str]) -> None:
    with dask.config.set({"dataframe.convert-string": False}):
        given, expected = ek.open_data(frame(_OBJECTS[columns])), ek.open_data(_OBJECTS[columns])
        np.testing.assert_array_equal(given.read(0, 250), expected.matrix)
    for name in ("row_names", "column_names", "labels", "column_roles"):
        assert getattr(given.metadata, name) == getattr(expected.metadata, name)


@pytest.mark.parametrize(("column", "words"), [("mixed", "row 202 contains 'a'"), ("thing", "of type object")])
def test_objects_that_are_not_numbers_are_refused_as_in_pandas_frames(column: str, words: str) -> None:
    messages = []
    with dask.config.set({"dataframe.convert-string": False}):
        for table in (_OBJECTS[["height", column]], frame(_OBJECTS[["height", column]])):
            with pytest.raises(InputError, match=words) as caught:
                ek.decompose(table, k=1)
            messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_partition_that_fails_is_a_cluster_error() -> None:
    def failing(part: Any) -> Any:
        raise OSError("gone")

    table = frame(_TABLE[["height", "count"]])
    with pytest.raises(ClusterError, match="gone"):
        ek.decompose(table.map_partitions(failing, meta=table._meta), k=1)
