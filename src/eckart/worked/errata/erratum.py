"""One error in lecture notes, with its evidence."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from eckart.errors import ParameterError
from eckart.worked.messages import tr
from eckart.worked.numerals import figure, separator, text_number

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@dataclass(frozen=True)
class Evidence:
    """One line of a computation: what was computed, the result, and whether it supports the correction."""

    what: str
    value: Value
    holds: bool

    def text(self) -> str:
        """`what: value`, with numbers as the language writes them."""
        value = self.value
        shown = separator().join(map(_written, value)) if isinstance(value, tuple) else _written(value)
        return f"{self.what}: {shown}"


@dataclass(frozen=True)
class Erratum:
    """The claim of the notes, the correction, and the computation that proves it."""

    number: int
    where: str
    claim: str
    truth: str
    shown: Callable[[], Sequence[Evidence]]

    def text(self, width: int = 80, *, computed: bool = True) -> str:
        """The erratum for a terminal, with its computation."""
        labels = (tr("Notes say:"), tr("Correct:"))
        room = 5 + max(map(len, labels))
        lines = [f"{self.number:2}. {tr(self.where)}"]
        for label, words in zip(labels, (self.claim, self.truth), strict=True):
            lines += textwrap.wrap(
                tr(words), width, initial_indent=f"    {label:<{room - 4}}", subsequent_indent=" " * room
            )
        if computed:
            lines.append(f"    {tr('Computed:')}")
            for line in self.shown():
                lines += textwrap.wrap(line.text(), width, initial_indent=" " * 6, subsequent_indent=" " * 8)
        return "\n".join(lines) + "\n"


def markdown(errata: Sequence[Erratum]) -> str:
    """All errata as a table for a page."""
    heads = ("", tr("Where"), tr("Notes say"), tr("Correct"))
    lines = ["| " + " | ".join(heads) + " |", "|---:|---|---|---|"]
    for one in errata:
        cells = (str(one.number), *[_escaped(tr(words)) for words in (one.where, one.claim, one.truth)])
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def erratum(number: int, listed: Sequence[Erratum]) -> Erratum:
    """The erratum of this number."""
    if not 1 <= number <= len(listed):
        raise ParameterError(
            tr(
                "There is no erratum {number}. The errata are numbered from 1 to {most}.",
                number=number,
                most=len(listed),
            )
        )
    return listed[number - 1]


def _escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("_", r"\_").replace("*", r"\*").replace("<", r"\<")


def _written(value: object) -> str:
    """A value as people write it: nested lists in brackets, exact numbers with roots, localised decimals."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        inside = separator().join(map(_written, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return figure(value) if isinstance(value, float) else text_number(sp.sympify(value))
