"""Shared by the selectors: the mask of chosen columns, and the search as a table."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import stdtrit
from sklearn import __version__ as sklearn_version
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from eckart.documentation import document
from eckart.errors import DataWarning, ParameterError
from eckart.estimators.constraints import validated
from eckart.estimators.shared_docs import SharesAttributes
from eckart.estimators.sklearn_base import BaseEstimator, MetaEstimatorMixin, SelectorMixin
from eckart.mapped import any_in_memory
from eckart.selection.folds import Folds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.utils import Tags

    from eckart.arrays import Array

History = dict[str, np.ndarray]
"""Columns of a table by name, all of one length; pandas.DataFrame(history) shows it."""
Row = dict[str, Any]
"""One line of a history."""


_HAS_SPARSE_TAGS = not sklearn_version.startswith("1.6.")
"""Whether estimators of scikit-learn state that they accept sparse rows; most of those of version 1.6 do not."""
_ALL_POSITIVE = 5
"""Gains that are all positive by chance in less than 5 % of the cases."""
_EQUAL = 1e-10
"""Scores that differ by less, relative to 1 or to their size, count as equal."""


def best_set(scores: np.ndarray, sizes: np.ndarray) -> int:
    """Index of the highest score; ties within rounding go to the smallest set, then to the first."""
    top = float(scores.max())
    tied = np.flatnonzero(scores >= top - _EQUAL * max(1.0, abs(top)))
    return int(tied[np.argmin(sizes[tied], axis=0)])


def exceeds_chance(gains: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether the gains on the folds are positive beyond chance (one-sided, 95 %), by a t-test or a sign test.

    The folds share most of their training rows, so the t-test uses the variance of Nadeau and Bengio (2003),
    s^2 (1 / folds + test rows / training rows). If the gains have very different sizes, as those of R^2 in folds with
    little variance, the t-test has no power; five folds of which each gains are enough for the sign test.
    """
    mean = float(gains.mean())
    if mean <= _EQUAL or len(gains) < 2:
        return mean > _EQUAL
    if len(gains) >= _ALL_POSITIVE and gains.min() > _EQUAL:
        return True
    overlap = float(np.mean([len(test) / len(train) for train, test in splits]))
    error = float(gains.std(ddof=1)) * np.sqrt(1 / len(gains) + overlap)
    return bool(mean > stdtrit(len(gains) - 1, 0.95) * error)


_SELECTION = """
support_ : array of bool
    Which columns are kept.
n_features_in_ : int
    Number of columns of X.
feature_names_in_ : array of str
    Column names. Defined only if the data had names.
"""
_SEARCH = """
n_features_ : int
    Number of columns kept.
best_score_ : float
    Mean score of the selected columns, on the same folds that were used to select them. It is therefore too optimistic:
    even for pure noise it can be far above chance.
nested_score_ : float or None
    Score on rows that were not used in the selection, an estimate for new rows. It is the mean over the folds; R^2 is
    computed from the errors of all folds together. None unless `nested` is True.
"""


