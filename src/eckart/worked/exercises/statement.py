"""One statement of an answer: a label of words and symbols, and the values that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from eckart.worked.exercises.arithmetic import Entry, Grid, Linear, Typed

Item = str | Linear
"""A piece of a label: a word, a norm in bars, a separator, or symbols."""
SEPARATORS = frozenset({",", ";", ".", "\n", ":", "("})


@dataclass
class Statement:
    """A statement about some values.

    `equals` are the sides of an equality that have symbols, `differs` whether its sides are different numbers, and
    `after` the words that follow. `starts` says whether it begins a line or a sentence.
    """

    label: list[Item] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    equals: list[Linear] = field(default_factory=list)
    after: list[Item] = field(default_factory=list)
    differs: bool = False
    relation: str = ""
    starts: bool = True
    indices: bool = False
    vector: bool = False
    either: bool = False
    unit: bool = False
    """Whether its label is what its number counts, as in `2 components`."""

    @property
    def is_count(self) -> bool:
        """Whether the last value is a whole number of things, after others that are not, or alone."""
        if not self.entries:
            return False
        *others, last = self.entries
        whole = isinstance(last, Typed) and not last.error and last.value == last.value.to_integral_value()
        return whole and (not others or any(isinstance(x, Typed) and x.value % 1 for x in others))

    @property
    def counts(self) -> bool:
        """Whether its label is what its number counts."""
        return self.unit and self.is_count

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return all(
            isinstance(x, Typed) and not x.error and x.value == x.value.to_integral_value() for x in self.entries
        )

    @property
    def is_share(self) -> bool:
        """Whether all values are percentages."""
        return bool(self.entries) and all(map(is_percentage, self.entries))

    @property
    def has_vectors(self) -> bool:
        """Whether a value is a vector or a matrix."""
        return any(isinstance(x, Grid) for x in self.entries)

    @property
    def is_named(self) -> bool:
        """Whether the label has a word or a symbol."""
        return any(item not in SEPARATORS for item in self.label)

    def counted(self) -> list[Statement]:
        """The values before a count, and the count: `3.2, 1.5, 2 are enough`."""
        if len(self.entries) < 2 or not self.is_count:
            return [self]
        first = Statement(entries=self.entries[:-1], starts=self.starts)
        return [first, replace(self, entries=self.entries[-1:], starts=False)]

    @property
    def text(self) -> str:
        """The label as text."""
        return text_of(self.label)

    def atoms(self) -> list[tuple[Entry, ...]]:
        """Adjacent numbers, and each bracket: units that may belong to different targets."""
        found: list[tuple[Entry, ...]] = []
        for entry in self.entries:
            if found and isinstance(entry, Typed) and isinstance(found[-1][0], Typed):
                found[-1] += (entry,)
            else:
                found.append((entry,))
        return found


def text_of(items: Sequence[Item]) -> str:
    """A label as text, from its last separator on that has something behind it."""
    words: list[str] = []
    ended = False
    for item in items:
        shown = item.name if isinstance(item, Linear) else item
        if shown not in SEPARATORS:
            words, ended = [*([] if ended else words), shown], False
        ended = ended or shown in {";", ".", "\n", ","}
    return " ".join(words)


def is_percentage(value: Entry) -> bool:
    """Whether a value is a percentage."""
    return isinstance(value, Typed) and value.percent


def flat(entries: Sequence[Entry]) -> list[Typed]:
    """All numbers of some entries, in row order."""
    return [x for entry in entries for x in (sum(entry.rows, ()) if isinstance(entry, Grid) else (entry,))]


def agree(first: Entry, last: Entry) -> bool:
    """Whether two sides of an equality are equal, within rounding."""
    a, b = flat([first]), flat([last])
    return len(a) == len(b) and all(map(_is_rounded, a, b))


def _is_rounded(a: Typed, b: Typed) -> bool:
    """Whether one number is the other, rounded or truncated; two decimals may both be rounded."""
    gap = abs(a.value - b.value)
    errors = [x.error or Decimal(int(x.percent)) / 100 for x in (a, b)]  # 95 % may be rounded
    if all(errors):
        return gap <= max(*errors, abs(a.value) / 50)
    error = max(errors)
    cut = gap < error and abs(b.value if errors[1] else a.value) < abs(a.value if errors[1] else b.value)
    return cut or gap <= error / 2 * Decimal("1.0000001") or gap <= Decimal("1e-12") * abs(a.value)
