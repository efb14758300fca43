"""CorrelationFilter: keep the columns that are correlated with the target, one at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from scipy.special import betainc
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from eckart.documentation import document
from eckart.errors import DataWarning, InputError, ParameterError
from eckart.estimators import constraints as allowed
from eckart.formatting import counted
from eckart.mapped import any_in_memory
from eckart.selection.base import Selector, table
from eckart.selection.correlations import correlations
from eckart.wording import assigned

_MOST_CLASSES = 20
_FEWEST_ROWS = 5
_LEVEL = 0.05
_SCORES = ("pearson", "spearman", "mutual_info")


class FittedCorrelationFilter:
    """The attributes that `CorrelationFilter.fit` sets."""

    scores_: np.ndarray


@document
@dataclass(eq=False, repr=False)
class CorrelationFilter(Selector, FittedCorrelationFilter):
    """Keep the columns with the highest scores for a target.

    The score is a correlation, a rank correlation or the mutual information. Each column is scored separately. Two
    redundant columns are therefore both kept, and a column that helps only in combination with another is dropped.

    Parameters
    ----------
    score_func : {'pearson', 'spearman', 'mutual_info'} or callable, default 'pearson'
        'pearson' is the absolute correlation with the target, 'spearman' is the absolute rank correlation, and
        'mutual_info' is the mutual information in nats (nearest-neighbour estimate). If the target contains classes,
        'pearson' and 'spearman' are multiple correlations of the column, or of its ranks, with indicator variables of
        the classes. The square of 'pearson' is then the share of the column's variance that lies between the classes. A
        callable takes (X, y) and returns one score per column, or a tuple that starts with the scores.
    threshold : float or None, default None
        Keep columns with at least this score.
    n_features : int, float or None, default None
        Number of columns to keep, or their share. If you set neither `n_features` nor `threshold`, half of the columns
        are kept.
    target : {'auto', 'numbers', 'classes'}, default 'auto'
        How to treat y. 'auto' treats text and booleans as classes. It also treats integers as classes if there are at
        most 20 distinct values, which occur at least 5 times each on average. `target_` shows the result.
    random_state : int, RandomState or None, default None
        Seed for the noise that mutual information adds to break ties. None uses a fixed seed.

    Attributes
    ----------
    scores_ : array of shape (n_features_in_,)
        Score of each column. It is never negative, and 0 for a constant column.
    target_ : {'numbers', 'classes'}
        How y was treated.
    history_ : dict of array
        One entry per column, best first: column (index), name, score and kept. Pass it to ``pandas.DataFrame``.

    {See Also: BackwardElimination, RandomSubsetSearch}

    Examples
    --------
    >>> from eckart import CorrelationFilter
    >>> found = CorrelationFilter(n_features=1).fit([[1, 2], [2, 1], [3, 5], [4, 2]], [1, 2, 3, 4])
    >>> found.scores_.round(4)
    array([1.    , 0.2981])
    >>> found.get_support()
    array([ True, False])
    """

    score_func: Literal["pearson", "spearman", "mutual_info"] | Callable[..., object] = "pearson"
    _: KW_ONLY
    threshold: float | None = None
    n_features: float | None = None
    target: Literal["auto", "numbers", "classes"] = "auto"
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints = {  # noqa: RUF012
        "score_func": [StrOptions(set(_SCORES)), callable],
        "threshold": [Interval(Real, None, None, closed="neither"), None],
        "n_features": [allowed.COUNT, allowed.SHARE, None],
        "target": [StrOptions({"auto", "numbers", "classes"})],
        "random_state": ["random_state"],
    }

    @document
    @allowed.validated
    def fit(self, X: object, y: object) -> Self:
        """Score the columns of X for the target y and select among them.

        {Parameters: X [in memory], y [target]; Returns: Self [selector]}

        Raises
        ------
        ParameterError
            If both `threshold` and `n_features` are given.

        Warns
        -----
        DataWarning
            If even the highest correlation can be due to chance.
        """
        if self.threshold is not None and self.n_features is not None:
            raise ParameterError("threshold and n_features each determine the number of columns. Use only one of them.")
        if y is None:
            raise InputError(
                "requires y to be passed, but the target y is None, so there is nothing to correlate the columns with."
            )
        X, y = any_in_memory(X), any_in_memory(y)
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype="numeric", ensure_min_samples=2, y_numeric=False)
        goal: np.ndarray = column_or_1d(y)
        self.scores_ = self._scores(X, goal)
        order = np.argsort(-self.scores_, kind="stable")
        chosen = order[: self._count(len(order))] if self.threshold is None else order
        self.support_ = np.zeros(len(order), dtype=bool)
        self.support_[chosen] = True
        if self.threshold is not None:
            self.support_ = self.scores_ >= self.threshold
        names = getattr(self, "feature_names_in_", np.array([f"x{j}" for j in range(len(order))]))
        self.history_ = table(
            [{"column": j, "name": str(names[j]), "score": self.scores_[j], "kept": self.support_[j]} for j in order]
        )
        if self.score_func in ("pearson", "spearman"):
            self._warn_if_useless(goal)
        return self

    def _warn_if_useless(self, y: np.ndarray) -> None:
        """Warn if the highest correlation is not significant at 5 %, with Bonferroni's correction for the columns.

        Without association, its square follows the distribution Beta(d / 2, (n - 1 - d) / 2), where d is the number of
        classes minus 1, or 1 for numbers.
        """
        goals = len(np.unique(y)) - 1 if self.target_ == "classes" else 1
        left, highest = len(y) - 1 - goals, float(self.scores_.max())
        if goals < 1 or left < 1 or betainc(left / 2, goals / 2, 1 - highest**2) * len(self.scores_) <= _LEVEL:
            return
        warnings.warn(
            f"The columns may not predict the target: the highest correlation is {highest:.4f}, which can be due to "
            f"chance with {counted(len(y), 'row')} and {counted(len(self.scores_), 'column')}. Use more rows or other "
            "columns.",
            DataWarning,
            stacklevel=4,
        )

    def _scores(self, X: object, y: np.ndarray) -> np.ndarray:
        classes = self.target == "classes" or (self.target == "auto" and names_classes(y))
        self.target_ = "classes" if classes else "numbers"
        if not classes:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if callable(self.score_func):
            return _called(self.score_func, X, y)
        if self.score_func != "mutual_info":
            return correlations(X, y, classes=classes, ranks=self.score_func == "spearman")
        from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

        estimate = mutual_info_classif if classes else mutual_info_regression
        seed = 0 if self.random_state is None else self.random_state
        return np.asarray(estimate(X, y, random_state=seed))

    def _count(self, columns: int) -> int:
        if self.n_features is None:
            return max(1, columns // 2)
        if isinstance(self.n_features, float):
            return max(1, round(columns * self.n_features))
        if self.n_features > columns:
            raise ParameterError(
                f"{assigned('n_features', self.n_features)} is larger than the number of columns ({columns})."
            )
        return int(self.n_features)


def names_classes(y: np.ndarray) -> bool:
    """Whether the target names classes: text and booleans, or integers if few different ones occur often."""
    if y.dtype.kind not in "iuf":
        return True
    return y.dtype.kind in "iu" and len(np.unique(y)) <= min(_MOST_CLASSES, len(y) // _FEWEST_ROWS)


def _called(score: Any, X: Any, y: np.ndarray) -> np.ndarray:
    found = score(X, y)
    scores = np.asarray(found[0] if isinstance(found, tuple) else found, dtype=np.float64)
    if scores.shape != (X.shape[1],):
        raise ParameterError(
            f"score_func must return one score for each of the {X.shape[1]} columns, but it returned "
            f"an array of shape {scores.shape}."
        )
    return np.where(np.isfinite(scores), scores, 0.0)
