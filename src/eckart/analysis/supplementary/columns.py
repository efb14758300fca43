"""Supplementary columns: their correlations with the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.labels import component_labels
from eckart.analysis.measures import check_rows, named_lines, nonzero_components, ratio, row_scores, row_weights
from eckart.arrays import Floats
from eckart.errors import InputError
from eckart.fitted import takes_fitted
from eckart.formatting import counted
from eckart.result import Decomposition
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


@takes_fitted
def columns(d: Decomposition, data: object) -> Table:
    """Correlate the scores with columns that were not used in the fit.

    Parameters
    ----------
    {d [with rows]}
    data : mapping, data frame or array of shape (n_samples, n_columns)
        Columns with one number per fitted row. Missing numbers are left out of the correlations of their column.

    Returns
    -------
    Table
        Correlation of each column with each component, and the share of its variance that all components explain.

    Raises
    ------
    {ParameterError [left vectors]}
    InputError
        If a column is not numeric or has the wrong length.

    {See Also: rows, eckart.plots.correlation_circle}

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests").values
    >>> d = ek.decompose(arrests[:, [0, 1, 3]], k=2, scale=True, left=True)
    >>> [round(float(cell), 4) for cell in ek.supplementary.columns(d, {"UrbanPop": arrests[:, 2]}).rows[0][1:]]
    [0.2733, 0.3604, 0.2046]
    """
    names, numbers = _columns_of(data)
    check_rows(d, len(numbers))
    scores, weights, nonzero = row_scores(d), row_weights(d), nonzero_components(d)
    found = np.array([_correlations(column, scores, weights, nonzero) for column in numbers.T])
    caption = (
        "Correlation of each column with the scores of each component; 'explained' is the share of its "
        "variance that the "
    )
    caption += "components explain."
    gaps = int(np.isnan(numbers).sum())
    caption += f" {counted(gaps, 'missing value was', 'missing values were')} ignored." if gaps else ""
    kinds = ("text", *("number",) * d.k, "percent")
    lines = named_lines(names, found)
    return Table("Supplementary columns", ("column", *component_labels(d), "explained"), lines, caption, kinds)


def _columns_of(data: Any) -> tuple[tuple[str, ...], Floats]:
    """Names and numbers (rows x columns) of a mapping, a frame or an array; missing values are NaN."""
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):
        array = np.asarray(data)
        array = array[:, None] if array.ndim == 1 else array
        data = {f"s{j + 1}": array[:, j] for j in range(array.shape[1])}
    keys = list(data if isinstance(data, Mapping) else data.columns)
    names, parts = tuple(map(str, keys)), [_numbers(data[key], str(key)) for key in keys]
    if not parts or len({len(part) for part in parts}) != 1:
        raise InputError("Pass at least one supplementary column, with one number per row.")
    return names, np.column_stack(parts)


def _numbers(values: object, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        message = f"The supplementary column {name!r} contains a value that is not a number: {error}. "
        raise InputError(message + "For text columns, use eckart.supplementary.categories.") from error


def _correlations(column: Floats, scores: Floats, weights: Floats, nonzero: NDArray[np.bool_]) -> Floats:
    """Weighted correlations of a column with the scores, over rows where it has a value, and R^2 with all scores."""
    there = np.isfinite(column)
    w, x, t = weights[there], column[there], scores[there]
    if w.sum() == 0:
        return np.full(len(nonzero) + 1, np.nan)
    x, t = x - w @ x / w.sum(), t - w @ t / w.sum()
    if float(w @ x**2) <= w.sum() * (1e-14 * float(np.abs(column[there]).max())) ** 2:
        return np.full(len(nonzero) + 1, np.nan)
    root = np.sqrt(w)
    x, t = root * x, root[:, None] * t
    lengths = np.sqrt((t**2).sum(axis=0))
    found = np.where(nonzero, np.clip(ratio(x @ t, np.linalg.norm(x) * lengths), -1.0, 1.0), 0.0)
    unit = ratio(t[:, nonzero], lengths[nonzero])
    rest = x - unit @ np.linalg.lstsq(unit, x)[0]
    return np.append(found, max(1.0 - float(rest @ rest) / float(x @ x), 0.0))
