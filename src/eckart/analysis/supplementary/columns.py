"""Other columns: their correlations with the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.labels import component_labels
from eckart.analysis.measures import living, ratio, row_scores, row_weights
from eckart.analysis.supplementary.lines import check_rows, named_lines
from eckart.errors import InputError
from eckart.fitted import takes_fitted
from eckart.result import Decomposition
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


@takes_fitted
def columns(d: Decomposition, data: Any) -> Table:
    """Correlation of other columns with the scores on each axis, and the share of each column that the axes show.

    Parameters
    ----------
    d : Decomposition
        With left vectors.
    data : mapping of names to numbers, data frame, or array of shape (rows, columns)
        One number for each row that was fitted. Rows without a number are left out of that column's correlations.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests").values
    >>> d = ek.decompose(arrests[:, [0, 1, 3]], k=2, scale=True, left=True)
    >>> print(ek.supplementary.columns(d, {"UrbanPop": arrests[:, 2]}).text(), end="")
    Supplementary columns
    <BLANKLINE>
    column       PC1     PC2    shown
    --------  ------  ------  -------
    UrbanPop  0.2733  0.3604  20.46 %
    Correlation of each column with the scores on each axis; 'shown' is the share of
    its variance that the axes foretell.
    """
    names, numbers = _columns_of(data)
    check_rows(d, len(numbers))
    scores, weights, alive = row_scores(d), row_weights(d), living(d)
    found = np.array([_correlations(column, scores, weights, alive) for column in numbers.T])
    caption = "Correlation of each column with the scores on each axis; 'shown' is the share of its variance that the "
    caption += "axes foretell."
    gaps = int(np.isnan(numbers).sum())
    caption += f" {gaps:,} missing numbers were left out." if gaps else ""
    kinds = ("text", *("number",) * d.k, "percent")
    lines = named_lines(names, found)
    return Table("Supplementary columns", ("column", *component_labels(d), "shown"), lines, caption, kinds)


def _columns_of(data: Any) -> tuple[tuple[str, ...], Matrix]:
    """Names and numbers, rows x columns, of a mapping, a frame or an array; gaps are NaN."""
    if isinstance(data, Mapping):
        names, parts = tuple(str(name) for name in data), [_numbers(data[name], str(name)) for name in data]
    elif hasattr(data, "columns"):
        names = tuple(str(name) for name in data.columns)
        parts = [_numbers(data[name], str(name)) for name in data.columns]
    else:
        array = np.asarray(data)
        array = array[:, None] if array.ndim == 1 else array
        names = tuple(f"s{j + 1}" for j in range(array.shape[1]))
        parts = [_numbers(array[:, j], name) for j, name in enumerate(names)]
    if not parts or len({len(part) for part in parts}) != 1:
        raise InputError("Supplementary columns must be one or more, all of the same length: one number for each row.")
    return names, np.column_stack(parts)


def _numbers(values: Any, name: str) -> Matrix:
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        message = f"The supplementary column {name!r} holds something that is not a number: {error}. "
        raise InputError(message + "Place words with eckart.supplementary.categories.") from error


def _correlations(column: Matrix, scores: Matrix, weights: Matrix, alive: NDArray[np.bool_]) -> Matrix:
    """Weighted correlations of a column with the scores, over the rows where it has a number, and R^2 with all axes."""
    there = np.isfinite(column)
    w, x, t = weights[there], column[there], scores[there]
    if w.sum() == 0:
        return np.full(len(alive) + 1, np.nan)
    x, t = x - w @ x / w.sum(), t - w @ t / w.sum()
    if float(w @ x**2) <= w.sum() * (1e-14 * float(np.abs(column[there]).max())) ** 2:
        return np.full(len(alive) + 1, np.nan)
    root = np.sqrt(w)
    x, t = root * x, root[:, None] * t
    lengths = np.sqrt((t**2).sum(axis=0))
    found = np.where(alive, np.clip(ratio(x @ t, np.linalg.norm(x) * lengths), -1.0, 1.0), 0.0)
    unit = ratio(t[:, alive], lengths[alive])
    rest = x - unit @ np.linalg.lstsq(unit, x)[0]
    return np.append(found, max(1.0 - float(rest @ rest) / float(x @ x), 0.0))
