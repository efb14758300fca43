"""PCA: (X - mean) / scale ~ U diag(singular_values_) components_, with a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from sklearn.utils._param_validation import Options, StrOptions

from eckart.api import decompose
from eckart.arrays import Array, Matrix, to_numpy
from eckart.documentation import document
from eckart.engine.leading import leading
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_weights
from eckart.estimators.to_sklearn import ToSklearn
from eckart.missing.fill import imputation_of
from eckart.options import Seed
from eckart.pca.export import sklearn_pca
from eckart.pca.null_space import settle
from eckart.pca.probabilistic import ProbabilisticMixin
from eckart.pca.projection import (
    WeightedProjection,
    components_as_rows,
    explained_ratio,
    noise_variance,
    zeros_like_mean,
)
from eckart.rank.minka import minka_rank
from eckart.result import Decomposition, Imputation, Which

if TYPE_CHECKING:
    from sklearn import decomposition
    from sklearn.utils import Tags


class FittedPCA:
    """The attributes that `PCA.fit` sets."""

    filled_: Imputation | None
    n_components_: int
    components_: Array
    singular_values_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    mean_: Array
    scale_: Array | None
    n_samples_: int


@document
@dataclass(eq=False, repr=False)
class PCA(ToSklearn["decomposition.PCA"], ProbabilisticMixin, WeightedProjection, FittedPCA):
    """Principal component analysis with a certificate.

    PCA finds the orthogonal components of largest variance and proves how much of the variance they explain. It is a
    drop-in replacement for ``sklearn.decomposition.PCA``, with the same parameters, attributes and sign convention. It
    also accepts sparse matrices, data frames, files and arrays on a GPU.

    Parameters
    ----------
    n_components : int, float, 'mle' or None, default None
        Number of components. A float such as 0.95 keeps the smallest number of components that explain this share of
        the variance; this works for every kind of data and every solver. 'mle' applies Minka's rule and needs at least
        as many rows as columns. None keeps all min(n_samples, n_features) components.
    copy : bool, default True
        Ignored; accepted for compatibility with scikit-learn. The data are never overwritten and never copied as a
        whole.
    whiten : bool, default False
        Divide the scores of each component by their standard deviation. Scores of components without variance stay 0.
    svd_solver : {'auto', 'full', 'covariance_eigh', 'arpack', 'randomized'}, default 'auto'
        'auto' chooses the fastest solver, and `plan_` gives the reason. 'full' uses a solver that does not iterate.
        'covariance_eigh' computes cross-products in float64 and refines the result if it is not accurate enough.
        'arpack' and 'randomized' run block Lanczos. All solvers are accurate to `tol`.
    tol : float, default 0.0
        Tolerance for the variances, relative to the smallest one requested. 0 selects the default, which is
        1e-9. It is 1e-6 if at least half of all components are requested, and 1e-5 for float32 data.
    iterated_power : int or 'auto', default 'auto'
        Ignored; accepted for compatibility with scikit-learn. The iteration stops when the requested accuracy is
        proved.
    {n_oversamples, power_iteration_normalizer, random_state [start]}
    center : bool, default True
        Subtract the column means.
    scale : bool, default False
        Divide each column by its standard deviation, so that the components are those of the correlation matrix.
    ddof : {0, 1}, default 1
        `scale` computes standard deviations with the divisor n_samples - ddof. With `sample_weight`, n_samples is the
        sum of the weights. If 1 is subtracted from a sum below 2, the divisor is 1.
    which : {'largest', 'smallest'}, default 'largest'
        'largest' computes the components of largest variance. 'smallest' computes those of smallest variance, in
        increasing order.
    {memory [estimator]}
    missing : {'error', 'mean', 'em'}, default 'error'
        How to treat missing values: raise an error, replace them with the column mean, or impute them with a factor
        model by expectation-maximisation (EM). `transform` imputes new rows in the same way.
    {device, progress}

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features_in_)
        The components, one per row. In each row, the entry with the largest absolute value is positive.
    explained_variance_ : array of shape (n_components_,)
        Variance of the scores of each component, with the divisor n_samples - 1.
    explained_variance_ratio_ : array of shape (n_components_,)
        Share of the total variance that each component explains. 0 if the data have no variance.
    singular_values_ : array of shape (n_components_,)
        Singular values of the centred and scaled data.
    mean_ : array of shape (n_features_in_,)
        Column means that were subtracted. Zeros if `center` is False.
    scale_ : array of shape (n_features_in_,) or None
        Column standard deviations. None if `scale` is False.
    noise_variance_ : float
        Mean variance of the min(n_samples, n_features) - n_components_ components that were not kept, as in
        scikit-learn.
    n_samples_ : int
        Number of rows.
    filled_ : Imputation or None
        The imputed entries: their indices `rows` and `columns`, their `values`, and their standard errors (`errors`).
        None if nothing was imputed.

    See Also
    --------
    IncrementalPCA : PCA of rows that arrive in batches.
    TruncatedSVD : The same without centring.
    KernelPCA : Nonlinear components.
    decompose : The function behind this estimator.
    choose_rank : Choose the number of components.

    Notes
    -----
    If (X - mean) / scale = U S V^T is the singular value decomposition, `components_` is V^T and `transform` returns U
    S. `get_covariance`, `get_precision` and `score` use a probabilistic model with isotropic noise. Its noise variance
    is the variance that the components do not explain, divided by n_features - n_components_, so that the trace of the
    model's covariance is the total variance of the data. See `get_covariance`.

    References
    ----------
    .. [1] I. T. Jolliffe, "Principal Component Analysis", 2nd edition, Springer, 2002.
    .. [2] T. P. Minka, "Automatic choice of dimensionality for PCA", NIPS, 2000.

    Examples
    --------
    >>> from eckart import PCA
    >>> X = [[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924])
    >>> pca.transform([[1.0, 1]]).round(4)
    array([[1.3834]])
    >>> print(f"{pca.certificate_.explained[1]:.4f}")
    0.9924
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
        "progress": ["boolean"],
    }

    n_components: float | Literal["mle"] | None = None
    _: KW_ONLY
    copy: bool = True
    whiten: bool = False
    svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized"] = "auto"
    tol: float = 0.0
    iterated_power: int | Literal["auto"] = "auto"
    n_oversamples: int = 10
    power_iteration_normalizer: Literal["auto", "QR", "LU", "none"] = "auto"
    random_state: Seed = None
    center: bool = True
    scale: bool = False
    ddof: int = 1
    which: Which = "largest"
    memory: str | int | None = None
    missing: Literal["error", "mean", "em"] = "error"
    device: str | None = None
    progress: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _sklearn(self) -> decomposition.PCA:
        return sklearn_pca(self)

    def _fit(self, X: Matrix, sample_weight: Any = None) -> Matrix:
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
            progress=self.progress,
        )
        if self.n_components == "mle":
            d = leading(d, minka_rank(to_numpy(explained_ratio(d)), max(round(d.weight), 1)))
        elif k == 0:
            d = leading(d, 0)
        elif target_ratio is None:
            d = settle(d, _axes(k, shape, weights))
        self._publish(d)
        self.n_samples_ = int(shape[0])
        return data

    def _wanted(self, shape: tuple[int, int]) -> tuple[int | None, float | None]:
        """(number of components, share of the variance): at most one of them."""
        wanted, short = self.n_components, min(shape)
        if wanted == "mle":
            if shape[0] < shape[1]:
                raise ParameterError("n_components='mle' is only supported if n_samples >= n_features")
            if self.which == "smallest":
                raise ParameterError(
                    "n_components='mle' applies only to the largest components. With "
                    "which='smallest', give the number of components."
                )
            return None, None
        return allowed.count_or_share(
            wanted, short,
            f"n_components={wanted} must be between 0 and min(n_samples, n_features)={short} with "
            f"svd_solver={self.svd_solver!r}",
        )  # fmt: skip

    @property
    def noise_variance_(self) -> float:
        """Mean variance of the components that were not kept, as in scikit-learn."""
        with np.errstate(over="ignore", under="ignore"):
            return noise_variance(self.decomposition_)

    def _publish(self, d: Decomposition) -> None:
        super()._publish(d)
        self.filled_ = imputation_of(d)
        self.components_ = components_as_rows(d)
        self.singular_values_ = d.values
        with np.errstate(over="ignore", under="ignore"):
            self.explained_variance_ = d.explained_variance
            self.explained_variance_ratio_ = d.explained_variance_ratio
        self.mean_ = zeros_like_mean(d)
        self.scale_ = d.scale
        if isinstance(self.n_components, str | float):
            self.n_components_ = cast(int, np.intp(d.k))  # derived from the data: a NumPy integer, as in scikit-learn


def _axes(k: int | None, shape: tuple[int, int], weights: object) -> int | None:
    """Maximum number of components of rows with integer weights: as for the same rows repeated."""
    if weights is None or k is not None:
        return k
    weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (shape[0],))
    return min(max(int(np.sum(weights)), int(np.sum(weights > 0.0))), shape[1])
