"""Rows of an answer: values with the meaning of their label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from eckart.worked.exercises.arithmetic import Entry, Grid, Linear, Typed
from eckart.worked.exercises.meaning import Meaning
from eckart.worked.exercises.statements import Statement, flat


@dataclass(frozen=True)
class Row:
    """Some values, what they mean, and the words around them."""

    entries: tuple[Entry, ...]
    meaning: Meaning = field(default_factory=Meaning)
    equals: tuple[Linear, ...] = ()
    label: tuple[str | Linear, ...] = ()
    after: tuple[str | Linear, ...] = ()
    differs: bool = False
    starts: bool = True
    indices: bool = False

    @property
    def title(self) -> str:
        return self.meaning.title

    @property
    def numbers(self) -> list[Typed]:
        return flat(self.entries)

    @property
    def is_number(self) -> bool:
        return len(self.entries) == 1 and isinstance(self.entries[0], Typed)

    @property
    def is_vectors(self) -> bool:
        return bool(self.entries) and all(isinstance(entry, Grid) for entry in self.entries)

    @property
    def symbol(self) -> Linear | None:
        """The symbols of a label that consists of nothing else."""
        return next((item for item in reversed(self.label) if isinstance(item, Linear)), None)

    def atoms(self) -> list[tuple[Entry, ...]]:
        return Statement(entries=list(self.entries)).atoms()

    def means(self, target: int, index: int = 0, title: str = "") -> Row:
        """The row under the name of a target."""
        sense = replace(self.meaning.sense, target=target, index=index, key="")
        return replace(self, meaning=replace(self.meaning, targets=frozenset({target}), sense=sense,
                                             title=title or self.title))  # fmt: skip


def named(entries: Iterable[Entry], target: int, index: int = 0) -> Row:
    """A row of a target."""
    return Row(tuple(entries)).means(target, index)
