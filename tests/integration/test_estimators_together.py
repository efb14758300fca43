"""The estimators among others: pipelines, searches, frames, files, other array libraries."""

import importlib.util
import pickle

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eckart as ek
from eckart.errors import InputError

MAKERS = (ek.PCA, ek.IncrementalPCA, ek.TruncatedSVD)
IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.mark.parametrize("make", MAKERS)
def test_pipeline_and_search(make):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), make(), LogisticRegression()),
        {f"{make.__name__.lower()}__n_components": [1, 2, 3]},
    )
    search.fit(IRIS, SPECIES)
    assert search.best_score_ > 0.85


def test_likelihood_chooses_in_a_search():
    search = GridSearchCV(ek.PCA(), {"n_components": [1, 2, 3]}).fit(IRIS)
    other = GridSearchCV(sklearn.decomposition.PCA(svd_solver="full"), {"n_components": [1, 2, 3]}).fit(IRIS)
    assert_allclose(search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], rtol=1e-9)
    assert cross_val_score(ek.PCA(2), IRIS).shape == (5,)


@pytest.mark.parametrize("make", MAKERS)
def test_pickle_and_clone(make):
    model = make(2).fit(IRIS)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.transform(IRIS), model.transform(IRIS))
    assert again.certificate_.explained == model.certificate_.explained
    with pytest.raises(NotFittedError):
        clone(model).transform(IRIS)


@pytest.mark.parametrize("make", MAKERS)
def test_names_go_in_and_out(make):
    frame = pd.DataFrame(IRIS, columns=NAMES)
    model = make(2).set_output(transform="pandas").fit(frame)
    scores = model.transform(frame)
    assert list(scores.columns) == [f"{make.__name__.lower()}{i}" for i in range(2)]
    assert list(model.feature_names_in_) == NAMES
    assert model.decomposition_.columns == 4
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[NAMES[::-1]])


def test_column_transformer_and_global_output():
    frame = pd.DataFrame(IRIS, columns=NAMES)
    both = ColumnTransformer([("sepal", ek.PCA(1), NAMES[:2]), ("petal", ek.TruncatedSVD(1), NAMES[2:])])
    with sklearn.config_context(transform_output="pandas"):
        assert list(both.fit_transform(frame).columns) == ["sepal__pca0", "petal__truncatedsvd0"]
        assert list(ek.PCA(2).fit_transform(frame).columns) == ["pca0", "pca1"]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(make, library):
    frame = library(dict(zip(NAMES, IRIS.T, strict=True)))
    model, plain = make(2).fit(frame), make(2).fit(IRIS)
    assert_allclose(model.components_, plain.components_, atol=1e-12)
    assert_allclose(model.transform(frame), plain.transform(IRIS), atol=1e-12)


def test_frames_of_other_things():
    nullable = pd.DataFrame({"a": pd.array([1, 2, 4], dtype="Int64"), "b": [0.5, 1.5, 1.0]})
    assert_allclose(ek.PCA().fit(nullable).mean_, [7 / 3, 1.0])
    nullable.loc[1, "a"] = pd.NA
    with pytest.raises(InputError, match="NaN: 1 missing value, the first in row 2"):
        ek.PCA().fit(nullable)
    for column, word in ((["x", "y", "x"], "not numeric"), (["1", "2", "1"], "numbers that are stored as text")):
        with pytest.raises(InputError, match=word):
            ek.PCA().fit(pd.DataFrame({"a": [1.0, 2, 4], "t": column}))
    with pytest.raises(InputError, match="not numeric: 't'"):
        ek.PCA().fit(pd.DataFrame({"a": [1.0, 2], "t": pd.to_datetime(["2020-01-01", "2020-01-02"])}))
    spread = pd.DataFrame(sparse.eye_array(5).toarray()).astype(pd.SparseDtype(float, 0.0))
    spread.columns = list("abcde")
    assert_allclose(ek.PCA(2).fit(spread).mean_, 0.2)


@pytest.mark.parametrize("make", MAKERS)
def test_lists(make):
    assert_allclose(make(1).fit(IRIS.tolist()).transform(IRIS.tolist()), make(1).fit_transform(IRIS), atol=1e-12)


