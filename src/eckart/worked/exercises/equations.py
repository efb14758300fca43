"""Equations that state a result in words of linear algebra, rewritten as names and values.

`A v = 4 v` states an eigenvalue, `r3 = 2 r1 - r2` the coordinates of a row in a basis, and `column 2 with r = 0.98` a
chosen column and its correlation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eckart.worked.exercises.answers import Target
from eckart.worked.exercises.ordinals import ordinal_of
from eckart.worked.exercises.words import SIDES

_NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_NUMBER = rf"(?:\d+(?:\.\d+)?|sqrt\s*\d+|sqrt\s*{_NESTED}|{_NESTED})"
_FACTOR = rf"{_NUMBER}(?:\s?[*/]?\s?{_NUMBER})*"
_EIGEN = re.compile(rf"(?<![\w^])[AM]\s*\*?\s*([a-z]_?\d?)\s*=\s*([-+]?\s?{_FACTOR})\s*\*?\s*\1(?![\w(])")
_AFTER = re.compile(r"[^\S\n]*(?:[,:]|\b(?:with|where|for|and|con|dove|per|donde|para|где|при|для)\b)?[^\S\n]*")
_NOUNS = {side: "|".join(sorted(words, key=len, reverse=True)) for side, words in SIDES.items()}
_ROW = rf"(?:[a-zA-Z]_?[1-9](?![\w(])|(?:{_NOUNS['rows']})\s?[1-9](?!\w)|\w+\s(?:{_NOUNS['rows']})(?!\w))"
_TERM = rf"(?:{_FACTOR}\s*\*?\s*)?{_ROW}(?:\s?/\s?\d+)?"
_SUM = rf"[-+]?\s*{_TERM}(?:\s*[-+]\s*{_TERM})*"
_COMBINATION = re.compile(
    rf"(?<![\w*/^)])({_ROW})\s*=\s*(?:({_SUM})|\(({_SUM})\)\s?/\s?(\d+))(?=\s*(?:[;,.\n]|$|(?:and|ed?|y|и)\s))"
)
_PIECE = re.compile(rf"([-+]?)\s*({_FACTOR})?\s*\*?\s*({_ROW})(?:\s?/\s?(\d+))?")
_COLUMN = re.compile(
    rf"(?i)(?:the\s|la\s)?(?:{_NOUNS['columns']}|(?<!\w)x_?)\s?([1-9])\s*,?\s*"
    r"(?:(with|con|с)|has|have|ha|tiene|имеет)\s+(?:correlation\s+)?r(?:_?[1-9])?\s*=\s*"
)


def without_equations(text: str, targets: Sequence[Target]) -> str:
    """The text with its equations as names and values, if the question asks for what they state."""
    text = _EIGEN.sub(_eigenvalue, text)
    basis = next((target for target in targets if "basis" in target.names), None)
    coordinates = next((target for target in targets if "coordinates" in target.names and target.form == "matrix"), None)
    if basis is not None and coordinates is not None:
        text = _with_coordinates(text, basis.value, coordinates)
    if {"columns", "correlations"} <= {name for target in targets for name in target.names}:
        text = _with_correlations(text)
    return text


def _eigenvalue(found: re.Match[str]) -> str:
    """`A v2 = 4 v2 with` as `lambda2 = 4;`; the vector follows under its own name."""
    after = _AFTER.match(found.string, found.end())
    skipped = found.string[found.end() : after.end()] if after else ""
    # The words between the equation and its vector are left in place: they add nothing to a statement of their own.
    return f"lambda{re.sub(r'[^0-9]', '', found[1])} = {found[2]}{';' if skipped.strip() not in {'', ','} else ''}"


def _with_coordinates(text: str, basis: Sequence[int], target: Target) -> str:
    """`r3 = 2 r1 - r2` as a line of the matrix of coordinates; the rows of the basis are unit vectors."""
    found = [match for match in _COMBINATION.finditer(text) if _number(match[1])]
    lines = {_number(match[1]): _coefficients(match) for match in found}
    used = sorted({row for line in lines.values() for row in line})
    if not any(set(line) != {row} for row, line in lines.items()):
        return text
    columns = list(basis) if set(used) <= set(basis) else used
    for row in columns:
        lines.setdefault(row, {row: "1"})
    matrix = "; ".join(", ".join(lines[row].get(column, "0") for column in columns) for row in sorted(lines))
    for match in reversed(found):
        text = text[: match.start()] + text[match.end() :]
    return f"{text}; {target.names[0]} = [{matrix}]"


def _number(row: str) -> int:
    digit = re.search(r"\d", row)
    return int(digit[0]) if digit else ordinal_of(row)


def _coefficients(match: re.Match[str]) -> dict[int, str]:
    """The coefficient of every row of a linear combination, as text in parentheses."""
    found: dict[int, str] = {}
    divisor = f"/{match[4]}" if match[4] else ""
    for sign, factor, row, below in _PIECE.findall(match[2] or match[3]):
        value = f"({sign}{factor or 1}{f'/{below}' if below else ''}{divisor})"
        place = _number(row)
        found[place] = f"({found[place]}+{value})" if place in found else value
    return found


def _with_correlations(text: str) -> str:
    """`column 2 with r = 0.98` as a chosen column and its correlation; `column 1 has r = 0.25` is not a choice."""
    chosen = [match[1] for match in _COLUMN.finditer(text) if match[2]]
    rest = _COLUMN.sub(lambda found: f"; r_{found[1]} = ", text)
    if chosen and not re.search(rf"(?i)(?:{_NOUNS['columns']})\s?\d", rest):
        rest = f"columns: {', '.join(chosen)}; {rest}"
    return re.sub(r"(?:\s*(?:,|;|\band\b|\be\b|\by\b|\bи\b))+\s*;", ";", rest)
