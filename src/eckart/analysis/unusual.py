"""Rows far from the centre along the axes (T2), or far from the axes (Q), and the columns that put them there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.labels import row_labels
from eckart.analysis.measures import complete, floats
from eckart.analysis.report.given_rows import some
from eckart.analysis.report.pack import levels, packed
from eckart.analysis.tables.outliers import Distances, distances, outlier_columns
from eckart.errors import ParameterError
from eckart.formatting import joined, shorten
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition

Unusual = tuple[tuple[str, ...], dict[str, Table]]
"""Sentences and tables."""
_MOST = 15
_LEVEL = 0.95
_ENOUGH = 0.8


def model_components(d: Decomposition) -> int:
    """The axes that make the model: all that were kept or, where they leave nothing over, those that carry 80 %."""
    if not complete(d):
        return d.k
    return max(1, min(int(np.searchsorted(floats(d.explained_variance_ratio).cumsum(), _ENOUGH - 1e-12)) + 1, d.k - 1))


def measured(d: Decomposition) -> Distances | None:
    """T2 and Q of every row with their limits; None where the method, or the rows' lengths, do not give them."""
    if d.left is None or d.which != "largest" or d.k < 1:
        return None
    try:
        found = distances(d, model_components(d), _LEVEL)
    except ParameterError:
        return None
    known = math.isfinite(found.inside_limit) and math.isfinite(found.outside_limit) and found.outside_limit > 0
    return found if known else None


def unusual(d: Decomposition, data: Any) -> Unusual:
    """What is said of unusual rows, and a table of the farthest of them."""
    found = measured(d)
    if found is None:
        return (), {}
    near = np.vstack([found.inside / found.inside_limit, found.outside / found.outside_limit])
    beyond = (near > 1).sum(axis=1).tolist()
    chance = max(round((1 - _LEVEL) * d.rows), 1)
    k = model_components(d)
    line = (
        f"Measured with {k} {'axis' if k == 1 else 'axes'}: {beyond[0]:,} of {d.rows:,} rows lie beyond the 95 % limit "
        f"of T2 (far out along the axes), {beyond[1]:,} beyond that of Q (far from the axes). About {chance:,} would "
        "pass each limit by chance if rows were normal."
    )
    order = np.argsort(-near.max(axis=0), kind="stable")[:_MOST]
    order = order[near.max(axis=0)[order] > 1]
    names = row_labels(d)
    rows = tuple(
        (names[i], float(near[0, i]), float(near[1, i]), _top_loadings(d, int(i), data)) for i in order.tolist()
    )
    caption = "Distances as multiples of their limits, farthest first, and the columns that contribute most."
    columns = ("row", "T2 / limit", "Q / limit", "made by")
    return (line,), {"unusual": Table("Unusual rows", columns, rows, caption, ("text", "number", "number", "text"))}


def drawn(d: Decomposition, rows: NDArray[np.intp]) -> dict[str, Any] | None:
    """T2 and Q of the drawn rows as multiples of their limits, for the page's map."""
    found = measured(d)
    if found is None or not len(rows):
        return None
    inside, outside = found.inside[rows] / found.inside_limit, found.outside[rows] / found.outside_limit
    pair = np.stack([inside, outside], axis=1)
    small = packed(pair) if len(pair) <= 2000 else levels(pair)
    return {"distances": small, "limits": [found.inside_limit, found.outside_limit]}


def _top_loadings(d: Decomposition, row: int, data: Any) -> str:
    """The columns that make a row far out."""
    values = None
    if data is not None and tuple(data.shape) == (d.rows, d.columns):
        values = some(data, np.array([row]))[0]
        values = values if np.isfinite(values).all() else None
    made = outlier_columns(d, row, values=values, k=model_components(d))
    return joined([shorten(str(line[0]), 24) for line in made.rows[:3]])
