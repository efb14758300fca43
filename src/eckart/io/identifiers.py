"""Columns of numbers that identify or count the rows (id, index, year): no measurements, so they are set aside.

A column is an identifier if all its values are different integers and its name suggests it. Names that may also
stand for a quantity (number, no, row) and columns without a name must count the rows without a gap. A column named
year that counts the rows by a constant step is the time of each row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eckart.io.columns import keep
from eckart.io.roles import listed
from eckart.notes import Note

_SURE = re.compile(r"(?i:id|ids|index|idx|uid|uuid|guid|key|ssn|rownames?|.*[_ .-](id|key|uid|uuid))|.*[a-z]I[Dd]")
_POSSIBLE = re.compile(
    r"(?i:row|rownum|no|nr|num|number|unnamed: ?\d+|column \d+|obs|observation|case|.*[_ .-](no|nr|num))"
)
_YEAR = re.compile(r"(?i:year|yr|jahr|ann[eé]e|year_.*|.*[_ .-]year)")
_FEWEST = 3
"""Fewer rows than this are distinguished by any column."""


def is_identifier(name: str) -> bool:
    """Whether a column is called like one that tells rows apart: id, index, no, customer_id, ..."""
    named = _SURE.fullmatch(name) is not None or _POSSIBLE.fullmatch(name) is not None
    return named and not name.lower().startswith(("unnamed", "column "))


def identifier_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns that identify or count the rows."""
    if len(matrix) < _FEWEST:
        return []
    return [j for j, name in enumerate(names) if _identifies(name, matrix[:, j])]


def year_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns that hold the year of each row, in steps of equal length."""
    if len(matrix) < _FEWEST:
        return []
    return [j for j, name in enumerate(names) if _YEAR.fullmatch(name) and _is_time(matrix[:, j])]


def _identifies(name: str, column: np.ndarray) -> bool:
    if _SURE.fullmatch(name):
        return _steps(column) is not None
    if _POSSIBLE.fullmatch(name):
        steps = _steps(column)
        return steps is not None and bool((steps == 1).all())
    return False


def _steps(column: np.ndarray) -> np.ndarray | None:
    """Differences of the sorted values; None unless all are different integers."""
    ordered = np.sort(column)
    if not np.isfinite(ordered).all() or (ordered != np.rint(ordered)).any():
        return None
    steps = np.diff(ordered)
    return steps if (steps > 0).all() else None


def _is_time(column: np.ndarray) -> bool:
    steps = _steps(column)
    return steps is not None and bool((steps == steps[0]).all()) and column.min() >= 1000 and column.max() <= 3000


def without_identifiers(source: Any) -> Any:
    """The source without the columns that identify the rows; years become labels. Noted in `metadata`."""
    names = source.metadata.column_names
    if names is None or source.sparse or not hasattr(source, "matrix"):
        return source
    identifiers, years = identifier_columns(names, source.matrix), year_columns(names, source.matrix)
    dropped = sorted({*identifiers, *years})
    if not dropped or len(dropped) == len(names):
        return source
    labels = {names[j]: tuple(f"{value:.0f}" for value in source.matrix[:, j].tolist()) for j in years}
    kept = keep(source, [j for j in range(len(names)) if j not in dropped])
    metadata = kept.metadata
    notes, fates = [], dict(metadata.column_roles)
    for places, why in ((identifiers, "it identifies or counts the rows"), (years, "it is the time of each row")):
        found = [names[j] for j in places]
        if found:
            text = f"Set aside, because {why}: {listed(found)}. To analyse it, name it among the columns."
            notes.append(Note("numbering_column_set_aside", text))
            fates |= {name: f"set aside: {why}" for name in found if name in fates}
    metadata = replace(
        metadata,
        labels=metadata.labels | labels,
        notes=(*metadata.notes, *notes),
        parsing_notes=(*metadata.parsing_notes, *notes),
        column_roles=fates,
        roles=metadata.roles | {names[j]: "identifier" for j in identifiers},
    )
    return replace(kept, metadata=metadata)
