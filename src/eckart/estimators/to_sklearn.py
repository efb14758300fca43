"""`to_sklearn`, shared by all estimators with a counterpart in scikit-learn, and what their exports have in common."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eckart.aliases import Keywords
from eckart.arrays import is_array, to_numpy

_INPUT = ("n_features_in_", "feature_names_in_")
Counterpart = TypeVar("Counterpart")


def with_attributes(theirs: object, ours: object, names: tuple[str, ...]) -> Any:
    """`theirs` with copies of the fitted attributes of `ours`."""
    for name in (*names, *_INPUT):
        if hasattr(ours, name):
            value = getattr(ours, name)
            copied = is_array(value) and not isinstance(value, np.generic)
            setattr(theirs, name, to_numpy(value).copy() if copied else value)
    return theirs


def shared_parameters(ours: Any, kind: type) -> Keywords:
    """The parameters of `ours` that scikit-learn's class also has, with the chosen number of components."""
    names = set(inspect.signature(kind).parameters) & set(ours.get_params(deep=False))
    found = {name: getattr(ours, name) for name in names} | {"n_components": ours.n_components_}
    if "random_state" in found:
        found["random_state"] = seed(ours.random_state)
    return found


def seed(random_state: object) -> Any:
    """scikit-learn refuses a Generator."""
    return None if hasattr(random_state, "bit_generator") else random_state


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
