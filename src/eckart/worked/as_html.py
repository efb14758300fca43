"""A solution as one self-contained page: steps, figures as SVG, and a player that shows them one by one.

Formulas use HTML alone (sub, sup, tables for matrices), so the page needs no network and no library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from io import StringIO
from typing import Any

import sympy as sp

from eckart.worked.messages import current, tr
from eckart.worked.notation import is_words, localized_words, split_prose, text_prose
from eckart.worked.numerals import (
    decimal,
    is_exact,
    is_plain,
    is_readable,
    relation,
    text_number,
    too_long_note,
    without_dust,
)
from eckart.worked.solution import Equation, Solution, SolutionTable, Step, Value

_SHORT = 24
"""Formulas of at most this many characters stay on one line."""


def html(solution: Solution, *, playing: bool = False) -> str:
    """The page of one solution, with a player if it has several steps; `playing` shows only the first step."""
    return page([solution], text_prose(solution.title), player=len(solution.steps) > 1, playing=playing)


def page(
    parts: Sequence[Solution], title: str, *, player: bool = False, titled: bool = False, playing: bool = False
) -> str:
    """Several solutions or questions under one title; a single one has its own, unless the page is `titled`."""
    alone = len(parts) == 1 and not titled
    body = "\n".join(_section(part, alone=alone) for part in parts)
    head = "" if alone else f"<h1>{escape(title)}</h1>\n"
    return (
        f'<!DOCTYPE html>\n<html lang="{current()}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n<main>\n{head}{body}\n</main>\n"
        f"{_controls(playing) if player else ''}</body>\n</html>\n"
    )


@cache
def _asset(name: str) -> str:
    return (files("eckart.worked") / "assets" / name).read_text(encoding="utf-8")


def _controls(playing: bool) -> str:
    buttons = (
        ("previous", "‹ " + tr("Previous")), ("next", tr("Next") + " ›"), ("result", tr("Show result")),
        ("all", tr("Show all")),
    )  # fmt: skip
    shown = "".join(f'<button type="button" data-do="{name}">{escape(label)}</button>' for name, label in buttons)
    start = f'<button type="button" data-do="start">{escape(tr("Step by step"))}</button>'
    cover = f'<button type="button" data-do="cover">{escape(tr("Hide results"))}</button>'
    mode = ' data-mode="playing"' if playing else ""
    bar = f'<nav class="player"{mode}>{start}{cover}{shown}<span class="place" aria-live="polite"></span></nav>'
    return f"{bar}\n<script>\n{_asset('player.js')}</script>\n"


def _section(solution: Solution, *, alone: bool) -> str:
    level = 1 if alone else 2
    steps = "\n".join(_step(label, step) for label, step in solution.outline())
    pictures = "".join(f'<figure class="result">{svg(make())}</figure>' for make in solution.figures)
    answer = ""
    if solution.answer:
        lines = "".join(equation_html(equation) for equation in solution.answer)
        answer = f'<div class="step answer"><h2>{escape(tr("Answer"))}</h2><div class="result">{lines}</div></div>'
    shown = f'<div class="step pictures">{pictures}</div>' if pictures else ""
    return f"<section>\n<h{level}>{prose_html(solution.title)}</h{level}>\n{steps}\n{shown}\n{answer}\n</section>"


def _step(label: str, step: Step) -> str:
    kind = "step inner" if "." in label else "step"
    formula = f'<p class="formula">{formula_html(step.formula)}</p>' if step.formula else ""
    numbers = "".join(_table(item) if isinstance(item, SolutionTable) else equation_html(item) for item in step.numbers)
    remark = f'<p class="remark">{prose_html(step.remark)}</p>' if step.remark else ""
    result = f'<div class="result">{numbers}{remark}</div>' if numbers or remark else ""
    mark = f"<b>{label}.</b> " if label else ""
    return f'<div class="{kind}"><p>{mark}{prose_html(step.statement)}</p>{formula}{result}</div>'


def _value_html(value: Value, *, decimals: bool = False) -> str:
    if isinstance(value, sp.MatrixBase):
        return matrix_html(value, decimals=decimals)
    return formula_html(decimal(value) if decimals else text_number(value))


def equation_html(equation: Equation) -> str:
    """`name = value ≈ decimal` on a line of its own."""
    name, value = _name(equation.name), equation.value
    if isinstance(value, str):
        return f'<div class="line words">{name + ": " if name else ""}{prose_html(value)}</div>'
    if isinstance(value, sp.MatrixBase) and 0 in value.shape:
        return f'<div class="line">{name} = ( )</div>'
    pieces = [name]
    if is_readable(value):
        pieces += ["=", _value_html(value)]
        if not is_plain(value) and not value.free_symbols:
            pieces += [relation(value), _value_html(value, decimals=True)]
    else:
        pieces += ["≈", _value_html(value, decimals=True)]
        if is_exact(value):
            pieces.append(escape(too_long_note(value)))
    return f'<div class="line">{" ".join(f"<span>{piece}</span>" for piece in pieces)}</div>'


def matrix_html(matrix: sp.Matrix, *, decimals: bool = False) -> str:
    """A matrix as a table with brackets."""
    matrix = without_dust(matrix) if decimals else matrix
    rows = []
    for i in range(matrix.rows):
        shown = [formula_html(decimal(x) if decimals else text_number(x)) for x in matrix[i, :]]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in shown) + "</tr>")
    return f'<table class="matrix"><tbody>{"".join(rows)}</tbody></table>'


def _table(table: SolutionTable) -> str:
    head = "".join(f"<th>{_name(heading)}</th>" for heading in table.headings)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<table class="numbers"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _cell(value: object) -> str:
    if isinstance(value, str):
        return prose_html(value)
    shown = text_number(value) if is_exact(value) else ""
    return formula_html(shown if shown and len(shown) <= 12 else decimal(value))


def _name(name: str) -> str:
    return prose_html(name) if is_words(name) else formula_html(name)


def prose_html(prose: str) -> str:
    """Sentences; text between dollar signs is a formula."""
    return "".join(_inline(part) if odd else escape(_sizes(part)) for odd, part in split_prose(prose))


def _sizes(words: str) -> str:
    """3 x 2 with a multiplication sign."""
    return re.sub(r"(?<=\d) x (?=\d)", " × ", words)


def _inline(formula: str) -> str:
    """A formula inside a sentence; short ones are not broken across lines."""
    shown = formula_html(formula)
    return f'<span class="short">{shown}</span>' if len(formula) <= _SHORT else shown


def formula_html(formula: str) -> str:
    """A formula with superscripts and subscripts.

    >>> formula_html("A^T x_{ij} < √3/2")
    '<i>A</i><sup>T</sup> <i>x</i><sub>ij</sub> &lt; √<span class="root">3</span>/2'
    """
    text = re.sub(r"\bcbrt\(", "∛(", re.sub(r"\bsqrt\(", "√(", localized_words(formula)))
    pieces, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match is not None  # the last alternative matches any character
        place = match.end()
        if match["braced"] is not None or match["index"] is not None:
            tag = "sub" if match[0][0] == "_" else "sup"
            inside = match["braced"] if match["braced"] is not None else match["index"]
            pieces.append(f"<{tag}>{_escaped(inside)}</{tag}>")
        elif match["root"] is not None:
            inside, place = _under_root(text, match)
            pieces.append(f'{match["root"]}<span class="root">{inside}</span>')
        elif match["letter"] is not None:
            mark = '<span class="tilde">~</span>' if match["tilde"] else ""
            pieces.append(f"<i>{match['letter']}</i>{mark}")
        else:
            pieces.append(_escaped(match[0]))
    return "".join(pieces)


def _escaped(text: str) -> str:
    """With a minus instead of a hyphen."""
    return escape(text, quote=False).replace("-", "−")


_TOKEN = re.compile(
    r"[_^]\{(?P<braced>[^{}]*)\}|[_^](?P<index>-?\w+|\+)|(?P<root>[√∛])(?P<under>\d+|[^\W\d_](?:_\w+)?)?"
    r"|[^\W\d_]{2,}|(?P<letter>[^\W\d_])(?P<tilde>~)?|.",
    re.DOTALL,
)


def _under_root(text: str, match: re.Match[str]) -> tuple[str, int]:
    """The expression under a root sign, and where it ends."""
    if match["under"]:
        return formula_html(match["under"]), match.end()
    depth = 0
    for place in range(match.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return formula_html(text[match.end() + 1 : place]), place + 1
    return "", match.end()


def svg(figure: Any) -> str:
    """A matplotlib figure as SVG for a page."""
    from matplotlib import rc_context

    text = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "eckart"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]
