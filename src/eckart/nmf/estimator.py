"""NMF: X ~ W components_ with non-negative factors, and the gap to the optimum."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, Matrix, from_numpy, is_array, is_host, to_host, to_numpy
from eckart.documentation import document
from eckart.errors import InputError, ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_scores
from eckart.estimators.template import InvertibleEstimator
from eckart.estimators.to_onnx import ToOnnx
from eckart.estimators.to_sklearn import ToSklearn
from eckart.io.open_matrix import taken_to
from eckart.nmf.details import NMFDetails
from eckart.nmf.export import sklearn_nmf
from eckart.nmf.incremental import Stream
from eckart.nmf.onnx_export import parts_onnx
from eckart.nmf.options import LOSSES, STARTS, NMFOptions
from eckart.nmf.plsa import Plsa, plsa
from eckart.nmf.result import coordinates, factorise
from eckart.options import Seed
from eckart.progress import progress_bar
from eckart.result import Decomposition

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn import decomposition
    from sklearn.utils import Tags


_SETTINGS = ("init", "solver", "beta_loss", "tol", "max_iter", "alpha_W", "alpha_H", "l1_ratio", "missing", "n_runs")


def _streams(estimator: Any) -> bool:
    """Whether sums over rows are enough to update the components."""
    loss = LOSSES.get(estimator.beta_loss, estimator.beta_loss)
    penalties = estimator.alpha_W or (estimator.alpha_H != "same" and estimator.alpha_H)
    if loss not in (1, 2) or penalties or estimator.missing == "mask":
        raise AttributeError(
            "partial_fit supports only the losses 'frobenius' and 'kullback-leibler', without "
            "penalties or missing entries. For other settings, fit all rows at once."
        )
    return True


class FittedNMF(InvertibleEstimator):
    """The attributes that `NMF.fit` sets."""

    decomposition_: Decomposition[NMFDetails]
    n_components_: int
    reconstruction_err_: float
    loss_history_: np.ndarray
    n_iter_: int
    runs_: dict[str, np.ndarray]


@dataclass(eq=False, repr=False)
class NMF(ToSklearn["decomposition.NMF"], ToOnnx, FittedNMF):
    """Non-negative matrix factorisation with a bound on the distance to the optimum.

    NMF approximates X by a product W H of two factors without negative entries, so each row is a sum of non-negative
    parts. `transform` computes the weights of the parts in each row: non-negative numbers that minimise the loss of the
    row. The class is a drop-in replacement for ``sklearn.decomposition.NMF``, with the same parameters, attributes and
    objective.

    Parameters
    ----------
    n_components : int, 'auto' or None, default 'auto'
        Number of components. None uses the number of columns. 'auto' uses the number of rows of H if you pass H, and
        the number of columns otherwise.
    init : {None, 'random', 'nndsvd', 'nndsvda', 'nndsvdar', 'custom'}, default None
        Starting point. None starts from singular vectors and replaces their zeros with small positive numbers. With
        the solvers 'cd' and 'mu', None means 'nndsvda'. If there are fewer singular vectors than components, None
        starts from random numbers. 'custom' uses the W and H that you pass to `fit_transform`.
    solver : {'auto', 'cd', 'mu'}, default 'auto'
        'auto' is the fastest solver. It uses all threads and never increases the objective. 'cd' (coordinate descent)
        and 'mu' (multiplicative updates) take the same steps as the scikit-learn solvers of the same names.
    beta_loss : float or {'frobenius', 'kullback-leibler', 'itakura-saito'}, default 'frobenius'
        Loss to minimise: half the squared error (2), the Kullback-Leibler divergence (1), the Itakura-Saito divergence
        (0) or any other beta-divergence.
    tol : float, default 1e-4
        Tolerance of the stopping rule. 'auto' stops when several iterations together reduce the loss by less than a
        small multiple of `tol`, relative to what the components explain. It also stops when the projected gradient is
        at most `tol` times its initial value. 'cd' and 'mu' use the stopping rules of scikit-learn.
    max_iter : int, default 200
        Maximum number of iterations.
    random_state : int, RandomState, Generator or None, default None
        Seed for random starts. None uses a fixed seed, so results are reproducible.
    alpha_W : float, default 0.0
        Weight of the penalty on W; see Notes.
    alpha_H : float or 'same', default 'same'
        Weight of the penalty on H. 'same' uses the value of `alpha_W`.
    l1_ratio : float, default 0.0
        Mix of the two penalties: 0 uses only the squared (L2) penalty, and 1 uses only the absolute (L1) penalty.
    verbose : int, default 0
        Ignored; accepted for compatibility with scikit-learn. `loss_history_` contains the objective after every
        iteration.
    shuffle : bool, default False
        Ignored; accepted for compatibility with scikit-learn. The order of the coordinates is fixed.
    missing : {'error', 'mask'}, default 'error'
        'mask' leaves missing entries out of the loss: NaN in dense data, and entries that are not stored in sparse
        data. A stored zero is a known zero.
    n_runs : int, default 1
        Number of runs from different starts. The best run is kept, and `runs_` compares them.
    device : str or None, default None
        'cuda' copies host data to the GPU, if they fit, and returns host arrays. Arrays that are already on a device
        stay there.
    progress : bool, default False
        Show a progress bar that counts iterations.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features_in_)
        The matrix H, one component per row.
    reconstruction_err_ : float
        Frobenius norm of X - W H, or sqrt(2 * divergence) for other losses.
    n_iter_ : int
        Number of iterations.
    loss_history_ : array
        Objective after each iteration. It never increases.
    certificate_ : Certificate or None
        For the squared error: the explained share of the sum of squares, and an upper bound on the share that any
        factorisation with the same number of components can explain. The bound comes from the certified SVD. None for
        other losses.
    runs_ : dict
        "losses" contains the loss of every run. "agreement" contains, for each run and component, the cosine between
        the component and its match in the best run.

    See Also
    --------
    TruncatedSVD : The best approximation without the constraint.
    CUR : Factors that are columns and rows of the data.
    choose_rank : Choose the number of components.

    Notes
    -----
    The objective is::

        loss(X, W H) + alpha_W n_features (l1_ratio |W|_1 + (1 - l1_ratio)/2 |W|^2)
                     + alpha_H n_samples (l1_ratio |H|_1 + (1 - l1_ratio)/2 |H|^2)

    Without penalties, multiplying a column of W by a number and dividing the corresponding row of H by it does not
    change W H. The solver 'auto' keeps the ratio of their lengths at its initial value, which is about 1 for singular
    vectors.

    Rows are observations. In texts that store observations in columns, W and H swap roles.

    References
    ----------
    .. [1] D. D. Lee and H. S. Seung, "Learning the parts of objects by non-negative matrix factorization", Nature 401,
           1999.
    .. [2] C. Boutsidis and E. Gallopoulos, "SVD based initialization: a head start for nonnegative matrix
           factorization", Pattern Recognition 41, 2008.

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
        "progress": ["boolean"],
    }

    n_components: int | Literal["auto"] | None = "auto"
    _: KW_ONLY
    init: Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"] | None = None
    solver: Literal["auto", "cd", "mu"] = "auto"
    beta_loss: float | Literal["frobenius", "kullback-leibler", "itakura-saito"] = "frobenius"
    tol: float = 1e-4
    max_iter: int = 200
    random_state: Seed = None
    alpha_W: float = 0.0
    alpha_H: float | Literal["same"] = "same"
    l1_ratio: float = 0.0
    verbose: int = 0
    shuffle: bool = False
    missing: Literal["error", "mask"] = "error"
    n_runs: int = 1
    device: str | None = None
    progress: bool = False

    @document
    @allowed.validated
    def fit(self, X: object, y: object = None, W: ArrayLike | None = None, H: ArrayLike | None = None) -> Self:
        """Find the components of X.

        {Parameters: X [non-negative], y, W, H; Returns: Self [fitted]}

        Warns
        -----
        ConvergenceWarning
            If `max_iter` iterations do not reach `tol`.
        """
        self._fit(X, W, H)
        return self

    @document
    @allowed.validated
    def fit_transform(
        self, X: object, y: object = None, W: ArrayLike | None = None, H: ArrayLike | None = None
    ) -> Array:
        """Find the components of X and return the coordinates of its rows.

        {Parameters: X [non-negative], y, W, H}

        Returns
        -------
        array of shape (n_samples, n_components_)
            The matrix W.
        """
        return self._fit(X, W, H)

    def _fit(self, X: object, W: ArrayLike | None = None, H: ArrayLike | None = None) -> Array:
        data = self._take(X, reset=True)
        self._warn(W, H)
        options = {name: getattr(self, name) for name in _SETTINGS}
        k = self._count(data, H)
        if self.device is not None:
            data, metadata = taken_to(data, self.device)
        with progress_bar(self.progress, None) as callback:
            asked = NMFOptions(k=k, rng=self.random_state, W=W, H=H, callback=callback, **options)
            d, rows, parts = factorise(data, asked)
        if self.device is not None:
            d, rows, parts = d.on_host().named(metadata.row_names, metadata.column_names), to_host(rows), to_host(parts)
        if not d.details.converged and self.tol > 0:
            message = f"Maximum number of iterations {self.max_iter} reached. Increase max_iter to improve convergence."
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        self._stream: Stream | None = None
        self._keep(d, parts)
        return rows

    def _scores(self, data: object) -> Array:
        """The non-negative coordinates that minimise the loss of each row for the given components."""
        return coordinates(data, self.components_, self.decomposition_.details.options)

    def _take_scores(self, X: object) -> Array:
        return X if hasattr(X, "toarray") else take_scores(X, self)

    def _rows(self, scores: object) -> Array:
        return scores @ self.components_

    @available_if(_streams)  # type: ignore[untyped-decorator]
    @document
    @allowed.validated
    def partial_fit(self, X: object, y: object = None) -> Self:
        """Update the components with more rows.

        The components are fitted to all rows seen so far; the rows themselves are not kept.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
            The rows to add. They must have no missing entries. `beta_loss` must be 'frobenius' or 'kullback-leibler',
            without penalties.
        {y}

        {Returns: Self}

        Raises
        ------
        InputError
            If the rows are on a GPU.
        """
        if type(X).__module__.startswith("cupyx.") or (is_array(X) and not is_host(X)):
            raise InputError(
                "partial_fit runs on the CPU, but these rows are on a GPU. Copy them to the CPU "
                "first with X.cpu() or cupy.asnumpy(X), or fit all rows at once on the GPU."
            )
        first = not hasattr(self, "components_")
        found = self._fit(X) if first else None
        data = take(self, X, reset=False)
        if found is None:
            found = coordinates(data, self.components_, self.decomposition_.details.options)
        rows = to_numpy(found)
        if self._stream is None:
            loss = LOSSES[self.beta_loss] if isinstance(self.beta_loss, str) else float(self.beta_loss)
            self._stream = Stream(loss, to_numpy(self.components_))
        parts = self._stream.take(data, rows)
        self._keep(self._stream.decomposition(self.decomposition_, parts), from_numpy(parts, self.components_))
        return self

    @property
    def plsa_(self) -> Plsa:
        """Factors as probabilities (`Plsa`): topics P(t), terms P(m | t) and documents P(d | t)."""
        check_is_fitted(self)
        return plsa(self.decomposition_.details.sums, to_numpy(self.components_))

    def _sklearn(self) -> decomposition.NMF:
        return sklearn_nmf(self)

    def _onnx(self, dtype: str) -> Any:
        return parts_onnx(to_numpy(self.components_), *self._penalties(), dtype)

    def _penalties(self) -> tuple[float, float]:
        """(l1, l2) of the coordinates, which exist for the Frobenius loss."""
        if self.beta_loss not in ("frobenius", 2, 2.0) or self.missing == "mask":
            raise ParameterError("ONNX export supports only beta_loss='frobenius', and data without missing values.")
        columns = float(self.n_features_in_)
        return columns * self.alpha_W * self.l1_ratio, columns * self.alpha_W * (1.0 - self.l1_ratio)

    def _keep(self, d: Decomposition[NMFDetails], parts: Array) -> None:
        self._publish(d)
        self.components_ = parts
        self.n_components_ = int(parts.shape[0])
        self.reconstruction_err_ = d.details.error
        self.loss_history_ = d.details.history
        self.n_iter_ = d.details.iterations
        self.runs_ = {"losses": d.details.runs, "agreement": d.details.agreement}

    def _take(self, X: object, *, reset: bool) -> Matrix:
        # Masked arrays as arrays with NaN, where that has a meaning.
        if self.missing == "mask" and isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
        return take(self, X, reset=reset)

    def _count(self, data: Matrix, H: Array | None) -> int:
        if self.n_components not in (None, "auto"):
            return int(self.n_components)
        if self.init == "custom" and self.n_components == "auto" and H is not None and hasattr(H, "shape"):
            return int(H.shape[0])
        return int(data.shape[1])

    def _warn(self, W: object, H: object) -> None:
        if self.init != "custom" and (W is not None or H is not None):
            warnings.warn(
                "When init!='custom', provided W or H are ignored. Set init='custom' to use them as a start.",
                RuntimeWarning,
                stacklevel=5,
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so "
                "leads to poorer results when used jointly with init='nndsvd'. You may try init='nndsvda' instead.",
                UserWarning,
                stacklevel=5,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = self.missing == "mask"
        return tags
