"""KernelPCA: principal components in the feature space of a kernel, with proofs and pre-images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, Matrix, astype, device, is_numpy, namespace, to_numpy
from eckart.documentation import document
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_scores
from eckart.estimators.template import InvertibleEstimator
from eckart.estimators.to_onnx import ToOnnx
from eckart.estimators.to_sklearn import ToSklearn
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix, taken_to
from eckart.kernel_pca.details import KernelPCADetails
from eckart.kernel_pca.export import sklearn_kernel_pca
from eckart.kernel_pca.fit import correlations, decompose, expansion_of, project, scores_with_model
from eckart.kernel_pca.linear import linear_rows
from eckart.kernel_pca.onnx_export import kernel_onnx
from eckart.kernel_pca.options import Solver, table
from eckart.kernel_pca.preimage import HOW, Preimages, preimages, row_lengths
from eckart.kernel_pca.preimage_ridge import Ridge, learn
from eckart.kernel_pca.result import eigenvalues_of
from eckart.options import Seed
from eckart.progress import progress_bar
from eckart.result import Decomposition

if TYPE_CHECKING:
    from sklearn import decomposition
    from sklearn.utils import Tags


_KERNELS = {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed"}
_ENGINE: dict[str, Solver] = {
    "auto": "auto", "dense": "direct", "arpack": "lanczos", "randomized": "lanczos", "lanczos": "lanczos",
    "cholesky": "cholesky",
}  # fmt: skip


class FittedKernelPCA(InvertibleEstimator):
    """The attributes that `KernelPCA.fit` sets."""

    decomposition_: Decomposition[KernelPCADetails]
    eigenvalues_: Array
    eigenvectors_: Array | None
    gamma_: float | Literal["auto", "median", "local"] | None
    approximation_error_: float
    correlations_: Array
    dual_coef_: Array
    X_transformed_fit_: Array
    preimage_alpha_: float
    preimage_error_: float


@document
@dataclass(eq=False, repr=False)
class KernelPCA(ToSklearn["decomposition.KernelPCA"], ToOnnx, FittedKernelPCA):
    """Kernel principal component analysis with a certificate and pre-images.

    Kernel PCA finds the principal components in the feature space of a kernel. This class is a drop-in replacement for
    ``sklearn.decomposition.KernelPCA``, with the same parameters, attributes and sign convention.

    Parameters
    ----------
    n_components : int, float or None, default None
        Number of components, or the share of the sum of the positive eigenvalues that they must explain, such as 0.9.
        None keeps all components whose eigenvalue is not zero.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'cosine', 'laplacian', 'precomputed'} or callable, default 'linear'
        Kernel function. A callable takes two rows and returns a number. With 'precomputed', X contains the kernel
        values of all pairs of rows, and `transform` takes the kernel values of new rows with the fitted rows.
    gamma : float, 'auto', 'median', 'local' or None, default None
        Coefficient gamma of the rbf, laplacian, poly and sigmoid kernels. None is 1 / n_features. 'median' and 'local'
        derive gamma from the median and from the 10 % quantile of the distances between rows. 'auto' is for the rbf
        kernel: it chooses the value that separates groups of rows, such as nested rings, with the fewest components. If
        there are no groups, 'auto' is the same as 'local'.
    degree : float, default 3
        Degree of the polynomial kernel.
    coef0 : float, default 1
        Constant term of the polynomial and sigmoid kernels.
    kernel_params : dict or None, default None
        Keyword arguments of a callable kernel.
    alpha : float or 'auto', default 'auto'
        Penalty of the ridge regression for ``preimage='ridge'``. 'auto' chooses the penalty and the width of the
        regression's kernel by leave-one-out cross-validation. If you give a number, the regression uses the kernel of
        the model.
    fit_inverse_transform : bool, default False
        Fit the ridge regression during `fit`. If False, it is fitted when it is first needed.
    eigen_solver : {'auto', 'dense', 'arpack', 'randomized', 'lanczos', 'cholesky'}, default 'auto'
        'auto' chooses the fastest exact solver that the memory allows, and `plan_` gives the reason. 'dense' computes
        all eigenvalues. 'arpack', 'randomized' and 'lanczos' all run block Lanczos. 'cholesky' approximates the kernel
        matrix.
    tol : float, default 0
        Tolerance for the eigenvalues, relative to the smallest one requested. 0 means 1e-7, or 1e-9 for a
        precomputed kernel in float64.
    max_iter : int or None, default None
        Maximum number of passes over the kernel matrix. None allows 100.
    iterated_power : int or 'auto', default 'auto'
        Ignored; accepted for compatibility with scikit-learn. The iteration stops when the requested accuracy is
        proved.
    remove_zero_eig : bool, default False
        Drop components whose eigenvalue is zero. They are always dropped if `n_components` is None.
    {random_state [start]}
    copy_X : bool, default True
        Store a copy of the data in `X_fit_`. If False, store the data themselves.
    n_jobs : int or None, default None
        Ignored; accepted for compatibility with scikit-learn. The number of threads follows the BLAS setting.
    preimage : {'ridge', 'fixed_point', 'neighbours'}, default 'ridge'
        Method by which `inverse_transform` finds rows whose scores are close to the given ones (pre-images). It is not
        used for the linear kernel, whose inverse is that of PCA.
    approximation_error : float, default 0.01
        Share of the trace of the kernel matrix that the approximation may leave out. It applies to 'cholesky' and to
        data larger than `memory`.
    max_rank : int or None, default None
        Maximum number of rows of the kernel matrix that the approximation uses.
    memory : str, int or None, default None
        Memory for storing parts (tiles) of the kernel matrix, such as "2GB". None allows 2 GB.
    device : str or None, default None
        'cuda' copies host data to the GPU, if they fit, and returns host arrays. Arrays that are already on a device
        stay there.
    progress : bool, default False
        Show a progress bar that counts passes over the kernel.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components_,)
        Eigenvalues of the centred kernel matrix, in decreasing order.
    eigenvectors_ : array of shape (n_samples, n_components_)
        Unit eigenvectors. The entry of largest absolute value in each column is positive.
    gamma_ : float
        Value of gamma that was used.
    X_fit_ : array or sparse matrix of shape (n_samples, n_features_in_)
        The fitted rows.
    dual_coef_ : array
        Coefficients of the ridge regression. Defined only with `fit_inverse_transform`.
    X_transformed_fit_ : array
        Landmarks of the ridge regression. Defined only with `fit_inverse_transform`.
    preimage_alpha_ : float
        Penalty of the ridge regression. Defined only with `fit_inverse_transform`.
    preimage_error_ : float
        Leave-one-out error of the ridge regression. Defined only with `fit_inverse_transform`.
    approximation_error_ : float
        Share of the trace that the approximated kernel matrix leaves out. 0.0 if the kernel matrix is exact.
    correlations_ : array of shape (n_features_in_, n_components_)
        Correlations of the columns with the scores. Not defined for precomputed kernels.
    certificate_ : Certificate
        Proved bounds. They refer to the exact kernel matrix, even if the solver approximates it.

    See Also
    --------
    PCA : Linear components.
    Isomap : Coordinates that preserve distances along the data.
    scan_kernels : Compare kernels and widths.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola and K.-R. Müller, "Nonlinear component analysis as a kernel eigenvalue problem",
           Neural Computation 10, 1998.
    .. [2] S. Mika et al., "Kernel PCA and de-noising in feature spaces", NIPS, 1998.

    Examples
    --------
    >>> from eckart import KernelPCA
    >>> X = [[1.0, 3.0], [0.0, 2.0], [0.0, 0.0], [3.0, 3.0]]
    >>> KernelPCA(n_components=2).fit(X).eigenvalues_.round(9)
    array([10.,  2.])
    >>> model = KernelPCA(n_components=2, kernel="rbf", gamma=0.1).fit(X)
    >>> model.eigenvalues_.round(4)
    array([0.9532, 0.4538])
    >>> model.transform(X).shape
    (4, 2)
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.COUNT, allowed.SHARE, None],
        "kernel": [StrOptions(_KERNELS), callable],
        "gamma": [allowed.NOT_NEGATIVE, StrOptions({"auto", "median", "local"}), None],
        "degree": [allowed.NOT_NEGATIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [allowed.NOT_NEGATIVE, StrOptions({"auto"})],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions(set(_ENGINE))],
        "tol": [allowed.NOT_NEGATIVE],
        "max_iter": [allowed.COUNT, None],
        "iterated_power": [allowed.WholeNumber(0), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": allowed.RANDOM_STATE,
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "preimage": [StrOptions(set(HOW))],
        "approximation_error": [allowed.SHARE],
        "max_rank": [allowed.COUNT, None],
        "memory": allowed.MEMORY,
        "device": [str, None],
        "progress": ["boolean"],
    }

    n_components: float | None = None
    _: KW_ONLY
    kernel: str | Callable[..., float] = "linear"
    gamma: float | Literal["auto", "median", "local"] | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: dict[str, object] | None = None
    alpha: float | Literal["auto"] = "auto"
    fit_inverse_transform: bool = False
    eigen_solver: Literal["auto", "dense", "arpack", "randomized", "lanczos", "cholesky"] = "auto"
    tol: float = 0
    max_iter: int | None = None
    iterated_power: int | Literal["auto"] = "auto"
    remove_zero_eig: bool = False
    random_state: Seed = None
    copy_X: bool = True
    n_jobs: int | None = None
    preimage: Literal["ridge", "fixed_point", "neighbours"] = "ridge"
    approximation_error: float = 0.01
    max_rank: int | None = None
    memory: str | int | None = None
    device: str | None = None
    progress: bool = False

    def _rows(self, scores: Array) -> Array:
        return self._preimages(scores, measure=False).rows

    def preimages(self, X: object) -> Preimages:
        """Compute pre-images and their distances in feature space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores, as returned by `transform`.

        Returns
        -------
        Preimages
            The pre-images (`rows`), the `distances` in feature space between their images and the points with the given
            scores (0 for the linear kernel), and the `lengths` of these points for comparison.
        """
        check_is_fitted(self)
        return self._preimages(self._take_scores(X), measure=True)

    def _take_scores(self, X: object) -> Array:
        return take_scores(X)  # from any device: the model is copied to the device of the scores

    def _scores(self, data: object) -> Array:
        return project(self.decomposition_, data)

    def _preimages(self, scores: Array, *, measure: bool) -> Preimages:
        d = self.decomposition_
        if scores.shape[1] != d.k:
            raise ParameterError(
                f"X has {scores.shape[1]} columns, but it must have one column for each of the "
                f"{counted(d.k, 'component')}."
            )
        if d.details.is_linear:
            rows = _linear_rows(d, scores)
            xp = namespace(scores)
            return Preimages(rows, xp.zeros(scores.shape[0], device=device(scores)), row_lengths(scores))
        scores, d = scores_with_model(d, scores)
        ridge = getattr(self, "_ridge", None)
        found = preimages(expansion_of(d), scores, how=self.preimage, alpha=self.alpha, ridge=ridge, measure=measure)
        return Preimages(astype(found.rows, scores.dtype), found.distances, found.lengths)

    @document
    def column_correlations(self, X: object) -> Array:
        """Compute the correlation of each column with each component, using new rows.

        {Parameters: X [new rows]}

        Returns
        -------
        array of shape (n_features_in_, n_components_)
            Correlation of each column with each component.
        """
        check_is_fitted(self)
        data = take(self, X, reset=False)
        return correlations(table(open_matrix(data, stream=False)), project(self.decomposition_, data))

    def _sklearn(self) -> decomposition.KernelPCA:
        return sklearn_kernel_pca(self)

    def _onnx(self, dtype: str) -> Any:
        return kernel_onnx(self.decomposition_, dtype)

    def _fit(self, X: Matrix) -> Matrix:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ParameterError(
                "Cannot fit_inverse_transform with a precomputed kernel, because a kernel matrix "
                "does not contain the rows."
            )
        data = take(self, X, reset=True)
        rows = table(open_matrix(data, stream=False))
        if self.copy_X:
            rows = rows.clone() if hasattr(rows, "clone") else rows.copy()
        d = self._decomposed(rows)
        self._publish(d)
        self.eigenvalues_, self.eigenvectors_ = eigenvalues_of(d), d.left
        self.gamma_ = d.details.gamma
        if self.gamma_ is None:
            self.gamma_ = 1.0 / rows.shape[1] if self.gamma is None else self.gamma
        self.X_fit_ = rows
        self.approximation_error_ = float(d.details.approximation_error)
        if d.details.correlations is not None:
            self.correlations_ = d.details.correlations
        self._ridge: Ridge | None = None
        if self.fit_inverse_transform and not d.details.is_linear:
            self._learn(rows)
        return data

    def _decomposed(self, rows: Matrix) -> Decomposition[KernelPCADetails]:
        count, target_ratio = allowed.count_or_share(self.n_components)
        with progress_bar(self.progress, None) as callback:
            d = decompose(
                rows if self.device is None else taken_to(rows, self.device)[0],
                k=count, explain=target_ratio, kernel=self.kernel, gamma=self.gamma, degree=self.degree,
                coef0=self.coef0, kernel_params=self.kernel_params, solver=_ENGINE[self.eigen_solver],
                tol=allowed.accuracy(self.tol), approximation_error=self.approximation_error, max_rank=self.max_rank,
                left=True, rng=self.random_state, memory=self.memory, max_passes=self.max_iter or 100,
                callback=callback,
            )  # fmt: skip
        d = d if self.device is None else d.on_host()
        names = getattr(self, "feature_names_in_", None)
        d = d.named(d.row_names, None if names is None else tuple(str(name) for name in names))
        return without_zeros(d) if self.remove_zero_eig else d

    def _learn(self, rows: Array) -> None:
        ridge = learn(self._fitted_scores(rows), rows, self.alpha, expansion_of(self.decomposition_).kernel)
        self._ridge = ridge
        self.dual_coef_, self.X_transformed_fit_ = ridge.dual, ridge.landmarks
        self.preimage_alpha_, self.preimage_error_ = ridge.alpha, ridge.error

    def _fitted_scores(self, data: object) -> Array:
        return self.decomposition_.left * self.decomposition_.values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _linear_rows(d: Decomposition, scores: Array) -> Array:
    if is_numpy(scores) and is_numpy(d.right):
        return scores @ d.right.T.astype(scores.dtype) + d.mean.astype(scores.dtype)  # type: ignore[union-attr]
    return linear_rows(d, scores)


def without_zeros(d: Decomposition[KernelPCADetails]) -> Decomposition[KernelPCADetails]:
    """The components whose eigenvalue is not zero; the explained share stays the same."""
    kept = int(np.sum(to_numpy(d.values) > 0))
    if kept == d.k:
        return d
    arrays = {name: getattr(d.details, name) for name in ("support_scores", "dual", "correlations", "offset")}
    details = replace(d.details, **{name: a[..., :kept] for name, a in arrays.items() if a is not None})
    c = d.certificate
    if c is not None:
        groups = tuple((first, min(last, kept - 1)) for first, last in c.undetermined if first < kept)
        c = replace(
            c, lower=c.lower[:kept], upper=c.upper[:kept], residuals=c.residuals[:kept], undetermined=groups
        )  # fmt: skip
    left = None if d.left is None else d.left[:, :kept]
    return replace(d, values=d.values[:kept], right=d.right[:, :kept], left=left, certificate=c, details=details)
