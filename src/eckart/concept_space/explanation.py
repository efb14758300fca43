"""Why a row gets its score in a column: the contribution of each concept and of each entry of the row.

score_j = mean_j + sum over concepts of c_i right_ji scale_j, and with c = z M for the standardized row z:
score_j = mean_j + sum over entries of z_l (M right_j^T)_l scale_j. M is `right` for PCA and SVD.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eckart.arrays import Array, from_numpy, namespace, to_numpy
from eckart.concept_space.best import Numbers
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.names import Names
from eckart.concept_space.results import Query, digits_of, shown
from eckart.concept_space.vectors import in_float64, times
from eckart.cur.details import CURDetails
from eckart.documentation import document
from eckart.notes import Note
from eckart.wording import DATA

_SHOWN = 5


class Part(NamedTuple):
    """The contribution of one concept, or of one entry of the row, to the score."""

    name: str
    value: float
    """The coordinate on the concept, or the entry."""
    adds: float
    place: int
    """The number of the concept or of the column, counted from 0."""


@document
@dataclass(frozen=True, repr=False)
class Explanation:
    """Explanation of a predicted value, as a sum over concepts and as a sum over entries.

    Attributes
    ----------
    row : str
        Name of the row.
    column : str
        Name of the column.
    score : float
        Predicted value.
    mean : float
        Mean of the column, which is part of every predicted value. 0 if the data were not centred.
    concepts : tuple of Part
        Amount that each concept adds to the score, largest absolute value first.
    entries : tuple of Part
        Amount that each entry of the row adds to the score, largest first. Empty if the score is not a sum over the
        entries.
    others : float
        Amount that the columns without an entry add. It can differ from 0 only if the data were centred.
    {notes}

    {See Also: Concepts.explain}

    {Examples: ratings}
    >>> found = space.explain({"Two Summers": 5}, "A Letter from Rome")
    >>> round(found.score, 3), round(sum(part.adds for part in found.concepts), 3)
    (2.5, 2.5)
    """

    row: str
    column: str
    score: float
    mean: float
    concepts: tuple[Part, ...]
    entries: tuple[Part, ...]
    others: float
    notes: tuple[str, ...] = ()

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            The score and its parts.
        """
        return {
            "row": self.row,
            "column": self.column,
            "score": self.score,
            "mean": self.mean,
            "concepts": [part._asdict() for part in self.concepts],
            "entries": [part._asdict() for part in self.entries],
            "others": self.others,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        digits = digits_of(np.array([self.score, self.mean, *(part.adds for part in (*self.concepts, *self.entries))]))
        lines = [f"<Predicted {self.column} for {self.row}: {shown(self.score, digits)}"]
        if self.mean:
            lines.append(f"  {shown(self.mean, digits)} column mean")
        for title, parts in (("concepts", self.concepts), ("entries", self.entries)):
            lines.append(f"  by {title}:")
            lines += [f"    {shown(part.adds, digits)} {part.name}" for part in parts[:_SHOWN]]
            if len(parts) > _SHOWN:
                lines.append(f"    {shown(sum(p.adds for p in parts[_SHOWN:]), digits)} {len(parts) - _SHOWN} others")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)]) + ">"

    def __str__(self) -> str:
        return repr(self)[1:-1]


def explain(geometry: Geometry, query: Query, column: int, names: Names) -> Explanation:
    """The score of a column, split into its parts."""
    geometry.need_linear("An explanation")
    c = query.coordinates.astype(np.float64)
    right = to_numpy(geometry.right[column, :]).astype(np.float64)
    unit = 1.0 if geometry.scale is None else float(geometry.scale[column])
    mean = 0.0 if geometry.mean is None else float(geometry.mean[column])
    by_concept = c * right * unit
    concepts = [Part(f"concept {i + 1}", float(c[i]), float(by_concept[i]), i) for i in range(len(c))]
    score = mean + math.fsum(by_concept)
    entries, others, notes = _by_entry(geometry, query, right * unit, names)
    return Explanation(
        query.name, names.label(column), score, mean, _largest_first(concepts), _largest_first(entries), others, notes
    )


def _by_entry(
    geometry: Geometry, query: Query, weights: Numbers, names: Names
) -> tuple[list[Part], float, tuple[str, ...]]:
    if query.place is not None and not len(query.entries):
        return (
            [],
            0.0,
            (
                Note(
                    "entries_unknown",
                    f"The model does not contain the entries of this row, so their contributions cannot be computed. "
                    f"{DATA}.",
                ),
            ),
        )
    row = geometry.filled(query.columns, query.entries, whole=query.whole)
    standard = geometry.standard(row)
    way = _linear_map(geometry, standard, query.coordinates.astype(np.float64) / geometry.unit)
    if way is None:
        return (
            [],
            0.0,
            (
                (
                    f"With {geometry.d.method!r}, the coordinates are not linear in the entries, so "
                    "single entries have no contributions."
                ),
            ),
        )
    adds = standard * times(way, weights) * geometry.unit
    parts = [Part(names.label(int(j)), float(row[j]), float(adds[j]), int(j)) for j in query.columns]
    rest = np.delete(adds, query.columns) if geometry.mean is not None else np.zeros(0)
    return parts, math.fsum(rest), ()


def _linear_map(geometry: Geometry, standard: Numbers, coordinates: Numbers) -> Array | None:
    """M with coordinates = z M: `right` if it is orthonormal.

    Otherwise the selection of columns (CUR), or the least-squares map onto the concepts that the row has (exact for NMF
    in the Frobenius norm). None if neither gives the coordinates.
    """
    right = in_float64(geometry.right)
    if geometry.orthonormal:
        return right
    xp, has = namespace(right), np.flatnonzero(coordinates)
    # Products with rows of the identity put columns in their places.
    indices = from_numpy(np.eye(geometry.k)[has], right)
    squares = xp.linalg.pinv(xp.take(right, from_numpy(has, right), axis=1)).T @ indices
    choice = np.zeros(tuple(right.shape))
    details = geometry.d.details
    if isinstance(details, CURDetails) and len(details.columns) == choice.shape[1]:
        choice[np.asarray(details.columns), np.arange(choice.shape[1])] = details.column_scales
    for way in (choice, squares):
        if np.linalg.norm(times(way.T, standard) - coordinates) <= 1e-6 * np.linalg.norm(coordinates):
            return way
    return None


def _largest_first(parts: list[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: -abs(part.adds)))
