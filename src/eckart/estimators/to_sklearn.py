"""`to_sklearn`, shared by all estimators that have a counterpart in scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from sklearn.utils.validation import check_is_fitted

Counterpart = TypeVar("Counterpart")


class ToSklearn(Generic[Counterpart]):
    """Conversion to the scikit-learn class of the same name."""

    def to_sklearn(self) -> Counterpart:
        """Convert to a fitted scikit-learn estimator of the same name.

        Returns
        -------
        sklearn.base.BaseEstimator
            A scikit-learn estimator with the same fitted attributes, for tools that require the scikit-learn class.

        Raises
        ------
        ParameterError
            If the estimator uses a parameter that scikit-learn's class does not have.
        """
        check_is_fitted(self)
        return self._sklearn()

    @abstractmethod
    def _sklearn(self) -> Counterpart:
        """The counterpart of a fitted estimator."""
