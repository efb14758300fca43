"""What a method adds to the report: its choices, figures and tables, as listed in its registration."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, component_labels, explained
from eckart.analysis.measures import floats
from eckart.analysis.tables.eigenvalues import eigenvalues
from eckart.formatting import clean, interval, number, percent
from eckart.registry import method_of
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from eckart.result import Decomposition


def total_ratio(d: Decomposition) -> str:
    """The explained variance of all components, as computed if the certificate is about something else."""
    if not method_of(d).certifies_explained_variance:
        return percent(float(floats(d.explained_variance_ratio).sum()), 2)
    return interval(*explained(d))


def components_table(d: Decomposition) -> Table:
    """The explained variance of each component, without sums if shares do not add up."""
    made = eigenvalues(d)
    method = method_of(d)
    if method.section.shares_of:
        explain = "The component explains" if d.k == 1 else f"The {d.k} components together explain"
        caption = f"{explain} {total_ratio(d)} of the {method.section.shares_of}."
        return replace(made, caption=caption)
    if method.additive:
        return made
    rows = tuple(row[:3] for row in made.rows)
    caption = "The parts are not orthogonal, so the shares they explain overlap and do not add up to the total."
    return Table("Parts", (made.columns[0], "size", "share of the total sum of squares"), rows, caption, made.kinds[:3])


def method_tables(d: Decomposition) -> dict[str, Table]:
    """Tables of the method's own figures and choices."""
    return _figures(d) | method_of(d).tables(d)


def correlations(d: Decomposition) -> Table | None:
    """Correlations of the columns with the components, if the method computed them."""
    found = getattr(d.details, "correlations", None)
    if found is None or floats(found).shape != (d.columns, d.k):
        return None
    rows = tuple((name, *line) for name, line in zip(column_labels(d), floats(found).tolist(), strict=True))
    caption = "Correlation of each column with the scores on each component."
    return Table("Correlations", ("column", *component_labels(d)), rows, caption)


def _figures(d: Decomposition) -> dict[str, Table]:
    section = method_of(d).section
    found = {label: getattr(d.details, name, None) for name, label in section.figures.items()}
    known = {label: value for label, value in found.items() if value is not None}
    rows: tuple[tuple[Cell, ...], ...] = tuple((label, _shown(value)) for label, value in known.items())
    return {"method": Table(section.title, ("what", "value"), rows, kinds=("text", "text"))} if rows else {}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " to ".join(number(float(bound)) for bound in value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return number(float(value)) if math.isfinite(value) else "not known"
    return clean(str(value))
