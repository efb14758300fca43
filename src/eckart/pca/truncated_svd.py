"""TruncatedSVD: X ~ U diag(singular_values_) components_, nothing subtracted, with a certificate."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from eckart.api import decompose
from eckart.arrays import Array, astype, from_numpy
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_weights
from eckart.estimators.output import OnDevices
from eckart.pca.export import sklearn_truncated_svd
from eckart.pca.null_space import settle
from eckart.pca.projection import Projection, components_as_rows
from eckart.pca.spread import spread
from eckart.result import Certificate, Plan

_ENGINE: dict[str, allowed.EngineSolver] = {"randomized": "auto", "arpack": "lanczos"}
"""The default algorithm is no wish, so the cheapest way is taken."""


class TruncatedSVD(OnDevices, Projection):
    """The leading singular vectors of a matrix as it is (latent semantic analysis), and a proof of how much they hold.

    Takes the place of ``sklearn.decomposition.TruncatedSVD``, with its parameters, attributes and rule for signs.

    Parameters
    ----------
    n_components : int or float
        A number of axes, or a share such as 0.9 of the sum of squares.
    algorithm : {"randomized", "arpack"}
        "randomized" takes the cheapest way, and `plan_` says why; "arpack" is block Lanczos. Both are accurate to
        `tol`.
    n_iter, n_oversamples, power_iteration_normalizer
        Accepted for compatibility: the iteration stops when its accuracy is proved.
    random_state : int, RandomState, Generator or None
        Seed of the random start; None is a fixed one.
    tol : float
        Accuracy of the squared singular values relative to the smallest wanted one. 0 means 1e-9; 1e-6 if at least half
        of all components are requested; 1e-5 for float32 data.
    memory : str, int or None
        Working memory allowed beside the data, such as "2GB".
    device : str or None
        "cuda" has data of the host worked on by a GPU; what comes out is on the host again. Arrays that are on a device
        stay there without it.

    Attributes
    ----------
    components_ : array of shape (n_components_, columns)
        One axis per row; its entry of largest modulus is positive.
    explained_variance_, explained_variance_ratio_ : array of shape (n_components_,)
        Variance of the scores on each axis (divisor rows), and its share of the variance of all columns. They need not
        fall; the shares of the sum of squares, which do, are `decomposition_.explained_variance_ratio`.
    singular_values_ : array of shape (n_components_,)
    n_components_, n_features_in_ : int
    feature_names_in_ : array of str, where the columns have names
    certificate_, plan_, decomposition_
        What is proved, what was done and why, and the result as one value.

    Examples
    --------
    >>> from eckart import TruncatedSVD
    >>> svd = TruncatedSVD(n_components=1).fit([[1, 2], [2, 1], [3, 4], [4, 3]])
    >>> (svd.singular_values_**2).round(6)
    array([58.])
    >>> svd.transform([[1, 1]]).round(4)
    array([[1.4142]])
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.COUNT, allowed.SHARE],
        "algorithm": [StrOptions(set(_ENGINE))],
        "n_iter": [allowed.WholeNumber(0)],
        "n_oversamples": [allowed.COUNT],
        "power_iteration_normalizer": [allowed.NORMALIZER],
        "random_state": allowed.RANDOM_STATE,
        "tol": [allowed.NOT_NEGATIVE],
        "memory": allowed.MEMORY,
        "device": [str, None],
    }

    certificate_: Certificate | None
    plan_: Plan | None
    components_: Array
    singular_values_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array

    def __init__(
        self,
        n_components: Any = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
        memory: str | int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.memory = memory
        self.device = device

    @allowed.validated
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TruncatedSVD:
        """Find the axes of X.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored
        sample_weight : array of shape (rows,), optional
            How often each row counts.

        Returns
        -------
        TruncatedSVD
            The estimator itself.
        """
        self._fit(X, sample_weight)
        return self

    @allowed.validated
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the axes of X and give the scores of its rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored
        sample_weight : array of shape (rows,), optional

        Returns
        -------
        array of shape (rows, n_components_)
        """
        return self._scores(self._fit(X, sample_weight))

    def to_sklearn(self) -> Any:
        """The same fitted model as a ``sklearn.decomposition.TruncatedSVD``, for tools that know only that."""
        return sklearn_truncated_svd(self)

    def _fit(self, X: Any, sample_weight: Any) -> Any:
        data = take(self, X, reset=True)
        weights = take_weights(sample_weight)
        k, target_ratio = self._wanted(data.shape)
        d = decompose(
            data,
            "svd",
            k=k,
            explain=target_ratio,
            sample_weight=weights,
            solver=allowed.engine_solver(_ENGINE[self.algorithm], k, target_ratio, min(data.shape)),
            tol=allowed.accuracy(self.tol),
            rng=self.random_state,
            memory=self.memory,
            device=self.device,
        )
        d = settle(d, k)
        self.decomposition_ = d
        self.certificate_, self.plan_ = d.certificate, d.plan
        self.components_ = components_as_rows(d)
        self.singular_values_ = d.values
        self.n_components_ = d.k
        self._publish_variances(*spread(d, data, weights))
        return data

    def _publish_variances(self, deviations: np.ndarray, total: float) -> None:
        shares = (deviations / total) ** 2 if total > 0.0 else deviations * 0.0
        with np.errstate(over="ignore", under="ignore"):
            self.explained_variance_ = self._like_values(deviations**2)
            self.explained_variance_ratio_ = self._like_values(shares)

    def _wanted(self, shape: tuple[int, int]) -> tuple[int | None, float | None]:
        """(number of axes, share of the sum of squares): exactly one of them."""
        wanted: Any = self.n_components
        if not isinstance(wanted, Integral):
            return None, float(wanted)
        if int(wanted) > min(shape):
            raise ParameterError(
                f"n_components({wanted}) must be <= n_features({shape[1]}) and <= n_samples({shape[0]}): "
                f"a matrix of this shape has {min(shape)} singular values."
            )
        return int(wanted), None

    def _like_values(self, array: np.ndarray) -> Array:
        values = self.decomposition_.values
        return astype(from_numpy(array, values), values.dtype)
