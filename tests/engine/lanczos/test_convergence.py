"""Trials of block Lanczos that cannot pay end early."""

import numpy as np
import pytest

import eckart as ek


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("strong", [0, 3])
def test_a_trial_ends_when_the_last_value_lies_among_those_that_follow(dtype, strong):
    """Three slow drifts and noise: without its strong directions the spectrum is flat, which two steps show."""
    rng = np.random.default_rng(31)
    drift = np.cumsum(rng.standard_normal((1000, strong)), axis=0) / 1000**0.5
    X = drift @ rng.standard_normal((strong, 1000)) + 0.2 * rng.standard_normal((1000, 1000))
    X = X.astype(dtype)
    d = ek.decompose(X, "pca", k=10)
    right = np.linalg.svd(X.astype(np.float64) - X.mean(axis=0, dtype=np.float64), compute_uv=False)[:10]
    assert (d.plan.solver, d.info.solver) == ("lanczos", "gram")
    assert d.certificate.passes <= 5  # three steps or four, and the Gram matrix
    assert d.certificate.proved
    assert np.all(d.certificate.lower <= right * (1 + 1e-12))
    assert np.all(right * (1 - 1e-12) <= d.certificate.upper)


def test_a_trial_does_not_end_before_it_knows_k_directions():
    """Twelve groups: two blocks of eight say nothing about the tenth value, 28 times the mean of those that follow."""
    rng = np.random.default_rng(77)
    profiles = np.cumsum(rng.standard_normal((12, 1000)), axis=1) / 1000**0.5
    X = profiles[rng.integers(12, size=1000)] * rng.lognormal(0.0, 0.5, (1000, 1))
    X += rng.uniform(0.05, 0.3, 1000) * rng.standard_normal((1000, 1000))
    d = ek.decompose(X, "pca", k=10)
    assert (d.plan.solver, d.info.solver) == ("lanczos", "lanczos")
    assert d.certificate.proved
