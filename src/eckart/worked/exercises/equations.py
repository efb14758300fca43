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
_NUMBER = rf"(?:\d+(?:\.\d+)?(?!\d)|sqrt\s*\d+|sqrt\s*{_NESTED}|{_NESTED})"
# Adjacent repetitions never match the same text, so that a long answer is read in polynomial time.
_FACTOR = rf"(?<!\d){_NUMBER}(?:\s?[*/]\s?{_NUMBER}|\s?sqrt\s*\d+(?!\d)|\s?sqrt\s*{_NESTED})*(?!\d)"
_EIGEN = re.compile(
    rf"(?<![\w^])[AMCS]\s*(?:\*\s*)?([a-z](_?\d)?)\s*=\s*([-+]?\s?{_FACTOR})\s*(?:\*\s*)?(\1|u\2)(?![\w(])"
)
_AFTER = re.compile(r"[^\S\n]*(?:[,:]|\b(?:with|where|for|and|con|dove|per|donde|para|где|при|для)\b)?[^\S\n]*")
_NOUNS = {side: "|".join(sorted(words, key=len, reverse=True)) for side, words in SIDES.items()}
_ROW = rf"(?:[a-zA-Z]_?[1-9](?![\w(])|(?:{_NOUNS['rows']})\s?[1-9](?!\w)|\w+\s(?:{_NOUNS['rows']})(?!\w))"
_TERM = rf"(?:{_FACTOR}\s*(?:\*\s*)?)?{_ROW}(?:\s?/\s?\d+)?"
_SUM = rf"[-+]?\s*{_TERM}(?:\s*[-+]\s*{_TERM})*"
_IS = r"(?:[=≈]|(?:is|equals|è|es|vale|равна|это)(?!\w))"
_COMBINATION = re.compile(
    rf"(?:(?:(?<=[;\n,:])|^|(?<=\sand)|(?<=\s[eyи]))\s*(\d+)\s?\*?\s?|(?<![\w*/^)])(?i:the\s|la\s)?)({_ROW})\s*{_IS}\s*"
    rf"(?:({_SUM})|((?:[-+]?{_FACTOR}\s?\*?\s?)?\(({_SUM})\)(?:\s?/\s?\d+)?))(?=\s*(?:[;,.\n]|$|[^\W\d_]+\s))"
)
_COORDINATES = re.compile(
    rf"(?i)(?:the\s|le\s|las\s)?(?:coordinat\w*|coordenadas|координат\w*)\s+(?:of|della?|di|de)?\s*(?:the\s|la\s)?({_ROW})"
    r"\s*(?:=|:|are|sono|son)?\s*\(([^()]*)\)"
)
_PIECE = re.compile(rf"([-+]?)\s*({_FACTOR})?\s*(?:\*\s*)?({_ROW})(?:\s?/\s?(\d+))?")
_DYAD = re.compile(rf"({_FACTOR})\s*\*?\s*u_?([1-9])\s*\*?\s*v_?([1-9])(?:\^T|')")
_DYADS = re.compile(rf"A\s*=\s*{_DYAD.pattern}(?:\s*\+\s*{_DYAD.pattern})*")  # A = 3 u1 v1^T + 2 u2 v2^T
_BEST = r"(?:approximation|approssimazione|aproximación|приближение)"
_APPROXIMATION = re.compile(  # best rank-2 approximation
    rf"(?i)(?:rank[- ]?([1-9])\s+{_BEST}|{_BEST}\s+(?:(?:of|di|de)\s+)?(?:rank|rango|ранга)[- ]([1-9]))(?!\w)"
)
_COLUMN = re.compile(
    rf"(?i)(?:the\s|la\s)?(?:{_NOUNS['columns']}|(?<!\w)x_?)\s?([1-9])\s*,?\s*"
    r"(?:(with|con|с)|has|have|ha|tiene|имеет)\s+(?:correlation\s+)?r(?:_?[1-9])?\s*=\s*"
)


