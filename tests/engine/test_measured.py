"""Norms of rows and columns come with the left vectors, without another read, and weights of zero drop their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eckart as ek


def standardized(data: np.ndarray, weights: np.ndarray, *, center: bool, scale: bool) -> np.ndarray:
    """sqrt(w) (A - mean) / scale by its definition."""
    if center:
        data = data - weights @ data / weights.sum()
    if scale:
        data = data / np.sqrt(weights @ data**2 / (weights.sum() - 1))
    return np.sqrt(weights)[:, None] * data


@pytest.mark.parametrize("shape", [(30, 5), (900, 40), (40, 900)], ids=["small", "tall", "wide"])
@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("method", ["pca", "svd"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_norms_of_rows_and_columns(
    shape: Any, thin: bool, method: Any, scale: bool, weighted: bool, dtype: str
) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=shape) + (0 if thin else 5)
    data[random.random(shape) > (0.25 if thin else 2)] = 0
    data = data.astype(dtype)
    weights = random.integers(1, 4, shape[0]).astype(float) if weighted else np.ones(shape[0])
    expected = standardized(data.astype(float), weights, center=method == "pca", scale=scale)
    for solver in ("auto", "gram", "lanczos"):
        d = ek.decompose(
            sparse.csr_array(data) if thin else data, method, k=2, scale=scale, solver=solver, left=True,
            sample_weight=weights if weighted else None,
        )  # fmt: skip
        tolerance = {"rtol": 1e-9 if dtype == "float64" else 3e-5}
        np.testing.assert_allclose(d.details.row_norms, np.linalg.norm(expected, axis=1), **tolerance)
        np.testing.assert_allclose(d.details.column_norms, np.linalg.norm(expected, axis=0), **tolerance)
        assert (d.details.row_weights is not None) == weighted


def test_norms_take_no_read_and_are_made_only_when_asked_for() -> None:
    data = np.random.default_rng(0).normal(size=(900, 40))
    d = ek.decompose(data, k=2, solver="gram", left=True)
    assert d.info is not None
    assert d.info.passes == 2
    assert ek.decompose(data, k=2, solver="gram").details.row_norms is None


def test_norms_of_very_small_numbers() -> None:
    data = np.random.default_rng(0).normal(size=(900, 40))
    small, plain = (ek.decompose(data * size, "svd", k=2, solver="gram", left=True) for size in (2.0**-700, 1.0))
    np.testing.assert_allclose(small.details.row_norms * 2.0**700, plain.details.row_norms, rtol=1e-12)


def test_rows_without_weight_lose_their_names() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2, 4, 9], "b": [0.0, 1, 5, 7]}, index=list("wxyz"))
    d = ek.decompose(frame, k=1, sample_weight=[1, 0, 2, 1], left=True)
    assert d.row_names == ("w", "y", "z")
    np.testing.assert_array_equal(d.details.row_weights.round(12), [1, 2, 1])


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("method", ["pca", "svd"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_norms_of_rows_that_are_read_in_blocks(thin: bool, method: Any, weighted: bool, dtype: str) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(20_000, 10)) + (0 if thin else 5)
    data[random.random(data.shape) > (0.25 if thin else 2)] = 0
    data = data.astype(dtype)
    weights = random.integers(1, 4, 20_000).astype(float) if weighted else np.ones(20_000)
    d = ek.decompose(
        sparse.csr_array(data) if thin else data, method, k=2, scale=True, left=True, stream=True,
        sample_weight=weights if weighted else None, memory="1MB",
    )  # fmt: skip
    expected = standardized(data.astype(float), weights, center=method == "pca", scale=True)
    tolerance = {"rtol": 1e-9 if dtype == "float64" else 3e-5}
    np.testing.assert_allclose(d.details.row_norms, np.linalg.norm(expected, axis=1), **tolerance)
    scores = expected @ np.asarray(d.right, dtype=float)
    found = np.asarray(d.left, dtype=float) * np.asarray(d.values)
    np.testing.assert_allclose(found, scores, atol=1e-8 if dtype == "float64" else 1e-4)
