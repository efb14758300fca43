"""Generators of batches: missing values, and batches that are not tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import InputError, MissingValuesError

VALUES = np.random.default_rng(1).normal(size=(40, 4))


@pytest.mark.parametrize(
    "values", [np.where(VALUES < -1, np.nan, VALUES), np.ma.masked_less(VALUES, -1)], ids=["NaN", "masked"]
)
@pytest.mark.parametrize("rows", [1, 10])
def test_missing_values_are_reported(values: np.ndarray, rows: int) -> None:
    batches = (values[i] if rows == 1 else values[i : i + rows] for i in range(0, 40, rows))
    with pytest.raises(MissingValuesError, match="missing value"):
        ek.decompose(batches, "svd", k=1)


def test_pairs_of_index_and_row_are_refused_by_their_types() -> None:
    with pytest.raises(InputError, match="A batch is a tuple with entries of type int and Series"):
        ek.decompose(pd.DataFrame(VALUES).iterrows(), "svd", k=1)


@pytest.mark.parametrize("kind", [list, iter])
@pytest.mark.parametrize("batch", [lambda frame: frame, lambda frame: frame.to_dict("list"), pa.table])
def test_columns_of_batches_are_matched_by_name(kind: Callable[..., Any], batch: Callable[..., Any]) -> None:
    frame = pd.DataFrame(VALUES, columns=list("abcd"))
    halves = [batch(frame[:20]), batch(frame[20:][list("dbca")])]
    if kind is list and isinstance(halves[0], dict):
        pytest.skip("a list of dicts is a list of rows")
    found = ek.decompose(kind(halves), "svd", k=4)
    np.testing.assert_allclose(found.values, np.linalg.svd(VALUES, compute_uv=False))
    assert found.column_names == tuple("abcd")
    with pytest.raises(InputError, match=r"after row 20, a batch does not have 'a', but the batches before it do"):
        ek.decompose(kind([batch(frame[:20]), batch(frame[20:].rename(columns={"a": "e"}))]), "svd", k=1)


@pytest.mark.parametrize("pieces", [1, 4])
def test_a_list_of_sparse_blocks_is_a_table(pieces):
    rows = np.random.default_rng(0).normal(size=(12, 4))
    blocks = [sparse.csr_array(rows[start : start + pieces]) for start in range(0, 12, pieces)]
    right = ek.decompose(rows, k=2)
    np.testing.assert_allclose(ek.decompose(blocks, k=2).values, right.values)
    np.testing.assert_allclose(ek.PCA(2).fit_transform(blocks), ek.project(right, rows))
    assert len(ek.report(blocks)) > 1000


def test_tensors_with_a_negative_bit_are_resolved():
    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(0).normal(size=(12, 4))
    lazy = torch._neg_view(torch.tensor(-rows))
    np.testing.assert_allclose(ek.decompose(lazy, k=2).values, ek.decompose(rows, k=2).values)
    np.testing.assert_allclose(ek.PCA(2).fit(lazy).singular_values_, ek.PCA(2).fit(rows).singular_values_)


def frames_with_labels() -> list[pd.DataFrame]:
    return [
        pd.DataFrame(
            {
                "name": [f"{start}", f"{start + 1}a"],
                "group": ["u", "v"],
                "day": pd.to_datetime(["2024-01-01", "2024-01-02"]),
                "x": VALUES[start : start + 2, 0],
                "y": VALUES[start : start + 2, 1],
            }
        )
        for start in range(0, 8, 2)
    ]


@pytest.mark.parametrize(
    "batches",
    [
        iter,
        lambda frames: frames,
        lambda frames: map(pl.from_pandas, frames),
        lambda frames: (row for frame in frames for row in frame.to_dict("records")),
    ],
    ids=["pandas", "list", "polars", "records"],
)
def test_text_and_dates_of_batches_name_and_label_the_rows(batches: Callable[..., Any]) -> None:
    frames = frames_with_labels()
    found, whole = ek.open_data(batches(frames)).metadata, ek.open_data(pd.concat(frames, ignore_index=True)).metadata
    assert found.row_names == whole.row_names
    assert found.labels["group"] == whole.labels["group"]
    assert list(found.labels) == list(whole.labels)
    assert sorted(found.notes) == sorted(whole.notes)
    assert ek.decompose(batches(frames), k=1, left=True).row_names == whole.row_names


def test_a_column_that_names_the_rows_of_each_batch_but_not_all_rows_is_a_label() -> None:
    frames = [frame[["group", "x", "y"]] for frame in frames_with_labels()]
    found = ek.open_data(iter(frames)).metadata
    assert found.row_names is None
    assert found.labels == {"group": ("u", "v") * 4}


@pytest.mark.parametrize("place", [0, 2])
def test_labels_that_some_batches_lack_are_named(place: int) -> None:
    frames = frames_with_labels()
    frames[place] = frames[place].drop(columns="group")
    found = ek.open_data(iter(frames)).metadata
    assert "group" not in found.labels
    assert any("in 'group' were dropped, because some batches do not have them" in note for note in found.notes)


def test_a_generator_of_single_numbers_is_refused() -> None:
    with pytest.raises(InputError, match=r"A batch is an array of shape \(\) and dtype float64"):
        ek.decompose((value for value in VALUES.ravel()), k=1)
