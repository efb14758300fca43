"""One slip of lecture notes, with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eckart.errors import ParameterError


@dataclass(frozen=True)
class Evidence:
    """One line of a computation: what was computed, what came out, and whether that supports the correction."""

    what: str
    value: Any
    holds: bool


@dataclass(frozen=True)
class Erratum:
    """What the notes say, what is true, and the computation that shows it."""

    number: int
    where: str
    claim: str
    truth: str
    shown: Callable[[], Sequence[Evidence]]

    def text(self) -> str:
        """The erratum with its computation, for a terminal."""
        lines = [f"{self.number}. {self.where}", f"   They say: {self.claim}", f"   True:     {self.truth}"]
        return "\n".join([*lines, *[f"     {line.what}: {line.value}" for line in self.shown()]]) + "\n"


def erratum(number: int, listed: Sequence[Erratum]) -> Erratum:
    """The erratum of this number."""
    if not 1 <= number <= len(listed):
        raise ParameterError(f"There is no erratum {number}: they are numbered from 1 to {len(listed)}.")
    return listed[number - 1]
