"""The role of each column of the source: measure, category, date, label, identifier, row names or weights.

Measures are decomposed. Categories and dates are supplementary: they are compared with the components afterwards.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.measures import column_spread, floats, svd_details
from eckart.errors import ParameterError
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.engine.blocks.source import Metadata
    from eckart.result import Decomposition

_MOST_CATEGORIES = 50
"""Text with more distinct values than this is a label, not a category."""
_FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%b %Y", "%Y-%m")
_YEAR = re.compile(r"[12]\d{3}")
_QUARTER = re.compile(r"([12]\d{3})[-_ ]?[Qq]([1-4])")
_SUPPLEMENTARY = {
    "category": "supplementary: compared with the components, and used to colour the rows",
    "date": "supplementary: compared with the components",
}
_IMPUTED = {"mean": "replaced by the column mean", "em": "imputed from the components"}


@dataclass(frozen=True)
class ColumnRole:
    """A column of the source and what it is used for."""

    name: str
    role: str
    """"measure", "category", "date", "label", "identifier", "code", "row names", "weights" or "left out"."""
    treatment: str = ""
    """How the column was used, in words."""


def column_roles(metadata: Metadata, names: Sequence[str]) -> tuple[ColumnRole, ...]:
    """The role of every column, in the order of the source; `names` are those of the decomposed columns."""
    analysed = set(names)
    order = list(metadata.column_roles) or [*names, *metadata.labels]
    found = []
    for name in order:
        if name in analysed:
            role = "measure"
        elif name in metadata.roles:
            role = metadata.roles[name]
        elif name in metadata.labels:
            role = label_role(name, metadata.labels[name])
        else:
            role = "left out"
        found.append(ColumnRole(name, role, _SUPPLEMENTARY.get(role) or metadata.column_roles.get(name, "")))
    return tuple(found)


def label_role(name: str, values: Sequence[str]) -> str:
    """Whether text is a date, a category (few different values that repeat) or a label."""
    if dates_of(name, values) is not None:
        return "date"
    counts = Counter(value for value in values if value)
    repeats = len(counts) <= max(2, len(values) // 2)
    return "category" if 2 <= len(counts) <= _MOST_CATEGORIES and repeats else "label"


def dates_of(name: str, values: Sequence[str]) -> NDArray[np.float64] | None:
    """Years as decimal numbers, NaN for empty cells; None if the text is not dates in one format."""
    present = [value.strip() for value in values if value.strip()]
    if len(set(present)) < 2:
        return None
    for read in (read for read in _readers(name) if read(present[0]) is not None):
        found = {value: read(value) for value in set(present)}
        if None not in found.values():
            return np.array([found.get(value.strip(), np.nan) for value in values], np.float64)
    return None


def _readers(name: str) -> list[Any]:
    """Functions from text to a decimal year or None, the most specific first."""

    def year(text: str) -> float | None:
        return float(text) if _YEAR.fullmatch(text) and re.search(r"(?i)year|yr|date|time|jahr", name) else None

    def quarter(text: str) -> float | None:
        match = _QUARTER.fullmatch(text)
        return None if match is None else int(match[1]) + (int(match[2]) - 1) / 4

    def iso(text: str) -> float | None:
        try:
            return _decimal_year(dt.datetime.fromisoformat(text))
        except ValueError:
            return None

    def in_format(form: str) -> Any:
        def read(text: str) -> float | None:
            try:
                return _decimal_year(dt.datetime.strptime(text, form))  # noqa: DTZ007 - local dates
            except ValueError:
                return None

        return read

    def dashed(text: str) -> float | None:
        return iso(text) if "-" in text else None  # 20240102 may be any number

    return [dashed, quarter, year, *map(in_format, _FORMATS)]


def _decimal_year(moment: dt.datetime) -> float:
    moment = moment.replace(tzinfo=None)
    start = dt.datetime(moment.year, 1, 1)  # noqa: DTZ001 - both without time zone
    return moment.year + (moment - start).total_seconds() / (366 * 86400)


def columns_table(roles: Sequence[ColumnRole], d: Decomposition) -> Table | None:
    """Each column: role, treatment, missing values, mean and standard deviation."""
    if not any(role.treatment for role in roles):
        return None
    places = {name: j for j, name in enumerate(d.column_names or ())}
    means, spreads, gaps = _means(d), _spreads(d), _gaps(d)

    def row(role: ColumnRole) -> tuple[Cell, ...]:
        j = places.get(role.name) if role.role == "measure" else None
        if j is None:
            return role.name, role.role, role.treatment, None, None, None
        mean, spread = (None if a is None else float(a[j]) for a in (means, spreads))
        return role.name, role.role, _treatment(d, role, int(gaps[j]), spread), int(gaps[j]), mean, spread

    rows = [row(role) for role in roles]
    columns = ("column", "role", "treatment", "missing", "mean", "standard deviation")
    measures = sum(role.role == "measure" for role in roles)
    caption = f"Columns analysed: {measures:,} of {len(roles):,}."
    kinds = ("text", "text", "text", "count", "quantity", "quantity")
    return Table("Columns", columns, tuple(rows), caption, kinds)


def _treatment(d: Decomposition, role: ColumnRole, gaps: int, spread: float | None) -> str:
    text = role.treatment
    if spread == 0:
        text += ", but it is constant, so it does not affect the components"
    imputed = svd_details(d).missing
    if gaps and imputed is not None:
        way = _IMPUTED.get(imputed.how, "imputed")
        text += f"; {gaps:,} of {d.rows:,} values {'was' if gaps == 1 else 'were'} missing and {way}"
    return text


def _means(d: Decomposition) -> np.ndarray | None:
    return None if d.mean is None else floats(d.mean)


def _spreads(d: Decomposition) -> np.ndarray | None:
    """Standard deviations in the units of the source."""
    if d.mean is None:
        return None
    try:
        spread = column_spread(d)
    except ParameterError:
        return None
    return np.asarray(spread if d.scale is None else spread * floats(d.scale))


def _gaps(d: Decomposition) -> np.ndarray:
    known = svd_details(d).missing
    columns = np.empty(0, np.intp) if known is None else np.asarray(known.columns, np.intp)
    return np.bincount(columns, minlength=d.columns)
