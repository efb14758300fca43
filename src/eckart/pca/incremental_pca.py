"""IncrementalPCA: the components of rows that arrive in batches; any split gives the same components."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eckart.api import decompose
from eckart.arrays import Array, Matrix, empty_rows, place_of, refuse_other_device, to_host
from eckart.documentation import document
from eckart.engine.matrix import Opened
from eckart.engine.settings import check_weights
from eckart.errors import InputError, ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_weights
from eckart.estimators.to_sklearn import ToSklearn
from eckart.io.open_matrix import open_matrix, taken_to
from eckart.pca.export import sklearn_incremental_pca
from eckart.pca.null_space import settle
from eckart.pca.probabilistic import ProbabilisticMixin
from eckart.pca.projection import Projection, components_as_rows, explained_ratio, explained_variance, noise_variance
from eckart.pca.running import Running
from eckart.pca.scatter import Scatter, fits, merge, scatter_from, scatter_of, weighted_scatter
from eckart.progress import progress_bar
from eckart.result import Decomposition

if TYPE_CHECKING:
    from sklearn import decomposition


class FittedIncrementalPCA:
    """The attributes that `IncrementalPCA.fit` sets."""

    batch_size_: int
    mean_: Array
    var_: Array
    n_samples_seen_: float


@dataclass(eq=False, repr=False)
class IncrementalPCA(ToSklearn["decomposition.IncrementalPCA"], ProbabilisticMixin, Projection, FittedIncrementalPCA):
    """PCA of rows that arrive in batches.

    `fit` starts from the beginning, and `partial_fit` adds a batch of rows. For up to 4,096 columns, all cross-products
    are kept, so the result is the PCA of all rows together, regardless of the batches and their order. With more
    columns, some variance is discarded, and `certificate_` bounds the effect. The class is a drop-in replacement for
    ``sklearn.decomposition.IncrementalPCA``.

    Parameters
    ----------
    n_components : int or None, default None
        Number of components. None keeps min(number of rows seen, n_features) components.
    whiten : bool, default False
        Divide the scores of each component by their standard deviation. Scores of components without variance stay 0.
    copy : bool, default True
        Ignored; accepted for compatibility with scikit-learn. The data are never overwritten.
    batch_size : int or None, default None
        Ignored; accepted for compatibility with scikit-learn. `fit` reads the data in blocks, and the block size does
        not change the result.
    device : str or None, default None
        'cuda' copies batches to the GPU, processes them there and returns host arrays. Batches that are already on a
        device are processed there.
    progress : bool, default False
        Show a progress bar while `fit` reads data in blocks.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features_in_)
        The components, one per row. They and all attributes derived from them are computed on first access after each
        batch.
    explained_variance_ : array of shape (n_components_,)
        Variance of the scores of each component, with the divisor n_samples_seen_ - 1.
    explained_variance_ratio_ : array of shape (n_components_,)
        Share of the total variance explained by each component.
    singular_values_ : array of shape (n_components_,)
        Singular values of the centred rows seen so far.
    mean_ : array of shape (n_features_in_,)
        Column means.
    var_ : array of shape (n_features_in_,)
        Column variances, with the divisor n_samples_seen_.
    noise_variance_ : float
        Mean variance of the components that were not kept, as in `PCA`.
    n_samples_seen_ : int or float
        Number of rows seen, or the sum of their weights.
    batch_size_ : int
        `batch_size`, or 5 * n_features if it is None. Set by `fit`.

    See Also
    --------
    PCA : PCA of data that are available as a whole, in memory or in a file.
    decompose : Decompose files of any size, in blocks.

    Notes
    -----
    The cross-products take 8 n_features^2 bytes, which is 134 MB for 4,096 columns.

    Examples
    --------
    >>> import numpy as np
    >>> from eckart import IncrementalPCA
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = IncrementalPCA(n_components=1)
    >>> for batch in (X[:2], X[2:3], X[3:]):
    ...     pca = pca.partial_fit(batch)
    >>> pca.n_samples_seen_, pca.explained_variance_ratio_.round(4)
    (6, array([0.9924]))
    """

    n_components: int | None = None
    _: KW_ONLY
    whiten: bool = False
    copy: bool = True
    batch_size: int | None = None
    device: str | None = None
    progress: bool = False

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.COUNT, None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [allowed.COUNT, None],
        "device": [str, None],
        "progress": ["boolean"],
    }

    def _fit(self, X: object) -> Matrix:
        data = self._there(take(self, X, reset=True))
        opened = open_matrix(data)
        rows, columns = opened.matrix.shape
        k = self._count(rows, columns)
        with progress_bar(self.progress, None) as callback:
            if not opened.matrix.resident:
                opened.matrix.reading.callback = callback
            if fits(rows, columns, k):
                running = _running(opened, k, None)
                if not _proved(running.decomposition):
                    running = replace(running, given=settle(decompose(data, "pca", k=k, callback=callback)))
            else:
                d = decompose(data, "pca", k=k, callback=callback)
                running = _beginning(opened, k, scatter_from(d, opened), d)
        self.batch_size_ = 5 * columns if self.batch_size is None else int(self.batch_size)
        self._keep(running)
        return data

    @document
    @allowed.validated
    def partial_fit(self, X: object, y: object = None, check_input: bool = True, sample_weight: object = None) -> Self:
        """Add one batch of rows.

        If a batch is rejected with an error, the estimator does not change.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
            The rows to add. The total number of rows seen must be at least `n_components`. All batches must come from
            the same array library and device.
        {y}
        check_input : bool, default True
            Ignored; accepted for compatibility with scikit-learn. Batches are always checked.
        sample_weight : array-like of shape (n_samples,), default None
            Weight of each row, for batches in memory. `n_samples_seen_` is then the sum of the weights.

        {Returns: Self}

        Raises
        ------
        ParameterError
            If fewer rows than `n_components` have been seen.
        InputError
            If `sample_weight` is given for a batch that is read from a file.
        """
        # scikit-learn checks them only once, and they may have been set since.
        self._validate_params()
        before: Running | None = getattr(self, "_running", None)
        opened = open_matrix(self._there(take(self, X, reset=before is None)))
        rows, columns = opened.matrix.shape
        weights = check_weights(take_weights(sample_weight), rows)
        if weights is not None and not opened.matrix.resident:
            raise InputError(
                "sample_weight works only with batches in memory, but this batch is read from a "
                "file. Load the batch into an array first."
            )
        seen = rows if weights is None else float(weights.sum())
        seen = seen if before is None else seen + before.scatter.count
        self._keep(_running(opened, self._count(seen, columns), before, weights))
        return self

    def merge(self, other: IncrementalPCA) -> IncrementalPCA:
        """Combine two fitted estimators into a new one that has seen the rows of both.

        You can process several streams independently and merge the results.

        Parameters
        ----------
        other : IncrementalPCA
            Estimator fitted on rows with the same columns.

        Returns
        -------
        IncrementalPCA
            New estimator with the parameters of this one. Neither of the two inputs changes.

        Raises
        ------
        InputError
            If the numbers of columns differ.

        Examples
        --------
        >>> import numpy as np
        >>> from eckart import IncrementalPCA
        >>> rows = np.arange(24.0).reshape(8, 3) ** 2
        >>> merged = IncrementalPCA(1).fit(rows[:5]).merge(IncrementalPCA(1).fit(rows[5:]))
        >>> merged.n_samples_seen_, merged.components_.round(4)
        (8, array([[0.5292, 0.5761, 0.623 ]]))
        >>> IncrementalPCA(1).fit(rows).components_.round(4)
        array([[0.5292, 0.5761, 0.623 ]])
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if other.n_features_in_ != self.n_features_in_:
            raise InputError(
                f"One estimator was fitted on {self.n_features_in_} columns and the other on "
                f"{other.n_features_in_}. Only estimators with the same columns can be merged."
            )
        first, second = self._running, other._running
        refuse_other_device(first.prototype, second.prototype, "This IncrementalPCA")
        count = first.scatter.count + second.scatter.count
        k = self._count(count, self.n_features_in_)
        scatter = merge(first.scatter, second.scatter, k)
        if scatter.factor is not None and not scatter.exact:
            k = min(k, int(scatter.factor.shape[0]))
        precision = first.precision if first.precision == second.precision else "float64"
        joined: IncrementalPCA = clone(self)
        joined.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            joined.feature_names_in_ = self.feature_names_in_
        joined._place = place_of(first.prototype)
        joined.batch_size_ = getattr(self, "batch_size_", 5 * self.n_features_in_)
        joined._keep(Running(scatter, k, first.prototype, precision))
        return joined

    def _sklearn(self) -> decomposition.IncrementalPCA:
        return sklearn_incremental_pca(self)

    @property
    def decomposition_(self) -> Decomposition:  # type: ignore[override]
        """The complete result as a Decomposition."""
        d = self._running.decomposition
        return d if self.device is None else d.on_host()

    @property
    def components_(self) -> Array:
        """Array of shape (n_components_, n_features_in_) with one component per row."""
        return components_as_rows(self.decomposition_)

    @property
    def singular_values_(self) -> Array:
        """Array of the singular values of the centred rows seen so far."""
        return self.decomposition_.values

    @property
    def explained_variance_(self) -> Array:
        """Variance of the scores of each component, with the divisor n_samples_seen_ - 1."""
        return explained_variance(self.decomposition_)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the total variance explained by each component."""
        return explained_ratio(self.decomposition_)

    @property
    def noise_variance_(self) -> float:
        """Mean variance of the components that were not kept, as in `PCA`."""
        return noise_variance(self.decomposition_)

    def _there(self, data: object) -> Any:
        """The batch on the device where it is accumulated."""
        return data if self.device is None else taken_to(data, self.device)[0]

    def _count(self, seen: float, columns: int) -> int:
        wanted = self.n_components
        if wanted is None and seen >= 1:
            return int(min(seen, columns))
        wanted = 1 if wanted is None else wanted
        if wanted > columns:
            raise ParameterError(
                f"n_components={wanted} invalid for n_features={columns}: there are at most as many "
                f"components as columns."
            )
        if wanted > seen:
            larger_weights = "" if seen == int(seen) else ", or multiply all weights by the same number"
            raise ParameterError(
                f"n_components={wanted} must be less than or equal to the number of samples seen, "
                f"which is {seen:g} after this batch. Use a larger first batch{larger_weights}."
            )
        return int(wanted)

    def _keep(self, running: Running) -> None:
        self._running = running
        self.mean_, self.var_ = running.mean, running.variances
        if self.device is not None:
            self.mean_, self.var_ = to_host(self.mean_), to_host(self.var_)
        self.n_samples_seen_ = running.scatter.count
        self.n_components_ = running.k


def _running(opened: Opened, k: int, before: Running | None, weights: np.ndarray | None = None) -> Running:
    scatter = scatter_of(opened, k) if weights is None else weighted_scatter(opened, weights, k)
    precision = opened.matrix.precision
    if before is not None:
        scatter = merge(before.scatter, scatter, k)
        precision = precision if precision == before.precision else "float64"
    if scatter.factor is not None and not scatter.exact:
        # Dropped directions cannot be requested.
        k = min(k, int(scatter.factor.shape[0]))
    return replace(_beginning(opened, k, scatter), precision=precision)


def _beginning(opened: Opened, k: int, scatter: Scatter, given: Decomposition | None = None) -> Running:
    # A new array: a view would keep the data alive.
    prototype = empty_rows(0, 0, opened.matrix.prototype)
    return Running(scatter, k, prototype, opened.matrix.precision, given)


def _proved(d: Decomposition) -> bool:
    return d.certificate is not None and d.certificate.proved