def without_equations(text: str, targets: Sequence[Target]) -> str:
    """The text with its equations as names and values, if the question asks for what they state."""
    asked = {name: target for target in targets for name in target.names}
    if "sigma" in asked:
        text = _DYADS.sub(_without_dyads, text)
    if "approximation" in asked:
        text = _APPROXIMATION.sub(lambda found: f"A_{found[1] or found[2]}", text)
    text = _EIGEN.sub(lambda found: _scalar(found, "sigma" in asked), text)
    if {"basis", "coordinates"} <= set(asked):
        return _with_coordinates(text, asked["basis"].value, asked["coordinates"].names[0])
    return _with_correlations(text) if {"columns", "correlations"} <= set(asked) else text


def _without_dyads(found: re.Match[str]) -> str:
    """`A = 3 u1 v1^T + 2 u2 v2^T` as `sigma1 = 3; sigma2 = 2`."""
    terms = _DYAD.findall(found[0])
    return "".join(f"sigma{i} = {s}; " for s, i, j in terms if i == j) if all(i == j for _, i, j in terms) else found[0]


def _scalar(found: re.Match[str], singular: bool) -> str:
    """`A v2 = 4 v2 with` as `lambda2 = 4;`, `A v2 = 4 u2` as `sigma2 = 4`; the vector follows under its own name."""
    vector, index, value, image = found.groups()
    if (vector != image) != singular:
        return found[0]
    after = _AFTER.match(found.string, found.end())
    linked = after is not None and after[0].strip() not in {"", ","}
    return f"{'sigma' if singular else 'lambda'}{(index or '').strip('_')} = {value}{';' if linked else ''}"


def _with_coordinates(text: str, basis: Sequence[int], name: str) -> str:
    """`r3 = 2 r1 - r2` as a line of the matrix of coordinates; the rows of the basis are unit vectors."""
    text = _COORDINATES.sub(lambda found: _as_combination(found, basis), text)
    lines = {_number(match[2]): _coefficients(match) for match in _COMBINATION.finditer(text)}
    used = {row for line in lines.values() for row in line}
    if 0 in lines or all(set(line) == {row} for row, line in lines.items()):
        return text  # r1 = r1 says nothing
    columns = list(basis) if used <= set(basis) else sorted(used)
    lines = {row: {row: "1"} for row in columns} | lines
    matrix = "; ".join(", ".join(lines[row].get(column, "0") for column in columns) for row in sorted(lines))
    return f"{_COMBINATION.sub('', text)}; {name} = [{matrix}]"


def _as_combination(found: re.Match[str], basis: Sequence[int]) -> str:
    """`coordinates of row 3: (2, -1)` as `r3 = (2) r1 + (-1) r2`."""
    values = re.split(";" if ";" in found[2] else ",", found[2])
    if len(values) != len(basis):
        return found[0]
    terms = " + ".join(f"({value.strip()}) r{row}" for value, row in zip(values, basis, strict=True))
    return f"; r{_number(found[1])} = {terms};"


def _number(row: str) -> int:
    digit = re.search(r"\d", row)
    return int(digit[0]) if digit else ordinal_of(row)


def _coefficients(match: re.Match[str]) -> dict[int, str]:
    """The coefficient of every row of a linear combination, as text in parentheses."""
    found: dict[int, str] = {}
    around = match[4].replace(f"({match[5]})", "(1)") if match[4] else "1"
    divisor = f"*({around})" + (f"/{match[1]}" if match[1] else "")
    for sign, factor, row, below in _PIECE.findall(match[3] or match[5]):
        value = f"({sign}{factor or 1}{f'/{below}' if below else ''}{divisor if divisor != '*(1)' else ''})"
        place = _number(row)
        found[place] = f"({found[place]}+{value})" if place in found else value
    return found


def _with_correlations(text: str) -> str:
    """`column 2 with r = 0.98` as a chosen column and its correlation; `column 1 has r = 0.25` is not a choice."""
    text = re.sub(rf"(?i)((?:{_NOUNS['columns']}|\bx_?)\s?[1-9])\s*\(\s*(r\s*=[^()]*)\)", r"\1 with \2", text)
    chosen = [match[1] for match in _COLUMN.finditer(text) if match[2]]
    rest = _COLUMN.sub(lambda found: f"; r_{found[1]} = ", text)
    if chosen and not re.search(rf"(?i)(?:{_NOUNS['columns']})\s?\d", rest):
        rest = f"columns: {', '.join(chosen)}; {rest}"
    return re.sub(r"(?:\s*(?:,|;|\band\b|\be\b|\by\b|\bи\b))+\s*;", ";", rest)
