"""The first components of a decomposition: equal to a decomposition with fewer, with bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.engine.leading import leading
from eckart.errors import ParameterError


@pytest.mark.parametrize("method", ["pca", "svd"])
@pytest.mark.parametrize("shape", [(40, 7), (9, 30)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bounds_contain_the_values_of_lapack(method: str, shape: tuple[int, int], dtype: type) -> None:
    table = (np.random.default_rng(sum(shape)).standard_normal(shape) * np.linspace(3, 1, shape[1])).astype(dtype)
    exact = table.astype(np.float64)
    exact = exact - exact.mean(axis=0) if method == "pca" else exact
    u, s, vt = np.linalg.svd(exact, full_matrices=False)
    whole = ek.decompose(table, method, k=6, left=True)
    for k in (1, 3, 5):
        d = leading(whole, k)
        assert d.k == k
        assert d.certificate is not None
        share = float((s[:k] ** 2).sum() / (s**2).sum())
        low, high = d.certificate.explained
        vectors = np.asarray(d.right, np.float64)
        captured = float((np.linalg.norm(exact @ np.linalg.qr(vectors)[0]) ** 2) / (s**2).sum())
        assert low <= captured + 1e-15
        assert captured - low < 1e-5
        assert share <= high
        sine = np.linalg.norm(vectors - vt[:k].T @ (vt[:k] @ vectors), 2)
        assert sine <= d.certificate.angle
        assert (d.certificate.lower <= s[:k]).all()
        assert (s[:k] <= d.certificate.upper).all()
        assert d.left is not None
        np.testing.assert_allclose(np.abs(np.sum(np.asarray(d.left) * u[:, :k], axis=0)), 1.0, atol=1e-4)


def test_no_gap_means_no_bound_on_the_angle() -> None:
    table = np.vstack([np.eye(4), -np.eye(4)])
    assert leading(ek.decompose(table, "svd", k=4), 2).certificate.angle == 1.0  # type: ignore[union-attr]


def test_more_than_there_are_and_smallest() -> None:
    d = ek.decompose(np.random.default_rng(0).standard_normal((9, 4)), k=2)
    assert leading(d, 5) is d
    with pytest.raises(ParameterError, match="smallest"):
        leading(ek.decompose(np.eye(5) + 1.0, "svd", k=2, which="smallest"), 1)


def test_no_components_explain_nothing() -> None:
    d = leading(ek.decompose(np.random.default_rng(0).standard_normal((9, 4)), k=2), 0)
    assert d.k == 0
    assert d.certificate is not None
    assert d.certificate.explained == (0.0, 0.0)
    assert leading(ek.decompose(np.eye(5) + 1.0, "svd", k=2, which="smallest"), 0).k == 0
