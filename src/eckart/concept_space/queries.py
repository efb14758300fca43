"""Queries of the concept space: similar rows and columns, recommended columns, and the description of a new row.

Similarity is the cosine or the dot product of coordinates, with bounds on request.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from eckart.arrays import Array, is_numpy, namespace, to_numpy
from eckart.concept_space import proof as proofs
from eckart.concept_space.accuracy import Measured, projection_errors
from eckart.concept_space.best import Best, Numbers, best, best_there
from eckart.concept_space.entries import Entries
from eckart.concept_space.folding import blind_rows
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.names import Names
from eckart.concept_space.ranking import directions, nothing, ranked
from eckart.concept_space.results import NOTHING_KNOWN, NOTHING_SEEN, Query, Ranking
from eckart.concept_space.stored_rows import Rows, StoredRowSet
from eckart.concept_space.vectors import on_device_of
from eckart.errors import InputError
from eckart.wording import DATA, INCLUDE_KNOWN

By = Literal["cosine", "dot"]


def direction(geometry: Geometry, query: Query) -> Numbers:
    """The direction of a vector, scaled to length 1; 0 if its part in the concepts is only rounding."""
    seen = geometry.compared(query.coordinates[None, :])
    return directions(seen, geometry.rounding(seen, query.square))[0]


def rows_like(geometry: Geometry, rows: StoredRowSet, query: Query, n: int, *, by: By, proof: bool) -> Ranking:
    """The stored rows that are most similar to a row; a stored row is not compared with itself."""
    title = f"Rows similar to {query.name}"
    own = direction(geometry, query) if by == "cosine" else geometry.compared(query.coordinates[None, :])[0]
    if not own.any():
        return nothing(title, query.notes if query.cold else (*query.notes, NOTHING_SEEN))
    candidates = rows.directions if by == "cosine" else rows.compared
    there = own.astype(candidates.dtype) if is_numpy(candidates) else on_device_of(own, candidates)
    scores = _products(candidates, there)
    hidden = np.zeros(0, np.int64) if query.place is None else np.array([query.place])
    bounded = None
    if proof:
        proofs.need_right_angles(geometry)
        bounded = proofs.bounds(rows.with_errors, _measured(geometry, rows, query), cosine=by == "cosine")
    unit = _unit(geometry, by)
    return ranked(title, scores, n, rows.names, hidden=hidden, notes=query.notes, bounded=bounded, unit=unit)


def columns_like(
    geometry: Geometry, columns: Names, place: int, coordinates: Array | None, n: int, *, by: By, proof: bool
) -> Ranking:
    """The columns that are most similar to one of them."""
    label = columns.label(place)
    vectors = geometry.columns(coordinates)
    compared = directions(vectors, geometry.column_rounding(vectors)) if by == "cosine" else vectors
    own = compared[place, :]
    if by == "cosine" and not bool(namespace(own).any(own != 0)):
        return nothing(
            f"Columns similar to {label}",
            (f"{label} has nothing in common with any concept (it is orthogonal to all of them).",),
        )
    bounded = None
    if proof:
        proofs.need_right_angles(geometry)
        known, here = proofs.measured_columns(geometry, vectors), slice(place, place + 1)
        one = Measured(to_numpy(vectors[here, :]), known.squares[here], known.error[here], known.squares_error[here])
        bounded = proofs.bounds(known, one, cosine=by == "cosine", skew=proofs.column_skew(geometry, place))
    unit = _unit(geometry, by)
    scores = _products(compared, own)
    return ranked(f"Columns similar to {label}", scores, n, columns, hidden=[place], bounded=bounded, unit=unit)


def _products(candidates: Array, own: Array) -> Array:
    """Scores, which may overflow: infinite ones are the best or the worst, and NaN ones are not ranked."""
    with np.errstate(over="ignore", invalid="ignore"):
        return candidates @ own


def _measured(geometry: Geometry, rows: StoredRowSet, query: Query) -> Measured:
    seen, squares = geometry.compared(query.coordinates[None, :]), np.array([query.square])
    error, squares_error = projection_errors(geometry, seen, squares, sparse=False)
    if query.place is not None and query.place < len(rows.squares):
        stored = rows.with_errors
        error = np.maximum(error, stored.error[query.place])
        squares_error = np.maximum(squares_error, stored.squares_error[query.place])
    return Measured(seen, squares, error, squares_error)


def _unit(geometry: Geometry, by: By) -> float:
    return 1.0 if by == "cosine" else geometry.unit


def recommended(geometry: Geometry, part: Rows, n: int, *, exclude_known: bool) -> tuple[Best, Numbers]:
    """The best columns of each row, and the rows without recommendations because nothing is known about them."""
    if exclude_known and part.opened is None:
        raise InputError(
            "To leave out columns in which a row already has an entry, Eckart needs the rows of the "
            f"data, but the model does not contain them. {DATA}, or keep these columns with "
            f"{INCLUDE_KNOWN}."
        )
    forth, back = geometry.forth(part.coordinates), geometry.back
    if is_numpy(back):
        found = best(forth, back, n, part.known if exclude_known else None)
    else:
        found = best_there(forth, back, n, part.known_there if exclude_known else None)
    cold = blind_rows(geometry, part) if geometry.mean is None else np.zeros(0, np.int64)
    found.indices[cold], found.scores[cold] = -1, np.nan
    return found, cold


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
