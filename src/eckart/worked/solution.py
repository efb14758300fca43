"""A worked solution: title, steps, answer. Each step has a statement, a formula, numbers and a remark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from eckart.options import check_choice
from eckart.worked.messages import current, language

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DETAILS = ("brief", "normal", "full")
"""Brief: results only. Normal: formulas and remarks too. Full: every determinant and system worked out."""

Value = Any
"""A SymPy expression or matrix."""


@dataclass(frozen=True)
class Equation:
    """`name = value`, followed by a decimal where the value is not a whole number."""

    name: str
    value: Value
    unit: str = ""


@dataclass(frozen=True)
class SolutionTable:
    """Numbers under headings, such as the iterates of a method; headings are formulas or words, cells too."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Step:
    """One step of a solution.

    `more` makes the steps that full detail adds below it. A `check` is left out of brief solutions.
    """

    statement: str
    formula: str = ""
    numbers: tuple[Equation | SolutionTable, ...] = ()
    remark: str = ""
    more: Callable[[], tuple[Step, ...]] | None = None
    check: bool = False


@dataclass(frozen=True)
class Solution:
    """What a good teacher would write: every step, exact, and the answer.

    `solution["eigenvalues"]` gives parts of it as SymPy values, to go on computing with; `list(solution.parts)` names
    them. `solution.at("full")` is the same solution with every determinant and every system worked out.
    """

    title: str
    steps: tuple[Step, ...]
    answer: tuple[Equation, ...]
    parts: Mapping[str, Value] = field(default_factory=dict, repr=False)
    detail: str = "normal"
    language: str = field(default_factory=current)
    figures: tuple[Callable[[], Figure], ...] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> Value:
        return self.parts[name]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def at(self, detail: str) -> Self:
        """The solution with another level of detail: "brief", "normal" or "full"."""
        check_choice("detail", detail, DETAILS)
        return replace(self, detail=detail)

    def outline(self) -> list[tuple[str, Step]]:
        """The steps that this level of detail shows, numbered: 1, 2, 2.1, 2.2, 3."""
        shown: list[tuple[str, Step]] = []
        number = 0
        for step in self.steps:
            if self.detail == "brief" and step.check:
                continue
            number += 1
            shown.append((str(number), replace(step, formula="", remark="") if self.detail == "brief" else step))
            if self.detail == "full" and step.more is not None:
                shown += [(f"{number}.{place}", inner) for place, inner in enumerate(step.more(), 1)]
        return shown

    def text(self, width: int = 80) -> str:
        """Plain text for a terminal of this width."""
        from eckart.worked.as_text import text

        with language(self.language):
            return text(self, width)

    def markdown(self) -> str:
        """Markdown with formulas in LaTeX, for notebooks and web pages."""
        from eckart.worked.as_markdown import markdown

        with language(self.language):
            return markdown(self)

    def latex(self) -> str:
        """A whole LaTeX document that compiles as it stands."""
        from eckart.worked.as_latex import latex

        with language(self.language):
            return latex(self)

    def html(self) -> str:
        """A self-contained page with pictures and a step-by-step player."""
        from eckart.worked.as_html import html

        with language(self.language):
            return html(self)

    def pdf(self) -> bytes:
        """The LaTeX document as PDF; needs a LaTeX engine."""
        from eckart.worked.as_pdf import pdf

        return pdf(self.latex())

    def document(self) -> dict[str, Any]:
        """The solution for programs: plain lists and words, exact values as text, decimals as numbers."""
        from eckart.worked.as_document import document

        return document(self)

    def show(self) -> None:
        """Print the solution in the terminal."""
        from eckart.worked.terminal import show

        show(self)

    def _repr_markdown_(self) -> str:
        return self.markdown()
