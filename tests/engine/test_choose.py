"""Block Lanczos on trial: kept on decaying spectra, given up on flat ones. Its memory."""

import numpy as np
import pytest
from scipy import sparse

import eckart as ek


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


@pytest.mark.parametrize("k", [2, 10])
def test_clusters_of_sparse_rows_do_not_end_the_trial(k):
    """Ten blocks with nearly equal leading values: residuals stagnate until all of them are found."""
    rng = np.random.default_rng(13)
    block = rng.integers(10, size=(2000, 1))
    columns = (100 * block + rng.integers(100, size=(2000, 4))).ravel()
    X = sparse.csr_array((np.ones(8000), (np.repeat(np.arange(2000), 4), columns)), shape=(2000, 1000))
    d = ek.decompose(X, "svd", k=k)
    assert d.info.solver == "lanczos"
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, np.linalg.svd(X.toarray(), compute_uv=False)[:k], rtol=1e-9)


@pytest.mark.parametrize("shape", [(1000, 400), (400, 1000)])
def test_few_components_of_small_sparse_rows_need_no_cross_products(shape):
    rng = np.random.default_rng(3)
    rate = rng.dirichlet(np.full(8, 0.1), shape[0]) @ rng.dirichlet(np.full(shape[1], 0.05), 8)
    X = sparse.csr_array(rng.poisson(40.0 * rate).astype(np.float64))
    d = ek.decompose(X, "svd", k=4)
    assert d.info.solver == "lanczos"
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, np.linalg.svd(X.toarray(), compute_uv=False)[:4], rtol=1e-9)


def test_sparse_noise_does_not_end_the_trial():
    """Narrow blocks reach the values of a flat spectrum for less than an eigenproblem of this size."""
    X = sparse.random_array((4000, 1200), density=0.01, rng=np.random.default_rng(14), format="csr")
    d = ek.decompose(X, "svd", k=10)
    assert d.info.solver == "lanczos"
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, np.linalg.svd(X.toarray(), compute_uv=False)[:10], rtol=1e-9)


def test_blocks_are_narrow_while_sparse_rows_stay_in_cache():
    """The time depends on the number of vectors, not of passes, and accuracy does not depend on the width."""
    rng = np.random.default_rng(15)
    X = sparse.random_array((3000, 1500), density=0.01, rng=rng, format="csr")
    for k, width in ((20, 4), (40, 8)):
        assert f"blocks of {width} vectors" in ek.plan(X, "svd", k=k, solver="lanczos").why
    large = sparse.random_array((60_000, 1500), density=0.01, rng=rng, format="csr")
    assert "blocks of 16 vectors" in ek.plan(large, "svd", k=20, solver="lanczos").why
    d = ek.decompose(X[:600, :300], "svd", k=20, solver="lanczos")
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, np.linalg.svd(X[:600, :300].toarray(), compute_uv=False)[:20], rtol=1e-9)


def test_values_below_float32_are_not_iterated_for():
    """Rounding in float32, relative to the largest value, hides the last: the trial ends when that is known."""
    rng = np.random.default_rng(12)
    X = 30.0 * rng.standard_normal((900, 2)) @ rng.standard_normal((2, 900)) + 0.1 * rng.standard_normal((900, 900))
    X = X.astype("f4")
    d = ek.decompose(X, "pca", k=8)
    assert d.plan.solver == "lanczos"
    assert d.info.solver == "gram"
    assert d.certificate.proved
    assert d.certificate.passes <= 10
    exact = X.astype("f8")
    right = np.linalg.svd(exact - exact.mean(axis=0), compute_uv=False)[:8]
    np.testing.assert_allclose(np.asarray(d.values, np.float64), right, rtol=1e-5)


def test_the_basis_is_made_to_fit_into_the_memory_allowed():
    """Less memory, a smaller basis, the same values; with too little the run is refused before it starts."""
    X = sparse.random_array((2500, 1200), density=0.02, rng=np.random.default_rng(3), format="csr")
    expected = np.linalg.svd(X.toarray(), compute_uv=False)[:3]
    bases = []
    for memory in (100_000_000, 14_000_000, 7_500_000):
        d = ek.decompose(X, "svd", k=3, solver="lanczos", memory=memory)
        assert d.plan.peak_bytes <= memory
        assert d.certificate.proved
        np.testing.assert_allclose(d.values, expected, rtol=1e-8)
        bases.append(d.plan.peak_bytes)
    assert bases == sorted(bases, reverse=True)
    with pytest.raises(ek.errors.MemoryBudgetError, match=r"needs about .* only 1,000,000 bytes are allowed"):
        ek.decompose(X, "svd", k=3, solver="lanczos", memory=1_000_000)
