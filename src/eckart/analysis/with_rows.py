"""with_rows: add the coordinates of the rows to a fitted model, for tables and plots of individual rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.analysis.measures import floats
from eckart.analysis.supplementary.rows import measured
from eckart.arrays import to_numpy
from eckart.errors import InputError
from eckart.fitted import takes_fitted
from eckart.formatting import counted
from eckart.projecting import project
from eckart.result import Decomposition, SVDDetails


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
    if isinstance(details, SVDDetails) and details.missing is None:
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
    return replace(d, left=left.astype(to_numpy(d.values).dtype), row_names=names, details=details)
