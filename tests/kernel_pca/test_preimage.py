"""Pre-images: three ways back, how near they come, and what they do to noise."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Other
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

import eckart as ek
from eckart.errors import InputError, ParameterError
from eckart.kernel_pca.fit import expansion_of
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.kernel_pca.preimage_ridge import learn

WAYS = ("ridge", "fixed_point", "neighbours")


def ring(rows=200, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, rows)
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle)]) + 5.0
    return circle + noise * rng.standard_normal(circle.shape)


@pytest.mark.parametrize("how", WAYS)
def test_rows_come_back(how):
    X = ring()
    model = ek.KernelPCA(12, kernel="rbf", gamma=0.5, preimage=how).fit(X)
    back = model.preimages(model.transform(X))
    assert np.sqrt(np.mean((back.rows - X) ** 2)) < 0.02
    assert back.rows.mean(axis=0) == pytest.approx(X.mean(axis=0), abs=0.02)


@pytest.mark.parametrize("how", ["fixed_point", "neighbours"])
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_pre_images_come_no_farther_than_the_nearest_row(how, kernel):
    X = ring(120, noise=0.1)
    model = ek.KernelPCA(4, kernel=kernel, gamma=0.3, degree=3, preimage=how).fit(X)
    scores = model.transform(ring(30, noise=0.3, seed=1))
    found = model.preimages(scores)
    expansion = expansion_of(model.decomposition_)
    nearest = np.min([expansion.distances(np.repeat(X[i : i + 1], 30, axis=0), scores) for i in range(120)], axis=0)
    assert np.all(found.distances <= nearest * (1 + 1e-9) + 1e-6)


def test_distances_are_those_of_the_kernel():
    X = ring(40)
    model = ek.KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    scores = model.transform(X[:6] + 0.1)
    found = model.preimages(scores)
    # P = sum of gamma_i phi(x_i), with the whole Gram matrix of z and the support.
    K = pairwise_kernels(np.vstack([found.rows, X]), metric="rbf", gamma=0.5)
    vectors = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    weights = scores @ (vectors - vectors.mean(axis=0)).T + 1.0 / 40
    for i in range(6):
        difference = np.concatenate([np.eye(6)[i], -weights[i]])
        assert found.distances[i] == pytest.approx(np.sqrt(difference @ K @ difference), abs=1e-7)
    np.testing.assert_allclose(found.lengths, np.linalg.norm(scores, axis=1))


def test_the_fixed_point_is_one():
    X = ring(80, noise=0.1)
    model = ek.KernelPCA(3, kernel="rbf", gamma=0.5, preimage="fixed_point").fit(X)
    scores = model.transform(X[:5])
    rows = model.inverse_transform(scores)
    weights = expansion_of(model.decomposition_).weights(scores)
    pulls = weights * pairwise_kernels(rows, X, metric="rbf", gamma=0.5)
    np.testing.assert_allclose(pulls @ X / pulls.sum(axis=1, keepdims=True), rows, atol=1e-4)


@pytest.mark.parametrize("how", WAYS)
def test_all_ways_work_from_an_approximated_kernel(how):
    X = ring(1000)
    model = ek.KernelPCA(
        8, kernel="rbf", gamma=0.5, preimage=how, eigen_solver="cholesky", approximation_error=1e-4
    ).fit(X)
    assert np.sqrt(np.mean((model.inverse_transform(model.transform(X[:100])) - X[:100]) ** 2)) < 0.05


@pytest.mark.parametrize("how", WAYS)
def test_sparse_rows_come_back_dense(how):
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(rng.random((60, 8)) * (rng.random((60, 8)) < 0.3))
    model = ek.KernelPCA(50, kernel="rbf", gamma=0.5, preimage=how).fit(rows)
    back = model.inverse_transform(model.transform(rows))
    assert isinstance(back, np.ndarray)
    assert np.mean((back - rows.toarray()) ** 2) < 0.3 * np.var(rows.toarray())


@pytest.mark.parametrize("how", WAYS)
def test_the_linear_kernel_needs_no_search(how):
    X = ring(50)
    model = ek.KernelPCA(2, preimage=how).fit(X)
    pca = ek.PCA(2).fit(X)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), pca.inverse_transform(pca.transform(X)), atol=1e-12
    )


def test_kernels_without_a_slope_are_refused():
    model = ek.KernelPCA(2, kernel="laplacian", preimage="fixed_point").fit(ring(30))
    with pytest.raises(ParameterError, match="Use preimage='ridge'"):
        model.inverse_transform(np.zeros((1, 2)))
    cosine = ek.KernelPCA(2, kernel="cosine", preimage="ridge").fit(ring(30))
    assert np.isnan(cosine.preimages(np.zeros((1, 2))).distances).all()
    with pytest.raises(ParameterError, match="2 components"):
        cosine.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(InputError, match="2 components"):
        ek.reconstruct(cosine.decomposition_, np.zeros((1, 3)))


def test_the_error_of_leaving_one_out_is_that_of_leaving_one_out():
    rng = np.random.default_rng(0)
    scores, rows = rng.standard_normal((25, 2)), rng.standard_normal((25, 3))
    ridge = learn(scores, rows, 0.3, Kernel("rbf", gamma=0.7))
    errors = []
    for i in range(25):
        others = np.arange(25) != i
        model = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.7).fit(scores[others], rows[others])
        errors.append(model.predict(scores[i : i + 1])[0] - rows[i])
    assert ridge.error == pytest.approx(np.sqrt(np.mean(np.sum(np.square(errors), axis=1))), rel=1e-6)


def test_with_a_penalty_the_ridge_is_scikit_learns():
    X = ring(60) + 0.7
    ours = ek.KernelPCA(3, kernel="rbf", gamma=0.5, alpha=0.1, fit_inverse_transform=True).fit(X)
    theirs = Other(3, kernel="rbf", gamma=0.5, alpha=0.1, fit_inverse_transform=True).fit(X)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-6
    )


def test_noise_is_taken_off_digits_better_than_by_pca_and_by_scikit_learn():
    clean = load_digits().data[:900]
    train, wanted = clean[:700], clean[700:]
    noisy = wanted + np.random.default_rng(0).normal(0.0, 4.0, wanted.shape)

    def error(model):
        model.fit(train)
        return np.mean((model.inverse_transform(model.transform(noisy)) - wanted) ** 2)

    common = {"kernel": "rbf", "gamma": 5e-4, "fit_inverse_transform": True}
    ours = error(ek.KernelPCA(32, **common))
    assert ours < error(ek.PCA(32))
    assert ours <= min(error(Other(32, alpha=alpha, **common)) for alpha in (1.0, 0.1, 5e-3))
