"""A solution as LaTeX: a whole document, or the lines of mathematics that Markdown shares."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eckart.worked.notation import latex_formula, latex_prose
from eckart.worked.numerals import decimal, is_exact, is_plain, latex_matrix, latex_number
from eckart.worked.solution import Equation, Solution, Step, Table

# \fit shrinks a line that is wider than the page; the packages are in every TeX distribution.
_OPENING = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{graphicx}
\newsavebox{\fitbox}
\newcommand{\fit}[1]{\sbox{\fitbox}{$\displaystyle #1$}%
  \ifdim\wd\fitbox>\linewidth\resizebox{\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}
\setlength{\parindent}{0pt}
\renewcommand{\arraystretch}{1.3}
\begin{document}
"""


def latex(solution: Solution) -> str:
    """The whole document."""
    lines = [_OPENING + rf"\section*{{{latex_prose(solution.title)}}}", r"\begin{enumerate}"]
    for step in solution.steps:
        lines += _step(step)
    lines += [r"\end{enumerate}", *([r"\subsection*{Answer}"] if solution.answer else [])]
    lines += [_line(equation) for equation in solution.answer]
    return "\n".join([*lines, r"\end{document}", ""])


def _step(step: Step) -> list[str]:
    lines = [rf"\item {latex_prose(step.statement)}"]
    if step.formula:
        lines.append(rf"\[\fit{{{latex_formula(step.formula)}}}\]")
    lines += [_table(item) if isinstance(item, Table) else _line(item) for item in step.numbers]
    if step.remark:
        lines.append(rf"\emph{{{latex_prose(step.remark)}}}")
    return lines


def _line(equation: Equation) -> str:
    if isinstance(equation.value, str):
        name = f"${latex_formula(equation.name)}$: " if equation.name else ""
        return f"{name}{latex_prose(equation.value)}\n"
    return rf"\[\fit{{{equation_latex(equation)}}}\]"


def equation_latex(equation: Equation) -> str:
    """`name = value ≈ decimal` as one line of mathematics."""
    name, value = latex_formula(equation.name), equation.value
    unit = rf"\ {latex_formula(equation.unit)}" if equation.unit else ""
    matrix = isinstance(value, sp.MatrixBase)
    if matrix and 0 in value.shape:
        return rf"{name} = (\,)"
    if not is_exact(value):
        return rf"{name} \approx {latex_matrix(value, decimals=True) if matrix else decimal(value)}{unit}"
    exact = latex_matrix(value) if matrix else latex_number(value)
    if is_plain(value) or value.free_symbols:
        return f"{name} = {exact}{unit}"
    return rf"{name} = {exact}{unit} \approx {latex_matrix(value, decimals=True) if matrix else decimal(value)}{unit}"


def cell(value: Any) -> str:
    """A cell of a table."""
    if isinstance(value, str):
        return latex_prose(value)
    shown = latex_number(value)
    return f"${shown if len(str(value)) <= 12 else decimal(value)}$"


def _table(table: Table) -> str:
    head = " & ".join(f"${latex_formula(heading)}$" for heading in table.headings)
    rows = [" & ".join(cell(value) for value in row) for row in table.rows]
    body = " \\\\\n".join([head + r" \\ \hline", *rows]).replace("\\hline \\\\\n", "\\hline\n")
    inside = f"\\begin{{tabular}}{{{'r' * len(table.headings)}}}\n{body}\n\\end{{tabular}}"
    return f"\\begin{{center}}\\fit{{\\text{{{inside}}}}}\\end{{center}}"
