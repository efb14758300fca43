"""Selectors against SciPy, scikit-learn's sequential selector, its checks, and sets that are known to be right."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.feature_selection import SequentialFeatureSelector, f_classif, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import eckart as ek
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError, ParameterError

FAST = GaussianNB()


@pytest.fixture(scope="module")
def classes():
    return make_classification(240, 8, n_informative=3, n_redundant=2, random_state=3)


@pytest.fixture(scope="module")
def numbers():
    return make_regression(150, 8, n_informative=3, noise=5.0, random_state=1)


@pytest.mark.filterwarnings("ignore:The columns (do|may) not predict the target")  # the checks fit noise
@pytest.mark.filterwarnings("ignore:The least populated class")
@parametrize_with_checks(
    [
        ek.CorrelationFilter(),
        ek.CorrelationFilter("spearman", threshold=0.1),
        ek.BackwardElimination(LinearRegression(), cv=2),
        ek.RandomSubsetSearch(LinearRegression(), n_iter=4, cv=2),
    ]
)
def test_check(estimator, check):
    check(estimator)


# Correlation


@pytest.mark.filterwarnings("ignore:The columns may not predict the target")  # they are random
@given(st.integers(0, 10**6), st.integers(3, 60), st.integers(1, 8), st.booleans())
@settings(max_examples=60)
def test_correlations_are_those_of_scipy(seed, rows, columns, as_sparse):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((rows, columns)), 1) * (rng.random((rows, columns)) < 0.7)
    X[:, 0] = 3.0  # does not vary
    y = rng.standard_normal(rows)
    data = sparse.csr_array(X) if as_sparse else X
    for score, peer in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        found = ek.CorrelationFilter(score).fit(data, y).scores_
        wanted = [abs(peer(x, y).statistic) if np.ptp(x) > 0 else 0.0 for x in X.T]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The columns may not predict the target")  # they are random
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3), st.floats(-1e6, 1e6))
@settings(max_examples=40)
def test_correlation_does_not_feel_units(seed, factor, offset):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    plain = ek.CorrelationFilter().fit(X, y).scores_
    np.testing.assert_allclose(ek.CorrelationFilter().fit(X * factor + offset, -3 * y + 7).scores_, plain, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The columns may not predict the target")  # they are random
def test_extreme_units_and_offsets():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    plain = ek.CorrelationFilter().fit(X, y).scores_
    for factor in (1e200, 1e-200):
        np.testing.assert_allclose(ek.CorrelationFilter().fit(X * factor, y / factor).scores_, plain, rtol=1e-10)
    assert (ek.CorrelationFilter().fit(np.full((50, 2), 0.1), y).scores_ == 0.0).all()
    assert (ek.CorrelationFilter().fit(X, np.full(50, 0.1)).scores_ == 0.0).all()


def test_classes_are_correlated_by_the_share_of_variance_between_them():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    share = ek.CorrelationFilter().fit(X, names).scores_ ** 2
    ratio = f_classif(X, y)[0]  # F = (share / 2) / ((1 - share) / (n - 3))
    np.testing.assert_allclose(share / (1 - share) * 147 / 2, ratio, rtol=1e-10)
    np.testing.assert_allclose(ek.CorrelationFilter(target="classes").fit(X, y).scores_ ** 2, share, rtol=1e-12)
    two = y < 2
    np.testing.assert_allclose(
        ek.CorrelationFilter(target="classes").fit(X[two], y[two]).scores_,
        ek.CorrelationFilter(target="numbers").fit(X[two], y[two]).scores_,
        rtol=1e-12,
    )


def test_mutual_information_is_scikit_learn_s(classes, numbers):
    X, y = classes
    found = ek.CorrelationFilter("mutual_info", target="classes").fit(X, y).scores_
    np.testing.assert_array_equal(found, mutual_info_classif(X, y, random_state=0))
    X, y = numbers
    np.testing.assert_array_equal(
        ek.CorrelationFilter("mutual_info").fit(X, y).scores_, mutual_info_regression(X, y, random_state=0)
    )


def test_threshold_count_share_and_function():
    X = np.array([[1.0, 2, 5], [2, 1, 5], [3, 5, 5], [4, 2, 5]])
    y = np.array([1.0, 2, 3, 4])
    assert ek.CorrelationFilter(threshold=0.5).fit(X, y).get_support().tolist() == [True, False, False]
    assert ek.CorrelationFilter(n_features=2).fit(X, y).get_support().tolist() == [True, True, False]
    assert ek.CorrelationFilter(n_features=0.67).fit(X, y).get_support().sum() == 2
    assert ek.CorrelationFilter().fit(X, y).get_support().sum() == 1
    own = ek.CorrelationFilter(lambda X, y: (X.max(axis=0), "p-values"), n_features=1).fit(X, y)
    assert own.get_support().tolist() == [False, True, False]  # of equal scores the first
    table = pd.DataFrame(own.history_)
    assert list(table.columns) == ["column", "name", "score", "kept"]
    assert table["column"].tolist() == [1, 2, 0]
    with pytest.raises(ParameterError, match="Use only one of them"):
        ek.CorrelationFilter(threshold=0.5, n_features=1).fit(X, y)
    with pytest.raises(ParameterError, match="is larger than the number of columns"):
        ek.CorrelationFilter(n_features=4).fit(X, y)
    with pytest.raises(ParameterError, match="must return one score for each"):
        ek.CorrelationFilter(lambda X, y: [1.0]).fit(X, y)
    with pytest.raises(InputError, match="requires y"):
        ek.CorrelationFilter().fit(X, None)


def test_frames_keep_their_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for frame in (X, pl.from_pandas(X)):
        found = ek.CorrelationFilter(n_features=2).fit(frame, y)
        assert found.get_feature_names_out().tolist() == ["petal length (cm)", "petal width (cm)"]
        assert found.history_["name"][0] == "petal length (cm)"
        assert found.target_ == "classes"
    chosen = ek.CorrelationFilter(n_features=2).set_output(transform="pandas").fit_transform(X, y)
    assert list(chosen.columns) == ["petal length (cm)", "petal width (cm)"]


@pytest.mark.filterwarnings("ignore:The columns may not predict the target")  # they are random
def test_integers_that_name_classes_are_detected_and_it_is_said():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    found = [ek.CorrelationFilter().fit(X, y).target_ for y in (
        rng.integers(0, 3, 60), rng.integers(0, 3, 60).astype(float), rng.integers(0, 40, 60), np.arange(60) % 2 == 0,
    )]  # fmt: skip
    assert found == ["classes", "numbers", "numbers", "classes"]
    assert ek.CorrelationFilter(target="numbers").fit(X, rng.integers(0, 3, 60)).target_ == "numbers"


# Scores of a search


@pytest.mark.filterwarnings("ignore:The columns (do|may) not predict the target")
@pytest.mark.parametrize("kind", ["backward", "random"])
def test_nested_score_on_pure_noise_is_that_of_fresh_data(kind):
    """The target is a fair coin, so every model scores 1/2 on fresh rows; the best of many looks better."""
    best, nested = [], []
    for seed in range(4):
        rng = np.random.default_rng([5, seed])
        X, y = rng.standard_normal((80, 8)), np.arange(80) % 2
        if kind == "backward":
            search = ek.BackwardElimination(FAST, cv=4, nested=True)
        else:
            search = ek.RandomSubsetSearch(FAST, n_iter=30, cv=4, nested=True, random_state=seed)
        search.fit(X, y)
        best.append(search.best_score_)
        nested.append(search.nested_score_)
    assert np.mean(best) > 0.55
    # 320 held-out rows: three binomial standard errors, 3 sqrt(1/4 / 320).
    assert abs(np.mean(nested) - 0.5) < 0.084
    assert ek.RandomSubsetSearch(FAST, n_iter=3).fit(X, y).nested_score_ is None
    splits = [(np.arange(40), np.arange(40, 80))]
    with pytest.raises(ParameterError, match="number or a splitter"):
        ek.RandomSubsetSearch(FAST, n_iter=3, cv=splits, nested=True).fit(X, y)


# Backward elimination


@pytest.mark.parametrize("keep", [2, 6])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_backward_chooses_what_scikit_learn_chooses(classes, numbers, keep, kind):
    X, y = classes if kind == "classes" else numbers
    model = LogisticRegression() if kind == "classes" else LinearRegression()
    mine = ek.BackwardElimination(model, n_features_to_select=keep).fit(X, y)
    with one_blas_thread():  # small products on several threads wait for each other
        peer = SequentialFeatureSelector(model, n_features_to_select=keep, direction="backward").fit(X, y)
    assert mine.get_support().tolist() == peer.get_support().tolist()
    scores = cross_val_score(model, X[:, mine.support_], y, cv=5)
    assert mine.best_score_ == scores.mean()
    assert mine.history_["spread"][-1] == pytest.approx(scores.std())


def test_backward_keeps_the_best_set_of_all_rounds(numbers):
    X, y = numbers
    found = ek.BackwardElimination(LinearRegression(), patience=None).fit(X, y)
    history = pd.DataFrame(found.history_)
    assert history["n_columns"].tolist() == list(range(8, 0, -1))
    assert found.n_features_ == history["n_columns"][history["score"] == history["score"].max()].min()
    assert found.best_score_ == history["score"].max()
    dropped = [j for cell in history["dropped"] for j in cell]
    assert len(set(dropped)) == 7
    assert found.transform(X).shape == (150, found.n_features_)


def test_patience_and_progress(numbers):
    X, y = numbers
    told = []
    found = ek.BackwardElimination(LinearRegression(), patience=1, progress=told.append).fit(X, y)
    score = found.history_["score"]
    assert len(score) - 1 - np.argmax(score) == 1
    assert [row["n_columns"] for row in told] == found.history_["n_columns"].tolist()


@pytest.mark.filterwarnings("ignore:The columns may not predict the target")  # three folds cannot show it
def test_several_columns_at_a_time():
    X, y = make_classification(150, 60, n_informative=4, n_redundant=0, random_state=0)
    found = ek.BackwardElimination(FAST, step=0.3, cv=3, n_features_to_select=5).fit(X, y)
    assert found.history_["n_columns"].tolist() == [60, 42, 30, 21, 15, 11, 8, 6, 5]
    assert [len(cell) for cell in found.history_["dropped"]] == [0, 18, 12, 9, 6, 4, 3, 2, 1]
    assert found.history_["score"][-1] == cross_val_score(FAST, X[:, found.support_], y, cv=3).mean()
    informative = make_classification(200, 60, n_informative=4, n_redundant=0, random_state=0, shuffle=False)
    chosen = ek.BackwardElimination(FAST, step=10, cv=3, patience=2).fit(*informative)
    assert chosen.support_[:4].sum() >= 3


def test_sparse_rows_and_processes(classes):
    X, y = classes
    model = LogisticRegression()
    plain = ek.BackwardElimination(model, n_features_to_select=6).fit(X, y)
    for data in (sparse.csr_array(X), sparse.csc_matrix(X)):
        assert (
            ek.BackwardElimination(model, n_features_to_select=6).fit(data, y).support_.tolist()
            == plain.support_.tolist()
        )
    shared = ek.BackwardElimination(model, n_features_to_select=6, n_jobs=2).fit(X, y)
    assert shared.history_["score"].tolist() == plain.history_["score"].tolist()


def test_groups_splitters_and_scorers(classes):
    X, y = classes
    groups = np.arange(len(y)) // 24
    mine = ek.BackwardElimination(FAST, cv=GroupKFold(4), scoring="roc_auc", n_features_to_select=3).fit(X, y, groups)
    wanted = cross_val_score(FAST, X[:, mine.support_], y, groups=groups, cv=GroupKFold(4), scoring="roc_auc")
    assert mine.best_score_ == wanted.mean()
    shuffled = KFold(3, shuffle=True, random_state=0)
    assert ek.RandomSubsetSearch(FAST, n_iter=3, cv=shuffled).fit(X, y).n_features_ >= 1


def test_scores_that_are_no_numbers_are_refused(classes):
    X, y = classes
    with pytest.raises(InputError, match="not a number"):
        ek.BackwardElimination(FAST, scoring=lambda model, X, y: np.nan).fit(X, y)
    with pytest.raises(ParameterError, match="n_features_to_select must be < n_features"):
        ek.BackwardElimination(FAST, n_features_to_select=8).fit(X, y)


# Random subsets


def test_random_search_tries_all_sets_when_they_are_few():
    X, y = load_iris(return_X_y=True)
    found = ek.RandomSubsetSearch(FAST, n_iter=100).fit(X, y)
    assert len(set(found.history_["columns"])) == 15
    best = max(cross_val_score(FAST, X[:, list(columns)], y, cv=5).mean() for columns in found.history_["columns"])
    assert found.best_score_ == best
    first = found.history_["rank"] == 1
    assert tuple(np.flatnonzero(found.support_)) == found.history_["columns"][first][0]


def test_random_search_is_repeatable_and_keeps_to_its_sizes(classes):
    X, y = classes
    told = []
    settings = {"n_iter": 20, "subset_size": (2, 4), "cv": 3}
    one = ek.RandomSubsetSearch(FAST, **settings, random_state=5, progress=told.append).fit(X, y)
    two = ek.RandomSubsetSearch(FAST, **settings, random_state=5).fit(X, y)
    assert one.history_["columns"].tolist() == two.history_["columns"].tolist()
    assert set(one.history_["n_columns"]) == {2, 3, 4}
    assert told[-1]["tried"] == 20
    assert ek.RandomSubsetSearch(FAST, n_iter=5, subset_size=(0.25, 0.25)).fit(X, y).n_features_ == 2
    for wrong in ((0, 3), (3, 2), (1, 10), (1,), ("a", "b")):
        with pytest.raises(ParameterError, match="is not a range"):
            ek.RandomSubsetSearch(FAST, subset_size=wrong).fit(X, y)


@pytest.mark.parametrize(
    "selector", [ek.CorrelationFilter(n_features=3), ek.BackwardElimination(FAST, n_features_to_select=3),
                 ek.RandomSubsetSearch(FAST, n_iter=5, subset_size=(3, 3))],
)  # fmt: skip
def test_pipeline_and_clone(selector, classes):
    X, y = classes
    model = make_pipeline(StandardScaler(), clone(selector), FAST).fit(X, y)
    assert model[1].transform(X).shape == (240, 3)
    assert model.score(X, y) > 0.6
    assert model[1].inverse_transform(model[1].transform(X)).shape == X.shape
