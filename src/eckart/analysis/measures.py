"""The arrays that tables and plots are made of, in float64 on the host.

A row of weight w_i lies in B as sqrt(w_i) x_i, so its coordinates are t_i = left_i diag(values) / sqrt(w_i), and its
squared distance from the centre is norm_i^2 / w_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from eckart.analysis.labels import column_labels, component_labels, method_name, row_labels
from eckart.arrays import Floats, to_numpy
from eckart.components.scores import null_level, rounding_unit
from eckart.documentation import document
from eckart.errors import InputError, ParameterError
from eckart.fitted import takes_fitted
from eckart.formatting import counted
from eckart.registry import method_of
from eckart.result import SVDDetails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition
    from eckart.text import Cell, Table

_COMPLETE = 1e-9
"""Residuals below this share of ||A||^2 count as zero, as do those below the rounding of the shares."""
_NOTHING = 1e-12
"""Components whose value is below this fraction of the norm, or below `null_level`, are rounding errors."""


@document
def floats(array: object) -> Floats:
    """Convert an array of any library to a float64 array in host memory.

    Parameters
    ----------
    array : array-like
        Array of any library.

    Returns
    -------
    numpy.ndarray
        The same numbers in float64.

    {See Also: row_scores}

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> ek.tables.floats(np.array([1, 2]))
    array([1., 2.])
    """
    return to_numpy(array).astype(np.float64)


@takes_fitted
def row_scores(d: Decomposition, rows: slice = slice(None), components: slice | list[int] = slice(None)) -> Floats:
    """Compute the scores of the fitted rows as an array.

    Parameters
    ----------
    {d [with rows]}
    rows : slice, default slice(None)
        Rows for which to compute scores.
    components : slice or list of int, default slice(None)
        Components for which to compute scores, counted from 0.

    Returns
    -------
    numpy.ndarray of shape (n_rows, n_components)
        Scores T = diag(1 / sqrt(w)) U diag(s) in float64, where w are the row weights, U the left vectors and s the
        singular values.

    {Raises: ParameterError [left vectors]; See Also: scores}

    {Examples: arrests}
    >>> ek.tables.row_scores(d, slice(2)).round(3)
    array([[ 0.976, -1.122],
           [ 1.931, -1.062]])
    """
    scores: Floats = (
        left_vectors(d, rows, components) * floats(d.values)[components] / np.sqrt(row_weights(d)[rows])[:, None]
    )
    return scores


def left_vectors(d: Decomposition, rows: slice = slice(None), components: slice | list[int] = slice(None)) -> Floats:
    """U in float64, rows x k."""
    if d.left is None:
        _refuse_without_left()
    return floats(to_numpy(d.left)[rows, components])


def svd_details(d: Decomposition) -> SVDDetails:
    """Lengths and weights of a PCA or SVD; none are known for other methods."""
    return d.details if isinstance(d.details, SVDDetails) else SVDDetails()


def row_weights(d: Decomposition) -> Floats:
    """Weight of each row: ones unless weights were given."""
    given = svd_details(d).row_weights
    return np.ones(d.rows) if given is None else floats(given)


def row_distances(d: Decomposition) -> Floats | None:
    """Distance of each row from the centre over all directions; None if only the kept components are known."""
    given = svd_details(d).row_norms
    if given is not None:
        return np.asarray(floats(given) / np.sqrt(row_weights(d)))
    return np.sqrt((row_scores(d) ** 2).sum(axis=1)) if complete(d) else None


def column_spread(d: Decomposition) -> Floats:
    """Standard deviation of each decomposed column; raises if it is not known."""
    given = svd_details(d).column_norms
    if given is not None:
        return np.asarray(floats(given) / max(d.weight - 1.0, 1.0) ** 0.5)
    if d.scale is not None:
        return np.ones(d.columns)
    if not complete(d):
        message = "The components do not explain all of the variance and the columns were not scaled, so the columns' "
        raise ParameterError(
            message + "standard deviations are unknown. Decompose with scale=True, or compute all components."
        )
    return np.asarray(np.sqrt(floats(d.right) ** 2 @ floats(d.explained_variance)))


@takes_fitted
def complete(d: Decomposition) -> bool:
    """Check whether the components explain the whole matrix.

    {Parameters: d}

    Returns
    -------
    bool
        Whether the explained shares sum to 1. If so, the norms of rows and columns follow from the components.

    {See Also: eigenvalues}

    {Examples: arrests}
    >>> ek.tables.complete(d), ek.tables.complete(ek.decompose(arrests.values))
    (False, True)
    """
    # Each share is rounded in its value, its square and the quotient.
    allowed = max(_COMPLETE, 4.0 * rounding_unit(d))
    return d.norm == 0 or abs(float(floats(d.explained_variance_ratio).sum()) - 1) <= allowed


def nonzero_components(d: Decomposition) -> NDArray[np.bool_]:
    """Which components explain more than rounding errors."""
    rounding = null_level(d) * max(d.weight - 1.0, 1.0) ** 0.5
    return np.asarray(floats(d.values) > max(_NOTHING * d.norm, rounding))


def check_orthogonal(d: Decomposition, what: str) -> None:
    """Raise if the method has no orthogonal components in the space of the columns."""
    if not method_of(d).orthogonal:
        message = (
            f"{what} need orthogonal components in the space of the columns, but the components of "
            f"{method_name(d)} are not orthogonal. "
        )
        raise ParameterError(message + "Decompose with 'pca' or 'svd'.")


def check_linear(d: Decomposition) -> None:
    """Raise if the components are not combinations of the columns."""
    if tuple(d.right.shape) != (d.columns, d.k):
        message = f"{method_name(d)} has no loadings: its components are not linear combinations of the columns. "
        raise ParameterError(
            message + "To correlate columns with the scores, use eckart.supplementary.columns(d, data)."
        )


def check_centred(d: Decomposition) -> None:
    if d.mean is None:
        message = (
            "Correlations with the components need centred columns, but these columns were not centred. "
            "Decompose with 'pca'."
        )
        raise ParameterError(message)


def check_component(d: Decomposition, component: int) -> int:
    if not 0 <= component < d.k:
        raise ParameterError(f"component={component!r} does not exist. Use an index from 0 to {d.k - 1}.")
    return int(component)


def check_k(d: Decomposition, k: int | None) -> int:
    """Number of leading components in the model; all by default."""
    if k is None:
        return d.k
    if not 1 <= k <= d.k:
        raise ParameterError(f"k={k!r} is out of range, because the decomposition has {counted(d.k, 'component')}.")
    return int(k)


def parts_of_hundred(vectors: Floats) -> Floats:
    """100 x^2 / sum x^2 down each column, zero for a zero column."""
    squares = (vectors / np.maximum(np.abs(vectors).max(axis=0, initial=0), np.finfo(float).tiny)) ** 2
    total = squares.sum(axis=0)
    parts: Floats = np.divide(100 * squares, total, out=np.zeros_like(squares), where=total > 0)
    return parts


def ratio(parts: Floats, whole: Floats) -> Floats:
    """parts / whole; 0 where the whole is 0, NaN where it is not known."""
    whole = np.broadcast_to(whole, parts.shape)
    quotient: Floats = np.divide(parts, whole, out=np.zeros_like(parts), where=(whole > 0) | np.isnan(whole))
    return quotient


def of_columns(d: Decomposition, title: str, numbers: Floats, caption: str) -> Table:
    """One row for each column of the data, one number for each component."""
    from eckart.text import Table

    check_linear(d)
    rows = tuple((name, *line) for name, line in zip(column_labels(d), numbers.tolist(), strict=False))
    return Table(title, ("column", *component_labels(d)), rows, caption)


def of_rows(d: Decomposition, title: str, numbers: Floats, caption: str) -> Table:
    """One row for each row of the data, one number for each component."""
    from eckart.text import Table

    rows = tuple((name, *line) for name, line in zip(row_labels(d), numbers.tolist(), strict=False))
    return Table(title, ("row", *component_labels(d)), rows, caption)


def _refuse_without_left() -> NoReturn:
    raise ParameterError(
        "Results for single rows need the coordinates of the rows, but this decomposition does not "
        "contain them (left is None). Decompose with left=True, or add them to a fitted model: "
        "eckart.with_rows(model, data)."
    )


def named_lines(names: Sequence[str], numbers: Floats) -> tuple[tuple[Cell, ...], ...]:
    """Rows of a table: a name and its numbers."""
    return tuple((name, *line) for name, line in zip(names, numbers.tolist(), strict=True))


def check_rows(d: Decomposition, count: int) -> None:
    """Refuse a supplementary column that does not have one value per fitted row."""
    if count != d.rows:
        message = (
            f"{counted(count, 'value was', 'values were')} passed, but the decomposition has {counted(d.rows, 'row')}. "
        )
        raise InputError(message + "Pass one value per fitted row (rows with weight 0 were not fitted).")
