"""Categories and dates compared with the components. They are not part of the decomposition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

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
_SMALLEST_SHARE = 0.05
_FEWEST_DATES = 3


def supplementary(found: Analysis) -> tuple[tuple[str, ...], dict[str, Table]]:
    """Explained variance of each component by each category (eta2) and each date (r2), and means of the categories."""
    d = found.decomposition
    if d.left is None or d.k == 0 or d.norm == 0:
        return (), {}
    shown = min(d.k, _MOST_COMPONENTS)
    labels = [(name, values) for name, values in list(found.labels.items())[:_MOST_COLUMNS] if len(values) == d.rows]
    found_shares = [shares for name, values in labels if (shares := _explained(d, name, values, shown)) is not None]
    if not found_shares:
        return (), {}
    rows: list[tuple[Cell, ...]] = [(shares.column, shares.role, *shares.explained) for shares in found_shares]
    tables = _tables_of_means(found, labels, shown)
    names = component_labels(d)[:shown]
    caption = (
        "Share of the variance of the scores that each column explains: eta2 for a category, r2 for a date. An "
        "association is reported if its p-value is below 0.05 after Bonferroni correction for all shares in this table."
    )
    kinds = ("text", "text", *("percent",) * shown)
    whole = Table("Categories and dates", ("column", "role", *names), tuple(rows), caption, kinds)
    return (_finding(found_shares, names),), {"supplementary": whole, **tables}


class _Shares(NamedTuple):
    """What one label column explains of each component, and the p-value of each share."""

    column: str
    role: str
    explained: list[float]
    chances: list[float]


def _explained(d: Decomposition, name: str, values: Sequence[str], shown: int) -> _Shares | None:
    """Share of the variance of each component that a date or a category explains; None for other labels."""
    role = label_role(name, values)
    if role == "date":
        found = columns(d, {name: dates_of(name, values)}).rows[0][1 : shown + 1]
        squares = [float(r) ** 2 for r in found]  # type: ignore[arg-type]
        return _Shares(name, "date (r2)", squares, _chances(squares, sum(map(bool, values))))
    if role == "category":
        means = association(d, [value or None for value in values]).rows[:shown]
        shares, chances = ([float(row[place]) for row in means] for place in (1, 3))  # type: ignore[arg-type]
        return _Shares(name, "category (eta2)", shares, chances)
    return None


def _chances(squares: list[float], rows: int) -> list[float]:
    """p-values of squared correlations: F test with 1 and n - 2 degrees of freedom."""
    from scipy.special import fdtrc

    if rows < _FEWEST_DATES:
        return [math.nan] * len(squares)
    ratios = [math.inf if square >= 1 else (rows - 2) * square / (1 - square) for square in squares]
    return [float(chance) for chance in fdtrc(1, rows - 2, ratios)]


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


def _finding(found: list[_Shares], names: tuple[str, ...]) -> str:
    """The strongest association that is significant among all shares of the table (Bonferroni)."""
    level = _LEVEL / sum(len(shares.explained) for shares in found)
    cells = [
        (share, shares.column, name)
        for shares in found
        for share, chance, name in zip(shares.explained, shares.chances, names, strict=True)
        if share >= _SMALLEST_SHARE and chance < level
    ]
    if not cells:
        return "No category or date is associated with a component."
    share, column, name = max(cells)
    return f"{shorten(column, 40)} explains {100 * share:.0f} % of the variance of {name}."
