"""A worked solution: title, steps, answer. Each step has a statement, a formula, numbers and a remark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from eckart.displays import html_page
from eckart.documentation import document
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
    """One equation ``name = value`` of a solution.

    If the value is not an integer, a decimal approximation follows it.

    Attributes
    ----------
    name : str
        Left-hand side, as a formula. Empty if only the value is shown.
    value : sympy.Expr, sympy.Matrix or str
        Right-hand side.
    unit : str
        Unit of the value. Empty if it has none.

    See Also
    --------
    Step : Step that contains equations.

    Examples
    --------
    >>> from eckart import worked
    >>> worked.determinant("2 1; 1 2").answer[0].value
    3
    """

    name: str
    value: Value
    unit: str = ""


@dataclass(frozen=True)
class SolutionTable:
    """A table of numbers in a solution, such as the iterates of a method.

    Attributes
    ----------
    headings : tuple of str
        Headings, as formulas or words.
    rows : tuple of tuple
        Cells of each row, as formulas or words.

    See Also
    --------
    Step : Step that contains tables.

    Examples
    --------
    >>> from eckart import worked
    >>> table = worked.power_iteration("2 1; 1 2", most=2).steps[1].numbers[0]
    >>> len(table.rows)
    2
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Step:
    """One step of a worked solution.

    Attributes
    ----------
    statement : str
        What the step does.
    formula : str
        The general formula.
    numbers : tuple of Equation or SolutionTable
        The formula applied to the given matrix.
    remark : str
        Explanation.
    more : callable or None
        Function that returns the additional steps shown below this one in full detail.
    check : bool
        Whether the step checks the result. Brief solutions leave such steps out.

    See Also
    --------
    Solution : Solution that contains steps.

    Examples
    --------
    >>> from eckart import worked
    >>> worked.determinant("2 1; 1 2").steps[0].statement
    'The matrix.'
    """

    statement: str
    formula: str = ""
    numbers: tuple[Equation | SolutionTable, ...] = ()
    remark: str = ""
    more: Callable[[], tuple[Step, ...]] | None = None
    check: bool = False


@document
@dataclass(frozen=True)
class Solution:
    """A worked solution: every step in exact arithmetic, and the answer.

    ``solution["eigenvalues"]`` returns one part of the result as a SymPy value, for further computations.

    Attributes
    ----------
    title : str
        Title of the problem.
    steps : tuple of Step
        Steps in order.
    answer : tuple of Equation
        The result.
    {parts, detail, language, figures}

    See Also
    --------
    Exercise : Question with its solution.
    Step : One step.

    Examples
    --------
    >>> from eckart import worked
    >>> solution = worked.eigen("2 1; 1 2")
    >>> list(solution.parts)
    ['eigenvalues', 'eigenvectors', 'characteristic_polynomial', 'exact']
    >>> solution["eigenvalues"].T
    Matrix([[3, 1]])
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
        """Return the solution at another level of detail.

        Parameters
        ----------
        detail : {'brief', 'normal', 'full'}
            'brief' shows only results, 'normal' adds formulas and remarks, and 'full' also expands every determinant
            and every linear system.

        Returns
        -------
        Solution
            The same solution with this level of detail.
        """
        check_choice("detail", detail, DETAILS)
        return replace(self, detail=detail)

    def outline(self) -> list[tuple[str, Step]]:
        """List the steps shown at this level of detail.

        Returns
        -------
        list of tuple
            Pairs (number, step), in which the number is a string such as '2.1'. A single step has no number ('').
        """
        shown: list[tuple[str, Step]] = []
        number = 0
        for step in self.steps:
            if self.detail == "brief" and step.check:
                continue
            number += 1
            shown.append((str(number), replace(step, formula="", remark="") if self.detail == "brief" else step))
            if self.detail == "full" and step.more is not None:
                shown += [(f"{number}.{place}", inner) for place, inner in enumerate(step.more(), 1)]
        return shown if len(shown) > 1 else [("", step) for _, step in shown]

    @document
    def text(self, width: int = 80) -> str:
        """Format as plain text.

        {Parameters: width; Returns: str [text]}
        """
        from eckart.worked.as_text import text

        with language(self.language):
            return text(self, width)

    def markdown(self) -> str:
        """Format as Markdown with LaTeX formulas, for notebooks and web pages.

        Returns
        -------
        str
            The Markdown text.
        """
        from eckart.worked.as_markdown import markdown

        with language(self.language):
            return markdown(self)

    def latex(self) -> str:
        """Format as a complete LaTeX document.

        Returns
        -------
        str
            The document, ready to compile.
        """
        from eckart.worked.as_latex import latex

        with language(self.language):
            return latex(self)

    def html(self) -> str:
        """Format as a self-contained HTML page with figures and a step-by-step player.

        Returns
        -------
        str
            The page.
        """
        from eckart.worked.as_html import html

        with language(self.language):
            return html(self)

    def pdf(self) -> bytes:
        """Compile the LaTeX document to PDF.

        Returns
        -------
        bytes
            Contents of the PDF file.

        Raises
        ------
        MissingDependencyError
            If no LaTeX engine is installed.
        """
        from eckart.worked.as_pdf import pdf

        return pdf(self.latex())

    def document(self) -> dict[str, object]:
        """Convert to plain values, for JSON and other programs.

        Returns
        -------
        dict
            Nested lists and strings. Exact values are given as text, and decimals as numbers.
        """
        from eckart.worked.as_document import document

        return document(self)

    def show(self) -> None:
        """Print the solution in the terminal."""
        from eckart.worked.terminal import show

        show(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_page(self.html())

    def _repr_markdown_(self) -> str:
        return self.markdown()
