"""A solution as plain text: sentences wrapped, matrices drawn with brackets, the decimal after the exact value."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial

import sympy as sp

from eckart.worked.messages import tr
from eckart.worked.notation import split_prose, text_formula, text_name, text_prose
from eckart.worked.numerals import (
    decimal,
    is_exact,
    is_plain,
    is_readable,
    relation,
    separator,
    text_number,
    too_long_note,
    without_dust,
)
from eckart.worked.solution import Equation, Solution, SolutionTable, Step, Value

_INDENT = 4
_SHORT = 30
_KEPT = "\u00a0"
"""A space at which textwrap does not break."""


def text(solution: Solution, width: int = 80) -> str:
    """The whole solution."""
    title = _filled(text_prose(solution.title), width)
    lines = [*title, "=" * max(map(len, title)), ""]
    for label, step in solution.outline():
        lines += [*step_lines(step, label, width), ""]
    lines += [tr("Answer")] if solution.answer else []
    for equation in solution.answer:
        lines += equation_lines(equation, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def step_lines(step: Step, label: str, width: int) -> list[str]:
    """One step: number and statement, formula, numbers, remark."""
    mark = f"{label}. " if label else ""
    lines = _filled(mark + _prose(step.statement), width, subsequent_indent=" " * len(mark))
    if step.formula:
        lines += [" " * _INDENT + line for line in wrapped(text_formula(step.formula), width - _INDENT, "  ")]
    for item in step.numbers:
        lines += table_lines(item, width) if isinstance(item, SolutionTable) else equation_lines(item, width)
    if step.remark:
        indent = " " * len(mark)
        lines += _filled(_prose(step.remark), width, initial_indent=indent, subsequent_indent=indent)
    return lines


def _prose(text: str) -> str:
    """Sentences as plain text, with short formulas that are not broken into lines."""
    shown = ((is_formula, text_formula(part) if is_formula else part) for is_formula, part in split_prose(text))
    return "".join(
        part.replace(" ", _KEPT) if is_formula and len(part) < _SHORT else part for is_formula, part in shown
    )


def _filled(text: str, width: int, *, initial_indent: str = "", subsequent_indent: str = "") -> list[str]:
    """A wrapped paragraph; a number stays with its '%'.

    >>> _filled("explain 95 % of it", 11)
    ['explain', '95 % of it']
    """
    kept = text.replace(" %", f"{_KEPT}%")
    lines = textwrap.wrap(kept, width, initial_indent=initial_indent, subsequent_indent=subsequent_indent)
    return [line.replace(_KEPT, " ") for line in lines]


def equation_lines(equation: Equation, width: int) -> list[str]:
    """`name = value ≈ decimal`, indented; matrices over several lines."""
    name, value = text_name(equation.name), equation.value
    room = width - _INDENT
    if isinstance(value, str):
        lines = _words(name, value, room)
    elif isinstance(value, sp.MatrixBase):
        lines = _matrix_equation(name, value, room)
    else:
        lines = _number_equation(name, value, f" {equation.unit}" if equation.unit else "", room)
    return [" " * _INDENT + line for line in lines]


def _words(name: str, value: str, room: int) -> list[str]:
    shown = f"{name} = {text_prose(value)}" if name else text_prose(value)
    is_formula = value.startswith("$") and value.endswith("$") and value.count("$") == 2
    return wrapped(shown, room, "  ") if is_formula else _filled(shown, room)


def _number_equation(name: str, value: Value, unit: str, room: int) -> list[str]:
    if not is_readable(value):
        near = f"{name} ≈ {decimal(value)}{unit}"
        return [near, too_long_note(value)] if is_exact(value) else [near]
    exact = f"{name} = {text_number(value)}{unit}"
    beside = "" if is_plain(value) or value.free_symbols else f" {relation(value)} {decimal(value)}{unit}"
    if len(exact + beside) <= room:
        return [exact + beside]
    return wrapped(exact, room, "    ") + ([f"  {beside.strip()}"] if beside else [])


def wrapped(formula: str, room: int, indent: str = "") -> list[str]:
    """A formula over several lines, broken outside brackets and before an operator if possible.

    >>> wrapped("a = (1 - λ) (2 - λ) + (3) (4)", 24, "  ")
    ['a = (1 - λ) (2 - λ)', '  + (3) (4)']
    """
    lines, rest, start = [], formula, ""
    while len(start + rest) > room and (place := _break(rest, room - len(start)) or room - len(start)):
        lines.append(start + rest[:place].rstrip())
        rest, start = rest[place:].lstrip(), indent
    return [*lines, start + rest]


def _penalty(formula: str, place: int) -> int:
    """Penalty of a break at this blank: lowest after list items, then before an operator."""
    if formula[:place].rstrip()[-1] in ",;":
        return 0
    return 1 if formula[place + 1 : place + 3] in {"+ ", "- ", "= ", "≈ "} else 50


def _break(formula: str, room: int) -> int:
    """Best position to break a formula: outside brackets, between list items or before an operator."""
    depth, found = 0, []
    for place, sign in enumerate(formula[: room + 1]):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == " " and formula[:place].strip():
            found.append((2 * depth + _penalty(formula, place), -place))
    late = [choice for choice in found if -choice[1] >= room // 3]
    return -min(late or found)[1] if found else 0


def _matrix_equation(name: str, value: sp.Matrix, room: int) -> list[str]:
    if not is_readable(value) and not value.free_symbols:
        near = _beside([f"{name} ≈"], _decimals(value, room - len(name) - 3))
        return [*near, too_long_note(value)] if is_exact(value) else near
    exact = matrix_lines(value, text_number)
    width = len(exact[0])
    fits = len(name) + 3 + width <= room
    if is_plain(value) or value.free_symbols:
        lines = exact if width <= room else _in_blocks(value, text_number, room)
        return _beside([f"{name} ="], lines) if fits else [f"{name} =", *lines]
    return _exact_and_near(name, value, exact, room)


def _exact_and_near(name: str, value: sp.Matrix, exact: list[str], room: int) -> list[str]:
    """Both side by side, one below the other, or entry by entry, depending on the room."""
    near, sign, width = _decimals(value, room - 2), relation(value), len(exact[0])
    if len(name) + 3 + width <= room:
        if len(name) + 6 + width + len(near[0]) <= room:
            return _beside([f"{name} ="], exact, [sign], near)
        below = _beside([" " * len(name) + f" {sign}"], _decimals(value, room - len(name) - 3))
        return _beside([f"{name} ="], exact) + below
    if width <= room:
        return [f"{name} =", *exact, sign, *near]
    return [f"{name} ≈", *near, tr("exact entries, one per line:"), *_listed(value, room)]


def _listed(value: sp.Matrix, room: int) -> list[str]:
    """Each entry on its own line, or on several."""
    lines = []
    for i in range(value.rows):
        for j in range(value.cols):
            lines += wrapped(f"  ({i + 1},{j + 1}): {text_number(value[i, j])}", room, " " * 9)
    return lines


def _in_blocks(value: sp.Matrix, show: Callable[[sp.Expr], str], room: int) -> list[str]:
    """A matrix too wide for the page, a few columns at a time."""
    if value.cols == 1 and value.rows > 1:
        return wrapped(matrix_lines(value, show)[0], room)
    if max(len(_bracketed(value[:, j], show)[0]) for j in range(value.cols)) > room:
        return _listed(value, room)
    lines, start = [], 0
    while start < value.cols:
        stop = start + 1
        while stop < value.cols and len(_bracketed(value[:, start : stop + 1], show)[0]) <= room:
            stop += 1
        shown = (
            tr("columns {first} to {last}:", first=start + 1, last=stop)
            if stop > start + 1
            else tr("column {number}:", number=stop)
        )
        lines += [shown, *_bracketed(value[:, start:stop], show)]
        start = stop
    return lines


def _decimals(value: object, room: int) -> list[str]:
    """As many digits as fit."""
    value = without_dust(value)
    for digits in (6, 4, 3):
        lines = matrix_lines(value, partial(decimal, digits=digits))
        if len(lines[0]) <= room:
            return lines
    return _in_blocks(value, partial(decimal, digits=3), room)


def matrix_lines(matrix: sp.Matrix, show: Callable[[sp.Expr], str]) -> list[str]:
    """The matrix with brackets, columns right-aligned."""
    if matrix.rows == 0 or matrix.cols == 0:
        return [tr("(empty, {rows} x {cols})", rows=matrix.rows, cols=matrix.cols)]
    if matrix.cols == 1 and matrix.rows > 1:
        # A column, written in one line to save room; with decimal commas a semicolon separates.
        return ["(" + separator().join(show(entry) for entry in matrix) + ")"]
    return _bracketed(matrix, show)


def _bracketed(matrix: sp.Matrix, show: Callable[[sp.Expr], str]) -> list[str]:
    """One line for each row, whatever the number of columns."""
    cells = [[show(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)]
    wide = [max(len(row[j]) for row in cells) for j in range(matrix.cols)]
    body = ["  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)) for row in cells]
    if len(body) == 1:
        return [f"[ {body[0]} ]"]
    ends = [("⎡", "⎤"), *[("⎢", "⎥")] * (len(body) - 2), ("⎣", "⎦")]
    return [f"{left} {line} {right}" for line, (left, right) in zip(body, ends, strict=True)]


def _beside(*blocks: Sequence[str]) -> list[str]:
    """Blocks next to each other, each vertically centred."""
    tall = max(len(block) for block in blocks)
    columns = []
    for block in blocks:
        wide, above = max(map(len, block)), (tall - len(block)) // 2
        padded = [""] * above + list(block) + [""] * (tall - above - len(block))
        columns.append([line.ljust(wide) for line in padded])
    return [" ".join(parts) for parts in zip(*columns, strict=True)]


def cell(value: object, digits: int) -> str:
    """A cell of a table: words unchanged, numbers exact if short."""
    if isinstance(value, str):
        return text_prose(value)
    shown = text_number(value) if is_exact(value) else ""
    return shown if shown and len(shown) <= 12 else decimal(value, digits)


def table_lines(table: SolutionTable, width: int) -> list[str]:
    """Headings, a rule, rows; fewer digits and narrower gaps if the page is narrow."""
    for digits, gap in ((6, "  "), (6, " "), (4, " "), (3, " "), (2, " ")):
        heads = [text_name(heading) for heading in table.headings]
        rows = [heads, *[[cell(value, digits) for value in row] for row in table.rows]]
        wide = [max(len(row[j]) for row in rows) for j in range(len(heads))]
        lines = [" " * _INDENT + gap.join(c.rjust(w) for c, w in zip(row, wide, strict=True)) for row in rows]
        if len(lines[0]) <= width:
            break
    return [lines[0], " " * _INDENT + "─" * (len(lines[0]) - _INDENT), *lines[1:]]
