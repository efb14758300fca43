"""A worked solution: title, steps, answer. Each step has a statement, a formula, numbers and a remark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Value = Any
"""A SymPy expression or matrix."""


@dataclass(frozen=True)
class Equation:
    """`name = value`, with the decimal beside it where the value is not a whole number."""

    name: str
    value: Value
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Numbers under headings, such as the iterates of a method; headings are formulas, cells numbers or words."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Step:
    """One step of a solution."""

    statement: str
    formula: str = ""
    numbers: tuple[Equation | Table, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Solution:
    """What a good teacher would write: every step, exact, and the answer.

    `solution["eigenvalues"]` gives parts of it as SymPy values, to go on computing with; `list(solution.parts)` names
    them.
    """

    title: str
    steps: tuple[Step, ...]
    answer: tuple[Equation, ...]
    parts: Mapping[str, Value] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Value:
        return self.parts[name]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def text(self, width: int = 80) -> str:
        """Plain text for a terminal of this width."""
        from eckart.worked.as_text import text

        return text(self, width)

    def markdown(self) -> str:
        """Markdown with formulas in LaTeX, for notebooks and web pages."""
        from eckart.worked.as_markdown import markdown

        return markdown(self)

    def latex(self) -> str:
        """A whole LaTeX document that compiles as it stands."""
        from eckart.worked.as_latex import latex

        return latex(self)

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
