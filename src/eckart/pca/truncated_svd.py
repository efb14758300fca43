"""TruncatedSVD: X ~ U diag(singular_values_) components_, nothing subtracted, with a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from eckart.api import decompose
from eckart.arrays import Array, Matrix, astype, from_numpy
from eckart.documentation import document
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_weights
from eckart.estimators.to_sklearn import ToSklearn
from eckart.formatting import counted
from eckart.options import Seed
from eckart.pca.export import sklearn_truncated_svd
from eckart.pca.null_space import settle
from eckart.pca.projection import WeightedProjection, components_as_rows
from eckart.pca.spread import spread

if TYPE_CHECKING:
    from sklearn import decomposition

_ENGINE: dict[str, allowed.EngineSolver] = {"randomized": "auto", "arpack": "lanczos"}
"""The default algorithm does not count as an explicit choice, so the cheapest solver is used."""


class FittedTruncatedSVD:
    """The attributes that `TruncatedSVD.fit` sets."""

    components_: Array
    singular_values_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array


@document
@dataclass(eq=False, repr=False)
class TruncatedSVD(ToSklearn["decomposition.TruncatedSVD"], WeightedProjection, FittedTruncatedSVD):
    """Truncated singular value decomposition with a certificate.

    TruncatedSVD finds the leading singular vectors of a matrix without centring it, as in latent semantic analysis. It
    also proves how much of the sum of squares they explain. The class is a drop-in replacement for
    ``sklearn.decomposition.TruncatedSVD``, with the same parameters, attributes and sign convention.

    Parameters
    ----------
    n_components : int or float, default 2
        Number of components, or the share of the sum of squares to explain, such as 0.9.
    algorithm : {'randomized', 'arpack'}, default 'randomized'
        'randomized' chooses the fastest solver, and `plan_` gives the reason. 'arpack' runs block Lanczos. Both are
        accurate to `tol`.
    n_iter : int, default 5
        Ignored; accepted for compatibility with scikit-learn. The iteration stops when the requested accuracy is
        proved.
    {n_oversamples, power_iteration_normalizer, random_state [start]}
    tol : float, default 0.0
        Tolerance for the squared singular values, relative to the smallest one requested. 0 selects the
        default, which is 1e-9. It is 1e-6 if at least half of all components are requested, and 1e-5 for float32 data.
    {memory [estimator], device, progress}

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features_in_)
        The right singular vectors, one per row. In each row, the entry with the largest absolute value is positive.
    explained_variance_ : array of shape (n_components_,)
        Variance of the scores of each component, with the divisor n_samples. It need not decrease from one component to
        the next, because the data are not centred.
    explained_variance_ratio_ : array of shape (n_components_,)
        `explained_variance_` divided by the total variance of the columns.
    singular_values_ : array of shape (n_components_,)
        Singular values in decreasing order.
    decomposition_ : Decomposition
        The complete result. Its `explained_variance_ratio` contains shares of the sum of squares, in decreasing order.

    See Also
    --------
    PCA : The same after subtracting the column means.
    concepts : Search and recommendations in the space of the components.
    decompose : The function behind this estimator.

    References
    ----------
    .. [1] C. Eckart and G. Young, "The approximation of one matrix by another of lower rank", Psychometrika 1, 1936.

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
        "progress": ["boolean"],
    }

    n_components: float = 2
    _: KW_ONLY
    algorithm: Literal["randomized", "arpack"] = "randomized"
    n_iter: int = 5
    n_oversamples: int = 10
    power_iteration_normalizer: Literal["auto", "QR", "LU", "none"] = "auto"
    random_state: Seed = None
    tol: float = 0.0
    memory: str | int | None = None
    device: str | None = None
    progress: bool = False

    def _sklearn(self) -> decomposition.TruncatedSVD:
        return sklearn_truncated_svd(self)

    def _fit(self, X: Matrix, sample_weight: Array | None = None) -> Matrix:
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
            progress=self.progress,
        )
        d = settle(d, k)
        self._publish(d)
        self.components_ = components_as_rows(d)
        self.singular_values_ = d.values
        self._publish_variances(*spread(d, data, weights))
        return data

    def _publish_variances(self, deviations: np.ndarray, total: float) -> None:
        shares = (deviations / total) ** 2 if total > 0.0 else deviations * 0.0
        with np.errstate(over="ignore", under="ignore"):
            self.explained_variance_ = self._like_values(deviations**2)
            self.explained_variance_ratio_ = self._like_values(shares)

    def _wanted(self, shape: tuple[int, int]) -> tuple[int | None, float | None]:
        """(number of components, share of the sum of squares): exactly one of them."""
        return allowed.count_or_share_in(self.n_components, shape, counted(min(shape), "singular value"))

    def _like_values(self, array: np.ndarray) -> Array:
        values = self.decomposition_.values
        return astype(from_numpy(array, values), values.dtype)
