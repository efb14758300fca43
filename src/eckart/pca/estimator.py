"""PCA: (X - mean) / scale ~ U diag(singular_values_) components_, with a certificate."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Options, StrOptions

from eckart.api import decompose
from eckart.arrays import Array, to_numpy
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.cut import cut
from eckart.estimators.inputs import take, take_weights
from eckart.estimators.output import OnDevices
from eckart.missing.fill import imputation_of
from eckart.pca.export import sklearn_pca
from eckart.pca.null_space import settle
from eckart.pca.probabilistic import ProbabilisticMixin
from eckart.pca.projection import (
    Projection,
    components_as_rows,
    explained_ratio,
    noise_variance,
    zeros_like_mean,
)
from eckart.rank.minka import minka_rank
from eckart.result import Certificate, Decomposition, Imputation, Plan


class PCA(OnDevices, ProbabilisticMixin, Projection):
    """Principal component analysis: the orthogonal axes of largest variance, and a proof of how much they hold.

    Takes the place of ``sklearn.decomposition.PCA``, with its parameters, attributes and rule for signs.

    Parameters
    ----------
    n_components : int, float, 'mle' or None
        A number of axes; a share such as 0.95 of the variance, on every kind of data and with every solver; 'mle' for
        Minka's choice (at least as many rows as columns); None for all min(rows, columns).
    copy : bool
        Accepted for compatibility. The data are never overwritten and never copied whole.
    whiten : bool
        Divide the scores by their standard deviation. Directions without variance stay at zero.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}
        "auto" takes the cheapest way, and `plan_` says why; "full" an exact one; "covariance_eigh" cross-products in
        float64, refined where they are not enough; "arpack" and "randomized" block Lanczos. All are accurate to `tol`.
    tol : float
        Accuracy of the variances relative to the smallest wanted one. 0 means 1e-9; 1e-6 if at least half of all
        components are requested; 1e-5 for float32 data.
    iterated_power, n_oversamples, power_iteration_normalizer
        Accepted for compatibility: the iteration stops when its accuracy is proved.
    random_state : int, RandomState, Generator or None
        Seed of the random start; None is a fixed one.
    center, scale : bool
        Subtract the column means; divide by the standard deviations (PCA of the correlation matrix).
    ddof : 0 or 1
        The standard deviations of `scale` have the divisor rows - ddof.
    which : {"largest", "smallest"}
        The axes of largest variance, or of smallest, smallest first.
    memory : str, int or None
        Working memory allowed beside the data, such as "2GB".
    missing : {"error", "mean", "em"}
        Missing values: refused; filled with column means; or foretold from the other values of their row by the axes
        themselves. `transform` fills gaps in new rows the same way.
    device : str or None
        "cuda" has data of the host worked on by a GPU; what comes out is on the host again. Arrays that are on a device
        stay there without it.

    Attributes
    ----------
    components_ : array of shape (n_components_, columns)
        One axis per row; its entry of largest modulus is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : array of shape (n_components_,)
        Variances with divisor rows - 1, their shares of the total (0 when there is no variance), singular values.
    mean_ : array of shape (columns,)
    scale_ : array of shape (columns,) or None
    noise_variance_ : float
        Mean of the min(rows, columns) - k variances left out, as in scikit-learn. `get_covariance`, `get_precision` and
        `score` divide by columns - k, so that the covariance has the variance of the data.
    n_components_, n_samples_, n_features_in_ : int
    feature_names_in_ : array of str, where the columns have names
    filled_ : Imputation or None
        Places (`rows`, `columns`), `values` and standard `errors` of the gaps that were filled.
    certificate_, plan_, decomposition_
        What is proved, what was done and why, and the result as one value.

    Examples
    --------
    >>> from eckart import PCA
    >>> X = [[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924])
    >>> low, high = pca.certificate_.explained
    >>> bool(low <= pca.explained_variance_ratio_[0] <= high)
    True
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.WholeNumber(0), allowed.SHARE, StrOptions({"mle"}), None],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [StrOptions(set(allowed.ENGINE))],
        "tol": [allowed.NOT_NEGATIVE],
        "iterated_power": [StrOptions({"auto"}), allowed.WholeNumber(0)],
        "n_oversamples": [allowed.COUNT],
        "power_iteration_normalizer": [allowed.NORMALIZER],
        "random_state": allowed.RANDOM_STATE,
        "center": ["boolean"],
        "scale": ["boolean"],
        "ddof": [Options(Integral, {0, 1})],
        "which": [StrOptions({"largest", "smallest"})],
        "memory": allowed.MEMORY,
        "missing": [StrOptions({"error", "mean", "em"})],
        "device": [str, None],
    }

    certificate_: Certificate | None
    plan_: Plan | None
    filled_: Imputation | None
    components_: Array
    singular_values_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    noise_variance_: float
    mean_: Array
    scale_: Array | None
    n_samples_: int

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: Any = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        center: bool = True,
        scale: bool = False,
        ddof: int = 1,
        which: Any = "largest",
        memory: str | int | None = None,
        missing: Any = "error",
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.center = center
        self.scale = scale
        self.ddof = ddof
        self.which = which
        self.memory = memory
        self.missing = missing
        self.device = device

    @allowed.validated
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Find the axes of X.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
            Rows are observations.
        y : ignored
        sample_weight : array of shape (rows,), optional
            How often each row counts.

        Returns
        -------
        PCA
            The estimator itself.
        """
        self._fit(X, sample_weight)
        return self

    @allowed.validated
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the axes of X and give the scores of its rows: `fit`, then one more read.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def to_sklearn(self) -> Any:
        """The same fitted model as a ``sklearn.decomposition.PCA``, for tools that know only that."""
        return sklearn_pca(self)

    def _fit(self, X: Any, sample_weight: Any) -> Any:
        data = take(self, X, reset=True)
        shape = data.shape
        k, target_ratio = self._wanted(shape)
        weights = take_weights(sample_weight)
        d = decompose(
            data,
            "pca",
            k=None if k is None else max(k, 1),
            explain=target_ratio,
            center=self.center,
            scale=self.scale,
            ddof=self.ddof,
            which=self.which,
            sample_weight=weights,
            solver=allowed.engine_solver(allowed.ENGINE[self.svd_solver], k, target_ratio, min(shape)),
            tol=allowed.accuracy(self.tol),
            rng=self.random_state,
            memory=self.memory,
            missing=self.missing,
            device=self.device,
        )
        if self.n_components == "mle":
            d = cut(d, minka_rank(to_numpy(explained_ratio(d)), max(round(d.weight), 1)))
        elif k == 0:
            d = cut(d, 0)
        elif target_ratio is None:
            d = settle(d, _axes(k, shape, weights))
        self._publish(d, shape[0])
        return data

    def _wanted(self, shape: tuple[int, int]) -> tuple[int | None, float | None]:
        """(number of axes, share of the variance): at most one of them."""
        wanted, short = self.n_components, min(shape)
        if wanted is None:
            return None, None
        if wanted == "mle":
            if shape[0] < shape[1]:
                raise ParameterError("n_components='mle' is only supported if n_samples >= n_features")
            if self.which == "smallest":
                raise ParameterError(
                    "n_components='mle' chooses among the largest axes; give a number for the smallest."
                )
            return None, None
        if not isinstance(wanted, Integral):
            return None, float(wanted)
        if int(wanted) > short:
            raise ParameterError(
                f"n_components={wanted} must be between 0 and min(n_samples, n_features)={short} with "
                f"svd_solver={self.svd_solver!r}"
            )
        return int(wanted), None

    def _publish(self, d: Decomposition, rows: int) -> None:
        self.decomposition_ = d
        self.filled_ = imputation_of(d)
        self.certificate_, self.plan_ = d.certificate, d.plan
        self.components_ = components_as_rows(d)
        self.singular_values_ = d.values
        with np.errstate(over="ignore", under="ignore"):
            self.explained_variance_ = d.explained_variance
            self.explained_variance_ratio_ = d.explained_variance_ratio
            self.noise_variance_ = noise_variance(d)
        self.mean_ = zeros_like_mean(d)
        self.scale_ = d.scale
        self.n_components_ = d.k
        self.n_samples_ = int(rows)


def _axes(k: int | None, shape: tuple[int, int], weights: Any) -> int | None:
    """How many axes rows give that count several times: as many as the same rows repeated."""
    if weights is None or k is not None:
        return k
    weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (shape[0],))
    return min(max(int(np.sum(weights)), int(np.sum(weights > 0.0))), shape[1])
