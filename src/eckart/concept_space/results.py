"""Results as small frozen values with a readable `str`; `to_dict` returns plain lists and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from eckart.concept_space.best import Numbers
from eckart.concept_space.names import Names
from eckart.displays import html_facts, html_table
from eckart.documentation import document
from eckart.formatting import counted, percent, wrapped

_SHOWN = 20


@document
class Hit(NamedTuple):
    """One row or column of a ranking.

    Attributes
    ----------
    name : str
        Name of the row or column.
    score : float
        Score by which the row or column is ranked.
    place : int
        Index of the row or column, counted from 0.

    {See Also: Ranking}

    Examples
    --------
    >>> from eckart.concept_space import Hit
    >>> Hit("Alaska", 0.5, 1).name
    'Alaska'
    """

    name: str
    score: float
    place: int


@document
@dataclass(frozen=True, repr=False)
class Query:
    """A row and its coordinates on the concepts.

    {Attributes: name [row]}
    coordinates : array of shape (k,)
        Coordinates of the row.
    columns : array of int
        Indices of the columns whose entries are known, counted from 0.
    entries : array of float
        The known entries.
    square : float
        Sum of squares of the row after centring and scaling, ||(row - mean) / scale||^2.
    unseen : float
        Share of `square` that lies outside the concepts. NaN if the method has no linear reconstruction, or if the row
        is zero.
    place : int or None
        Index of the row among the stored rows. None if it is not one of them.
    cold : bool
        Whether nothing is known about the row. This is the case if it has no entries, or if all of them are 0 and
        the data were not centred.
    whole : bool
        Whether the entries of all columns that are not in `columns` are 0. If False, they are unknown. They then count
        as the column mean if the data were centred, and as 0 otherwise.
    {notes}

    {See Also: Concepts.query}

    Examples
    --------
    >>> import eckart as ek
    >>> space = ek.concepts(ek.decompose(ek.datasets.path("ratings"), "svd", k=2))
    >>> space.query({"Two Summers": 5}).coordinates.round(3)
    array([0.   , 3.536])
    """

    name: str
    coordinates: Numbers
    columns: Numbers
    entries: Numbers
    square: float
    unseen: float
    place: int | None = None
    cold: bool = False
    whole: bool = True
    notes: tuple[str, ...] = ()

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            Name, coordinates, share outside the concepts and notes.
        """
        return {
            "name": self.name,
            "coordinates": self.coordinates.astype(float).tolist(),
            "unseen": _plain(self.unseen),
            "known": len(self.entries),
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        facts = [(f"concept {i + 1}", f"{value:.4g}") for i, value in enumerate(self.coordinates[:_SHOWN])]
        unseen = "" if math.isnan(self.unseen) else f"{percent(self.unseen)} of the row lies outside the concept space."
        return html_facts(f"Query {self.name}", facts, " ".join([unseen, *self.notes]).strip())

    def __repr__(self) -> str:
        numbers = ", ".join(shown(c, digits_of(self.coordinates)) for c in self.coordinates[:8])
        more = ", ..." if len(self.coordinates) > 8 else ""
        unseen = "" if math.isnan(self.unseen) else f", {percent(self.unseen)} outside the concept space"
        return f"<Query {self.name}: [{numbers}{more}]{unseen}{_remarks(self.notes)}>"

    def __str__(self) -> str:
        return wrapped(repr(self).removeprefix("<Query ")[:-1])


@document
@dataclass(frozen=True, repr=False)
class Ranking:
    """Rows or columns with scores, best first.

    {Attributes: title}
    names : tuple of str
        Names of the rows or columns.
    scores : array of float
        Scores, in decreasing order.
    indices : array of int
        Indices of the rows or columns, counted from 0.
    lower : array of float or None
        Lower bounds on the scores of the complete rows. None without `proof`.
    upper : array of float or None
        Upper bounds on the scores of the complete rows. None without `proof`.
    proved : int or None
        Number of leading results whose order is proved. None without `proof`.
    set_proved : bool or None
        Whether these results are proved to be the best ones, even if their order is not proved. None without `proof`.
    {notes}

    {See Also: Concepts.similar_rows}

    {Examples: ratings}
    >>> space.similar_rows(0, 2).names
    ('Bruno', 'Chiara')
    """

    title: str
    names: tuple[str, ...]
    scores: Numbers
    indices: Numbers
    lower: Numbers | None = None
    upper: Numbers | None = None
    proved: int | None = None
    set_proved: bool | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Hit]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Hit:
        return Hit(self.names[index], float(self.scores[index]), int(self.indices[index]))

    @property
    def summary(self) -> str:
        """Statement of what is proved about the order of the results."""
        if not len(self) or self.proved == len(self):
            return "the order of the results is proved"
        order = (
            f"the order of the first {self.proved} results is proved"
            if self.proved
            else "the order of the results could not be proved"
        )
        others = "no other candidate is better (proved)" if self.set_proved else "other candidates may be better"
        return f"{others}; {order}"

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            Title, hits, what is proved and notes.
        """
        hits = [{"name": hit.name, "place": hit.place, "score": _plain(hit.score)} for hit in self]
        if self.lower is not None and self.upper is not None:
            for hit, low, high in zip(hits, self.lower, self.upper, strict=True):
                hit |= {"lower": _plain(low), "upper": _plain(high)}
        return {
            "title": self.title,
            "hits": hits,
            "proved": self.proved,
            "set_proved": self.set_proved,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        digits = digits_of(self.scores)
        rows = [(hit.name, shown(hit.score, digits)) for hit in [*self][:_SHOWN]]
        proof = "" if self.proved is None else self.summary
        return html_table(self.title, ("name", "score"), rows, " ".join(text for text in (proof, *self.notes) if text))

    def __repr__(self) -> str:
        digits = digits_of(self.scores)
        width = min(max((len(name) for name in self.names[:_SHOWN]), default=0), 40)
        lines = [f"  {hit.name[:40]:<{width}}  {shown(hit.score, digits)}" for hit in [*self][:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"  ... {len(self) - _SHOWN:,} more")
        proof = "" if self.proved is None else f" ({self.summary})"
        return "\n".join([f"<{self.title}{proof}{_remarks(self.notes)}", *lines]) + ">"

    def __str__(self) -> str:
        return repr(self)[1:-1]


@document
@dataclass(frozen=True, repr=False)
class Rankings:
    """Rankings of the columns for many rows.

    {Attributes: title}
    indices : array of shape (n_rows, n)
        Indices of the columns, counted from 0. -1 marks positions for which there is no further column.
    scores : array of shape (n_rows, n)
        Scores of these columns. NaN for positions without a column.
    cold : array of int
        Indices of rows without a ranking, because they have no entries or lie completely outside the concepts.
    of : Names
        Names of the ranked columns.

    {See Also: Ranking}

    {Examples: ratings}
    >>> space.recommend_many(n=2)[0].names
    ('A Letter from Rome', 'Two Summers')
    """

    title: str
    indices: Numbers
    scores: Numbers
    cold: Numbers
    of: Names = field(repr=False)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, row: int) -> Ranking:
        there = self.indices[row] >= 0
        indices = self.indices[row][there]
        notes = (NOTHING_SEEN,) if row in self.cold else ()
        return Ranking(f"{self.title} {row}", self.of.labels(indices), self.scores[row][there], indices, notes=notes)

    def __iter__(self) -> Iterator[Ranking]:
        return (self[row] for row in range(len(self)))

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            Title and the hits of every row.
        """
        return {"title": self.title, "rows": [self[row].to_dict()["hits"] for row in range(len(self))]}

    def __repr__(self) -> str:
        cold = f"; none for {counted(len(self.cold), 'row')} without entries" if len(self.cold) else ""
        rows = counted(len(self), "row")
        return f"<Rankings: the best {self.indices.shape[1]} {self.of.what}s for each of {rows}{cold}>"


NOTHING_KNOWN = "All entries of the row are 0, so there is nothing to compare."
NOTHING_SEEN = (
    "The row has nothing in common with any concept (it is orthogonal to all of them), so there is nothing to compare."
)


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def digits_of(numbers: Numbers) -> int:
    """Number of decimals that shows four digits of the largest number."""
    largest = float(np.max(np.abs(numbers[np.isfinite(numbers)]), initial=0.0))
    return max(3 - math.floor(math.log10(largest)), 0) if largest > 0 else 1


def shown(value: float, digits: int) -> str:
    return f"{value:.3e}" if digits > 9 else f"{value + 0.0 if round(float(value), digits) else 0.0:.{digits}f}"


def _remarks(notes: tuple[str, ...]) -> str:
    return "".join(f". {note.rstrip('.')}" for note in notes)