class Selector(SharesAttributes, SelectorMixin, BaseEstimator):
    """Keeps some of the columns, given by `support_`; `history_` records the search."""

    _shared_attributes = _SELECTION

    n_features_in_: int
    support_: np.ndarray
    history_: History

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: object) -> Array:
        """Keep the selected columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_selected)
            The selected columns.
        """
        return super().transform(any_in_memory(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class SearchParameters:
    """The parameters that all searches share."""

    estimator: BaseEstimator
    _: KW_ONLY
    scoring: str | Callable[..., float] | None = None
    cv: int | BaseCrossValidator | Iterable[tuple[np.ndarray, np.ndarray]] | None = 5
    nested: bool = False
    n_jobs: int | None = None
    progress: Callable[[dict[str, object]], None] | None = None


class Search(MetaEstimatorMixin, Selector, SearchParameters):
    """Scores sets of columns by the performance of `estimator` on held-out rows."""

    _shared_attributes = _SEARCH.rstrip() + _SELECTION

    _parameter_constraints = {  # noqa: RUF012
        "estimator": [HasMethods(["fit"])],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": ["cv_object"],
        "nested": ["boolean"],
        "n_jobs": [Integral, None],
        "progress": [callable, None],
    }

    best_score_: float
    nested_score_: float | None
    n_features_: int

    @document
    @validated
    def fit(self, X: object, y: object = None, groups: object = None) -> Self:
        """Select columns of X for the target y.

        Parameters
        ----------
        {X [in memory], y [target]}
        groups : array-like of shape (n_samples,), default None
            Group of each row, for splitters that keep groups together.

        {Returns: Self [selector]}

        Raises
        ------
        ParameterError
            If a parameter is out of range for the number of columns.

        Warns
        -----
        DataWarning
            If the selected columns predict the target no better than a constant, or not beyond chance.
        """
        folds = self._folds(X, y, groups)
        columns, self.best_score_, self.history_ = self._search(folds)
        self._keep(columns)
        held_out = self._nested(folds, groups) if self.nested else None
        self.nested_score_ = None if held_out is None else folds.overall(held_out)
        self._warn_if_useless(folds, folds.scores([columns])[0] if held_out is None else held_out)
        return self

    @abstractmethod
    def _search(self, folds: Folds) -> tuple[np.ndarray, float, History]:
        """(columns, their mean score, the sets that were tried)."""

    def _folds(self, X: object, y: object, groups: object) -> Folds:
        tags = get_tags(self.estimator).input_tags
        accepts_sparse = tags.sparse or not _HAS_SPARSE_TAGS
        X, y = validate_data(
            self,
            any_in_memory(X),
            any_in_memory(y),
            accept_sparse="csc" if accepts_sparse else False,
            ensure_min_features=2,
            ensure_all_finite=not tags.allow_nan,
            multi_output=True,
            dtype=None,
        )
        return Folds.of(self.estimator, X, y, groups, scoring=self.scoring, cv=self.cv, n_jobs=self.n_jobs)

    def _nested(self, folds: Folds, groups: object) -> np.ndarray:
        """Scores on rows not used in the search: the whole search is repeated without each fold."""
        if not (isinstance(self.cv, Integral) or self.cv is None or hasattr(self.cv, "split")):
            raise ParameterError(
                "nested=True repeats the search on parts of the rows, so cv must be a number or a "
                "splitter, not an iterable."
            )
        inner = clone(self).set_params(nested=False, progress=None)
        found = []
        for train, test in folds.splits:
            rows = [None if part is None else _safe_indexing(part, train) for part in (folds.X, folds.y, groups)]
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", "The columns (do|may) not predict the target", DataWarning
                )  # warned once, for all rows
                columns = np.flatnonzero(clone(inner).fit(*rows).support_)
            found.append(folds.score(columns, train, test))
        return np.array(found)

    def _warn_if_useless(self, folds: Folds, scores: np.ndarray) -> None:
        """Warn unless the columns clearly predict better than a constant, such as the mean or the most frequent class.

        `scores` are those of the nested search if there is one, because the best of many sets exceeds chance by chance.
        """
        constant = folds.constant_scores()
        if constant is None or exceeds_chance(scores - constant, folds.splits):
            return
        # `best_score_` is the mean over the folds, as in scikit-learn.
        mean = np.mean if self.nested_score_ is None else folds.overall
        found, least = float(mean(scores)), float(mean(constant))
        what, rows = ("best set", "") if self.nested_score_ is None else ("selection", " on held-out rows")
        compared = f"the {what} scores {found:.4f}{rows}, and a constant prediction scores {least:.4f}"
        if found <= least + _EQUAL:
            text = f"The columns do not predict the target: {compared}. Do not use the selection. Try other columns"
        else:
            text = (
                f"The columns may not predict the target: {compared}. The folds differ so much that this difference "
                "can be due to chance. Use more rows, other columns"
            )
        warnings.warn(f"{text} or another model.", DataWarning, stacklevel=4)

    def _keep(self, chosen: np.ndarray) -> None:
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[chosen] = True
        self.n_features_ = int(self.support_.sum())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        below = get_tags(self.estimator)
        tags.input_tags.sparse = below.input_tags.sparse
        tags.input_tags.allow_nan = below.input_tags.allow_nan
        tags.target_tags.required = below.target_tags.required
        return tags


def table(rows: list[Row]) -> History:
    """Rows with the same keys as named columns; lists stay whole, one in each cell."""
    return {name: _column([row[name] for row in rows]) for name in rows[0]}


def _column(values: Sequence[object]) -> np.ndarray:
    if not isinstance(values[0], list | tuple | np.ndarray):
        return np.asarray(values)
    cells = np.empty(len(values), dtype=object)
    cells[:] = [tuple(np.asarray(value).tolist()) for value in values]
    return cells
