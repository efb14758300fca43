"""A solution for programs: names, exact values as text that SymPy can parse, decimals as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from eckart.worked.notation import text_formula, text_name, text_prose
from eckart.worked.numerals import is_exact
from eckart.worked.solution import Equation, Solution, SolutionTable, Step

if TYPE_CHECKING:
    from eckart.worked.solution import Value


def document(solution: Solution) -> dict[str, Value]:
    """The whole solution as lists, dictionaries, texts and numbers."""
    return {
        "title": text_prose(solution.title),
        "language": solution.language,
        "steps": [_step(step) for step in solution.steps],
        "answer": [_equation(equation) for equation in solution.answer],
        "parts": {name: plain(value) for name, value in solution.parts.items()},
    }


def _step(step: Step) -> dict[str, Value]:
    return {
        "statement": text_prose(step.statement),
        "formula": text_formula(step.formula),
        "numbers": [_table(item) if isinstance(item, SolutionTable) else _equation(item) for item in step.numbers],
        "remark": text_prose(step.remark),
    }


def _equation(equation: Equation) -> dict[str, Value]:
    return {"name": text_name(equation.name), **plain(equation.value)}


def _table(table: SolutionTable) -> dict[str, Value]:
    rows = [[cell if isinstance(cell, str) else plain(cell) for cell in row] for row in table.rows]
    return {"headings": [text_name(heading) for heading in table.headings], "rows": rows}


def plain(value: object) -> Value:
    """A value as {exact, decimal}; exact is null where there is only a decimal."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"text": text_prose(value)}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, sp.MatrixBase):
        rows = value.tolist()
        exact = [list(map(str, row)) for row in rows] if is_exact(value) else None
        return {"exact": exact, "decimal": [list(map(_number, row)) for row in rows]}
    value = sp.sympify(value)
    return {"exact": str(value) if is_exact(value) else None, "decimal": _number(value)}


def _number(value: sp.Expr) -> object:
    if value.free_symbols:
        return None
    number = complex(sp.N(value, 20))
    small = abs(number.imag) <= 1e-18 * max(1.0, abs(number))
    return number.real if small else {"real": number.real, "imaginary": number.imag}
