"""Texts that can be read in several ways: decimal commas, digit groups, mixed numbers, edges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from eckart.worked.exercises.cardinals import with_figures


def spellings(text: str) -> Iterator[str]:
    """The text, and its readings with number words, decimal commas, digit groups, and mixed numbers such as 2 1/3."""
    yield from _by_figures(text)
    if (counted := with_figures(text)) != text:
        yield from _by_figures(counted)


def _by_figures(text: str) -> Iterator[str]:
    yield text
    if edges := _edges(text):
        yield edges
    mixed = re.sub(r"(?<![\d.,^/])(\d+) (\d+)/(\d+)(?!\d|[.,]\d|\^)", _mixed_number, text)
    if mixed != text:
        yield mixed
    if (decimals := _with_points(text)) != text:
        yield decimals
    if (outside := _with_points(text, f"{_PAIR}|{_LISTED}")) not in {text, decimals}:
        yield outside
    groups = re.findall(r"[(\[{][^()\[\]{}]*[)\]}]", text)
    if groups and all(re.fullmatch(r"\(\s*[-+]?\d+,\d{2,}\s*\)", group) for group in groups):
        yield re.sub(r"(?<=\d),(?=\d)", ".", text)  # Z = (2,7735) is one number
    grouped = r"(?<![\d.,])(\d{1,3})((?:[ ,]\d{3})+)(?![\d.,])"
    if re.search(grouped, text):
        yield re.sub(grouped, lambda m: m[1] + re.sub(r"[ ,]", "", m[2]), text)
    # 12 000,5 and 12.000,5 with a decimal comma, 12,000.5 with a point.
    for sign, decimal in ((" ", ","), (r"\.", ","), (",", r"\.")):
        grouped = rf"(?<![\d.,])(\d{{1,3}}(?:{sign}\d{{3}})+){decimal}(\d+)(?![\d.,])"
        if re.search(grouped, text):
            text_of = re.sub(grouped, lambda m: re.sub(r"\D", "", m[1]) + "." + m[2], text)
            yield _with_points(text_of) if decimal == "," else text_of


_PAIR = r"\(\s*[-+]?[1-9]\d*,\d+\s*\)"
_LISTED = r"[(\[{][^()\[\]{};]*(?:\([^()]*\)[^()\[\]{};]*)*,[^\s\d()\[\]{};][^\[\]{};]*?[)\]}]"


def _with_points(text: str, unchanged: str = _PAIR) -> str:
    """With points for decimal commas; `(1,2)` is a vector in every language, and `(0,1,-1)` may be one."""
    return re.sub(rf"{unchanged}|\d+(?:,\d+){{2,}}|(?<=\d),(?=\d)", lambda m: "." if m[0] == "," else m[0], text)


def _edges(text: str) -> str:
    """`1-4, 2-3` as `(1, 4), (2, 3)`: edges of a graph; empty if there are none."""
    text = re.sub(r"(?<![\w.,^*/+-])\d{1,2}(?:-\d{1,2}){2,}(?![\w.,^*/(-]\d)", _path, text)
    pair = r"\d{1,2}-\d{1,2}"
    listed = re.sub(rf"(?<![\w.,^*/+-]){pair}(?:[ ,;\n]+{pair})+(?![\w^*/(]|\.\d)", _listed_edges, text)
    between = r"(?<![\w.,)\]^*/+-])(?<![\d)\]]\s)(\d{1,2})\s?-\s?(\d{1,2})(?![\w^*/(]|\.\d|\s*[-+*/])"
    found = re.sub(between, r"(\1, \2)", listed)
    return re.sub(r"(?<=\d),(?=\(\d)", ", ", found) if found != text else ""


def _path(found: re.Match[str]) -> str:
    """1-2-3 as 1-2, 2-3."""
    points = found[0].split("-")
    return ", ".join(f"{a}-{b}" for a, b in pairwise(points))


def _listed_edges(found: re.Match[str]) -> str:
    return ", ".join(re.sub(r"(\d+)-(\d+)", r"(\1, \2)", edge) for edge in re.split(r"[ ,;\n]+", found[0]))


def _mixed_number(match: re.Match[str]) -> str:
    """2 1/3 as (2+1/3); 2 4/3 is not a mixed number."""
    return f"({match[1]}+{match[2]}/{match[3]})" if int(match[2]) < int(match[3]) else match[0]
