"""What each method beside PCA and SVD has to say for itself: its choices, its figures, its tables."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.labels import axis_labels, column_labels, explained, row_labels
from eckart.analysis.measures import floats
from eckart.analysis.tables.eigenvalues import eigenvalues
from eckart.arrays import to_numpy
from eckart.formatting import clean, interval, number, percent
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from eckart.result import Decomposition

ORTHOGONAL = ("pca", "svd")
"""Methods whose axes are perpendicular in the space of the columns, so that the error of a few of them is known."""
ADDITIVE = (*ORTHOGONAL, "kernel_pca", "isomap")
"""Methods whose shares add up."""
TITLES = {
    "nmf": "The factorisation",
    "cur": "The chosen columns and rows",
    "kernel_pca": "The kernel",
    "isomap": "The neighbourhoods",
}
_FIGURES = {
    "nmf": {"error": "Error left", "iterations": "Rounds", "converged": "Converged", "why": "Stopped because of"},
    "cur": {"select": "Choice of columns and rows", "core_kind": "Core", "error": "Error left",
            "relative_error": "Error as a part of the norm"},
    "kernel_pca": {"kernel": "Kernel", "gamma": "gamma", "degree": "degree", "coef0": "coef0",
                   "negative_share": "Share of negative eigenvalues"},
    "isomap": {"n_neighbors": "Neighbours", "radius": "Radius", "components": "Connected pieces found",
               "reconstruction_error": "Reconstruction error", "negative_share": "Share of negative eigenvalues"},
}  # fmt: skip
_TREATED = {
    "nmf": "The numbers were taken as they are, neither centred nor scaled; none of them is negative.",
    "cur": "The numbers were taken as they are: the factors are real columns and real rows of the table.",
    "isomap": "Distances along the graph of nearest neighbours stand for straight ones, and were centred twice.",
}


def treated(d: Decomposition) -> str:
    """What was done to the data first, for a method that has its own way; else nothing."""
    if d.method == "kernel_pca":
        return f"Rows were compared by the kernel {clean(str(d.parts.get('kernel', '')))!r}, which was then centred."
    return _TREATED.get(d.method, "")


def total_share(d: Decomposition) -> str:
    """The share of all axes together; where the certificate is about something else, as computed."""
    if d.method == "isomap":
        return percent(float(floats(d.shares).sum()), 2)
    return interval(*explained(d))


def axes_table(d: Decomposition) -> Table:
    """What each axis carries; without sums where shares do not add up."""
    made = eigenvalues(d)
    if d.method == "isomap":
        return replace(made, caption=f"The {d.k} axes together carry {total_share(d)} of the straightened distances.")
    if d.method in ADDITIVE:
        return made
    rows = tuple(row[:3] for row in made.rows)
    caption = "Parts that are not perpendicular share what they explain, so their own shares do not add up."
    return Table("Parts", (made.columns[0], "size", "size squared, of the total"), rows, caption, made.kinds[:3])


def method_tables(d: Decomposition) -> dict[str, Table]:
    """The method's own figures, and what it chose."""
    figures = _figures(d)
    if d.method == "cur":
        return figures | _chosen(d)
    return figures


def correlations(d: Decomposition) -> Table | None:
    """Correlations of the columns with the axes that a method found beside its axes."""
    found = d.parts.get("correlations")
    if found is None or floats(found).shape != (d.columns, d.k):
        return None
    rows = tuple((name, *line) for name, line in zip(column_labels(d), floats(found).tolist(), strict=True))
    caption = "Correlation of each column with the scores on each axis."
    return Table("Correlations", ("column", *axis_labels(d)), rows, caption)


def _figures(d: Decomposition) -> dict[str, Table]:
    names = _FIGURES.get(d.method, {})
    known = {words: d.parts[name] for name, words in names.items() if d.parts.get(name) is not None}
    rows: list[tuple[Cell, ...]] = [(words, _shown(value)) for words, value in known.items()]
    if d.method == "cur":
        rows += [
            (words, " to ".join(number(float(bound)) for bound in d.parts[name]))
            for name, words in (("best_error", "Error of the best of this rank"), ("ratio", "Times the best"))
            if name in d.parts
        ]
    title = TITLES.get(d.method, "The method")
    return {"method": Table(title, ("what", "value"), tuple(rows), kinds=("text", "text"))} if rows else {}


def _chosen(d: Decomposition) -> dict[str, Table]:
    """The columns and the rows that CUR took, in the order in which it did."""
    columns, rows = column_labels(d), row_labels(d)
    found = {}
    for key, names in (("columns", columns), ("rows", rows)):
        places = np.asarray(to_numpy(d.parts[key]), np.intp).tolist()
        lines: tuple[tuple[Cell, ...], ...] = tuple((i + 1, names[j]) for i, j in enumerate(places))
        found[f"chosen_{key}"] = Table(f"Chosen {key}", ("order", key[:-1]), lines, kinds=("count", "text"))
    return found


def _shown(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return number(float(value)) if math.isfinite(value) else "not known"
    return clean(str(value))
