"""Values that float32 products hide: the trial of block Lanczos ends before it proves what it cannot prove."""

import numpy as np

import eckart as ek


def test_a_trial_ends_when_float32_hides_the_last_values():
    """16 directions and noise; the last four of 20 values are noise, far below the rounding of float32 products."""
    rng = np.random.default_rng(3)
    loadings = rng.standard_normal((16, 1200)) * np.arange(1, 17)[:, None] ** -0.7
    X = rng.standard_normal((1200, 16)) @ loadings + 0.1 * rng.standard_normal((1200, 1200))
    X = X.astype(np.float32)
    d = ek.decompose(X, "pca", k=20)
    right = np.linalg.svd(X.astype(np.float64) - X.mean(axis=0, dtype=np.float64), compute_uv=False)[:20]
    assert (d.plan.solver, d.info.solver) == ("lanczos", "gram")
    assert d.certificate.passes <= 8  # four steps, and the Gram matrix
    assert d.certificate.proved
    assert np.all(d.certificate.lower <= right * (1 + 1e-12))
    assert np.all(right * (1 - 1e-12) <= d.certificate.upper)
    np.testing.assert_allclose(d.values, right, rtol=1e-6)
