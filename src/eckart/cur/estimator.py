"""CUR: X ~ C_ core_ R_ with real columns and real rows of X, and the exact error beside the best possible one."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from eckart.api import decompose, project, reconstruct
from eckart.arrays import Array
from eckart.cur.core import Core
from eckart.cur.details import Bound, CURDetails
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take, take_scores
from eckart.estimators.output import OnDevices
from eckart.result import Certificate, Decomposition, Plan

if TYPE_CHECKING:
    from eckart.cur.column_selector import ColumnSelector


class CUR(OnDevices, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns and rows of the data themselves instead of singular vectors, and how much worse they are: exactly.

    ``C_ @ core_ @ R_`` approximates X. Columns and rows are chosen so that the rest follows from them.

    Parameters
    ----------
    n_components : int, float or None
        The rank k. A share such as 0.9: the smallest k whose CUR explains it. None: what `error` or the counts ask for,
        or 2.
    n_columns, n_rows : int or None
        How many to choose. By default k each; 4k each for "norm" and "leverage", as taught. With
        ``core="intersection"`` more rows than columns (up to 10, or half as many for "leverage", none for "norm"),
        since the pseudo-inverse of a square intersection can be huge.
    select : {"pivot", "norm", "leverage", "volume"}
        "pivot": pivots of a QR of the certified singular vectors. "norm": drawn with replacement by squared lengths,
        divided by the root of the expected number of draws, duplicates merged (the algorithm of textbooks). "leverage":
        drawn by their weight in the singular vectors. "volume": adaptive randomised pivoting, whose expected squared
        error is at most 2 (k + 1) times the best.
    core : {"best", "intersection"}
        "best" is C^+ X R^+, which leaves the smallest error; "intersection" the pseudo-inverse of the entries where
        columns and rows meet.
    error : float or None
        Relative error ||X - C U R|| / ||X|| to reach with the smallest k. The error need not fall with every k: a
        range of up to 32 candidates is tried one by one, a wider one is halved first.
    cutoff : float or None
        Singular values below this share of the largest count as zero in pseudo-inverses; None: a few roundings.
    tol : float
        Accuracy of the singular vectors, as in `TruncatedSVD`.
    random_state : int, RandomState, Generator or None
        Seed of the draws; None is a fixed one.
    memory : str, int or None
        Working memory allowed beside the data, such as "2GB".
    device : str or None
        "cuda" has data of the host worked on by a GPU, where they do not fit only their axes, block by block; what
        comes out is on the host again. Arrays that are on a device are worked on there without it.

    Attributes
    ----------
    columns_, rows_ : array of int
        Which columns and rows were chosen.
    column_names_, row_names_ : tuple of str or None
        Their names, where the data have some.
    column_scales_, row_scales_ : array
        What they are multiplied by: ones, except for "norm".
    C_ : array or sparse array of shape (rows, len(columns_))
    R_ : array or sparse array of shape (len(rows_), columns)
        Sparse where X is.
    core_ : Core
        U in factors that stay accurate when columns are nearly dependent: ``C_ @ core_ @ R_`` applies them,
        ``core_.matrix`` is U itself.
    error_, relative_error_ : float
        ||X - C U R||, measured, and the same over ||X||.
    best_error_, ratio_ : tuple of float
        Bounds of the error of the best approximation of rank k, and of `error_` over it.
    bounds_ : dict
        What theory promises for so many columns and rows: "additive" and "relative" as taught, with eps and delta, and
        that of the way of choosing. Each has "bound", "applies" and a "statement".
    n_components_, n_features_in_ : int
    feature_names_in_ : array of str, where the columns have names
    certificate_, plan_, decomposition_
        What is proved, what was done and why, and the result as one value.

    Examples
    --------
    >>> import numpy as np
    >>> from eckart import CUR
    >>> X = np.array([[1.0, 1, 0], [2, 2, 0], [0, 0, 3]])
    >>> cur = CUR(n_components=2).fit(X)
    >>> cur.columns_, cur.rows_
    (array([2, 0]), array([2, 1]))
    >>> np.allclose(cur.C_ @ cur.core_ @ cur.R_, X)
    True
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [allowed.COUNT, allowed.SHARE, None],
        "n_columns": [allowed.COUNT, None],
        "n_rows": [allowed.COUNT, None],
        "select": [StrOptions({"pivot", "norm", "leverage", "volume"})],
        "core": [StrOptions({"best", "intersection"})],
        "error": [allowed.SHARE, None],
        "cutoff": [Interval(RealNotInt, 0, 1, closed="left"), None],
        "tol": [allowed.NOT_NEGATIVE],
        "random_state": allowed.RANDOM_STATE,
        "memory": allowed.MEMORY,
        "device": [str, None],
    }

    decomposition_: Decomposition[CURDetails]
    certificate_: Certificate | None
    plan_: Plan | None
    n_components_: int
    columns_: np.ndarray
    rows_: np.ndarray
    column_scales_: np.ndarray
    row_scales_: np.ndarray
    column_names_: tuple[str, ...] | None
    row_names_: tuple[str, ...] | None
    core_: Core
    error_: float
    relative_error_: float
    best_error_: tuple[float, float]
    ratio_: tuple[float, float]
    bounds_: dict[str, Bound]

    def __init__(
        self,
        n_components: Any = None,
        *,
        n_columns: int | None = None,
        n_rows: int | None = None,
        select: Literal["pivot", "norm", "leverage", "volume"] = "pivot",
        core: Literal["best", "intersection"] = "best",
        error: float | None = None,
        cutoff: float | None = None,
        tol: float = 0.0,
        random_state: Any = None,
        memory: str | int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_columns = n_columns
        self.n_rows = n_rows
        self.select = select
        self.core = core
        self.error = error
        self.cutoff = cutoff
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device

    @allowed.validated
    def fit(self, X: Any, y: Any = None) -> CUR:
        """Choose columns and rows of X and join them.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored

        Returns
        -------
        CUR
            The estimator itself.
        """
        self._fit(X)
        return self

    @allowed.validated
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Choose columns and rows of X and give its entries in the chosen columns.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
        y : ignored

        Returns
        -------
        array of shape (rows, len(columns_))
        """
        data = self._fit(X)
        return project(self.decomposition_, data)

    def transform(self, X: Any) -> Array:
        """Entries of the rows of X in the chosen columns, times `column_scales_`: for the fitted X this is `C_`.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
            As many columns as were fitted.

        Returns
        -------
        array of shape (rows, len(columns_))
            Always dense; `as_selector` keeps sparse data sparse.
        """
        check_is_fitted(self)
        return project(self.decomposition_, take(self, X, reset=False))

    def inverse_transform(self, X: Any) -> Array:
        """Whole rows from their entries in the chosen columns: X U R.

        Parameters
        ----------
        X : array of shape (rows, len(columns_))

        Returns
        -------
        array of shape (rows, columns)
        """
        check_is_fitted(self)
        return reconstruct(self.decomposition_, take_scores(X, self))

    def as_selector(self) -> ColumnSelector:
        """A scikit-learn selector that keeps the chosen columns, in their order in the data; fitted if this is."""
        from eckart.cur.column_selector import ColumnSelector

        selector = ColumnSelector(self)
        return selector.remember(self) if hasattr(self, "decomposition_") else selector

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the chosen columns.

        Parameters
        ----------
        input_features : array of str or None
            Names of all columns; by default those that were fitted.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        return np.asarray(_check_feature_names_in(self, input_features)[self.columns_])

    def _fit(self, X: Any) -> Any:
        data = take(self, X, reset=True)
        k, share = self._wanted(data.shape)
        d = decompose(
            data,
            "cur",
            k=k,
            explain=share,
            error=self.error,
            n_columns=self.n_columns,
            n_rows=self.n_rows,
            select=self.select,
            core=self.core,
            cutoff=self.cutoff,
            tol=allowed.accuracy(self.tol),
            rng=self.random_state,
            memory=self.memory,
            device=self.device,
        )
        self._publish(d)
        return data

    def _publish(self, d: Decomposition[CURDetails]) -> None:
        details = d.details
        self.decomposition_ = d
        self.certificate_, self.plan_ = d.certificate, d.plan
        self.n_components_ = details.k
        self.columns_, self.rows_ = details.columns, details.rows
        self.column_scales_, self.row_scales_ = details.column_scales, details.row_scales
        self.column_names_, self.row_names_ = details.chosen_column_names, details.chosen_row_names
        self.C_, self.R_, self.core_ = details.C, details.R, details.core
        self.error_, self.relative_error_ = details.error, details.relative_error
        self.best_error_, self.ratio_, self.bounds_ = details.best_error, details.ratio, details.bounds

    def _wanted(self, shape: tuple[int, int]) -> tuple[int | None, float | None]:
        """(rank, share of the sum of squares): at most one of them."""
        wanted: Any = self.n_components
        if wanted is None:
            return None, None
        if not isinstance(wanted, Integral):
            return None, float(wanted)
        if int(wanted) > min(shape):
            raise ParameterError(
                f"n_components({wanted}) must be <= n_features({shape[1]}) and <= n_samples({shape[0]}): "
                f"a matrix of this shape has at most {min(shape)} independent columns."
            )
        return int(wanted), None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
