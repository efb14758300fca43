"""Inputs on which one could be silently wrong."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris

import eckart as ek
from eckart.errors import DataWarning, InputError, MissingValuesError, NotFiniteError

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
MAKERS = (ek.PCA, ek.IncrementalPCA, ek.TruncatedSVD)
IRIS = load_iris().data


def reference(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.longdouble)
    return np.linalg.svd((X - X.mean(axis=0)).astype(np.float64), compute_uv=False)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("offset", "exact"), [(1e4, 1e-11), (1e6, 1e-9), (1e8, 1e-7)])
def test_offset(offset, exact, solver):
    X = IRIS + offset
    assert_allclose(ek.PCA(svd_solver=solver).fit(X).singular_values_, reference(X), rtol=exact)


@pytest.mark.parametrize("make", [ek.PCA, ek.IncrementalPCA])
def test_unix_time_column(make):
    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + 60.0 * np.arange(60), rng.normal(size=60), rng.normal(size=60)])
    assert_allclose(make().fit(X).singular_values_, reference(X), rtol=1e-9 if make is ek.IncrementalPCA else 1e-12)


@pytest.mark.parametrize("offset", [1e2, 1e3, 1e4])
@pytest.mark.parametrize("rows", [200, 20_000])
def test_float32_offset(rows, offset):
    X = (np.random.default_rng(0).normal(size=(rows, 5)) + offset).astype(np.float32)
    assert_allclose(ek.PCA().fit(X).explained_variance_, reference(X) ** 2 / (rows - 1), rtol=1e-5)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e-310, 2.0**1015])
def test_extreme_scale(make, factor):
    plain, scaled = make(2).fit(IRIS), make(2).fit(IRIS * factor)
    exact = 1e-12 if factor != 1e-310 else 1e-10
    assert_allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=exact)
    assert_allclose(np.abs(scaled.components_), np.abs(plain.components_), atol=1e-9)
    assert not np.isnan(scaled.explained_variance_).any()
    assert np.isfinite(scaled.singular_values_).all()


@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "X", [np.zeros((6, 4)), np.full((6, 4), 0.1), np.array([[1.0, 2.0, 3.0]])], ids=["zero", "constant", "one row"]
)
def test_no_variance_is_no_nan(make, X):
    for form in (np.asarray, sparse.csr_array):
        model = make(1).fit(form(X))
        assert_allclose(model.explained_variance_ratio_, 0.0, atol=1e-12)
        for name in ("components_", "explained_variance_", "singular_values_"):
            assert np.isfinite(getattr(model, name)).all()
        assert_allclose(model.components_ @ model.components_.T, [[1.0]])
        assert np.isfinite(model.transform(form(X))).all()


def test_no_variance_is_said():
    with pytest.warns(DataWarning, match="no variance"):
        ek.PCA().fit(np.ones((5, 3)))


@pytest.mark.parametrize("solver", SOLVERS)
def test_whiten_on_duplicate_columns(solver):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X = np.hstack([X, X])
    pca = ek.PCA(whiten=True, svd_solver=solver)
    scores = pca.fit_transform(X)
    assert np.abs(scores).max() < 6
    assert_allclose(scores, pca.transform(X), atol=1e-12)
    assert_allclose(pca.inverse_transform(scores), X, atol=1e-12)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("make", MAKERS)
def test_every_sparse_format_gives_the_same_scores(make, kind):
    X = sparse.random(60, 12, density=0.3, random_state=0, format=kind)
    model = make(3)
    scores = model.fit(X).transform(X)
    assert_allclose(scores, model.transform(X.toarray()), atol=1e-10)
    assert_allclose(np.abs(scores), np.abs(make(3).fit(X.toarray()).transform(X.toarray())), atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_share_on_sparse(solver):
    X = sparse.random(120, 30, density=0.2, random_state=0, format="csr")
    shares = np.cumsum(reference(X.toarray()) ** 2) / np.sum(reference(X.toarray()) ** 2)
    assert ek.PCA(0.9, svd_solver=solver).fit(X).n_components_ == int(np.searchsorted(shares, 0.9)) + 1


@pytest.mark.parametrize("make", MAKERS)
def test_missing_and_infinite_entries_are_counted_and_placed(make):
    X = np.arange(40.0).reshape(10, 4)
    X[3, 2] = X[5, 1] = np.nan
    with pytest.raises(MissingValuesError, match="NaN: 2 missing values, the first in row 4, column 3"):
        make(1).fit(X)
    X[X != X] = 0.0
    X[4, 1] = np.inf
    with pytest.raises(NotFiniteError, match="infinity: 1 entry, the first in row 5, column 2"):
        make(1).fit(X)
    with pytest.raises(NotFiniteError, match="infinity"):
        make(1).fit(np.where(np.isfinite(X), X, 0.0) + np.eye(10, 4)).transform(X)


@pytest.mark.parametrize("make", MAKERS)
def test_masked_arrays(make):
    X = np.ma.masked_array(IRIS.copy(), mask=IRIS > 7)
    with pytest.raises(MissingValuesError, match="masked"):
        make(1).fit(X)
    assert_allclose(make(1).fit(np.ma.masked_array(IRIS)).components_, make(1).fit(IRIS).components_)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "X",
    [
        np.arange(6).reshape(3, 2).astype("datetime64[D]"),
        np.arange(6).reshape(3, 2).astype("timedelta64[s]"),
        np.array([["1", "2"], ["3", "4"]]),
        np.array([["1", 2.0], ["3", 4.0]], dtype=object),
        np.zeros((3, 2), dtype=[("a", float), ("b", float)]),
        np.ones((3, 2)) * 1j,
    ],
    ids=["dates", "durations", "text", "objects", "records", "complex"],
)
def test_not_numbers(make, X):
    with pytest.raises(InputError):
        make(1).fit(X)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrix_class_is_refused():
    with pytest.raises(TypeError, match=r"np\.matrix"):
        ek.PCA().fit(np.matrix([[1.0, 2.0], [3.0, 4.0]]))


@pytest.mark.parametrize("make", MAKERS)
def test_large_unsigned_integers_are_said_to_lose_digits(make):
    X = np.array([[2**63, 1], [2**63 + 5, 2], [2**63 + 9, 3]], dtype=np.uint64)
    with pytest.warns(DataWarning, match="rounded to the nearest"):
        make(1).fit(X)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16", ">f8"])
def test_dtypes(dtype):
    X = np.random.default_rng(0).integers(0, 100, (30, 4)).astype(dtype)
    assert_allclose(ek.PCA().fit(X).singular_values_, reference(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("wanted", [True, 0, -1, np.nan, np.inf, "3", 1.0, 1.5, 2.5, 0.0])
def test_impossible_number_of_components(make, wanted):
    if make is ek.PCA and wanted == 0 and isinstance(wanted, int):
        assert make(wanted).fit(IRIS).components_.shape == (0, 4)  # as in scikit-learn
        return
    with pytest.raises(ValueError, match=f"The 'n_components' parameter of {make.__name__} must be .* Got .* instead"):
        make(wanted).fit(IRIS)


def test_too_many_components():
    with pytest.raises(ValueError, match=r"n_components=5 must be between 0 and min\(n_samples, n_features\)=4"):
        ek.PCA(5).fit(IRIS)
    with pytest.raises(ValueError, match=r"n_components\(40\) must be <= n_features\(50\) and <= n_samples\(30\)"):
        ek.TruncatedSVD(40).fit(np.ones((30, 50)))


def test_wrong_names_are_listed():
    with pytest.raises(ValueError, match="The 'svd_solver' parameter of PCA must be a str among"):
        ek.PCA(svd_solver="ful").fit(IRIS)
    with pytest.raises(TypeError, match="unexpected keyword"):
        ek.PCA(n_component=3)


@pytest.mark.parametrize("make", MAKERS)
def test_wrong_width_on_the_way_back(make):
    model = make(2).fit(IRIS)
    with pytest.raises(InputError, match=r"Scores must have the shape \(rows, 2\) for 2 components, .* \(5, 3\)"):
        model.inverse_transform(np.ones((5, 3)))


@pytest.mark.parametrize(
    "state", [None, 3, np.random.RandomState(0), np.random.default_rng(0)], ids=lambda state: type(state).__name__
)
def test_random_states(state):
    assert_allclose(ek.PCA(2, svd_solver="randomized", random_state=state).fit(IRIS).singular_values_,
                    reference(IRIS)[:2], rtol=1e-9)  # fmt: skip


def test_the_data_are_not_touched():
    for make in MAKERS:
        for X in (IRIS.copy(), np.asfortranarray(IRIS), IRIS[::2, ::-1]):
            before = X.copy()
            X.flags.writeable = False
            make(2).fit_transform(X)
            assert (before == X).all()


def test_memory_is_refused_beforehand():
    with pytest.raises(ek.errors.MemoryBudgetError, match="bytes"):
        ek.PCA(3, memory="1kB").fit(IRIS)


def test_null_directions_are_the_same_ones_for_every_solver():
    X = np.random.default_rng(0).normal(size=(40, 3)) @ np.random.default_rng(1).normal(size=(3, 6))
    first = ek.PCA(svd_solver="full").fit(X)
    assert_allclose(first.components_ @ first.components_.T, np.eye(6), atol=1e-12)
    for solver in SOLVERS:
        assert_allclose(ek.PCA(svd_solver=solver).fit(X[::-1]).components_, first.components_, atol=1e-9)


MIXED = {"name": ["p", "q", "r", "s"], "group": ["u", "v", "u", "v"], "x": [1.0, 2, 4, 3], "y": [2.0, 1, 1, 5]}


def as_cursor(columns, tmp_path):
    connection = sqlite3.connect(tmp_path / "mixed.sqlite")
    pd.DataFrame(columns).to_sql("t", connection, index=False)
    return connection.execute("select * from t")


def as_csv(columns, tmp_path):
    pd.DataFrame(columns).to_csv(tmp_path / "mixed.csv", index=False)
    return tmp_path / "mixed.csv"


class Derived(pd.DataFrame):
    """A data frame of another package."""


MIXED_SOURCES = {
    "dict": lambda columns, _: columns,
    "records": lambda columns, _: pd.DataFrame(columns).to_dict("records"),
    "fields": lambda columns, _: pd.DataFrame(columns).to_records(index=False),
    "generator": lambda columns, _: iter(pd.DataFrame(columns).to_dict("records")),
    "frame": lambda columns, _: pd.DataFrame(columns),
    "derived frame": lambda columns, _: Derived(columns),
    "cursor": as_cursor,
    "file": as_csv,
}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", MIXED_SOURCES)
def test_columns_that_would_be_left_out_are_refused_by_name(kind, make, tmp_path):
    with pytest.raises(InputError, match=r"These columns are not numeric: .*'group'"):
        make(1).fit(MIXED_SOURCES[kind](MIXED, tmp_path))


@pytest.mark.parametrize("kind", ["generator", "cursor", "file"])
def test_files_and_streams_may_name_their_rows(kind, tmp_path):
    named = {name: values for name, values in MIXED.items() if name != "group"}
    pca = ek.PCA(1).fit(MIXED_SOURCES[kind](named, tmp_path))
    assert list(pca.feature_names_in_) == ["x", "y"]


def test_numbers_stored_as_text_are_not_left_out_of_a_fit(tmp_path):
    with pytest.raises(InputError, match="not numeric: 'x'"):
        ek.PCA(1).fit(as_cursor({**MIXED, "x": ["1.5", "2.5", "1.5", "3.5"], "group": [1.0, 2, 3, 9]}, tmp_path))


def test_data_that_the_user_opened_are_fitted_without_their_labels(tmp_path):
    for kind in ("dict", "file"):
        source = ek.open_data(MIXED_SOURCES[kind](MIXED, tmp_path))
        assert ek.PCA(1).fit(source).n_features_in_ == 2
