"""CUR: X ~ C_ core_ R_ with real columns and real rows of X, and the exact error compared with the best possible
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from eckart.api import decompose
from eckart.arrays import Array
from eckart.cur.core import Core
from eckart.cur.details import Bound, CURDetails
from eckart.documentation import document
from eckart.estimators import constraints as allowed
from eckart.estimators.inputs import take
from eckart.estimators.template import InvertibleEstimator
from eckart.formatting import counted
from eckart.options import Seed
from eckart.projecting import project, reconstruct
from eckart.result import Decomposition

if TYPE_CHECKING:
    from eckart.cur.column_selector import ColumnSelector


class FittedCUR(InvertibleEstimator):
    """The attributes that `CUR.fit` sets."""

    decomposition_: Decomposition[CURDetails]
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


@document
@dataclass(eq=False, repr=False)
class CUR(FittedCUR):
    """Approximate a matrix by a few of its own columns and rows.

    ``C_ @ core_ @ R_`` approximates X. `C_` contains columns of X, and `R_` contains rows of X. Eckart computes the
    error of the approximation and compares it with that of the best approximation of the same rank. If X has fewer
    independent columns or rows than requested, Eckart issues a DataWarning.

    The scores of a row are its entries in the chosen columns, multiplied by `column_scales_`. `transform`
    returns them as a dense array with one column for each chosen column, and `inverse_transform` returns
    scores @ U @ R. Use `as_selector` to keep sparse data sparse.

    Parameters
    ----------
    n_components : int, float or None, default None
        Rank k. A float such as 0.9 selects the smallest k whose CUR decomposition explains this share of the sum of
        squares. None uses the rank that `error`, `n_columns` or `n_rows` require, or 2.
    n_columns : int or None, default None
        Number of columns to select. None selects k columns, or 4k for 'norm' and 'leverage'.
    n_rows : int or None, default None
        Number of rows to select. None selects k rows, or 4k for 'norm' and 'leverage'. With ``core='intersection'``,
        the default is higher: k + min(k, 10) rows, or 6k for 'leverage'. Additional rows improve the accuracy, because
        the pseudo-inverse of a square intersection can be very large. For 'norm' the default stays 4k.
    select : {'pivot', 'norm', 'leverage', 'volume'}, default 'pivot'
        'pivot' takes the pivots of a QR factorisation of the certified singular vectors. 'norm' is the textbook
        algorithm: it samples with replacement by squared norms, rescales, and merges duplicates. 'leverage' samples by
        leverage scores. 'volume' is adaptive randomised pivoting, whose expected squared error is at most 2 (k + 1)
        times that of the best approximation.
    core : {'best', 'intersection'}, default 'best'
        'best' is C^+ X R^+, which minimises the error. 'intersection' is the pseudo-inverse of the submatrix in which
        the columns and rows intersect.
    error : float or None, default None
        Relative error ||X - C U R|| / ||X|| to reach with as small a rank k as possible. A wide range of k is first
        narrowed by bisection. The last 32 values are tried one by one, because the error can increase with k.
    cutoff : float or None, default None
        Pseudo-inverses treat singular values below this share of the largest one as zero. None uses a small multiple of
        the rounding error.
    tol : float, default 0.0
        Accuracy of the singular vectors, as in `TruncatedSVD`.
    random_state : int, RandomState, Generator or None, default None
        Seed for the sampling. None uses a fixed seed, so results are reproducible.
    {memory [estimator]}
    device : str or None, default None
        'cuda' copies host data to the GPU and returns host arrays. If the data do not fit on the GPU, only the singular
        vectors are computed there, block by block. Arrays that are already on a device stay there.

    Attributes
    ----------
    columns_ : array of int
        Indices of the chosen columns, counted from 0.
    rows_ : array of int
        Indices of the chosen rows, counted from 0.
    column_names_ : tuple of str or None
        Names of the chosen columns, if the data have names.
    row_names_ : tuple of str or None
        Names of the chosen rows, if the data have names.
    column_scales_ : array
        Factors applied to the chosen columns: ones, except for 'norm'.
    row_scales_ : array
        Factors applied to the chosen rows: ones, except for 'norm'.
    C_ : array or sparse array of shape (n_samples, len(columns_))
        The chosen columns; sparse if X is sparse.
    R_ : array or sparse array of shape (len(rows_), n_features_in_)
        The chosen rows; sparse if X is sparse.
    core_ : Core
        The matrix U, stored as factors that stay accurate if columns are nearly dependent. ``core_.matrix`` is U as one
        array.
    error_ : float
        Measured error ||X - C U R||.
    relative_error_ : float
        `error_` divided by ||X||.
    best_error_ : tuple of float
        Lower and upper bounds on the error of the best approximation of rank k.
    ratio_ : tuple of float
        Lower and upper bounds on `error_` divided by the best error.
    bounds_ : dict
        Error bounds that are known before the fit, for this number of columns and rows. Each entry contains the bound,
        whether it applies to the chosen algorithm, and a summary.
    n_components_ : int
        Rank k.
    certificate_ : Certificate
        Proved bounds on the explained share.

    See Also
    --------
    ColumnSelector : Keep only the chosen columns, as a scikit-learn selector.
    TruncatedSVD : The best approximation, whose factors are not columns of the data.
    NMF : Non-negative factors.

    References
    ----------
    .. [1] P. Drineas, R. Kannan and M. W. Mahoney, "Fast Monte Carlo algorithms for matrices III", SIAM J. Comput. 36,
           2006.
    .. [2] D. C. Sorensen and M. Embree, "A DEIM induced CUR factorization", SIAM J. Sci. Comput. 38, 2016.
    .. [3] A. Cortinovis and D. Kressner, "Adaptive randomized pivoting for column subset selection", 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from eckart import CUR
    >>> X = np.array([[1.0, 1, 0], [2, 2, 0], [0, 0, 3]])
    >>> cur = CUR(n_components=2).fit(X)
    >>> cur.columns_, cur.rows_
    (array([2, 0]), array([2, 1]))
    >>> (cur.C_ @ cur.core_ @ cur.R_).round(9) + 0
    array([[1., 1., 0.],
           [2., 2., 0.],
           [0., 0., 3.]])
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

    n_components: float | None = None
    _: KW_ONLY
    n_columns: int | None = None
    n_rows: int | None = None
    select: Literal["pivot", "norm", "leverage", "volume"] = "pivot"
    core: Literal["best", "intersection"] = "best"
    error: float | None = None
    cutoff: float | None = None
    tol: float = 0.0
    random_state: Seed = None
    memory: str | int | None = None
    device: str | None = None

    @document
    def transform(self, X: object) -> Array:
        """Take the entries of the rows of X in the chosen columns, times `column_scales_`.

        {Parameters: X [same order]}

        Returns
        -------
        array of shape (n_samples, number of chosen columns)
            One column for each entry of `columns_`, always dense. With `n_columns`, these are more than
            `n_components_`.

        {Raises: InputError [column names]}
        """
        return super().transform(X)

    def as_selector(self) -> ColumnSelector:
        """Convert to a scikit-learn selector that keeps the chosen columns in their original order.

        Returns
        -------
        ColumnSelector
            The selector; it is fitted if this estimator is fitted.
        """
        from eckart.cur.column_selector import ColumnSelector

        selector = ColumnSelector(self)
        return selector.remember(self) if hasattr(self, "decomposition_") else selector

    def get_feature_names_out(self, input_features: Sequence[str] | np.ndarray | None = None) -> np.ndarray:
        """Get the names of the chosen columns.

        Parameters
        ----------
        input_features : array-like of str or None, default None
            Names of all columns. None uses the column names seen in `fit`.

        Returns
        -------
        array of str
            Names in the order of `columns_`.
        """
        check_is_fitted(self)
        return np.asarray(_check_feature_names_in(self, input_features)[self.columns_])

    def _fit(self, X: Array) -> Array:
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

    def _scores(self, data: object) -> Array:
        return project(self.decomposition_, data)

    def _rows(self, scores: Array) -> Array:
        return reconstruct(self.decomposition_, scores)

    def _publish(self, d: Decomposition[CURDetails]) -> None:
        super()._publish(d)
        details = d.details
        self.n_components_ = details.k
        self.columns_, self.rows_ = details.columns, details.rows
        self.column_scales_, self.row_scales_ = details.column_scales, details.row_scales
        self.column_names_, self.row_names_ = details.chosen_column_names, details.chosen_row_names
        self.C_, self.R_, self.core_ = details.C, details.R, details.core
        self.error_, self.relative_error_ = details.error, details.relative_error
        self.best_error_, self.ratio_, self.bounds_ = details.best_error, details.ratio, details.bounds

    def _wanted(self, shape: tuple[int, int]) -> tuple[int | None, float | None]:
        """(rank, share of the sum of squares): at most one of them."""
        return allowed.count_or_share_in(self.n_components, shape, counted(min(shape), "independent column"))
