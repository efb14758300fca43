"""Proof phases where the last value lies in a cluster of equal values."""

import numpy as np
import pytest
from scipy import sparse
from scipy.fft import dct

import eckart as ek


def spikes(rows: int, columns: int) -> np.ndarray:
    """Twelve decaying values over an exactly flat rest: Q (I + V S V^T) with orthonormal columns Q, in float32."""
    rng = np.random.default_rng(1)
    flat = dct(np.eye(rows, columns), axis=0, norm="ortho") * rng.choice([-1.0, 1.0], (rows, 1))
    directions, _ = np.linalg.qr(rng.standard_normal((columns, 12)))
    strong = (flat @ directions) * (10.0 * 0.8 ** np.arange(12))
    return (flat + strong @ directions.T).astype(np.float32)


@pytest.mark.parametrize("method", ["svd", "pca"])
def test_a_flat_rest_is_proved_in_few_passes(method: str) -> None:
    """Centring leaves one smaller value, coupled to the rest of the table; it must not be frozen."""
    X = spikes(1600, 1000)
    d = ek.decompose(X, method, k=20)
    centred = X - X.mean(axis=0, dtype=np.float64) if method == "pca" else X.astype(np.float64)
    right = np.sqrt(np.linalg.eigvalsh(centred.T @ centred)[::-1][:20])
    assert d.info.solver == "lanczos"
    assert d.certificate.passes <= 12
    assert d.certificate.proved
    assert np.all(d.certificate.lower <= right * (1 + 1e-12))
    assert np.all(right * (1 - 1e-12) <= d.certificate.upper)


def test_a_trial_ends_when_rounding_hides_a_cluster() -> None:
    """More values of the cluster share the allowed error than float64 products can prove."""
    d = ek.decompose(spikes(3000, 1500), "pca", k=30)
    assert (d.plan.solver, d.info.solver) == ("lanczos", "gram")
    assert d.certificate.passes <= 14
    assert d.certificate.proved


@pytest.mark.parametrize(("method", "different"), [("svd", 1), ("svd", 2), ("svd", 4), ("pca", 1), ("pca", 2)])
def test_few_different_singular_values_take_few_passes(method: str, different: int) -> None:
    """A block of random columns spans an invariant subspace at once, and no further pass shows more."""
    numbers = np.random.default_rng(4).choice([1.0, 2.0, 3.0, 5.0][:different], 1200)
    for X in (np.diag(numbers), sparse.diags(numbers).tocsr()):
        d = ek.decompose(X, method, k=5, solver="lanczos")
        largest = float(numbers.max())
        assert d.certificate.proved
        assert d.certificate.passes <= 60
        assert np.all(d.certificate.lower <= largest * (1 + 1e-13))
        assert np.all(d.certificate.upper >= largest * (1 - 1e-13))
        np.testing.assert_allclose(d.values, largest, rtol=1e-7)
