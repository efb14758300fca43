"""The base classes of scikit-learn, with types.

scikit-learn ships no types. For a type checker, a class with an unknown base has every attribute and accepts every
argument: `PCA(n_componets=2)` would pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, Self

    import numpy as np
    from sklearn.utils import Tags

    from eckart.arrays import Array

    class BaseEstimator:
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: object) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_tags__(self) -> Tags: ...

    class TransformerMixin:
        """Frames as output."""

        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Names of components."""

        def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray: ...

    class SelectorMixin(TransformerMixin):
        """Some of the columns."""

        def get_support(self, indices: bool = False) -> np.ndarray: ...
        def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray: ...
        def transform(self, X: object) -> Array: ...
        def inverse_transform(self, X: object) -> Array: ...
        def fit_transform(self, X: object, y: object = None, **fit_params: object) -> Array: ...

    class MetaEstimatorMixin:
        """Takes an estimator."""
else:
    from functools import lru_cache
    from inspect import signature

    from sklearn.base import BaseEstimator as _BaseEstimator
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin
    from sklearn.feature_selection import SelectorMixin

    from eckart.options import check_names

    @lru_cache(maxsize=64)
    def _parameters(kind):
        """Names of the parameters of an estimator; None if a subclass accepts any."""
        found = signature(kind.__init__).parameters
        return None if any(one.kind is one.VAR_KEYWORD for one in found.values()) else tuple(found)[1:]

    class BaseEstimator(_BaseEstimator):
        """Refuses unknown parameters with the name to use instead."""

        def __new__(cls, *_args, **given):
            if given and (names := _parameters(cls)) is not None:
                check_names(cls.__name__, given, names)
            return super().__new__(cls)


__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "MetaEstimatorMixin",
    "SelectorMixin",
    "TransformerMixin",
]
