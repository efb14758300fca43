"""Texts that can be read in several ways: decimal commas, digit groups, mixed numbers, edges, number words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from eckart.worked.exercises.brackets import with_nested_rows, with_products, with_slashes
from eckart.worked.exercises.cardinals import with_figures

_PAIR = r"\(\s*[-+]?[1-9]\d*,\d+\s*\)|\{\s*\d\d?,\d\d?\s*\}"
_LISTED = r"[(\[{][^()\[\]{};]*(?:\([^()]*\)[^()\[\]{};]*)*,[^\s\d()\[\]{};][^\[\]{};]*?[)\]}]"
_COMMAS = r"[(\[{][^()\[\]{};]*[)\]}]"
_TIMES = re.compile(
    r"(?<=[)\]}'])\s*\*\s*(?=(?:diag)?[-+]?[\d.()/*\s]*(?:sqrt\s*\(?\d+\)?)?\)?\s*"
    r"[(\[{]{1,2}(?:[^()\[\]{}]|\([^()]*\))*?[,;\s])"
)
_BETWEEN = r"(?<![\w.])([A-Za-z])_?(\d{1,2})--?\1_?(\d{1,2})(?!\w|\s*=)"  # P1-P3
_WIDE = re.compile(r"(?<![\d.,])(\d{1,3})((?:[ ,]\d{3})+)(?![\d.,])")
_MIXED = re.compile(r"(?<![\d.,^/])(\d+) (\d+)/(\d+)(?!\d|[.,]\d|\^)")


def spellings(text: str, *, edges: bool = False) -> Iterator[str]:
    """The text, and its readings with number words, decimal commas, digit groups, and mixed numbers such as 2 1/3."""
    text = re.sub(_BETWEEN, r"\2-\3", text) if edges else text
    for counted in dict.fromkeys((text, with_figures(text))):
        joined = _edges(counted) if edges else counted
        for own in dict.fromkeys((joined, counted)):
            yield own
            for rewrite in _REWRITES:
                yield rewrite(own)


def _with_points(text: str, unchanged: str = _PAIR) -> str:
    """With points for decimal commas; `(1,2)` is a vector in every language, and `(0,1,-1)` may be one."""
    return re.sub(rf"{unchanged}|\d+(?:,\d+){{2,}}|(?<=\d),(?=\d)", lambda m: "." if m[0] == "," else m[0], text)


def _outside(text: str) -> str:
    """With points for the decimal commas outside of vectors."""
    return _with_points(text, f"{_PAIR}|{_LISTED}")


def _within(text: str) -> str:
    """With points for decimal commas, except in brackets without semicolons: `(1,0), (0,5; 1,5)`."""
    return _with_points(text, f"{_PAIR}|{_COMMAS}")


def _factors(text: str) -> str:
    """The factors of a product of matrices one after the other: `A = [1 2; 3 4] * 1/2 [5 6; 7 8]`."""
    first = _TIMES.search(text)
    bare = first is not None and not re.search(r"[^\W\d]", re.sub("sqrt|diag", "", text[: first.start()]))
    return ("A = " if bare else "") + _TIMES.sub(" ", text)


def _ratio(text: str) -> str:
    """`1:2` as a fraction."""
    return re.sub(r"^\s*([-+]?\d+)\s*:\s*(\d+)\s*$", r"\1/\2", text)


def _single(text: str) -> str:
    """`Z = (2,7735)` is one number, if all brackets are like this."""
    groups = re.findall(r"[(\[{][^()\[\]{}]*[)\]}]", text)
    one = groups and all(re.fullmatch(r"\(\s*[-+]?\d+,\d{2,}\s*\)", group) for group in groups)
    return re.sub(r"(?<=\d),(?=\d)", ".", text) if one else text


def _mixed(text: str) -> str:
    """2 1/3 as (2+1/3); 2 4/3 is not a mixed number."""
    return _MIXED.sub(lambda m: f"({m[1]}+{m[2]}/{m[3]})" if int(m[2]) < int(m[3]) else m[0], text)


def _rooted(text: str) -> str:
    """A number and a root alone between line breaks or semicolons as their product: `8 -8; 2 sqrt 10`."""
    return re.sub(r"(?<![^;\n])(\s*-?\d+)[^\S\n]+(?=[sc]qrt\s*\(?\d+\)?\s*(?:[;\n]|$))", r"\1*", text)


def _grouped(text: str) -> str:
    """12 000 and 12,000 as 12000."""
    return _WIDE.sub(lambda m: m[1] + re.sub(r"[ ,]", "", m[2]), text)


def _grouped_decimals(sign: str, decimal: str) -> Callable[[str], str]:
    """12 000,5 and 12.000,5 with a decimal comma, 12,000.5 with a point."""
    pattern = re.compile(rf"(?<![\d.,])(\d{{1,3}}(?:{sign}\d{{3}})+){decimal}(\d+)(?![\d.,])")

    def rewrite(text: str) -> str:
        found = pattern.sub(lambda m: re.sub(r"\D", "", m[1]) + "." + m[2], text)
        return _with_points(found) if decimal == "," and found != text else found

    return rewrite


def _slashed(text: str) -> str:
    """Rows between slashes, with points for the decimal commas everywhere."""
    found = with_slashes(text)
    return _with_points(found) if found != text else text


def _unbarred(text: str) -> str:
    """`|r_1| = 0.5` as the number itself; a wrong sign is still wrong."""
    return re.sub(r"\|\s*([a-z]+_?\d?)\s*\|(?=\s*[=:≈])", r"\1", text)


_REWRITES: tuple[Callable[[str], str], ...] = (
    _mixed, _rooted, _with_points, _outside, _within, _single, _factors, _grouped, _grouped_decimals(" ", ","),
    _grouped_decimals(r"\.", ","), _grouped_decimals(",", r"\."), _ratio, with_products, with_nested_rows, _slashed,
    _unbarred,
)  # fmt: skip


def _edges(text: str) -> str:
    """`1-4, 2-3` as `(1, 4), (2, 3)`: edges of a graph."""
    text = re.sub(r"(?<=\d)\s?--\s?(?=\d)", "-", text)  # 1--2, as in LaTeX and Graphviz
    text = re.sub(r"(?<![\w.,^*/+-])(\d{1,2}-\d{1,2})\s?\(\s*\d+(?:[.,]\d+)?\s*\)", r"\1", text)  # 1-2 (3): its length
    text = re.sub(r"(?<![\w.,^*/+-])\d{1,2}(?:-\d{1,2}){2,}(?![\w.,^*/(-]\d)", _path, text)
    pair = r"\d{1,2}-\d{1,2}"
    listed = re.sub(rf"(?<![\w.,^*/+-]){pair}(?:[ ,;\n]+{pair})+(?![\w^*/(]|\.\d)", _listed_edges, text)
    between = r"(?<![\w.,)\]^*/+-])(?<![\d)\]]\s)(\d{1,2})(?:-| - )(\d{1,2})(?![\w^*/(]|\.\d|\s*[-+*/])"
    return re.sub(r"(?<=\d),(?=\(\d)", ", ", re.sub(between, r"(\1, \2)", listed))


def _path(found: re.Match[str]) -> str:
    """1-2-3 as 1-2, 2-3."""
    points = found[0].split("-")
    return ", ".join(f"{a}-{b}" for a, b in pairwise(points))


def _listed_edges(found: re.Match[str]) -> str:
    return ", ".join(re.sub(r"(\d+)-(\d+)", r"(\1, \2)", edge) for edge in re.split(r"[ ,;\n]+", found[0]))
