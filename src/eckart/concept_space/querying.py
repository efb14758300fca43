"""A row in the concept space: its coordinates, its length and the share outside the concepts."""

from __future__ import annotations

import numpy as np

from eckart.concept_space.best import Numbers
from eckart.concept_space.entries import Entries
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.results import NOTHING_KNOWN, Query


def described(geometry: Geometry, entries: Entries, coordinates: Numbers) -> Query:
    """The query with the squared length of the standardized row, and the share of it outside the concepts."""
    row = geometry.filled(entries.columns, entries.values, whole=entries.whole)
    standard = geometry.standard(row)
    square, unseen = float(standard @ standard), np.nan
    if geometry.linear and square > 0:
        rest = standard - geometry.along(coordinates / geometry.unit)
        unseen = float(rest @ rest) / square
    cold = not entries.values.any() if geometry.mean is None else not (entries.whole or len(entries.values))
    notes = (*entries.notes, NOTHING_KNOWN) if cold and not entries.notes else entries.notes
    return Query(
        entries.name, coordinates, entries.columns, entries.values, square, unseen, cold=cold, notes=notes,
        whole=entries.whole,
    )  # fmt: skip