@pytest.mark.parametrize("make", MAKERS)
def test_files(make, tmp_path):
    frame = pd.DataFrame(IRIS, columns=NAMES)
    frame.to_csv(tmp_path / "iris.csv", index=False)
    np.save(tmp_path / "iris.npy", IRIS)
    plain = make(2).fit(IRIS)
    for path in (tmp_path / "iris.csv", str(tmp_path / "iris.npy")):
        model = make(2)
        assert_allclose(model.fit_transform(path), plain.transform(IRIS), atol=1e-12)
        assert_allclose(model.transform(path), plain.transform(IRIS), atol=1e-12)
        assert model.n_features_in_ == 4
    model = make(2).fit(tmp_path / "iris.csv")
    assert list(model.feature_names_in_) == NAMES
    assert_allclose(model.transform(frame), plain.transform(IRIS), atol=1e-12)
    frame[NAMES[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    with pytest.raises(InputError, match="column 1 is 'petal width', but during fit it was 'sepal length'"):
        model.transform(tmp_path / "turned.csv")
    frame[NAMES[:2]].to_csv(tmp_path / "narrow.csv", index=False)
    with pytest.raises(InputError, match="X has 2 features, but"):
        model.transform(tmp_path / "narrow.csv")


WITHOUT_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
LIBRARIES = [
    pytest.param(array_api_strict.asarray, id="array-api-strict"),
    pytest.param("torch", id="torch", marks=WITHOUT_TORCH),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("asarray", LIBRARIES)
def test_other_array_libraries(asarray, dtype, make):
    if asarray == "torch":
        asarray = pytest.importorskip("torch").asarray
    host = IRIS.astype(dtype)
    X = asarray(host)
    model, plain = make(2).fit(X), make(2).fit(host)
    exact = 1e-10 if dtype == "float64" else 1e-4
    arrays = [model.components_, model.singular_values_, model.explained_variance_, model.transform(X)]
    arrays.append(model.inverse_transform(model.transform(X)))
    assert all(type(array) is type(X) and array.dtype == X.dtype for array in arrays)
    assert_allclose(np.asarray(model.components_), plain.components_, atol=exact)
    assert_allclose(np.asarray(model.fit_transform(X)), plain.transform(host), atol=10 * exact)
    assert_allclose(np.asarray(arrays[2]), plain.explained_variance_, rtol=exact)
    assert_allclose(model.to_sklearn().transform(host), plain.transform(host), atol=10 * exact)
    if make is not ek.TruncatedSVD:
        assert_allclose(model.score(X), plain.score(host), rtol=10 * exact)
        assert_allclose(np.asarray(model.get_precision()), plain.get_precision(), rtol=100 * exact, atol=100 * exact)


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_said_of_a_fit(make):
    model = make(2).fit(IRIS)
    low, high = model.certificate_.explained
    assert low <= float(model.decomposition_.explained_variance_ratio.sum()) <= high + 1e-12
    assert model.plan_.solver in ("direct", "gram", "lanczos")
    assert model.plan_.why


def test_routed_weights():
    weights = np.random.default_rng(0).integers(0, 3, len(IRIS))
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(ek.PCA(2).set_fit_request(sample_weight=True))
        pipe.fit(IRIS, sample_weight=weights)
    assert_allclose(pipe[0].components_, ek.PCA(2).fit(np.repeat(IRIS, weights, axis=0)).components_, atol=1e-10)


@pytest.mark.parametrize("make", [*MAKERS, ek.CUR])
def test_data_of_another_library_than_fitted_are_refused(make):
    torch = pytest.importorskip("torch")
    X = torch.asarray(IRIS)
    model, plain = make(2).fit(X), make(2).fit(IRIS)
    with pytest.raises(InputError, match=r"fitted on torch \(cpu\).*numpy \(cpu\).*torch\.as_tensor\(X, device='cpu'"):
        model.transform(IRIS)
    with pytest.raises(InputError, match="fitted on torch"):
        model.inverse_transform(IRIS[:, :2])
    with pytest.raises(InputError, match=r"fitted on numpy.*tensor\.cpu\(\)\.numpy\(\)"):
        plain.transform(X)
    with pytest.raises(InputError, match="fitted on numpy"):
        plain.inverse_transform(X[:, :2])
    assert_allclose(plain.fit(X).transform(X), model.transform(X))  # a new fit forgets


@pytest.mark.parametrize("make", [ek.PCA, ek.TruncatedSVD])
def test_weights_may_be_anywhere(make):
    torch = pytest.importorskip("torch")
    weights = np.arange(len(IRIS)) % 3 + 1.0
    wanted = make(2).fit(IRIS, sample_weight=weights).components_
    for X, given in ((IRIS, torch.asarray(weights)), (torch.asarray(IRIS), weights)):
        assert_allclose(np.asarray(make(2).fit(X, sample_weight=given).components_), wanted, atol=1e-10)


@pytest.mark.parametrize("make", [*MAKERS, ek.CUR])
def test_set_output_makes_frames_of_host_numbers_only(make):
    torch = pytest.importorskip("torch")
    X = torch.asarray(IRIS)
    model = make(2).set_output(transform="pandas")
    assert isinstance(model.fit_transform(X), torch.Tensor)
    assert isinstance(model.transform(X), torch.Tensor)
    assert len(model.get_feature_names_out()) == 2
    assert isinstance(model.fit_transform(IRIS), pd.DataFrame)
    assert isinstance(model.transform(IRIS), pd.DataFrame)
