"""On a GPU: IncrementalPCA, CUR, concepts, the report and saving, and what is refused. Skipped without one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.arrays import place_of, to_host
from tests.gpu.test_svd import dense, host, on_gpu, pytestmark, sparse

__all__ = ["pytestmark"]

LIBRARIES = pytest.mark.parametrize("library", ["torch", "cupy"])
KINDS = pytest.mark.parametrize("kind", ["dense", "sparse"])
ALL = pytest.mark.filterwarnings("ignore:Sparse")


def data_of(kind, dtype="f4"):
    return dense(3_000, 120, dtype) if kind == "dense" else sparse(3_000, 400, dtype)


def full(array):
    array = to_host(array)
    return array.toarray() if sp.issparse(array) else array


@ALL
@LIBRARIES
@KINDS
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_incremental_pca(library, kind, dtype):
    data = data_of(kind, dtype)
    model, plain = ek.IncrementalPCA(4), ek.IncrementalPCA(4)
    for start in range(0, 3_000, 750):
        batch = data[start : start + 750]
        model, plain = model.partial_fit(on_gpu(batch, library)), plain.partial_fit(batch)
    there = on_gpu(data, library)
    scores = model.transform(there)
    assert place_of(model._running.scatter.mean) == place_of(model.components_) == place_of(scores) == place_of(there)
    exact = 1e-3 if dtype == "f4" else 1e-7
    np.testing.assert_allclose(host(model.explained_variance_), plain.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(np.abs(host(model.components_)), np.abs(plain.components_), atol=exact)
    np.testing.assert_allclose(host(model.inverse_transform(scores))[:5], plain.inverse_transform(
        plain.transform(data[:5])), atol=10 * exact)  # fmt: skip
    assert model.certificate_.explained == pytest.approx(plain.certificate_.explained, abs=1e-6)


@ALL
@LIBRARIES
@KINDS
@pytest.mark.parametrize("select", ["pivot", "norm", "leverage", "volume"])
def test_cur(library, kind, select):
    data = data_of(kind, "f8")
    there = on_gpu(data, library)
    d, plain = (ek.decompose(X, "cur", k=6, select=select) for X in (there, data))
    for name in ("columns", "rows"):
        np.testing.assert_array_equal(getattr(d.details, name), getattr(plain.details, name))
    for array in (d.right, d.details.C, d.details.R, d.details.core.left, ek.project(d, there)):
        assert place_of(array) == place_of(there)
    np.testing.assert_allclose(full(d.details.C), full(plain.details.C))
    np.testing.assert_allclose(full(d.details.R), full(plain.details.R))
    assert d.details.error == pytest.approx(plain.details.error, rel=1e-9)
    np.testing.assert_allclose(host(ek.project(d, there)), ek.project(plain, data), rtol=1e-12)


@ALL
@LIBRARIES
@KINDS
@pytest.mark.parametrize("method", ["svd", "pca", "cur"])
def test_concepts(library, kind, method):
    data = data_of(kind, "f8")
    there = on_gpu(data, library)
    models = (ek.decompose(X, method, k=5) for X in (there, data))
    a, b = (ek.concepts(d, rows=X) for d, X in zip(models, (there, data), strict=True))
    assert place_of(a.rows.coordinates) == place_of(there)
    for ask in (
        lambda space: space.recommend(3, 5),
        lambda space: space.recommend({"x3": 2.0, "x9": 1.0}, 5),
        lambda space: space.similar_rows(3, 5, by="dot"),
        lambda space: space.similar_columns(2, 5),
        lambda space: space.top_rows(1, 5),
    ):
        np.testing.assert_allclose(ask(a).scores, ask(b).scores, rtol=1e-6, atol=1e-8)
    first, second = (space.recommend_many(n=4) for space in (a, b))
    np.testing.assert_allclose(first.scores, second.scores, rtol=1e-6, atol=1e-8)
    assert a.explain(3, 2).score == pytest.approx(b.explain(3, 2).score, rel=1e-6, abs=1e-8)


@LIBRARIES
@pytest.mark.parametrize("make", [ek.PCA, ek.TruncatedSVD, ek.IncrementalPCA, ek.CUR])
def test_another_place_is_refused(library, make):
    data = data_of("dense")
    there, other = on_gpu(data, library), on_gpu(data, "cupy" if library == "torch" else "torch")
    model, plain = make(2).fit(there), make(2).fit(data)
    for fitted, X in ((model, data), (model, other), (plain, there)):
        with pytest.raises(ek.errors.InputError, match="was fitted on"):
            fitted.transform(X)
    frames = make(2).set_output(transform="pandas").fit_transform(there)
    assert place_of(frames) == place_of(there)


@ALL
@LIBRARIES
@KINDS
def test_report_and_file(library, kind, tmp_path):
    there = on_gpu(data_of(kind), library)
    for method in ("pca", "cur"):
        d = ek.decompose(there, method, k=3)
        assert ek.report(d, data=there).startswith("<!")
        assert len(ek.tables.loadings(d).rows) == there.shape[1]
        d.save(tmp_path / method)
        assert isinstance(ek.load(tmp_path / method).right, np.ndarray)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("make", [ek.NMF, ek.CUR, ek.KernelPCA])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_host_data_of_other_methods_are_worked_on_there(make, kind):
    rng = np.random.default_rng(0)
    data = rng.gamma(0.5, 1.0, (3000, 5)) @ rng.gamma(0.5, 1.0, (5, 200))
    data = np.where(rng.random(data.shape) < (0.2 if kind == "sparse" else 1.0), data, 0.0).astype("f4")
    given = sp.csr_array(data) if kind == "sparse" else data
    there, here = make(4, device="cuda"), make(4)
    scores, expected = there.fit_transform(given), here.fit_transform(given)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, expected, rtol=2e-2, atol=2e-3 * np.abs(expected).max())
    assert isinstance(there.transform(given[:5]), np.ndarray)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_sparse_host_data_of_any_size(size):
    data = sp.random_array((4000, 300), density=0.02, rng=0, dtype=np.float32, format="csr") * np.float32(size)
    there, here = ek.decompose(data, "svd", k=3, device="cuda"), ek.decompose(data, "svd", k=3)
    np.testing.assert_allclose(there.values, here.values, rtol=1e-5)


def test_batches_of_the_host_are_added_up_there():
    data = dense(6000, 120)
    there, here = ek.IncrementalPCA(4, device="cuda"), ek.PCA(4).fit(data)
    for batch in np.array_split(data, 3):
        there = there.partial_fit(batch)
    assert isinstance(there.components_, np.ndarray)
    np.testing.assert_allclose(there.singular_values_, here.singular_values_, rtol=1e-5)
    np.testing.assert_allclose(np.abs(there.components_), np.abs(here.components_), atol=2e-3)
    assert isinstance(there.transform(data[:7]), np.ndarray)
