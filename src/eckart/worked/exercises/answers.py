"""Answers as people type them: `3, 1`, `(1, -1)/sqrt(2)`, `V = [1 2; 3 4]; k = 2`, `0,71; 0,29`.

Parts are separated by ';' outside brackets (or by line breaks), each with an optional `name =`. Inside brackets ';'
separates rows. A bracket may be multiplied or divided by a number. A comma between digits may separate entries or be a
decimal comma; both readings are tried.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eckart.errors import InputError
from eckart.worked.grammar import number

_LONGEST = 4000
_FORMS = (
    "Write numbers (3, 1), vectors ((1, 2)/sqrt(2)) and matrices ([1 2; 3 4]), separated by ';', "
    "with names if you like (lambda = 3, 1)."
)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Target:
    """One thing that is asked for.

    `form` is "number", "numbers" (in any order), "list" (in this order), "matrix", "directions" (columns up to sign,
    of unit length), "scores" (columns up to sign) or "set" (whole numbers). `names` are what it may be called.
    """

    names: tuple[str, ...]
    form: str
    value: Any


@dataclass(frozen=True)
class Part:
    """One part of an answer: its name, if any, its numbers as rows, and the digits after the decimal sign of each."""

    name: str
    rows: tuple[tuple[Any, ...], ...]
    decimals: tuple[tuple[int | None, ...], ...]
    bracketed: bool

    @property
    def matrix(self) -> Any:
        return sp.Matrix([list(row) for row in self.rows])

    @property
    def flat(self) -> list[Any]:
        return [entry for row in self.rows for entry in row]

    @property
    def flat_decimals(self) -> list[int | None]:
        return [entry for row in self.decimals for entry in row]


def readings(text: str) -> list[list[Part]]:
    """Every way to read an answer; the first is with points as decimal signs.

    >>> [part.flat for part in readings("lambda = 3, 1; v = (1, 1)/sqrt(2)")[0]]
    [[3, 1], [sqrt(2)/2, sqrt(2)/2]]
    >>> readings("0,5; 0,25")[1][0].flat
    [1/2]
    """
    if len(text) > _LONGEST:
        raise InputError(f"The answer has {len(text)} characters; at most {_LONGEST} are read. Shorten it.")
    found: list[list[Part]] = []
    errors = []
    texts = [text]
    if re.search(r"\d,\d", text):
        texts.append(re.sub(r"(?<=\d),(?=\d)", ".", text))
    for candidate in texts:
        try:
            found.append([_part(piece) for piece in _cut(candidate, ";\n") if piece.strip()])
        except InputError as error:
            errors.append(error)
    found = [parts for parts in found if parts]
    if not found:
        seen = f"The answer could not be read: {errors[0]}" if errors else "The answer is empty."
        raise InputError(f"{seen.split(' Entries may be')[0]} {_FORMS}")
    return found


def _part(piece: str) -> Part:
    match = re.match(r"\s*([^\W\d][\w^'~+]*)\s*(?:=|:|≈)\s*(.*)", piece, re.DOTALL)
    name, body = (match[1], match[2]) if match else ("", piece)
    body = body.replace("≈", " ").replace("−", "-").replace("–", "-").strip().rstrip(".")
    for start, end in _groups(body):
        if _is_list(body[start:end]):
            before, after = body[:start].strip().rstrip("*·").strip(), re.sub(r"^(\^?T\b|ᵀ|')", "", body[end:]).strip()
            factor = {"": sp.Integer(1), "-": sp.Integer(-1), "+": sp.Integer(1)}.get(before)
            factor = read_number(before) if factor is None else factor
            factor = factor * read_number(f"1{after}") if after else factor
            rows = _rows(body[start:end])
            exact = [[_scaled(cell, factor) for cell in row] for row in rows]
            digits = [[None if factor != 1 else _decimals(cell) for cell in row] for row in rows]
            return _made(name, exact, digits, True)
    cells = _cells(body)
    return _made(name, [[read_number(cell) for cell in cells]], [[_decimals(cell) for cell in cells]], False)


def _groups(text: str) -> list[tuple[int, int]]:
    """Where the outermost brackets of a text begin and end."""
    found, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        if sign in _OPEN:
            start = place if depth == 0 else start
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
            if depth == 0:
                found.append((start, place + 1))
    return found


def _scaled(cell: str, factor: Any) -> Any:
    return sp.expand(sp.radsimp(read_number(cell) * factor))


def _made(name: str, rows: list[list[Any]], digits: list[list[int | None]], bracketed: bool) -> Part:
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        raise InputError("The rows of the matrix in the answer are not equally long. Separate rows with ';'.")
    return Part(name, tuple(map(tuple, rows)), tuple(map(tuple, digits)), bracketed)


def _is_list(text: str) -> bool:
    """Whether a bracket holds entries, and not a sum as in (1 + sqrt(5))/2."""
    inside = text[1:-1]
    return text[0] != "(" or bool(re.search(r"[,;]", inside)) or len(_cells(inside)) > 1


def _rows(text: str) -> list[list[str]]:
    """The entries of a bracket: a list of lists, or rows that end at ';'."""
    inside = text.strip()[1:-1].strip()
    lists = [piece.strip() for piece in _cut(inside, ",;\n") if piece.strip()]
    if lists and all(piece[0] in _OPEN and piece[-1] in _CLOSE and _is_list(piece) for piece in lists):
        return [_cells(piece[1:-1]) for piece in lists]
    return [_cells(row) for row in _cut(inside, ";\n") if row.strip()]


def _cells(text: str) -> list[str]:
    """Entries at commas; without commas at spaces, except around signs of operation."""
    pieces = _cut(text, ",")
    if len(pieces) == 1:
        joined = re.sub(r"\s*([*/^])\s*|(?<=[\d)])\s+([+-])\s+", lambda m: m[1] or m[2], text.strip())
        pieces = _cut(re.sub(r"\s(?:и|and|e|y)\s", " ", joined), " \t")
    return [piece.strip() for piece in pieces if piece.strip()]


def _cut(text: str, signs: str) -> list[str]:
    """Cut at some signs outside brackets."""
    pieces, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign in signs and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]]


def read_number(cell: str) -> Any:
    """A number as people write it: 2√3, sqrt2, 90%, 1/√2.

    >>> read_number("2√3"), read_number("sqrt2/2"), read_number("90 %")
    (2*sqrt(3), sqrt(2)/2, 9/10)
    """
    text = re.sub(r"(sqrt|√)\s*(\d+)", r"sqrt(\2)", cell.strip())
    text = re.sub(r"(?<=[\d)])\s*(?=√|sqrt|\()", "*", text)
    if text.endswith("%"):
        return number(text[:-1]) / 100
    return number(text)


def _decimals(cell: str) -> int | None:
    """Digits after the decimal sign; None for an exact number."""
    match = re.fullmatch(r"[+-]?\d*\.(\d+)(?:[eE]([+-]?\d+))?", cell.strip())
    return len(match[1]) - int(match[2] or 0) if match else None
