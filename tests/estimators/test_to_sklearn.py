"""Exports: ONNX models run by onnxruntime, and fitted scikit-learn objects, give our scores for new rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import eckart as ek
from eckart.errors import ParameterError

ort = pytest.importorskip("onnxruntime", reason="pip install onnx onnxruntime")
RNG = np.random.default_rng(21)
OLD = RNG.normal(size=(80, 5)) * [3, 2, 1, 0.5, 0.2] + [10, 20, -5, 0, 1]
NEW = RNG.normal(size=(13, 5)) * 2 + [10, 20, -5, 0, 1]
MODELS = {
    "pca": ek.PCA(3),
    "pca scaled and whitened": ek.PCA(3, whiten=True, scale=True),
    "pca of a share": ek.PCA(0.9),
    "pca by likelihood": ek.PCA("mle"),
    "svd": ek.TruncatedSVD(2),
    "incremental": ek.IncrementalPCA(2, whiten=True),
    "nmf": ek.NMF(3, random_state=0, max_iter=5000),
    "nmf with penalties": ek.NMF(3, random_state=0, alpha_W=0.01, l1_ratio=0.5, tol=1e-6, max_iter=5000),
    "nmf by divergence": ek.NMF(3, random_state=0, beta_loss="kullback-leibler", max_iter=5000),
    "rbf": ek.KernelPCA(3, kernel="rbf", gamma=0.05),
    "rbf of many rows": ek.KernelPCA(3, kernel="rbf", gamma=0.05, eigen_solver="randomized"),
    "laplacian": ek.KernelPCA(3, kernel="laplacian", gamma=0.1),
    "poly": ek.KernelPCA(3, kernel="poly", gamma=0.01, degree=2),
    "sigmoid": ek.KernelPCA(1, kernel="sigmoid", gamma=1e-4, coef0=-1),
    "cosine": ek.KernelPCA(3, kernel="cosine"),
    "linear": ek.KernelPCA(3, kernel="linear"),
    "precomputed": ek.KernelPCA(3, kernel="precomputed"),
    "isomap": ek.Isomap(n_neighbors=10),
}


@pytest.fixture(params=MODELS)
def case(request):
    name = request.param
    old, new = (np.abs(OLD), np.abs(NEW)) if name.startswith("nmf") else (OLD, NEW)
    if name == "precomputed":
        old, new = old @ old.T, new @ old.T
    return name, MODELS[name].fit(old), new


@pytest.mark.filterwarnings("ignore:The kernel is indefinite")
def test_onnx(case):
    name, model, new = case
    if name == "isomap":
        assert not hasattr(model, "to_onnx")
        return
    if name == "nmf by divergence":
        with pytest.raises(ParameterError, match="frobenius"):
            model.to_onnx()
        return
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-9)):
        given = new.astype(dtype)
        session = ort.InferenceSession(model.to_onnx(dtype).SerializeToString())
        (found,) = session.run(None, {"X": given})
        wanted = model.transform(given.astype(np.float64))
        assert found.dtype == dtype
        # The transform of NMF stops by the tolerance of the fit; the exported graph goes on to the minimum.
        allowed = 1e-5 if name.startswith("nmf") else tolerance
        if name == "nmf":
            minimum = [optimize.nnls(model.components_.T, row)[0] for row in given.astype(np.float64)]
            np.testing.assert_allclose(found, minimum, atol=tolerance * np.max(minimum))
        np.testing.assert_allclose(found, wanted, atol=allowed * np.abs(wanted).max())
    with pytest.raises(ParameterError, match="dtype"):
        model.to_onnx("float16")


@pytest.mark.filterwarnings("ignore:The kernel is indefinite")
def test_sklearn(case):
    name, model, new = case
    if name == "pca scaled and whitened":
        with pytest.raises(ParameterError, match="StandardScaler"):
            model.to_sklearn()
        return
    theirs = model.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    wanted = model.transform(new)
    # scikit-learn's NMF iterates to a tolerance
    tolerance = 1e-5 if name.startswith("nmf") else 1e-9
    np.testing.assert_allclose(theirs.transform(new), wanted, atol=tolerance * np.abs(wanted).max())


def test_the_way_back_of_a_converted_kernel_pca():
    model = ek.KernelPCA(3, kernel="rbf", gamma=0.05, alpha=0.1, fit_inverse_transform=True).fit(OLD)
    scores = model.transform(NEW)
    np.testing.assert_allclose(
        model.to_sklearn().inverse_transform(scores), model.inverse_transform(scores), rtol=1e-7, atol=1e-9
    )


def test_what_cannot_be_exported_says_why():
    gaps = OLD.copy()
    gaps[0, 0] = np.nan
    with pytest.raises(ParameterError, match="missing values"):
        ek.PCA(2, missing="mean").fit(gaps).to_onnx()
    with pytest.raises(ParameterError, match="landmarks"):
        ek.Isomap(n_neighbors=10, n_landmarks=20).fit(OLD).to_sklearn()
