"""A solution as LaTeX: a whole document, or the lines of mathematics that Markdown shares."""

from __future__ import annotations

import re

import sympy as sp

from eckart.worked.as_text import wrapped
from eckart.worked.messages import current, tr
from eckart.worked.notation import latex_formula, latex_name, latex_prose, latex_words
from eckart.worked.numerals import (
    is_exact,
    is_plain,
    is_readable,
    latex_decimal,
    latex_matrix,
    latex_number,
    relation,
    text_number,
    too_long_note,
)
from eckart.worked.solution import Equation, Solution, SolutionTable, Step, Value

# pdfLaTeX needs font encodings; XeLaTeX and LuaLaTeX need a font that has Cyrillic letters.
_LATIN = r"\ifPDFTeX\usepackage[T1]{fontenc}\fi"
_CYRILLIC = (
    r"\ifPDFTeX\usepackage[ENCODINGS]{fontenc}\else\usepackage{fontspec}"
    r"\IfFontExistsTF{CMU Serif}{\setmainfont{CMU Serif}}{\setmainfont{DejaVu Serif}}\fi"
)
_WIDEST = 90
"""Number of characters of an exact value that fit into a line at legible size."""
_CYRILLIC_LETTER = re.compile(r"[\u0400-\u04ff]")
# \fit shrinks a line that is wider than the page; the packages are in every TeX distribution.
_OPENING = r"""\documentclass[11pt]{article}
\usepackage{iftex}
\ifPDFTeX\usepackage[utf8]{inputenc}\fi
LANGUAGE
\usepackage{amsmath}
\usepackage{graphicx}
\newsavebox{\fitbox}
\newcommand{\fit}[1]{\sbox{\fitbox}{$\displaystyle #1$}%
  \ifdim\wd\fitbox>\linewidth\resizebox{\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}
\setlength{\parindent}{0pt}
\sloppy
\renewcommand{\arraystretch}{1.3}
\begin{document}
"""


def latex(solution: Solution) -> str:
    """The whole document."""
    return "\n".join([opening(), *body(solution), r"\end{document}", ""])


def opening(names: str = "") -> str:
    """Class, packages of the language, and the start of the document.

    `names` are names of people, which may be in another script. Cyrillic letters get their font in every language, and
    pdfLaTeX prints letters that it does not know as a question mark.
    """
    cyrillic = current() == "ru" or _CYRILLIC_LETTER.search(names)
    encodings = "T2A" if current() == "ru" else "T2A,T1"
    packages = _CYRILLIC.replace("ENCODINGS", encodings) if cyrillic else _LATIN
    strange = sorted({letter for letter in names if ord(letter) > 0x17F and not "\u0400" <= letter <= "\u04ff"})
    packages += "".join(rf"\ifPDFTeX\DeclareUnicodeCharacter{{{ord(letter):04X}}}{{?}}\fi" for letter in strange)
    return _OPENING.replace("LANGUAGE", packages)


def heading(title: str) -> str:
    """A title that may name a person: it contains no formula, and Cyrillic letters have their own encoding."""
    cyrillic = (
        r"\ifPDFTeX\fontencoding{T2A}\selectfont\fi " if current() != "ru" and _CYRILLIC_LETTER.search(title) else ""
    )
    return rf"\begin{{center}}\Large {cyrillic}{latex_words(title)}\end{{center}}"


def body(solution: Solution) -> list[str]:
    """The solution without the frame of a document."""
    lines = [rf"\section*{{{latex_prose(solution.title)}}}", r"\begin{description}"]
    for label, step in solution.outline():
        lines += _step(label, step)
    lines += [r"\end{description}", *([rf"\subsection*{{{tr('Answer')}}}"] if solution.answer else [])]
    return [*lines, *[line(equation) for equation in solution.answer]]


def _step(label: str, step: Step) -> list[str]:
    lines = [rf"\item[{f'{label}.' if label else ''}] {latex_prose(step.statement)}"]
    if step.formula:
        lines.append(rf"\[\fit{{{latex_formula(step.formula)}}}\]")
    lines += [_table(item) if isinstance(item, SolutionTable) else line(item) for item in step.numbers]
    if step.remark:
        lines.append(rf"\emph{{{latex_prose(step.remark)}}}")
    return lines


def line(equation: Equation) -> str:
    """An equation on a line of its own."""
    if isinstance(equation.value, str):
        if not equation.name and (pieces := _unbreakable(equation.value)):
            return "\n".join(rf"\[\fit{{{latex_formula(piece)}}}\]" for piece in pieces)
        name = f"{latex_name(equation.name, inline=True)}: " if equation.name else ""
        # Long products may be broken between their factors.
        return f"{name}{latex_prose(equation.value)}\n".replace(") (", r")\allowbreak (")
    return "\n".join(rf"\[\fit{{{shown}}}\]" for shown in equation_latex(equation))


