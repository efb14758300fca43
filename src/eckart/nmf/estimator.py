"""NMF: X ~ W components_, nothing negative, with the gap to the best that is possible."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, from_numpy, is_array, is_host, to_numpy
from eckart.devices import to_host
from eckart.engine.matrix import taken_to
from eckart.errors import InputError, ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_scores
from eckart.estimators.to_onnx import ToOnnx
from eckart.nmf.details import NMFDetails
from eckart.nmf.export import sklearn_nmf
from eckart.nmf.incremental import Stream
from eckart.nmf.onnx_export import parts_onnx
from eckart.nmf.options import LOSSES, STARTS
from eckart.nmf.plsa import Plsa, plsa
from eckart.nmf.result import coordinates, factorise
from eckart.result import Certificate, Decomposition, Plan

_SETTINGS = ("init", "solver", "beta_loss", "tol", "max_iter", "alpha_W", "alpha_H", "l1_ratio", "missing", "n_runs")


def _streams(estimator: Any) -> bool:
    """Whether sums over rows can stand for the rows."""
    loss = LOSSES.get(estimator.beta_loss, estimator.beta_loss)
    penalties = estimator.alpha_W or (estimator.alpha_H != "same" and estimator.alpha_H)
    if loss not in (1, 2) or penalties or estimator.missing == "mask":
        raise AttributeError(
            "partial_fit is for the losses 'frobenius' and 'kullback-leibler', without penalties and without missing "
            "entries. Fit all rows at once instead."
        )
    return True


class NMF(ToOnnx, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Parts that only ever add up: X ~ W H with nothing negative, and how far that is from the best possible.

    Takes the place of ``sklearn.decomposition.NMF``, with its parameters, attributes and objective::

        loss(X, W H) + alpha_W columns (l1_ratio |W|_1 + (1 - l1_ratio)/2 |W|^2)
                     + alpha_H rows (l1_ratio |H|_1 + (1 - l1_ratio)/2 |H|^2).

    Rows are observations here; many notes put them in columns, and then W and H change their roles.

    Parameters
    ----------
    n_components : int, "auto" or None
        Number of parts; as many as there are columns if nothing else (a given H) decides.
    init : {None, "random", "nndsvd", "nndsvda", "nndsvdar", "custom"}
        Start. None uses singular vectors with their zeros filled in proportion to the factors ("nndsvda" for "cd" and
        "mu"), or "random" where there are too few of them; "custom" takes W and H from `fit_transform`.
    solver : {"auto", "cd", "mu"}
        "auto" is accelerated, runs on all threads and never lets the objective rise. "cd" and "mu" (multiplicative
        updates, as taught) take the steps of scikit-learn's solvers of these names.
    beta_loss : float or {"frobenius", "kullback-leibler", "itakura-saito"}
        What is to be small: half the squared error (2), the Kullback-Leibler (1), Itakura-Saito (0) or any other
        beta-divergence.
    tol : float
        Stop when the projected gradients have shrunk by this factor, or when five iterations lower the objective by
        less than a tenth of it, relatively.
    max_iter : int
    random_state : int, RandomState, Generator or None
        Seed of random starts; None is a fixed one.
    alpha_W, alpha_H, l1_ratio : float
        Penalties, as in the objective above. alpha_H="same" takes alpha_W.
    verbose : int
        Accepted for compatibility: `loss_history_` tells more, afterwards.
    shuffle : bool
        Accepted for compatibility: the order of the coordinates is fixed.
    missing : {"error", "mask"}
        "mask" leaves unknown entries out of the loss: NaN in dense data, entries that are not stored in sparse data
        (a stored zero is a zero).
    n_runs : int
        Runs from different starts, of which the best is kept; `runs_` compares them.
    device : str or None
        "cuda" has data of the host worked on by a GPU where they fit there; what comes out is on the host again. Arrays
        that are on a device are worked on there without it.

    Attributes
    ----------
    components_ : array of shape (n_components_, columns)
        The parts, one per row.
    reconstruction_err_ : float
        Frobenius norm of X - W H, or sqrt(2 divergence).
    n_iter_, n_components_, n_features_in_ : int
    feature_names_in_ : array of str, where the columns have names
    loss_history_ : array
        Objective after each iteration; it never rises.
    certificate_ : Certificate or None
        For the squared error: the share of the sum of squares that was explained, and the share that no factorisation
        with as many parts can exceed (from the certified SVD). For other losses no such bound is known.
    runs_ : dict
        "losses" of all runs, and "agreement": for each run and part the cosine with its partner in the best run.
    plsa_ : Plsa
        The same factors as probabilities: `topics` P(t), `terms` P(m | t), `documents(W)` P(d | t), and back.
    decomposition_, plan_
        The result as one value, and what was done and why.

    Examples
    --------
    >>> from eckart import NMF
    >>> X = [[1, 0, 2], [2, 0, 4], [0, 3, 0], [1, 3, 2]]
    >>> nmf = NMF(n_components=2, tol=1e-8, max_iter=1000)
    >>> W = nmf.fit_transform(X)
    >>> (W @ nmf.components_).round(3) + 0
    array([[1., 0., 2.],
           [2., 0., 4.],
           [0., 3., 0.],
           [1., 3., 2.]])
    >>> nmf.inverse_transform(nmf.transform([[3, 0, 6]])).round(3) + 0
    array([[3., 0., 6.]])
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.COUNT, None, StrOptions({"auto"})],
        "init": [StrOptions(set(STARTS)), None],
        "solver": [StrOptions({"auto", "cd", "mu"})],
        "beta_loss": [StrOptions(set(LOSSES)), Real],
        "tol": [allowed.NOT_NEGATIVE],
        "max_iter": [allowed.COUNT],
        "random_state": allowed.RANDOM_STATE,
        "alpha_W": [allowed.NOT_NEGATIVE],
        "alpha_H": [allowed.NOT_NEGATIVE, StrOptions({"same"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "verbose": ["verbose"],
        "shuffle": ["boolean"],
        "missing": [StrOptions({"error", "mask"})],
        "n_runs": [allowed.COUNT],
        "device": [str, None],
    }

    certificate_: Certificate | None
    decomposition_: Decomposition[NMFDetails]
    plan_: Plan | None
    n_components_: int
    reconstruction_err_: float
    loss_history_: np.ndarray
    n_iter_: int
    runs_: dict[str, np.ndarray]

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        init: str | None = None,
        solver: str = "auto",
        beta_loss: Any = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        verbose: Any = 0,
        shuffle: bool = False,
        missing: str = "error",
        n_runs: int = 1,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.missing = missing
        self.n_runs = n_runs
        self.device = device

    def fit(self, X: Any, y: Any = None, **params: Any) -> NMF:
        """Find the parts of X.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored
        **params : W and H, for init="custom"

        Returns
        -------
        NMF
            The estimator itself.
        """
        self.fit_transform(X, **params)
        return self

    @allowed.validated
    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Array:
        """Find the parts of X and give the coordinates of its rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored
        W, H : arrays of shape (rows, n_components) and (n_components, columns), for init="custom"

        Returns
        -------
        array of shape (rows, n_components_)
        """
        data = take(self, self._with_gaps(X), reset=True)
        self._warn(W, H)
        options = {name: getattr(self, name) for name in _SETTINGS}
        k = self._count(data, H)
        if self.device is not None:
            data, metadata = taken_to(data, self.device)
        d, rows, parts = factorise(data, k=k, rng=self.random_state, keep_left=False, W=W, H=H, **options)
        if self.device is not None:
            d, rows, parts = d.on_host().named(metadata.row_names, metadata.column_names), to_host(rows), to_host(parts)
        if not d.details.converged and self.tol > 0:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._stream: Stream | None = None
        self._publish(d, parts)
        return rows

    def transform(self, X: Any) -> Array:
        """Coordinates of rows: the non-negative sum of parts that comes nearest to each row, by itself.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
            As many columns as were fitted.

        Returns
        -------
        array of shape (rows, n_components_)
        """
        check_is_fitted(self)
        data = take(self, self._with_gaps(X), reset=False)
        return coordinates(data, self.components_, self.decomposition_.details.options)

    def inverse_transform(self, X: Any) -> Array:
        """Rows from coordinates: X components_.

        Parameters
        ----------
        X : array or sparse matrix of shape (rows, n_components_)

        Returns
        -------
        array of shape (rows, columns)
        """
        check_is_fitted(self)
        return (X if hasattr(X, "toarray") else take_scores(X, self)) @ self.components_

    @available_if(_streams)  # type: ignore[untyped-decorator]
    @allowed.validated
    def partial_fit(self, X: Any, y: Any = None) -> NMF:
        """Take in more rows; the parts change so as to suit all rows seen so far, of which none is kept.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
            For the squared error or Kullback-Leibler, without missing entries and without penalties.
        y : ignored

        Returns
        -------
        NMF
            The estimator itself.
        """
        if type(X).__module__.startswith("cupyx.") or (is_array(X) and not is_host(X)):
            raise InputError(
                "partial_fit adds up its sums on the host, and these rows are on a GPU. Move them there first, X.cpu() "
                "or cupy.asnumpy(X), or fit all rows at once where they are."
            )
        if not hasattr(self, "components_"):
            self.fit(X)
        data = take(self, X, reset=False)
        rows = to_numpy(coordinates(data, self.components_, self.decomposition_.details.options))
        if self._stream is None:
            self._stream = Stream(float(LOSSES.get(self.beta_loss, self.beta_loss)), to_numpy(self.components_))
        parts = self._stream.take(data, rows)
        self._publish(self._stream.decomposition(self.decomposition_, parts), from_numpy(parts, self.components_))
        return self

    @property
    def plsa_(self) -> Plsa:
        check_is_fitted(self)
        return plsa(self.decomposition_.details.sums, to_numpy(self.components_))

    def to_sklearn(self) -> Any:
        """The same fitted model as a ``sklearn.decomposition.NMF``, for tools that know only that."""
        check_is_fitted(self)
        return sklearn_nmf(self)

    def _onnx(self, dtype: str) -> Any:
        return parts_onnx(to_numpy(self.components_), *self._penalties(), dtype)

    def _penalties(self) -> tuple[float, float]:
        """(l1, l2) of the coordinates, which exist for the Frobenius loss."""
        if self.beta_loss not in ("frobenius", 2, 2.0) or self.missing == "mask":
            raise ParameterError("ONNX export needs beta_loss='frobenius' and no missing values.")
        columns = float(self.n_features_in_)
        return columns * self.alpha_W * self.l1_ratio, columns * self.alpha_W * (1.0 - self.l1_ratio)

    def _publish(self, d: Decomposition[NMFDetails], parts: Array) -> None:
        self.decomposition_ = d
        self.certificate_, self.plan_ = d.certificate, d.plan
        self.components_ = parts
        self.n_components_ = parts.shape[0]
        self.reconstruction_err_ = d.details.error
        self.loss_history_ = d.details.history
        self.n_iter_ = d.details.iterations
        self.runs_ = {"losses": d.details.runs, "agreement": d.details.agreement}

    def _with_gaps(self, X: Any) -> Any:
        """Masked arrays as arrays with NaN, where that has a meaning."""
        if self.missing == "mask" and isinstance(X, np.ma.MaskedArray):
            return np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
        return X

    def _count(self, data: Any, H: Any) -> int:
        if self.n_components not in (None, "auto"):
            return int(self.n_components)
        if self.init == "custom" and self.n_components == "auto" and hasattr(H, "shape"):
            return int(H.shape[0])
        return int(data.shape[1])

    def _warn(self, W: Any, H: Any) -> None:
        if self.init != "custom" and (W is not None or H is not None):
            warnings.warn(
                "When init!='custom', provided W or H are ignored. Set init='custom' to use them as a start.",
                RuntimeWarning,
                stacklevel=4,
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so "
                "leads to poorer results when used jointly with init='nndsvd'. You may try init='nndsvda' instead.",
                UserWarning,
                stacklevel=4,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mask"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
