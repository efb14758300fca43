"""On a GPU: the same answers and signs as on the processor. Without one these tests say that they were skipped."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek


def _has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


pytestmark = pytest.mark.skipif(not _has_gpu(), reason="no GPU here, or no PyTorch that sees it")


def dense(rows=20_000, columns=300, dtype="f4", offset=5.0):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, columns)) * np.linspace(3, 0.1, columns) + offset).astype(dtype)


def sparse(rows=20_000, columns=2_000, dtype="f4"):
    matrix = sp.random_array((rows, columns), density=0.01, format="csr", rng=np.random.default_rng(0))
    return sp.csr_array(matrix, dtype=dtype)


def on_gpu(data, library):
    if library == "torch":
        import torch

        if sp.issparse(data):
            parts = (torch.as_tensor(part).cuda() for part in (data.indptr, data.indices, data.data))
            return torch.sparse_csr_tensor(*parts, size=data.shape)
        return torch.as_tensor(data).cuda()
    cupy = pytest.importorskip("cupy")
    if sp.issparse(data):
        from cupyx.scipy import sparse as device_sparse

        return device_sparse.csr_matrix(sp.csr_matrix(data))
    return cupy.asarray(data)


def host(array):
    from eckart.array_api import to_numpy

    return to_numpy(array)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_dense(library, dtype, solver, method):
    data = dense(dtype=dtype)
    here = ek.decompose(data, method, k=5, solver=solver)
    there = ek.decompose(on_gpu(data, library), method, k=5, solver=solver)
    assert type(there.right).__module__.partition(".")[0] == library
    np.testing.assert_allclose(host(there.values), here.values, rtol=1e-5 if dtype == "f4" else 1e-9)
    np.testing.assert_allclose(host(there.right), here.right, atol=1e-3 if dtype == "f4" else 1e-5)
    low, high = there.certificate.explained
    assert low <= high <= 1.0


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("how", [("svd", {}), ("pca", {}), ("pca", {"scale": True})])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse(library, how, turned):
    data = sp.csr_array(sparse().T) if turned else sparse()
    method, options = how
    here = ek.decompose(data, method, k=5, **options)
    there = ek.decompose(on_gpu(data, library), method, k=5, **options)
    np.testing.assert_allclose(host(there.values), here.values, rtol=1e-5)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_estimators_stay_on_the_device(library):
    data = on_gpu(dense(), library)
    pca = ek.PCA(3).fit(data)
    scores = pca.transform(data)
    assert type(scores).__module__.partition(".")[0] == library
    back = pca.inverse_transform(scores)
    assert tuple(back.shape) == (20_000, 300)
