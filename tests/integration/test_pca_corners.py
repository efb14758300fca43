"""Corners where the place of scikit-learn's PCA is taken: no components, tensors of other kinds, divisors of scale."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA as SklearnPCA

import eckart as ek
from eckart.errors import ParameterError

X = np.random.default_rng(31).normal(size=(30, 4)) * [4, 3, 2, 1] + 5


def test_no_components():
    ours, theirs = ek.PCA(0).fit(X), SklearnPCA(0).fit(X)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_",
                 "noise_variance_", "n_components_"):  # fmt: skip
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
    assert ours.fit_transform(X).shape == ours.transform(X).shape == (30, 0)
    np.testing.assert_allclose(ours.inverse_transform(np.empty((2, 0))), np.tile(X.mean(axis=0), (2, 1)), rtol=1e-12)
    assert ours.certificate_.explained == (0.0, 0.0)


@pytest.mark.filterwarnings("ignore:Sparse CS:UserWarning")
def test_tensors_with_gradients_and_of_half_precision():
    torch = pytest.importorskip("torch")
    wanted = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:2]
    grown = ek.PCA(2).fit(torch.tensor(X, requires_grad=True))
    assert not grown.singular_values_.requires_grad
    np.testing.assert_allclose(grown.singular_values_.numpy(), wanted, rtol=1e-12)
    for half, tolerance in ((torch.float16, 2e-3), (torch.bfloat16, 2e-2)):
        d = ek.decompose(torch.tensor(X).to(half), k=2)
        exact = torch.tensor(X).to(half).to(torch.float64).numpy()
        assert d.values.dtype == torch.float32
        np.testing.assert_allclose(d.values.numpy(), np.linalg.svd(exact - exact.mean(axis=0), compute_uv=False)[:2],
                                   rtol=1e-5)  # fmt: skip
        np.testing.assert_allclose(d.values.numpy(), wanted, rtol=tolerance)
    for sparse in (torch.tensor(X).to_sparse(), torch.tensor(X).to_sparse_csr(), torch.tensor(X).to_sparse_csc()):
        np.testing.assert_allclose(ek.PCA(2).fit(sparse).singular_values_, wanted, rtol=1e-12)


def test_data_loaders_are_read_once():
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    wanted = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:2]
    loader = DataLoader(TensorDataset(torch.tensor(X), torch.zeros(30)), batch_size=7, shuffle=True)
    np.testing.assert_allclose(ek.PCA(2).fit(loader).singular_values_, wanted, rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 31.0)])
def test_scale_with_divisor_n(weights):
    """prince and FactoMineR divide by the standard deviation with divisor n."""
    times = np.ones(30) if weights is None else weights
    mean = np.average(X, axis=0, weights=times)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=times))
    wanted = np.linalg.svd(np.sqrt(times)[:, None] * (X - mean) / spread, compute_uv=False)
    d = ek.decompose(X, scale=True, ddof=0, sample_weight=weights, left=True)
    np.testing.assert_allclose(d.values, wanted, rtol=1e-12)
    np.testing.assert_allclose(d.scale, spread, rtol=1e-12)
    assert bool((d.certificate.lower <= wanted * (1 + 1e-15)).all())
    assert bool((wanted <= d.certificate.upper * (1 + 1e-15)).all())
    np.testing.assert_allclose(ek.reconstruct(d, ek.project(d, X)), X, rtol=1e-10)
    pca = ek.PCA(2, scale=True, ddof=0).fit(X, sample_weight=weights)
    np.testing.assert_allclose(pca.singular_values_, wanted[:2], rtol=1e-12)
    np.testing.assert_allclose(d.explained_variance_ratio.sum(), 1.0, rtol=1e-12)
    with pytest.raises(ParameterError, match="ddof"):
        ek.decompose(X, scale=True, ddof=2)


@pytest.mark.parametrize(("seed", "method"), [(21, "svd"), (371, "svd"), (5, "pca")])
def test_values_of_float32_with_divisor_n_are_rounded_once(seed, method):
    """Half a unit of float32 from the value of the exact table: a factor applied to rounded values would add more."""
    rng = np.random.default_rng(seed)
    table = (rng.standard_normal((19, 70)) + 10.0 ** rng.uniform(0, 5)).astype(np.float32)
    exact = table.astype(np.longdouble)
    exact = exact - exact.mean(axis=0) * (method == "pca")
    exact = exact / np.sqrt((exact**2).mean(axis=0))
    wanted = np.linalg.svd(exact.astype(float), compute_uv=False)[:3]
    d = ek.decompose(table, method, k=3, scale=True, ddof=0)
    assert (np.abs(d.values / wanted - 1.0) < 2.0**-24 * 1.001).all()
    product = exact.T @ (exact @ d.right) - d.right * d.values.astype(np.longdouble) ** 2
    assert (np.sqrt((product**2).sum(axis=0)) / wanted[0] ** 2 <= d.certificate.residuals).all()


def test_correlations_do_not_depend_on_the_divisor():
    d = ek.decompose(X, scale=True, ddof=0, left=True)
    wanted = np.corrcoef(X.T, d.left.T)[:4, 4:]
    np.testing.assert_allclose([row[1:] for row in ek.tables.correlations(d).rows], wanted, atol=1e-12)
