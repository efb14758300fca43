"""ColumnSelector: X[:, J] for the columns J that CUR chooses, without a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eckart.cur.estimator import CUR
from eckart.documentation import document
from eckart.estimators import constraints as allowed
from eckart.estimators.sklearn_base import BaseEstimator, SelectorMixin

if TYPE_CHECKING:
    from sklearn.utils import Tags


class ColumnSelector(SelectorMixin, BaseEstimator):
    """Select the columns that a CUR decomposition chooses.

    The columns keep their values and their order, and sparse data stay sparse. The selection does not use a target.

    Parameters
    ----------
    cur : CUR or None, default None
        Estimator that chooses the columns. None uses ``CUR()`` with its default options.

    Attributes
    ----------
    cur_ : CUR
        The fitted CUR estimator, which reports the error of the approximation.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Column names. Defined only if the data had names.

    See Also
    --------
    CUR : The decomposition that chooses the columns.
    CorrelationFilter : Keep the columns that correlate most with a target.

    Examples
    --------
    >>> import numpy as np
    >>> from eckart import CUR
    >>> X = np.array([[1.0, 1, 0], [2, 2, 0], [0, 0, 3]])
    >>> CUR(n_components=2).as_selector().fit(X).get_support()
    array([ True, False,  True])
    """

    _parameter_constraints = {"cur": [CUR, None]}  # noqa: RUF012

    cur_: CUR
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(self, cur: CUR | None = None) -> None:
        self.cur = cur

    @document
    @allowed.validated
    def fit(self, X: object, y: object = None) -> ColumnSelector:
        """Choose columns of X.

        {Parameters: X [in memory], y}

        Returns
        -------
        ColumnSelector
            The fitted selector.
        """
        return self.remember(clone(CUR() if self.cur is None else self.cur).fit(X))

    def remember(self, cur: CUR) -> ColumnSelector:
        """Adopt the columns of a fitted CUR estimator.

        Parameters
        ----------
        cur : CUR
            Fitted estimator. The selector keeps the columns that it chose.

        Returns
        -------
        ColumnSelector
            The selector itself.
        """
        self.cur_ = cur
        self.n_features_in_ = cur.n_features_in_
        if hasattr(cur, "feature_names_in_"):
            self.feature_names_in_ = cur.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.cur_.columns_] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
