"""Answers as small frozen values: they print as a person reads them, and `to_dict` gives plain lists and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from eckart.concept_space.best import Numbers
from eckart.concept_space.names import Names

_SHOWN = 20


class Hit(NamedTuple):
    """One row or column of a ranking."""

    name: str
    score: float
    place: int
    """Its number, counted from 0."""


@dataclass(frozen=True, repr=False)
class Query:
    """A row in the space of the concepts."""

    name: str
    coordinates: Numbers
    columns: Numbers
    """Where its entries are that are known."""
    entries: Numbers
    """The entries themselves."""
    square: float
    """||(row - mean) / scale||^2, in the unit of lengths of the geometry, which is nearly always 1."""
    unseen: float
    """Share of that which lies outside the concepts; NaN where there is no linear way back, or nothing to share."""
    place: int | None = None
    """Its number among the rows at hand, if it is one of them."""
    cold: bool = False
    """Whether nothing at all is known of it: no entry, or every entry 0 and no mean to compare it with."""
    whole: bool = True
    """Whether the other entries are 0; else nothing was said of them, and they count as the mean where there is one."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "coordinates": self.coordinates.astype(float).tolist(),
            "unseen": _plain(self.unseen),
            "known": len(self.entries),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        numbers = ", ".join(shown(c, digits_of(self.coordinates)) for c in self.coordinates[:8])
        more = ", ..." if len(self.coordinates) > 8 else ""
        unseen = "" if math.isnan(self.unseen) else f", {self.unseen:.1%} of it unseen"
        return f"<Query {self.name}: [{numbers}{more}]{unseen}{_remarks(self.notes)}>"


@dataclass(frozen=True, repr=False)
class Ranking:
    """Rows or columns by a score, best first."""

    title: str
    names: tuple[str, ...]
    scores: Numbers
    indices: Numbers
    """Their numbers, counted from 0."""
    lower: Numbers | None = None
    upper: Numbers | None = None
    """With proof: bounds of the same score taken with all of both rows, the dropped part included."""
    proved: int | None = None
    """With proof: so many of the first places cannot change, whatever the dropped part."""
    set_proved: bool | None = None
    """With proof: whether nothing else can come among those shown, in whatever order."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Hit]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Hit:
        return Hit(self.names[index], float(self.scores[index]), int(self.indices[index]))

    @property
    def summary(self) -> str:
        """What is proved, in a few words."""
        if not len(self) or self.proved == len(self):
            return "proved: the order is certain"
        order = f"the order of the first {self.proved} is certain" if self.proved else "the order is not certain"
        return f"{'proved: these are the ones; ' if self.set_proved else 'not proved; '}{order}"

    def to_dict(self) -> dict[str, Any]:
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

    def __repr__(self) -> str:
        digits = digits_of(self.scores)
        width = min(max((len(name) for name in self.names[:_SHOWN]), default=0), 40)
        lines = [f"  {hit.name[:40]:<{width}}  {shown(hit.score, digits)}" for hit in [*self][:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"  ... {len(self) - _SHOWN:,} more")
        proof = "" if self.proved is None else f" ({self.summary})"
        return "\n".join([f"<{self.title}{proof}{_remarks(self.notes)}", *lines]) + ">"


@dataclass(frozen=True, repr=False)
class Rankings:
    """For each row the columns or rows with the best scores, best first."""

    title: str
    indices: Numbers
    """rows x n; -1 where there are fewer than n."""
    scores: Numbers
    """rows x n; NaN where there are fewer than n."""
    cold: Numbers
    """The rows that got nothing, because nothing is known of them, or nothing of it lies in the concepts."""
    of: Names = field(repr=False)
    """What the places are called."""

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, row: int) -> Ranking:
        there = self.indices[row] >= 0
        indices = self.indices[row][there]
        notes = (NOTHING_SEEN,) if row in self.cold else ()
        return Ranking(f"{self.title} {row}", self.of.labels(indices), self.scores[row][there], indices, notes=notes)

    def __iter__(self) -> Iterator[Ranking]:
        return (self[row] for row in range(len(self)))

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "rows": [self[row].to_dict()["hits"] for row in range(len(self))]}

    def __repr__(self) -> str:
        cold = f"; {len(self.cold):,} get none" if len(self.cold) else ""
        return f"<Rankings: the best {self.indices.shape[1]} {self.of.what}s for each of {len(self):,} rows{cold}>"


NOTHING_KNOWN = "Nothing is known of this row: all its entries are 0, so nothing can be said of it."
NOTHING_SEEN = "The concepts see nothing of this row, so they have nothing to say of it."


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def digits_of(numbers: Numbers) -> int:
    """Decimals that show four digits of the largest number."""
    largest = float(np.max(np.abs(numbers[np.isfinite(numbers)]), initial=0.0))
    return max(3 - math.floor(math.log10(largest)), 0) if largest > 0 else 1


def shown(value: float, digits: int) -> str:
    return f"{value:.3e}" if digits > 9 else f"{value + 0.0 if round(float(value), digits) else 0.0:.{digits}f}"


def _remarks(notes: tuple[str, ...]) -> str:
    return "".join(f". {note.rstrip('.')}" for note in notes)
