"""Generators of batches: missing values, and batches that are not tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
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
