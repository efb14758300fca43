"""Generators of batches with missing values: they can be read only once."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.errors import MissingValuesError

VALUES = np.random.default_rng(1).normal(size=(40, 4))


@pytest.mark.parametrize(
    "values", [np.where(VALUES < -1, np.nan, VALUES), np.ma.masked_less(VALUES, -1)], ids=["NaN", "masked"]
)
@pytest.mark.parametrize("rows", [1, 10])
def test_missing_values_are_reported(values: np.ndarray, rows: int) -> None:
    batches = (values[i] if rows == 1 else values[i : i + rows] for i in range(0, 40, rows))
    with pytest.raises(MissingValuesError, match="missing value"):
        ek.decompose(batches, "svd", k=1)
