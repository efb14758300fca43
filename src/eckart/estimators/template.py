"""The template of all estimators: common parts of `fit`, `fit_transform`, `transform` and `inverse_transform`.

A subclass defines the steps: `_fit` (validated data -> fitted attributes), `_scores` (rows -> scores) and, if it is
invertible, `_rows` (scores -> rows). Parameter checks, input validation, devices, output containers and the
documentation of methods and attributes are shared.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, Device, Matrix, is_off_host
from eckart.cleanup import RemovedOnError
from eckart.documentation import document
from eckart.estimators.constraints import validated
from eckart.estimators.inputs import take, take_scores
from eckart.estimators.shared_docs import SharesAttributes
from eckart.estimators.sklearn_base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from eckart.result import Certificate, Decomposition, Plan

if TYPE_CHECKING:
    from sklearn.utils import Tags

_ATTRIBUTES = """
n_components_ : int
    Number of components kept.
n_features_in_ : int
    Number of columns.
feature_names_in_ : array of str
    Column names. Defined only if the data had names.
certificate_ : Certificate
    Proved bounds on the explained share, the singular values and the subspace angle.
plan_ : Plan
    Solver, passes over the data, memory and the reason for the choice.
decomposition_ : Decomposition
    The complete result, accepted by `eckart.tables`, `eckart.plots` and `eckart.report`.
"""


def _frames_wanted(estimator: object) -> bool:
    return "_sklearn_output_config" in estimator.__dict__ or get_config()["transform_output"] != "default"


def _plain(method: Any) -> Callable[..., Any]:
    """Return arrays of other libraries as arrays: `set_output` makes frames of host numbers only."""

    @functools.wraps(method)
    def chosen(self: Any, X: Any, *args: Any, **kwargs: Any) -> Array:
        # Unless frames were requested, scores are plain arrays without a container.
        bare = is_off_host(X) or not _frames_wanted(self)
        return (method.__wrapped__ if bare else method)(self, X, *args, **kwargs)

    chosen.plain_elsewhere = True  # type: ignore[attr-defined]
    return chosen


class Estimator(SharesAttributes, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer around one decomposition, for arrays on every device."""

    _shared_attributes = _ATTRIBUTES

    decomposition_: Decomposition
    n_components_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    _place: Device

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("transform", "fit_transform"):
            method = getattr(cls, name)
            # scikit-learn has wrapped it by now; the wrapped function returns arrays.
            if hasattr(method, "__wrapped__") and not getattr(method, "plain_elsewhere", False):
                setattr(cls, name, _plain(method))

    @document
    @validated
    def fit(self, X: object, y: object = None) -> Self:
        """Find the components of X.

        {Parameters: X, y; Returns: Self [fitted]}

        Raises
        ------
        ParameterError
            If a parameter does not fit the data, for example if it requests more components than there are rows or
            columns.
        {MissingValuesError}
        """
        self._fit(X)
        return self

    @document
    @validated
    def fit_transform(self, X: object, y: object = None) -> Array:
        """Find the components of X and return the scores of its rows.

        {Parameters: X, y; Returns: array [scores]}
        """
        return self._fitted_scores(self._fit(X))

    @document
    def transform(self, X: object) -> Array:
        """Compute the scores of the rows of X, in one pass over the data.

        {Parameters: X [same order]; Returns: array [scores]; Raises: InputError [column names]}
        """
        self._check_fitted()
        with RemovedOnError():
            return self._scores(self._take(X, reset=False))

    @abstractmethod
    def _fit(self, X: object) -> Matrix:
        """Set the fitted attributes; return the validated data."""

    @abstractmethod
    def _scores(self, data: object) -> Array:
        """The scores of validated rows."""

    def _fitted_scores(self, data: object) -> Array:
        """The scores of the fitted rows, if the fit already computed them."""
        return self._scores(data)

    def _take(self, X: object, *, reset: bool) -> Matrix:
        return take(self, X, reset=reset)

    def _publish(self, d: Decomposition[Any]) -> None:
        """Set the attributes that every estimator has."""
        self.decomposition_ = d
        self.n_components_ = d.k

    @property
    def certificate_(self) -> Certificate | None:
        """Certificate with the proved bounds on the accuracy."""
        return self.decomposition_.certificate

    @property
    def plan_(self) -> Plan | None:
        """The plan that was carried out, with the reason for the choice of solver."""
        return self.decomposition_.plan

    def _check_fitted(self) -> None:
        if "decomposition_" not in self.__dict__:  # scikit-learn's own test takes as long as a small transform
            check_is_fitted(self)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class InvertibleEstimator(Estimator):
    """An estimator that can reconstruct rows from scores."""

    def inverse_transform(self, X: object) -> Array:
        """Reconstruct rows from their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores. If the estimator whitens, these are whitened scores. They must come from the same array library and
            device as the fitted data.

        Returns
        -------
        array of shape (n_samples, n_features_in_)
            Reconstructed rows, in the units of the data.
        """
        self._check_fitted()
        return self._rows(self._take_scores(X))

    def _take_scores(self, X: object) -> Array:
        return take_scores(X, self)

    @abstractmethod
    def _rows(self, scores: object) -> Array:
        """The rows that correspond to scores."""
