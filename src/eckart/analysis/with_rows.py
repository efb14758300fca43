"""with_rows: add the coordinates of the rows to a fitted model, for tables and plots of individual rows."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from eckart.analysis.measures import floats, nonzero_components
from eckart.analysis.supplementary.rows import measured
from eckart.arrays import Floats, to_numpy
from eckart.errors import DataWarning, InputError
from eckart.fitted import takes_fitted
from eckart.formatting import counted
from eckart.projecting import project
from eckart.result import Decomposition, SVDDetails

_SAME = 1e-3
"""Variances of the scores that differ by more than this share are not those of the fit."""


@takes_fitted
def with_rows(model: Decomposition, data: object) -> Decomposition:
    """Add the scores of the fitted rows to a model, in one pass over the data.

    Estimators do not store the scores of the fitted rows. Functions that show individual rows, such as `tables.scores`,
    `tables.outliers` and `plots.biplot`, need them.

    Parameters
    ----------
    model : Decomposition or fitted estimator
        The model.
    data : array-like, sparse matrix, data frame or path
        The fitted data, with the rows in the same order.

    Returns
    -------
    Decomposition
        The decomposition with the scores of its rows (`left`) and, if `data` has row names, with these names.

    Raises
    ------
    InputError
        If the number of rows differs from that of the fit, or the model was fitted with row weights.

    Warns
    -----
    DataWarning
        If the scores do not have the variances of the model, so that these rows were not fitted with equal weights.

    See Also
    --------
    decompose : Keep the scores of the rows with ``left=True``.
    supplementary.rows : Scores of rows that were not used in the fit.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> pca = ek.PCA(2, scale=True).fit(arrests.values)
    >>> ek.with_rows(pca, arrests.values).left.shape
    (50, 2)
    """
    d = model
    if abs(d.weight - d.rows) > 1e-9 * d.rows:
        raise InputError(
            "The model was fitted with row weights, but it does not contain them. Use decompose(..., "
            "sample_weight=..., left=True) instead."
        )
    details = d.details
    if isinstance(details, SVDDetails):
        scores, squares, names = measured(d, data)
        details = replace(details, row_norms=np.sqrt(np.maximum(squares, (scores**2).sum(axis=1))))
    else:
        scores, names = floats(project(d, data)), d.row_names
    if len(scores) != d.rows:
        raise InputError(
            f"The data have {counted(len(scores), 'row')}, but the model was fitted on {d.rows:,}. Pass "
            "the rows that were fitted. For new rows, use eckart.supplementary.rows."
        )
    values = floats(d.values)
    left = np.divide(scores, values, out=np.zeros_like(scores), where=values > 0.0)
    if isinstance(details, SVDDetails):
        _warn_if_not_fitted(d, left)
    return replace(d, left=left.astype(to_numpy(d.values).dtype), row_names=names, details=details)


def _warn_if_not_fitted(d: Decomposition, left: Floats) -> None:
    """Left singular vectors of the fitted rows have length 1: those of other rows, or without the weights, do not."""
    alive = nonzero_components(d)
    difference = float(np.max(np.abs((left[:, alive] ** 2).sum(axis=0) - 1.0), initial=0.0))
    if difference > _SAME:
        warnings.warn(
            f"The variances of these scores differ from those of the model by up to {100 * difference:.2g} %. Either "
            "these rows are not the fitted ones, or the model was fitted with row weights or without small "
            "components. Use decompose(..., left=True) instead.",
            DataWarning,
            stacklevel=3,
        )
