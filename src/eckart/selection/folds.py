"""Folds: one split of the rows for all candidates, and the score of a set of columns on held-out rows.

Scores are those of ``sklearn.model_selection.cross_val_score``; the splits are made once, the parameters and entries
checked once, and all candidates of a round go to the workers together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from eckart.arrays import Array, Matrix
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError
from eckart.formatting import counted
from eckart.selection.held_out import is_r2, pooled_r2


@dataclass(frozen=True)
class Folds:
    """The data, the splits and the scorer."""

    estimator: Any
    X: Matrix
    y: Array
    splits: tuple[tuple[np.ndarray, np.ndarray], ...]
    scorer: Callable[..., float]
    n_jobs: int | None = None

    @classmethod
    def of(
        cls, estimator: object, X: object, y: object, groups: object, *, scoring: object, cv: object, n_jobs: int | None
    ) -> Folds:
        splitter = check_cv(cv, y, classifier=is_classifier(estimator))
        try:
            splits = tuple(splitter.split(X, y, groups))
        except ValueError as error:
            raise InputError(
                f"The rows cannot be split into folds: {str(error).rstrip('.')}. A nested search "
                "splits the rows of each fold again. Use fewer folds (cv), or nested=False."
            ) from error
        return cls(estimator, X, y, splits, check_scoring(estimator, scoring=scoring), n_jobs)

    def first(self, columns: np.ndarray) -> np.ndarray:
        """Scores of one set of columns with all checks enabled."""
        return _scores(self, columns, checked=True)

    def score(self, columns: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
        """Score of one set of columns, fitted on some rows, on others."""
        return _score(self, self.X[:, columns], train, test)

    def scores(self, candidates: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of several sets of columns, candidates x folds."""
        if self.n_jobs in (None, 1):
            return np.array([_scores(self, columns) for columns in candidates])
        work = Parallel(n_jobs=self.n_jobs)
        return np.array(work(delayed(_scores)(self, columns) for columns in candidates))

    def overall(self, scores: np.ndarray) -> float:
        """The score of all held-out rows, from those of the folds."""
        if self.y is None or not is_r2(self.estimator, self.scorer):
            return float(scores.mean())
        return pooled_r2(scores, np.asarray(self.y), self.splits)

    def constant_scores(self) -> np.ndarray | None:
        """Scores of a constant prediction: the mean, or the most frequent class; None if the scorer has none."""
        if self.y is None:
            return None
        kind = DummyClassifier(strategy="prior") if is_classifier(self.estimator) else DummyRegressor()
        constant = replace(self, estimator=kind, n_jobs=None)
        try:
            return np.array([_score(constant, self.X[:, :1], train, test) for train, test in self.splits])
        except (ValueError, TypeError, AttributeError):
            return None


def _scores(folds: Folds, columns: np.ndarray, *, checked: bool = False) -> np.ndarray:
    """The score on each fold, without repeating checks."""
    part = folds.X[:, columns]
    with one_blas_thread(), config_context(skip_parameter_validation=not checked, assume_finite=not checked):
        found = np.array([_score(folds, part, train, test) for train, test in folds.splits])
    if not np.isfinite(found).all():
        raise InputError(
            f"With {counted(len(columns), 'column')}, the score is not a number in "
            f"{int(np.sum(~np.isfinite(found)))} of {len(found)} folds. Use another value of "
            "scoring, or folds in which every class occurs."
        )
    return found


def _score(folds: Folds, part: object, train: np.ndarray, test: np.ndarray) -> float:
    model = clone(folds.estimator)
    if folds.y is None:
        model.fit(_safe_indexing(part, train))
        return float(folds.scorer(model, _safe_indexing(part, test)))
    model.fit(_safe_indexing(part, train), _safe_indexing(folds.y, train))
    return float(folds.scorer(model, _safe_indexing(part, test), _safe_indexing(folds.y, test)))
