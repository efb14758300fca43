"""Kernel PCA on a GPU: the answers and signs of the processor. Without one these tests say that they were skipped."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.arrays import to_numpy
from eckart.errors import InputError
from tests.gpu.test_svd import on_gpu, pytestmark

__all__ = ["pytestmark"]


def smooth(rows, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(rng.uniform(-1, 1, (rows, 2)) @ rng.standard_normal((2, columns)) * 2.0)


def home(array):
    return type(array).__module__.partition(".")[0]


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine", "linear"])
@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
def test_named_kernels(library, dtype, kernel, solver):
    X = smooth(900).astype(dtype)
    options = {"k": 4, "kernel": kernel, "solver": solver, "left": True, "approximation_error": 1e-5}
    here, there = ek.decompose(X, "kernel_pca", **options), ek.decompose(on_gpu(X, library), "kernel_pca", **options)
    kept = [
        getattr(there.details, name)
        for name in ("support", "dual", "support_scores")
        if getattr(there.details, name) is not None
    ]
    assert {home(array) for array in (there.values, there.left, there.right, *kept)} == {library}
    exact = 1e-4 if dtype == "f4" else 1e-7
    np.testing.assert_allclose(to_numpy(there.values), here.values, rtol=exact)
    np.testing.assert_allclose(to_numpy(there.left), here.left, atol=exact)
    np.testing.assert_allclose(there.certificate.explained, here.certificate.explained, atol=1e-5)
    scores = ek.project(there, on_gpu(X[:50], library))
    assert home(scores) == library
    np.testing.assert_allclose(to_numpy(scores), ek.project(here, X[:50]), atol=20 * exact)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("solver", ["direct", "cholesky"])
def test_precomputed(library, solver):
    X = smooth(700)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    options = {"k": 4, "kernel": "precomputed", "solver": solver, "approximation_error": 1e-5}
    here, there = ek.decompose(K, "kernel_pca", **options), ek.decompose(on_gpu(K, library), "kernel_pca", **options)
    np.testing.assert_allclose(to_numpy(there.values), here.values, rtol=1e-7)
    scores = ek.project(there, on_gpu(K[:9], library))
    np.testing.assert_allclose(to_numpy(scores), ek.project(here, K[:9]), atol=1e-6)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 3, 16, 20, 33, 64])
@pytest.mark.parametrize("lowered", [False, True])
def test_tiles_of_rbf(library, dtype, columns, lowered):
    pytest.importorskip("cupy")
    from eckart.kernel_pca import tiles as cuda_tiles

    rng = np.random.default_rng(0)
    for rows, others, start in ((1, 1, 0), (128, 1000, 0), (131, 517, 3), (65, 260, 4)):
        x, y = (rng.standard_normal((n, columns)).astype(dtype) / columns**0.5 for n in (rows, others))
        whole = on_gpu(np.full((rows + 2, others + 9), 7.0, dtype), library)
        part = whole[1 : rows + 1, start : start + others]
        cuda_tiles.rbf(on_gpu(x, library), on_gpu(y, library), part, lowered=lowered)
        squares = ((x[:, None].astype("f8") - y[None]) ** 2).sum(axis=2)
        wanted = np.full((rows + 2, others + 9), 7.0)
        wanted[1 : rows + 1, start : start + others] = np.expm1(-squares / 2) if lowered else np.exp(-squares / 2)
        np.testing.assert_allclose(to_numpy(whole), wanted, rtol=0, atol=1e-6 if dtype == "f4" else 1e-14)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_many_points_are_approximated_as_well_as_was_asked(library):
    X = smooth(150_000).astype("f4")
    options = {"k": 4, "gamma": 2.0, "solver": "cholesky", "approximation_error": 0.01}
    here, there = ek.decompose(X, "kernel_pca", **options), ek.decompose(on_gpu(X, library), "kernel_pca", **options)
    assert there.details.approximation_error <= 0.01
    np.testing.assert_allclose(to_numpy(there.values), here.values, rtol=0.02)
    rows = on_gpu(X[:50], library)
    np.testing.assert_allclose(to_numpy(ek.project(there, rows)), ek.project(here, X[:50]), atol=0.02)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_the_error_of_the_approximation_is_the_trace_of_what_is_missing(library):
    from eckart.kernel_pca.cholesky import pivoted_cholesky
    from eckart.kernel_pca.kernel_functions import Kernel
    from eckart.kernel_pca.kernel_matrix import KernelMatrix

    X = smooth(3000).astype("f4")
    matrix = KernelMatrix(Kernel("rbf", 4.0), on_gpu(X, library))
    made = pivoted_cholesky(matrix, error=0.005, most=500, rng=np.random.default_rng(0))
    factor = to_numpy(made.factor).astype(np.float64)
    assert home(made.factor) == library
    assert made.error == pytest.approx(3000.0 - float((factor**2).sum()), rel=1e-3)
    assert made.error <= 0.005 * made.trace


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("how", ["ridge", "fixed_point", "neighbours"])
def test_estimator_and_way_back(library, how):
    X = smooth(800)
    here = ek.KernelPCA(3, kernel="rbf", gamma=1.0, preimage=how).fit(X)
    there = ek.KernelPCA(3, kernel="rbf", gamma=1.0, preimage=how)
    scores = there.fit_transform(on_gpu(X, library))
    rows = there.inverse_transform(there.transform(on_gpu(X[:40], library)))
    assert {home(array) for array in (scores, rows, there.eigenvectors_, there.eigenvalues_, there.X_fit_)} == {library}
    np.testing.assert_allclose(to_numpy(rows), here.inverse_transform(here.transform(X[:40])), atol=1e-3)


def test_other_devices_are_refused():
    d = ek.decompose(on_gpu(smooth(100), "torch"), "kernel_pca", k=2)
    with pytest.raises(InputError, match="fitted on"):
        ek.project(d, smooth(5))


def test_sparse_rows_go_to_the_host_and_it_is_said():
    pytest.importorskip("cupy")
    from cupyx.scipy import sparse

    rows = sp.random_array((300, 40), density=0.1, format="csr", rng=np.random.default_rng(0))
    d = ek.decompose(sparse.csr_matrix(sp.csr_matrix(rows)), "kernel_pca", k=3)
    assert any("sparse and on a GPU" in note for note in d.notes)
    np.testing.assert_allclose(d.values, ek.decompose(rows, "kernel_pca", k=3).values, rtol=1e-7)
