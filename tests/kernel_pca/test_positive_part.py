"""Shares of an indefinite kernel are shares of the sum of its positive eigenvalues, whatever solver finds them."""

import warnings

import numpy as np
import pytest
from sklearn.metrics.pairwise import sigmoid_kernel

import eckart as ek
from eckart.errors import AccuracyWarning, DataWarning


def spectrum(kernel):
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    return np.linalg.eigvalsh(centred)[::-1]


def planted(size, values, seed=0):
    """A kernel whose centred form has these eigenvalues and zeros."""
    drawn = np.random.default_rng(seed).normal(size=(size, len(values)))
    basis, _ = np.linalg.qr(np.column_stack([np.ones(size), drawn]))
    kernel = (basis[:, 1:] * values) @ basis[:, 1:].T
    return (kernel + kernel.T) / 2


def check(d, values):
    """Stated shares sum to at most 1, and the certificate contains the share of the positive eigenvalues."""
    shares = np.asarray(d.values, np.float64) ** 2 / d.norm**2
    assert shares.sum() <= 1 + 1e-9
    true = values[: d.k].sum() / values[values > 0].sum()
    low, high = d.certificate.explained
    assert low - 1e-12 <= true <= high + 1e-12
    assert low - 1e-12 <= shares.sum() <= high + 1e-12
    return true, low, high


def test_all_eigenvalues_give_exact_shares():
    values = np.array([5.0, 3.0, 1.0, -0.5, -0.25])
    with pytest.warns(DataWarning, match="indefinite.*8.33 %"):
        d = ek.decompose(planted(6, values), "kernel_pca", k=3, kernel="precomputed")
    np.testing.assert_allclose(np.asarray(d.values) ** 2 / d.norm**2, np.array([5.0, 3.0, 1.0]) / 9.0, rtol=1e-12)
    assert d.certificate.explained[0] == pytest.approx(1.0, abs=1e-9)
    assert d.details.negative_share == pytest.approx(0.75 / 9.0)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("size", [300, 2100])
def test_a_requested_share_is_one_of_the_positive_part(size, share):
    """Above 2,048 rows this raised ShareNotReachedError: shares were those of a shifted kernel."""
    values = np.concatenate([2.0 ** -np.arange(12), -0.4 * 2.0 ** -np.arange(8)])
    wanted = int(np.searchsorted(np.cumsum(values[:12]) / values[:12].sum(), share)) + 1
    with pytest.warns(DataWarning, match="indefinite"):
        d = ek.decompose(planted(size, values), "kernel_pca", explain=share, kernel="precomputed")
    assert d.k == wanted
    check(d, np.sort(values)[::-1])


@pytest.mark.parametrize("solver", ["direct", "lanczos", "auto"])
@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_sigmoid_kernels_with_every_exact_solver(solver, coef0):
    X = np.random.default_rng(1).normal(size=(700, 4))
    values = spectrum(sigmoid_kernel(X, gamma=0.3, coef0=coef0))
    assert values[-1] < -1e-3 * values[0]
    with pytest.warns(DataWarning, match="indefinite"):
        d = ek.decompose(X, "kernel_pca", k=5, kernel="sigmoid", gamma=0.3, coef0=coef0, solver=solver)
    true, low, high = check(d, values)
    negative = -values[values < 0].sum() / values[values > 0].sum()
    if solver == "lanczos":
        assert high - low > 0  # only bounds, and an estimate between them
        assert np.sum(np.asarray(d.values) ** 2) / d.norm**2 == pytest.approx(true, rel=0.1)
        assert d.details.negative_share == pytest.approx(negative, rel=0.3)
    else:
        assert high - low < 1e-8
        assert d.details.negative_share == pytest.approx(negative, rel=1e-6)


def test_lanczos_finds_a_share_between_its_bounds_and_says_so():
    X = np.random.default_rng(1).normal(size=(700, 4))
    values = spectrum(sigmoid_kernel(X, gamma=0.3, coef0=0))
    with pytest.warns((AccuracyWarning, DataWarning)) as caught:
        d = ek.decompose(X, "kernel_pca", explain=0.8, kernel="sigmoid", gamma=0.3, coef0=0, solver="lanczos")
    assert any("too few or too many" in str(each.message) for each in caught)
    assert not d.certificate.proved
    check(d, values)
    held = np.cumsum(values) / values[values > 0].sum()
    assert abs(d.k - (int(np.searchsorted(held, 0.8)) + 1)) <= 2


def test_a_semidefinite_kernel_without_a_sign_keeps_tight_bounds():
    """Cholesky shows that a large precomputed kernel has no negative eigenvalues beyond rounding."""
    factor = np.random.default_rng(0).standard_normal((2100, 6)) * 0.5 ** np.arange(6)
    values = np.linalg.svd(factor - factor.mean(axis=0), compute_uv=False) ** 2
    d = ek.decompose(factor @ factor.T, "kernel_pca", k=3, kernel="precomputed")
    assert d.plan.solver == "lanczos"
    _, low, high = check(d, values)
    assert high - low < 1e-6
    assert d.details.negative_share == 0.0


def test_an_approximated_kernel_states_true_bounds():
    """Cholesky refuses kernels that are visibly indefinite; a small negative part widens the bounds."""
    values = np.concatenate([2.0 ** -np.arange(12), [-2e-4, -2e-4]])
    kernel = planted(300, values)
    d = ek.decompose(kernel, "kernel_pca", k=2, kernel="precomputed", solver="cholesky")
    _, low, high = check(d, values)
    assert 0.001 < high - low < 0.8


def test_a_linear_kernel_states_shares_of_the_trace():
    X = np.random.default_rng(3).normal(size=(50, 4))
    d = ek.decompose(X, "kernel_pca", k=2, kernel="linear")
    values = spectrum(X @ X.T)
    _, low, high = check(d, np.maximum(values, 0))
    assert high - low < 1e-9


@pytest.mark.parametrize("size", [5, 12, 15])
def test_negative_values_among_the_computed_ones_count(size):
    """With few rows, all eigenvalues are computed, the negative ones too: shares are still those of the positive."""
    values = np.append(np.linspace(-0.5, -0.1, 3), np.linspace(0.1, 1.0, size - 4))
    rng = np.random.default_rng(size)
    basis = np.linalg.qr(np.column_stack([np.ones(size), rng.standard_normal((size, size - 1))]))[0][:, 1:]
    kernel = (basis * values) @ basis.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        d = ek.decompose((kernel + kernel.T) / 2, "kernel_pca", kernel="precomputed", solver="lanczos", explain=0.4)
    low, high = d.certificate.explained
    true = np.sum(np.sort(values)[::-1][: d.k]) / values[values > 0].sum()
    assert low <= true + 1e-12
    assert true <= high + 1e-12
