"""Missing values imputed on request, never silently: by column means, or by the components of the table.

The decomposition records what was imputed, how, and with which standard errors: `details.missing` and its notes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from eckart.arrays import Array, from_numpy, is_sparse, to_numpy, unmasked
from eckart.engine.matrix import Opened
from eckart.engine.settings import check_weights, generator
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError
from eckart.formatting import counted, percent
from eckart.io.open_matrix import open_matrix
from eckart.missing.em import Completed, GapModel, complete_by_all, complete_by_factors, fill_rows, means_present
from eckart.missing.held_out import HeldOut
from eckart.missing.messages import imputation_notes, refuse, refuse_blocks, refuse_columns
from eckart.missing.variance_ratios import expected_variance_ratios
from eckart.notes import Note
from eckart.options import check_choice, check_count, hint_keywords
from eckart.result import Decomposition, Imputation, SVDDetails
from eckart.wording import assigned

How = Literal["error", "mean", "em"]
WAYS = ("error", "mean", "em")
_MOST_COMPONENTS = 15
_ALL_COMPONENTS = 300
"""Up to this many columns, imputation by all components is tried as well."""
_BETTER = 0.97
"""All components are used if the mean squared error of hidden values is below this share of that of few."""
_SEARCH_CELLS = 1_000_000
"""Maximum number of cells for cross-validation: a sample of the rows."""
LEAST_DIFFERENCE = 0.0005
"""Excess of the explained share of the filled table, below which there is no note."""


@dataclass(frozen=True)
class Filled:
    """A table with imputed values.

    Attributes
    ----------
    how : {'em', 'mean'}
        Method of imputation.
    table : array of shape (n_samples, n_features)
        The completed table.
    rows : array of int
        Row index of each imputed entry, counted from 0.
    columns : array of int
        Column index of each imputed entry, counted from 0.
    values : array of float
        Imputed values.
    errors : array of float
        Standard errors of the imputed values.
    model : GapModel
        Mean, loadings and noise, which are used to impute missing values of new rows.
    k : int
        Number of components of the model. 0 if column means were imputed.
    shrink : float
        Share of noise that was added to the covariance matrix, if the model with the full covariance matrix was used.
    steps : int
        Number of iterations.
    converged : bool
        Whether the iteration converged.
    error : float or None
        Root mean square error of held-out values, in standard deviations of their columns. None if there was no
        cross-validation.
    error_of_means : float or None
        The same error if column means are imputed instead.
    notes : tuple of str
        Remarks on the result.

    See Also
    --------
    fill_missing : The function that returns it.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> ek.fill_missing([[1.0, 2.0], [3.0, np.nan], [5.0, 4.0]], "mean").values
    array([3.])
    """

    how: str
    table: Array
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    model: GapModel
    k: int = 0
    shrink: float = 0.0
    steps: int = 0
    converged: bool = True
    error: float | None = None
    error_of_means: float | None = None
    notes: tuple[Note, ...] = ()


@hint_keywords
def fill_missing(
    data: object, how: How = "em", *, k: int | None = None, sample_weight: object = None, rng: object = None
) -> Filled:
    """Impute missing values and estimate the standard error of each.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
        The data. Missing values are NaN, null or masked.
    how : {'em', 'mean'}, default 'em'
        'em' predicts a missing value from the other values of its row. It uses a factor model that is fitted to the
        observed values by expectation-maximisation. 'mean' uses the mean of the observed values of the column.
    k : int, default None
        Maximum number of components of the factor model. Components that the data do not support are dropped. None
        determines the number from the data, and also tries a model with the full covariance matrix; cross-validation
        chooses between them.
    sample_weight : array-like of shape (n_samples,), default None
        Weight of each row. A weight of 2 is equivalent to including the row twice. None gives every row weight 1.
    rng : int or numpy.random.Generator, default None
        Seed for the cross-validation. None uses a fixed seed.

    Returns
    -------
    Filled
        The completed `table`, the indices, values and standard errors of the imputed entries, and the error on held-out
        values.

    Raises
    ------
    InputError
        If the data are read in blocks, or a column has no observed value.

    See Also
    --------
    decompose : Takes ``missing="em"`` and imputes before the decomposition.

    References
    ----------
    .. [1] M. E. Tipping and C. M. Bishop, "Probabilistic principal component analysis", J. R. Stat. Soc. B 61, 1999.
    .. [2] J. Josse and F. Husson, "Handling missing values in exploratory multivariate data analysis methods", J. SFdS
           153, 2012.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> table = np.outer([1.0, 2, 3, 4, 5, 6], [1.0, 2, 3, 4])
    >>> table[1, 2] = np.nan
    >>> filled = ek.fill_missing(table, k=1)
    >>> filled.rows, filled.columns, filled.values.round(3)
    (array([1]), array([2]), array([6.]))
    """
    check_choice("how", how, ("mean", "em"))
    opened = open_matrix(unmasked(data))
    weights = check_weights(sample_weight, opened.matrix.shape[0])
    if k is not None:
        check_count("k", k, max(min(opened.matrix.shape) - 1, 1))
    return fill(opened, how, weights=weights, rng=generator(rng)[1], k=k)


def fill(
    opened: Opened, how: str, *, weights: np.ndarray | None, rng: np.random.Generator, k: int | None = None
) -> Filled:
    """Impute the missing values of an opened matrix; `table` is in the library, dtype and units of the data."""
    refuse_blocks(opened)
    matrix = opened.matrix.matrix
    if is_sparse(matrix):
        return _fill_sparse(opened, how, weights)
    table = np.ldexp(to_numpy(matrix).astype(np.float64), opened.exponent)
    gone = np.isnan(table)
    refuse(table, gone, opened)
    ones = np.ones(len(table)) if weights is None else weights
    with one_blas_thread():  # many small matrices
        found, search = _completed(table, gone, how, ones, rng, k)
    rows, columns = np.nonzero(gone)
    filled = Filled(
        how=how,
        table=from_numpy(np.ldexp(found.table, -opened.exponent).astype(_float(matrix)), matrix),
        rows=rows,
        columns=columns,
        values=np.ldexp(found.table[gone], -opened.exponent),
        errors=np.ldexp(found.errors[gone], -opened.exponent),
        model=_in_units(found.model, -opened.exponent),
        k=found.model.k,
        shrink=0.0 if search is None else search.shrink,
        steps=found.steps,
        converged=found.converged,
        error=None if search is None else search.error**0.5,
        error_of_means=None if search is None else search.error_of_means**0.5,
    )
    return replace(filled, notes=imputation_notes(filled, table.shape, gone))


def fill_as_fitted(d: Decomposition, opened: Opened) -> Opened:
    """New rows imputed by the model of the fit; unchanged if the fit had none."""
    known = imputation_of(d)
    if known is None or not opened.matrix.resident or opened.matrix.sparse:
        return opened
    matrix = opened.matrix.matrix
    table = to_numpy(matrix)
    gone = np.isnan(table)
    if not gone.any():
        return opened
    model = GapModel(known.mean, known.scale, known.loadings, known.noise)
    filled = fill_rows(table.astype(np.float64), model)
    return with_matrix(opened, from_numpy(filled.astype(_float(matrix)), matrix))


def with_matrix(opened: Opened, matrix: Array) -> Opened:
    """The same with other numbers of the same shape, in the units of the data."""
    if not opened.matrix.sparse:
        return replace(opened, matrix=replace(opened.matrix, matrix=matrix))
    scaled = matrix
    if opened.exponent:
        scaled = matrix.copy()
        scaled.data = np.ldexp(matrix.data, opened.exponent)
    return replace(opened, matrix=replace(opened.matrix, matrix=scaled, given=matrix))


def imputation_of(d: Decomposition) -> Imputation | None:
    """How the missing values of the fitted table were imputed; None if there were none."""
    return d.details.missing if isinstance(d.details, SVDDetails) else None


def as_imputation(filled: Filled) -> Imputation:
    """The record of the imputation in a decomposition."""
    model = filled.model
    return Imputation(
        how=filled.how, k=filled.k, shrink=filled.shrink, steps=filled.steps, converged=filled.converged,
        error=filled.error, error_of_means=filled.error_of_means,
        rows=filled.rows, columns=filled.columns, values=filled.values, errors=filled.errors,
        mean=model.mean, scale=model.scale, loadings=model.loadings, noise=model.noise,
    )  # fmt: skip


def with_imputation(
    d: Decomposition[SVDDetails], filled: Filled, weights: np.ndarray | None
) -> Decomposition[SVDDetails]:
    """The decomposition of a filled table with a record of the imputation, and shares that allow for it."""
    notes, missing = filled.notes, as_imputation(filled)
    if filled.how == "em" and len(filled.values):
        unit = np.ones(d.columns) if d.scale is None else to_numpy(d.scale).astype(np.float64)
        gone = np.zeros((d.rows, d.columns), dtype=bool)
        gone[filled.rows, filled.columns] = True
        shares = expected_variance_ratios(
            to_numpy(d.values).astype(np.float64), to_numpy(d.right).astype(np.float64), d.norm, unit, filled.model,
            gone, np.ones(d.rows) if weights is None else weights,
        )  # fmt: skip
        missing = replace(missing, explained_variance_ratio=shares)
        of_filled, expected = float(to_numpy(d.explained_variance_ratio).sum()), float(shares.sum())
        if of_filled - expected >= LEAST_DIFFERENCE:
            notes = (*notes, _shares_note(of_filled, expected, d.k))
    return replace(d, notes=(*d.notes, *notes), details=replace(d.details, missing=missing))


def _shares_note(of_filled: float, expected: float, k: int) -> Note:
    components = "component explains" if k == 1 else f"{k} components explain"
    return Note(
        "imputed_variance",
        f"The {components} {percent(of_filled)} of the table with imputed values. Imputed values "
        f"contain no noise; allowing for that, the share is about {percent(expected)}.",
    )


@dataclass(frozen=True)
class _Search:
    """Result of cross-validation: a share of noise for all components (0: few components), and mean squared errors."""

    shrink: float
    error: float
    error_of_means: float


def _completed(
    table: np.ndarray, gone: np.ndarray, how: str, weights: np.ndarray, rng: np.random.Generator, k: int | None
) -> tuple[Completed, _Search | None]:
    """The filled table, and the result of cross-validation if it was used."""
    if how == "mean" or not gone.any():
        return _by_means(table, gone, weights), None
    distinct, weights, group = _distinct(table, weights)
    found, search = _by_model(distinct, weights, rng, k)
    return replace(found, table=found.table[group], errors=found.errors[group]), search


def _by_model(
    table: np.ndarray, weights: np.ndarray, rng: np.random.Generator, k: int | None
) -> tuple[Completed, _Search | None]:
    """EM on distinct rows, so that weights and repeated rows take the same steps, with the same rounding errors."""
    by_factors = complete_by_factors(table, _MOST_COMPONENTS if k is None else k, weights)
    if k is not None:
        return by_factors, None
    held_out = _held_out(table, weights, rng)
    errors = held_out.by_part(by_factors.model.k).mean(axis=1)
    if errors[-1] > errors[0]:  # worse than column means: an exact fit of the observed values that predicts nothing
        best = int(np.argmin(errors))
        by_factors, errors = complete_by_factors(table, best, weights), errors[: best + 1]
    by_few = _Search(0.0, float(errors[-1]), float(errors[0]))
    if by_factors.clear or min(table.shape) < 2 or table.shape[1] > _ALL_COMPONENTS:
        return by_factors, by_few
    shrunk = held_out.shrunk()
    if shrunk.error >= _BETTER * by_few.error:
        return by_factors, by_few
    by_all, _ = complete_by_all(table, shrunk.shrink, weights)
    calibrated = replace(by_all, errors=by_all.errors * shrunk.calibration)
    return calibrated, _Search(shrunk.shrink, shrunk.error, by_few.error_of_means)


def _by_means(table: np.ndarray, gone: np.ndarray, weights: np.ndarray) -> Completed:
    """Impute column means; the error is the standard deviation plus the standard error of the mean."""
    mean, count = means_present(table, gone, weights), weights @ ~gone
    squares = weights @ np.where(gone, 0.0, table - mean) ** 2
    model = GapModel(mean, np.sqrt(squares / count), np.zeros((table.shape[1], 0)), np.ones(table.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(count > 1.0, np.sqrt(squares / (count - 1.0) * (1.0 + 1.0 / count)), np.inf)
    return Completed(np.where(gone, mean, table), model, np.where(gone, errors, 0.0))


def _held_out(table: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> HeldOut:
    """Cross-validation on the table, or on a random sample of the rows if it is large.

    The rows are distinct: a copy would predict the values that are hidden in the other.
    """
    rows, columns = table.shape
    if table.size > _SEARCH_CELLS:
        chosen = np.sort(rng.choice(rows, max(_SEARCH_CELLS // columns, min(rows, 20)), replace=False))
        chosen = np.union1d(chosen, _with_values(table))
        table, weights = table[chosen], weights[chosen]
    return HeldOut(table, rng, weights=weights, tried=int(np.clip(1_000_000 // table.size, 3, 5)))


def _distinct(table: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct rows, in the order in which they first occur, their weights, and the index of each row in them."""
    coded = np.ascontiguousarray(table).view(np.dtype((np.void, table.shape[1] * table.itemsize))).ravel()
    _, first, group = np.unique(coded, return_index=True, return_inverse=True)
    order = np.argsort(first)
    group = np.argsort(order)[group]
    return table[first[order]], np.bincount(group, weights), group