def _unbreakable(value: str) -> list[str]:
    """The lines of a long formula with roots or numbers that TeX cannot break; empty if it can be set as text."""
    formula = value[1:-1]
    if value.count("$") != 2 or value[0] + value[-1] != "$$" or len(formula) <= _WIDEST:
        return []
    if not re.search(r"\d{25,}|√|sqrt", formula):
        return []
    pieces = wrapped(formula, _WIDEST)
    return pieces if all(piece.count("(") == piece.count(")") for piece in pieces) else [formula]


def equation_latex(equation: Equation) -> list[str]:
    """`name = value ≈ decimal` as lines of mathematics: one, or several if the exact value is wide."""
    name, value = latex_name(equation.name), equation.value
    unit = rf"\ {latex_formula(equation.unit)}" if equation.unit else ""
    if isinstance(value, sp.MatrixBase) and 0 in value.shape:
        return [rf"{name} = (\,)"]
    near = "" if value.free_symbols else _value_latex(value, decimals=True)
    if not is_readable(value):
        note = rf" \quad \text{{{latex_prose(too_long_note(value))}}}" if is_exact(value) else ""
        return [rf"{name} \approx {near}{unit}{note}"]
    if value.free_symbols or is_plain(value):
        return [f"{name} = {_value_latex(value)}{unit}"]
    return _exact_and_near(name, value, near, unit)


def _exact_and_near(name: str, value: Value, near: str, unit: str) -> list[str]:
    """Both on one line if there is room."""
    matrix = isinstance(value, sp.MatrixBase)
    sign = "=" if relation(value) == "=" else r"\approx"
    if (_width(value) if matrix else len(text_number(value))) <= _WIDEST:
        return [rf"{name} = {_value_latex(value)}{unit} {sign} {near}{unit}"]
    if matrix:
        return [rf"{name} \approx {near}", *_entries_latex(value)]
    return [_broken(f"{name} = ", value) + unit, rf"{name} {sign} {near}{unit}"]


def _value_latex(value: Value, *, decimals: bool = False) -> str:
    if isinstance(value, sp.MatrixBase):
        return latex_matrix(value, decimals=decimals)
    return latex_decimal(value) if decimals else latex_number(value)


def _entries_latex(value: sp.Matrix) -> list[str]:
    """The exact entries of a matrix that is too wide to print, one line each."""
    entries = [rf"({i + 1},{j + 1})\colon\ {_broken('', value[i, j])}" for i in range(value.rows)
               for j in range(value.cols)]  # fmt: skip
    return [rf"\text{{{latex_prose(tr('exact entries, one per line:'))}}}", *entries]


def _width(matrix: sp.Matrix) -> int:
    """Number of characters in a row of the matrix."""
    return sum(max(len(text_number(entry)) for entry in matrix[:, j]) for j in range(matrix.cols))


def _broken(start: str, value: sp.Expr) -> str:
    """A number, as several lines of terms if it is too long for one."""
    if len(text_number(value)) <= _WIDEST:
        return start + latex_number(value)
    lines, room = [""], _WIDEST
    for place, term in enumerate(sp.Add.make_args(value)):
        shown, size = latex_number(term), len(text_number(term))
        if place and room < size:
            lines.append("")
            room = _WIDEST
        lines[-1] += shown if place == 0 or shown.startswith("-") else f" + {shown}"
        room -= size
    return rf"\begin{{aligned}} {start}& " + r" \\ & ".join(lines) + r" \end{aligned}"


def cell(value: object) -> str:
    """A cell of a table."""
    if isinstance(value, str):
        return latex_prose(value)
    short = is_exact(value) and len(text_number(value)) <= 12  # as in text and HTML
    return f"${latex_number(value) if short else latex_decimal(value)}$"


def _table(table: SolutionTable) -> str:
    head = " & ".join(latex_name(heading, inline=True) for heading in table.headings)
    rows = [" & ".join(cell(value) for value in row) for row in table.rows]
    body = " \\\\\n".join([head + r" \\ \hline", *rows]).replace("\\hline \\\\\n", "\\hline\n")
    inside = f"\\begin{{tabular}}{{{'r' * len(table.headings)}}}\n{body}\n\\end{{tabular}}"
    return f"\\begin{{center}}\\fit{{\\text{{{inside}}}}}\\end{{center}}"
