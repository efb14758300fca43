"""Rows far from the centre along the components (T2), or far from the components (Q), and the columns responsible."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from eckart.aliases import JsonObject
from eckart.analysis.labels import component_labels, row_labels
from eckart.analysis.measures import complete, floats
from eckart.analysis.report.pack import levels, packed
from eckart.analysis.tables.outliers import Distances, about, columns_of_row, distances
from eckart.arrays import Matrix, part_on_host
from eckart.errors import ParameterError
from eckart.formatting import clean, counted, joined, percent, short_names
from eckart.notes import Note
from eckart.registry import method_of
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition

_MOST = 15
_LEVEL = 0.95
_DOMINANT = 0.5
"""Share of a component beyond which one row dominates it."""
_FEWEST_ROWS = 10
"""In smaller tables, single rows make up much of a component anyway."""


@dataclass(frozen=True)
class Outliers:
    """T2 and Q of every row for a model of k components, with sentences and a table of the farthest rows."""

    k: int = 0
    distances: Distances | None = None
    lines: tuple[str, ...] = ()
    tables: dict[str, Table] = field(default_factory=dict)


def unusual(d: Decomposition, data: object, k: int) -> Outliers:
    """Rows beyond the 95 % limits of T2 or Q; empty if the method or missing row lengths do not allow them.

    The model has `k` components, or one fewer if they leave no residual, because Q measures the residual.
    """
    k = max(1, min(k, d.k - 1 if complete(d) else d.k))
    found = _measured(d, k)
    if found is None:
        return Outliers()
    near = np.vstack([found.inside / found.inside_limit, found.outside / found.outside_limit])
    beyond = (near > 1).sum(axis=1).tolist()
    chance = about((1 - _LEVEL) * d.rows)
    model, lie = counted(k, "component"), "lies" if beyond[0] == 1 else "lie"
    line = (
        f"With {model}, {beyond[0]:,} of {d.rows:,} rows {lie} beyond the 95 % limit of T2 (far from "
        f"the centre along the components) and {beyond[1]:,} beyond the limit of Q (far from the "
        f"components). If the rows were normally distributed, {chance} would exceed each "
        "limit by chance."
    )
    order = np.argsort(-near.max(axis=0), kind="stable")[:_MOST]
    order = order[near.max(axis=0)[order] > 1]
    names = row_labels(d)
    rows = tuple((names[i], float(near[0, i]), float(near[1, i]), _makers(d, int(i), data, k)) for i in order.tolist())
    caption = "T2 and Q in multiples of their limits, most unusual rows first, and the columns that contribute most."
    columns = ("row", "T2 / limit", "Q / limit", "main columns")
    table = Table("Unusual rows", columns, rows, caption, ("text", "number", "number", "text"))
    return Outliers(k, found, (line,), {"unusual": table})


def drawn(outliers: Outliers, rows: NDArray[np.intp]) -> JsonObject | None:
    """T2 and Q of the drawn rows as multiples of their limits, for the page's map."""
    found = outliers.distances
    if found is None or not len(rows):
        return None
    inside, outside = found.inside[rows] / found.inside_limit, found.outside[rows] / found.outside_limit
    pair = np.stack([inside, outside], axis=1)
    small = packed(pair) if len(pair) <= 2000 else levels(pair)
    return {"distances": small, "limits": [found.inside_limit, found.outside_limit]}


def dominant_rows(d: Decomposition, k: int) -> tuple[Note, ...]:
    """A note for each of the first k components of which a single row makes up more than half."""
    if d.left is None or d.rows < _FEWEST_ROWS or not method_of(d).orthogonal or d.norm == 0.0:
        return ()
    names, notes = row_labels(d), []
    squares = floats(d.left)[:, : max(1, min(k, d.k))] ** 2
    totals = squares.sum(axis=0)
    for component, (row, total) in enumerate(zip(squares.argmax(axis=0).tolist(), totals.tolist(), strict=True)):
        share = float(squares[row, component]) / total if total > 0.0 else 0.0
        if share > _DOMINANT:
            text = (
                f"Row {clean(names[row])} alone accounts for {percent(share, 0)} of the variation "
                f"along {component_labels(d)[component]}, so this component mainly describes one row. "
                "Check this row, and compare with the results without it."
            )
            notes.append(Note("dominant_row", text))
    return tuple(notes)


def _measured(d: Decomposition, k: int) -> Distances | None:
    if d.left is None or d.which != "largest" or d.k < 1:
        return None
    try:
        found = distances(d, k, _LEVEL)
    except ParameterError:
        return None
    known = math.isfinite(found.inside_limit) and math.isfinite(found.outside_limit) and found.outside_limit > 0
    return found if known else None


def _makers(d: Decomposition, row: int, data: Matrix, k: int) -> str:
    """The columns that contribute most to the distance of a row."""
    values = None
    if data is not None and tuple(data.shape) == (d.rows, d.columns):
        values = part_on_host(data, np.array([row]))[0]
        values = values if np.isfinite(values).all() else None
    made = columns_of_row(d, row, values, k)
    short = short_names((str(line[0]) for line in made.rows), 24)
    return joined([short[str(line[0])] for line in made.rows[:3] if line[2] or line[3]])
