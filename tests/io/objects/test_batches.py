"""Generators of batches: missing values, and batches that are not tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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
