"""The score of all held-out rows, against held-out predictions and fresh rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eckart as ek

pytestmark = pytest.mark.filterwarnings("ignore:The columns (do|may) not predict the target")
MODEL = make_pipeline(StandardScaler(), LinearRegression())


def search(X: np.ndarray, y: np.ndarray, **options: object) -> ek.RandomSubsetSearch:
    options = {"n_iter": 1, "cv": 5, "subset_size": (X.shape[1], X.shape[1]), "nested": True} | options
    return ek.RandomSubsetSearch(MODEL, **options).fit(X, y)


def table(seed: int, rows: int = 43) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 3))
    return X, X @ [1.0, -0.5, 0.0] + rng.standard_normal(rows) + 7.0


@pytest.mark.parametrize("scoring", [None, "r2", make_scorer(r2_score)])
def test_nested_r2_is_that_of_all_held_out_predictions(scoring: object) -> None:
    X, y = table(0)
    errors = y - cross_val_predict(MODEL, X, y, cv=KFold(5))
    expected = 1.0 - np.mean(errors**2) / np.var(y, ddof=1)
    assert search(X, y, scoring=scoring).nested_score_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", make_scorer(mean_absolute_error), "explained_variance"])
def test_other_nested_scores_are_means_over_the_folds(scoring: object) -> None:
    X, y = table(1)
    expected = cross_val_score(MODEL, X, y, cv=KFold(5), scoring=scoring).mean()
    assert search(X, y, scoring=scoring).nested_score_ == pytest.approx(expected, rel=1e-12)


def test_folds_that_do_not_determine_the_errors_give_the_mean() -> None:
    X, y = table(2)
    y[:9] = 7.0  # all targets of the first fold are equal
    expected = cross_val_score(MODEL, X, y, cv=KFold(5)).mean()
    assert search(X, y).nested_score_ == pytest.approx(expected, rel=1e-12)
    both = np.column_stack([X @ np.ones(3), y])
    expected = cross_val_score(MODEL, X, both, cv=KFold(5)).mean()
    assert search(X, both).nested_score_ == pytest.approx(expected, rel=1e-12)


def test_nested_r2_of_noise_is_that_of_fresh_rows() -> None:
    """The mean over folds of 10 rows is 0.2 lower."""
    differences = []
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
        fresh, target = rng.standard_normal((2000, 3)), rng.standard_normal(2000)
        differences.append(search(X, y).nested_score_ - MODEL.fit(X, y).score(fresh, target))
    # One standard error is 0.016, and models of 40 instead of 50 rows score 0.02 less.
    assert abs(np.mean(differences)) < 0.07
