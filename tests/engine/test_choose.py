"""Block Lanczos on trial: kept on decaying spectra, given up on flat ones."""

import numpy as np
import pytest

import eckart as ek
from eckart.engine.choose import Trial


def decaying(rng, size):
    strong = rng.standard_normal((size, 40)) * np.arange(1, 41) ** -0.7
    return strong @ rng.standard_normal((40, size)) + 0.1 * rng.standard_normal((size, size))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_choice_is_revoked_on_flat_spectra(dtype):
    rng = np.random.default_rng(11)
    for X, solver in ((decaying(rng, 900), "lanczos"), (rng.standard_normal((900, 900)), "gram")):
        d = ek.decompose(X.astype(dtype), "pca", k=8)
        assert d.plan.solver == "lanczos"
        assert d.info.solver == solver
        assert d.certificate.proved
        right = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:8]
        np.testing.assert_allclose(np.asarray(d.values, np.float64), right, rtol=1e-5 if dtype == "f4" else 1e-9)


def test_worth():
    trial = Trial(product=0.01, width=20, size=1000, capacity=400, alternative=0.1)
    assert trial.worth(4, 2.0)
    assert not trial.worth(4, 40.0)
