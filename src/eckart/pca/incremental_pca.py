"""IncrementalPCA: the axes of rows that come in batches; any split into batches gives the same axes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eckart.api import decompose
from eckart.arrays import Array, empty_rows
from eckart.devices import place_of, refuse_other_device, to_host
from eckart.engine.matrix import Opened, open_matrix, taken_to
from eckart.engine.settings import check_weights
from eckart.errors import InputError, ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_weights
from eckart.estimators.output import OnDevices
from eckart.pca.export import sklearn_incremental_pca
from eckart.pca.null_space import settle
from eckart.pca.probabilistic import ProbabilisticMixin
from eckart.pca.projection import Projection, components_as_rows, explained_ratio, explained_variance, noise_variance
from eckart.pca.running import Running
from eckart.pca.scatter import Scatter, fits, merge, scatter_from, scatter_of, weighted_scatter
from eckart.result import Certificate, Decomposition, Plan


class IncrementalPCA(OnDevices, ProbabilisticMixin, Projection):
    """PCA of rows that come in batches, exact up to 4096 columns, and with true bounds beyond.

    Takes the place of ``sklearn.decomposition.IncrementalPCA``, with its parameters, attributes and rule for signs.
    Up to 4096 columns all cross-products are kept, so that the answer is that of `PCA` on all rows together, whatever
    the batches and their order. Beyond, some variance is given up; `certificate_` says how much it can matter.

    Parameters
    ----------
    n_components : int or None
        Number of axes; None for min(rows seen, columns).
    whiten : bool
        Divide the scores by their standard deviation. Directions without variance stay at zero.
    copy : bool
        Accepted for compatibility. The data are never overwritten.
    batch_size : int or None
        Accepted for compatibility: `fit` reads the data block by block, and the blocks do not change the answer.
    device : str or None
        "cuda" has batches of the host added up by a GPU; what comes out is on the host again. Batches that are on a
        device are added up there without it.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, noise_variance_, n_components_
        As in `PCA`, right after each call of `partial_fit`; computed when first asked for.
    var_ : array of shape (columns,)
        Variance of each column, divisor n_samples_seen_.
    n_samples_seen_, batch_size_, n_features_in_ : int
    feature_names_in_ : array of str, where the columns have names
    certificate_, plan_, decomposition_
        What is proved, what was done and why, and the result as one value.

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

    batch_size_: int
    mean_: Array
    var_: Array
    n_samples_seen_: float

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.COUNT, None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [allowed.COUNT, None],
        "device": [str, None],
    }

    def __init__(
        self,
        n_components: Any = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.device = device

    @allowed.validated
    def fit(self, X: Any, y: Any = None) -> IncrementalPCA:
        """Forget what was seen, and find the axes of X.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored

        Returns
        -------
        IncrementalPCA
            The estimator itself.
        """
        data = self._there(take(self, X, reset=True))
        opened = open_matrix(data)
        rows, columns = opened.matrix.shape
        k = self._count(rows, columns)
        if fits(rows, columns, k):
            running = _running(opened, k, None)
            if not _proved(running.decomposition):
                running = replace(running, given=settle(decompose(data, "pca", k=k)))
        else:
            d = decompose(data, "pca", k=k)
            running = _beginning(opened, k, scatter_from(d, opened), d)
        self.batch_size_ = 5 * columns if self.batch_size is None else int(self.batch_size)
        self._publish(running)
        return self

    @allowed.validated
    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True, sample_weight: Any = None) -> IncrementalPCA:
        """Take in one more batch of rows, dense or sparse. A batch that is refused changes nothing.

        Batches on a GPU are added up there, and all of them have to come from the same library and device.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
            Rows; together with those seen before at least n_components.
        y : ignored
        check_input : bool
            Accepted for compatibility.
        sample_weight : array of shape (rows,), optional
            How often each row counts; for batches in memory. `n_samples_seen_` then is the sum of the weights.

        Returns
        -------
        IncrementalPCA
            The estimator itself.
        """
        # scikit-learn checks them once only, and they may have been set since.
        self._validate_params()
        before: Running | None = getattr(self, "_running", None)
        opened = open_matrix(self._there(take(self, X, reset=before is None)))
        rows, columns = opened.matrix.shape
        weights = check_weights(take_weights(sample_weight), rows)
        if weights is not None and not opened.matrix.resident:
            raise InputError("sample_weight needs a batch in memory, and this one is read from a file. Read it first.")
        seen = rows if weights is None else float(weights.sum())
        seen = seen if before is None else seen + before.scatter.count
        self._publish(_running(opened, self._count(seen, columns), before, weights))
        return self

    def merge(self, other: IncrementalPCA) -> IncrementalPCA:
        """A new estimator that has seen the rows of both: streams may be read apart and joined afterwards.

        Parameters
        ----------
        other : IncrementalPCA
            Fitted on rows of the same columns.

        Returns
        -------
        IncrementalPCA
            With the parameters of this one; both stay as they are.

        Examples
        --------
        >>> import numpy as np
        >>> from eckart import IncrementalPCA
        >>> rows = np.arange(24.0).reshape(8, 3) ** 2
        >>> joined = IncrementalPCA(1).fit(rows[:5]).merge(IncrementalPCA(1).fit(rows[5:]))
        >>> np.allclose(joined.components_, IncrementalPCA(1).fit(rows).components_)
        True
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if other.n_features_in_ != self.n_features_in_:
            raise InputError(
                f"One has seen {self.n_features_in_} columns and the other {other.n_features_in_}: they are of "
                "different tables and cannot be joined."
            )
        first, second = self._running, other._running
        refuse_other_device(place_of(first.prototype), place_of(second.prototype), "This IncrementalPCA")
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
        joined._publish(Running(scatter, k, first.prototype, precision))
        return joined

    def to_sklearn(self) -> Any:
        """The same fitted model as a ``sklearn.decomposition.IncrementalPCA``, for tools that know only that."""
        return sklearn_incremental_pca(self)

    @property
    def decomposition_(self) -> Decomposition:  # type: ignore[override]
        """The result as one value."""
        d = self._running.decomposition
        return d if self.device is None else d.on_host()

    @property
    def certificate_(self) -> Certificate | None:
        """What is proved."""
        return self.decomposition_.certificate

    @property
    def plan_(self) -> Plan | None:
        """What was done, and why."""
        return self.decomposition_.plan

    @property
    def components_(self) -> Array:
        """One axis per row."""
        return components_as_rows(self.decomposition_)

    @property
    def singular_values_(self) -> Array:
        """Singular values of the centred rows seen."""
        return self.decomposition_.values

    @property
    def explained_variance_(self) -> Array:
        """Variance on each axis, divisor n_samples_seen_ - 1."""
        return explained_variance(self.decomposition_)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the variance on each axis."""
        return explained_ratio(self.decomposition_)

    @property
    def noise_variance_(self) -> float:
        """Mean of the variances left out."""
        return noise_variance(self.decomposition_)

    def _there(self, data: Any) -> Any:
        """The batch where it is added up."""
        return data if self.device is None else taken_to(data, self.device)[0]

    def _count(self, seen: float, columns: int) -> int:
        wanted = self.n_components
        if wanted is None:
            return int(min(seen, columns))
        if wanted > columns:
            raise ParameterError(
                f"n_components={wanted} invalid for n_features={columns}: there are no more axes than columns."
            )
        if wanted > seen:
            raise ParameterError(
                f"n_components={wanted} must be less or equal to the number of samples seen, which is {seen:g} with "
                "this batch. Give a larger first batch."
            )
        return int(wanted)

    def _publish(self, running: Running) -> None:
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
        # Directions that were given up cannot be asked for.
        k = min(k, int(scatter.factor.shape[0]))
    return replace(_beginning(opened, k, scatter), precision=precision)


def _beginning(opened: Opened, k: int, scatter: Scatter, given: Decomposition | None = None) -> Running:
    # A new array: a view would keep the data alive.
    prototype = empty_rows(0, 0, opened.matrix.prototype)
    return Running(scatter, k, prototype, opened.matrix.precision, given)


def _proved(d: Decomposition) -> bool:
    return d.certificate is not None and d.certificate.proved
