"""Categories and dates compared with the components. They are not part of the decomposition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.column_roles import dates_of, label_role
from eckart.analysis.labels import component_labels
from eckart.analysis.supplementary.categories import association, categories
from eckart.analysis.supplementary.columns import columns
from eckart.formatting import shorten
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eckart.analysis.analysis import Analysis
    from eckart.result import Decomposition

_MOST_COMPONENTS = 5
_MOST_COLUMNS = 20
_MOST_TABLES = 5
_LEVEL = 0.05


def supplementary(found: Analysis) -> tuple[tuple[str, ...], dict[str, Table]]:
    """Explained variance of each component by each category (eta2) and each date (r2), and means of the categories."""
    d = found.decomposition
    if d.left is None or d.k == 0 or d.norm == 0:
        return (), {}
    shown = min(d.k, _MOST_COMPONENTS)
    labels = [(name, values) for name, values in list(found.labels.items())[:_MOST_COLUMNS] if len(values) == d.rows]
    rows = [row for name, values in labels if (row := _explained(d, name, values, shown)) is not None]
    if not rows:
        return (), {}
    tables = _tables_of_means(found, labels, shown)
    names = component_labels(d)[:shown]
    caption = "Share of the variance of the scores that each column explains: eta2 for a category, r2 for a date."
    kinds = ("text", "text", *("percent",) * shown)
    whole = Table("Categories and dates", ("column", "role", *names), tuple(rows), caption, kinds)
    return (_finding(rows, names),), {"supplementary": whole, **tables}


def _explained(d: Decomposition, name: str, values: Sequence[str], shown: int) -> tuple[Cell, ...] | None:
    """Share of the variance of each component that a date or a category explains; None for other labels."""
    role = label_role(name, values)
    if role == "date":
        found = columns(d, {name: dates_of(name, values)}).rows[0][1 : shown + 1]
        return (name, "date (r2)", *(float(r) ** 2 for r in found))  # type: ignore[arg-type]
    if role == "category":
        means = association(d, [value or None for value in values]).rows[:shown]
        return (name, "category (eta2)", *(float(row[1]) for row in means))  # type: ignore[arg-type]
    return None


def _tables_of_means(found: Analysis, labels: Sequence[tuple[str, Sequence[str]]], shown: int) -> dict[str, Table]:
    """Means of the first categories on the components."""
    grouped = [(name, values) for name, values in labels if label_role(name, values) == "category"][:_MOST_TABLES]
    return {
        f"category {i + 1}": _means(found, name, [value or None for value in values], shown)
        for i, (name, values) in enumerate(grouped)
    }


def _means(found: Analysis, name: str, words: list[str | None], shown: int) -> Table:
    made = categories(found.decomposition, words)
    k = found.decomposition.k
    rows = tuple((row[0], row[1], *row[2 : 2 + shown], *row[2 + k : 2 + k + shown]) for row in made.rows)
    header = (made.columns[0], "rows", *made.columns[2 : 2 + shown], *made.columns[2 + k : 2 + k + shown])
    kinds = ("text", "count", *("number",) * (2 * shown))
    return Table(f"Means of the scores by {shorten(name, 40)}", header, rows, made.caption, kinds)


def _finding(rows: list[tuple[Cell, ...]], names: tuple[str, ...]) -> str:
    """The column most strongly associated with a component."""
    best = max(
        rows, key=lambda row: max((x for x in row[2:] if isinstance(x, float) and math.isfinite(x)), default=0.0)
    )
    values = np.nan_to_num(np.array(best[2:], np.float64))
    place = int(values.argmax())
    if values[place] < _LEVEL:
        return "No category or date is associated with a component."
    return f"{shorten(str(best[0]), 40)} explains {100 * values[place]:.0f} % of the variance of {names[place]}."