def _with_values(table: np.ndarray) -> np.ndarray:
    """Two rows for each column, so that no column is empty in a sample of the rows."""
    seen = ~np.isnan(table)
    first = seen.argmax(axis=0)
    last = len(table) - 1 - seen[::-1].argmax(axis=0)
    return np.union1d(first, last)


def _fill_sparse(opened: Opened, how: str, weights: np.ndarray | None) -> Filled:
    """Stored NaN are missing values; entries that are not stored are observed zeros."""
    matrix = opened.matrix.matrix
    entries = matrix.tocoo()
    gone = np.isnan(entries.data)
    if how == "em" and gone.any():
        raise InputError(
            f"The sparse matrix contains {counted(int(gone.sum()), 'missing value')}, but "
            f"{assigned('missing', 'em')} works only with dense tables. Use "
            f"{assigned('missing', 'mean')}, or convert the matrix with .toarray() if it fits into "
            "memory."
        )
    weights = np.ones(matrix.shape[0]) if weights is None else weights
    size = matrix.shape[1]
    present = np.where(gone, 0.0, entries.data)
    left = weights.sum() - np.bincount(entries.col, weights[entries.row] * gone, size)
    refuse_columns(np.flatnonzero(left <= 0.0), opened)
    mean = np.bincount(entries.col, weights[entries.row] * present, size) / left
    squares = np.bincount(entries.col, weights[entries.row] * present**2, size) / left - mean**2
    model = GapModel(mean, np.sqrt(np.maximum(squares, 0.0)), np.zeros((size, 0)), np.ones(size))
    filled = matrix.copy()
    place = np.isnan(filled.data)
    filled.data[place] = mean[filled.indices[place]]
    if opened.exponent:
        filled.data = np.ldexp(filled.data, -opened.exponent)
    model = _in_units(model, -opened.exponent)
    rows, columns = entries.row[gone].astype(np.int64), entries.col[gone].astype(np.int64)
    found = Filled(how, filled, rows, columns, model.mean[columns], model.scale[columns], model)
    return replace(found, notes=imputation_notes(found, matrix.shape, None))


def _in_units(model: GapModel, exponent: int) -> GapModel:
    if not exponent:
        return model
    return replace(model, mean=np.ldexp(model.mean, exponent), scale=np.ldexp(model.scale, exponent))


def _float(matrix: Array) -> type[np.floating[Any]]:
    return np.float32 if str(matrix.dtype).endswith("float32") else np.float64
