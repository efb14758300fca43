"""Long-side vectors: orthonormal where B v / s is nothing but rounding, and in the null space there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eckart as ek


@pytest.mark.parametrize("solver", ["direct", "gram"])
@pytest.mark.parametrize("rank", [1, 5, 25, 31])
def test_null_vectors_of_wide_tables(solver: str, rank: int) -> None:
    rng = np.random.default_rng(rank)
    table = rng.standard_normal((31, rank)) @ rng.standard_normal((rank, 64)) + 3.0
    d = ek.decompose(table, k=6, which="smallest", solver=solver, left=True)
    centred = table - table.mean(axis=0)
    largest = np.linalg.norm(centred, 2)
    for vectors in (d.right, d.left):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(centred @ d.right, axis=0), d.values, atol=1e-13 * largest)
    residuals = np.linalg.norm(centred.T @ (centred @ d.right) - d.right * d.values**2, axis=0) / largest**2
    assert (residuals <= d.certificate.residuals + 5e-15).all()
    # Those of zero values are measured; B v / s says nothing about them.
    assert (d.certificate.residuals[d.values <= 1e-7 * largest] < 1e-6).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("stream", [False, True])
def test_smallest_by_lanczos_are_orthonormal(seed: int, stream: bool) -> None:
    """Rounding in ||B||_F^2 - G is relative to ||B||_F^2, also for long vectors of moderate values."""
    rng = np.random.default_rng([20, seed])
    rows, columns = 24, 90
    u, v = (np.linalg.qr(rng.standard_normal((n, rows)))[0] for n in (rows, columns))
    values = np.geomspace(10.0, 1.0, rows)
    d = ek.decompose((u * values) @ v.T, "svd", k=6, which="smallest", solver="lanczos", stream=stream)
    np.testing.assert_allclose(d.values, values[::-1][:6], rtol=1e-11)
    np.testing.assert_allclose(d.right.T @ d.right, np.eye(6), rtol=0, atol=2e-14)


@pytest.mark.parametrize(("solver", "k"), [("gram", 1), ("direct", 2)])
@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize("library", ["numpy", "torch", "array_api_strict"])
def test_constant_vectors_are_orthonormal(solver: str, k: int, *, tall: bool, library: str) -> None:
    """The squares of equal numbers, added one after another, are all rounded in the same direction."""
    table = np.outer(np.random.default_rng(3).standard_normal(4), np.full(150_000, 0.1))
    data = pytest.importorskip(library).asarray(table.T.copy() if tall else table)
    d = ek.decompose(data, "svd", k=k, solver=solver, left=True)
    assert _departure(np.asarray(d.left if tall else d.right)) < 5e-15


@pytest.mark.parametrize("seed", range(4))
def test_long_vectors_of_moderate_values_are_orthonormal(seed: int) -> None:
    """Rounding in v_i^T B^T B v_j is divided by s_i s_j, also if no value is small."""
    table = (np.random.default_rng(seed).random((6, 6000)) < 0.3).astype(float)
    d = ek.decompose(sparse.csr_array(table), "svd", k=5, which="smallest", solver="lanczos")
    assert _departure(d.right) < 5e-15


def test_left_vectors_of_small_values_of_float32_data() -> None:
    """Rounding in B v is divided by s: in float32 it would be 1e-5 of the vector of the fifth value here."""
    table = (1.0 / (np.arange(103)[:, None] + np.arange(36) + 1)).astype(np.float32)
    d = ek.decompose(table, "kernel_pca", kernel="linear", k=5, solver="lanczos", left=True)
    centred = table.astype(np.float64) - table.mean(axis=0, dtype=np.float64)
    exact = np.linalg.svd(centred, full_matrices=False)[0][:, :5]
    assert float(np.linalg.norm(d.left - exact @ (exact.T @ d.left), 2)) <= d.certificate.angle


def _departure(vectors: np.ndarray) -> float:
    """The largest entry of V^T V - I."""
    long = vectors.astype(np.longdouble)
    return float(np.abs(long.T @ long - np.eye(long.shape[1])).max())
