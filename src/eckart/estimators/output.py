"""What arrays of other libraries change in a scikit-learn estimator: no data frames of them, and no mixing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sklearn import get_config

from eckart.arrays import Array
from eckart.devices import is_off_host
from eckart.estimators.inputs import same_device


class OnDevices:
    """`set_output` makes frames of host numbers; arrays of other libraries come back as arrays, whatever it says."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("transform", "fit_transform"):
            method = getattr(cls, name, None)
            # scikit-learn has wrapped it by now; what it wrapped gives arrays.
            if hasattr(method, "__wrapped__") and not getattr(method, "plain_elsewhere", False):
                setattr(cls, name, _plain(method))

    def inverse_transform(self, X: Any) -> Array:
        """Reconstruct rows from their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores (whitened scores if the estimator whitens), from the array library and device of the fit.

        Returns
        -------
        array of shape (n_samples, n_features_in_)
            Rows in the units of the data.
        """
        same_device(self, X, reset=False)
        return super().inverse_transform(X)  # type: ignore[misc]


def _frames_wanted(estimator: Any) -> bool:
    return "_sklearn_output_config" in estimator.__dict__ or get_config()["transform_output"] != "default"


def _plain(method: Any) -> Callable[..., Any]:
    @functools.wraps(method)
    def chosen(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        # Scores stay an array as long as nobody has asked for frames, and need no container then.
        bare = is_off_host(X) or not _frames_wanted(self)
        return (method.__wrapped__ if bare else method)(self, X, *args, **kwargs)

    chosen.plain_elsewhere = True  # type: ignore[attr-defined]
    return chosen
