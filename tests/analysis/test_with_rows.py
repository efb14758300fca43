"""with_rows: models with the coordinates of the rows they were fitted on."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import pytest

import eckart as ek


def sample(rows: int = 80) -> np.ndarray:
    random = np.random.default_rng(1)
    return random.normal(size=(rows, 2)) @ random.normal(size=(2, 5)) + 0.3 * random.normal(size=(rows, 5))


@pytest.mark.parametrize("missing", ["em", "mean"])
def test_an_imputed_model_has_the_limits_of_its_decomposition(missing: Literal["em", "mean"]) -> None:
    data = sample()
    data[np.random.default_rng(2).random(data.shape) < 0.1] = np.nan
    fitted = ek.with_rows(ek.PCA(2, missing=missing).fit(data), data)
    whole = ek.decompose(data, k=2, missing=missing, left=True)
    limits = [[row[2] for row in ek.tables.outlier_limits(d).rows] for d in (fitted, whole)]
    np.testing.assert_allclose(*limits, rtol=1e-3)
    distances = [[row[1:5] for row in ek.tables.outliers(d).rows] for d in (fitted, whole)]
    np.testing.assert_allclose(*(np.array(found, dtype=float) for found in distances), rtol=1e-3, atol=1e-3)


def test_rows_without_their_weights_are_noticed() -> None:
    """Weights with a mean of 1 sum to the number of rows, so the sum does not show them."""
    data = sample()
    weights = np.linspace(0.5, 1.5, len(data))
    model = ek.PCA(2).fit(data, sample_weight=weights)
    assert model.decomposition_.weight == pytest.approx(len(data))
    with pytest.warns(ek.errors.DataWarning, match="fitted with row weights"):
        ek.with_rows(model, data)
    with pytest.warns(ek.errors.DataWarning, match="not the fitted ones"):
        ek.with_rows(ek.PCA(2).fit(data), data[::-1] * 1.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ek.with_rows(ek.PCA(2).fit(data.astype(np.float32)), data.astype(np.float32))
        ek.with_rows(ek.PCA().fit(data[:4]), data[:4])
