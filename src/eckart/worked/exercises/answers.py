"""Answers as people type them: `3, 1`, `(1, -1)/sqrt(2)`, `V = [1 2; 3 4]; k = 2`, `λ₁ = 2 + √3, λ₂ = 2 - √3`.

An answer is a list of rows, separated by ';' or line breaks, each with an optional name. A row has entries,
separated by commas or spaces; an entry is a number or a bracket with numbers, perhaps times a number. What can be
read in two ways (a decimal comma, `2 √3` as one number or two) is read in both, and the kinder verdict counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from itertools import product as cartesian
from math import prod
from typing import TYPE_CHECKING, Any

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Entry, Grid, Reader
from eckart.worked.exercises.typed import plain
from eckart.worked.messages import tr

if TYPE_CHECKING:
    from eckart.worked.solution import Value

_LONGEST, _MOST_READINGS = 4000, 64
_OPEN, _CLOSE = "([{", ")]}"
_WORD = r"[^\W\d_][\w^'+~]*"
_NAMED = re.compile(rf"(?<![\w.)])({_WORD}(?:\s+{_WORD}){{0,5}}(?:\s*\(\s*[^\W\d_]\w*\s*\))?)\s*(?:=|:|≈)")
_LABEL = re.compile(r"\s*((?:(?!sqrt|cbrt)[^\W\d_]{2,}\s+)+)(?=[-+(\[{\d.]|sqrt|cbrt)")
_INDEXED = re.compile(r"\s*[^\W\d_]_?\d+(?:\s*[,\s]\s*[^\W\d_]_?\d+)*\s*")


@dataclass(frozen=True)
class Target:
    """One thing that is asked for.

    `form` is "number", "numbers" (in any order), "list" (in this order), "matrix", "directions" (columns up to sign,
    of unit length), "scores" (columns up to sign) or "set" (whole numbers). `names` are what it may be called.
    Targets with the same `pairing` must be in the same order, such as eigenvectors in the order of the eigenvalues;
    where `signed`, their signs belong together too, such as those of u and v. `label` is how the key prints it, for
    questions that ask for something else than what the solution ends with. `also` has other values that are as right,
    such as the eigenvalues of the covariance matrix where the solution has those of the cross-products.
    """

    names: tuple[str, ...]
    form: str
    value: Any
    pairing: str = ""
    signed: bool = False
    label: str = ""
    also: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Row:
    """One row of an answer and, where one stands before it, its name."""

    entries: tuple[Entry, ...]
    name: str = ""


def readings(text: str) -> list[list[Row]]:
    """Every way to read an answer; the first is with points as decimal signs and spaces between entries.

    >>> [row.name for row in readings("lambda = 3, 1; v = (1, 1)/sqrt(2)")[0]]
    ['lambda', 'v']
    >>> [str(entry) for row in readings("0,5; 0,25")[1] for entry in row.entries]
    ['0.5', '0.25']
    """
    if len(text) > _LONGEST:
        raise InputError(
            tr("The answer has {count} characters; at most {most} are read.", count=len(text), most=_LONGEST)
        )
    read: list[list[Row | None]] = []
    errors: list[str] = []
    try:
        for candidate in _spellings(plain(text)):
            pieces = list(_pieces(candidate))
            read += [[_row(name, piece, product, errors) for name, piece in pieces] for product in (False, True)]
    except InputError as error:
        errors.append(str(error))
    found = _combined(read)
    if not found:
        seen = tr("The answer could not be read: {why}", why=errors[0]) if errors else tr("The answer is empty.")
        forms = tr("Write numbers (3, 1), vectors ((1, 2)/sqrt(2)) and matrices ([1 2; 3 4]), separated by ';', with "
                   "names if you like (lambda = 3, 1).")  # fmt: skip
        raise InputError(f"{seen} {forms}")
    return found


def _spellings(text: str) -> Iterator[str]:
    """The text, with decimal commas, with digits in groups of three, and with mixed numbers such as 2 1/3."""
    yield text
    mixed = re.sub(r"(?<![\d.,^/])(\d+) (\d+)/(\d+)(?![\d.,^])", _mixed, text)
    if mixed != text:
        yield mixed
    if re.search(r"\d,\d", text):
        yield re.sub(r"(?<=\d),(?=\d)", ".", text)
    grouped = r"(?<![\d.,])(\d{1,3})((?:[ ,]\d{3})+)(?![\d.,])"
    if re.search(grouped, text):
        yield re.sub(grouped, lambda m: m[1] + re.sub(r"[ ,]", "", m[2]), text)
    # 12 000,5 and 12.000,5 with a decimal comma, 12,000.5 with a point.
    for sign, decimal in ((" ", ","), (r"\.", ","), (",", r"\.")):
        grouped = rf"(?<![\d.,])(\d{{1,3}}(?:{sign}\d{{3}})+){decimal}(\d+)(?![\d.,])"
        if re.search(grouped, text):
            text_of = re.sub(grouped, lambda m: re.sub(r"\D", "", m[1]) + "." + m[2], text)
            yield re.sub(r"(?<=\d),(?=\d)", ".", text_of) if decimal == "," else text_of


def _mixed(match: re.Match[str]) -> str:
    """2 1/3 as (2+1/3); 2 4/3 is not a mixed number."""
    return f"({match[1]}+{match[2]}/{match[3]})" if int(match[2]) < int(match[3]) else match[0]


def _combined(read: list[list[Row | None]]) -> list[list[Row]]:
    """Answers that are read in one way throughout, then those that change the way from part to part."""
    parts = [_parts(rows) for rows in read]
    found: list[list[Row]] = []
    for rows in parts:
        whole = list(chain.from_iterable(part for part in rows if part is not None))
        if whole and None not in rows and whole not in found:
            found.append(whole)
    if parts and len({len(rows) for rows in parts}) == 1:
        choices = [_distinct(rows[place] for rows in parts) for place in range(len(parts[0]))]
        found += [rows for rows in _mixed_readings(choices) if rows not in found]
    return found


def _mixed_readings(choices: list[list[list[Row]]]) -> list[list[Row]]:
    """One reading of each part in all combinations, unless there are too many."""
    if not 1 < prod(map(len, choices)) <= _MOST_READINGS:
        return []
    return [list(chain.from_iterable(chosen)) for chosen in cartesian(*choices)]


def _parts(rows: list[Row | None]) -> list[list[Row] | None]:
    """Rows under one name are read in one way; None where one of them cannot be read."""
    found: list[list[Row] | None] = []
    named = False
    for row in rows:
        if row is None:
            found.append(None)
        elif row.name or not named or found[-1] is None:
            found.append([row])
        else:
            found[-1].append(row)
        named = bool(row and row.name) or (named and bool(row))
    return found


def _distinct(parts: Iterable[list[Row] | None]) -> list[list[Row]]:
    found: list[list[Row]] = []
    for part in parts:
        if part is not None and part not in found:
            found.append(part)
    return found


def _row(name: str, content: str, product: bool, errors: list[str]) -> Row | None:
    """One row, or None if it cannot be read in this way."""
    match = _LABEL.match(content)
    if match and not name:
        name, content = match[1].strip(), content[match.end() :]
    try:
        return Row(tuple(entry for cell in _alternatives(content) for entry in Reader(cell, product).row()), name)
    except InputError as error:
        errors.append(str(error))
        return None


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The rows of an answer as text, the first one of a statement with its name."""
    for name, body in _statements(text):
        for place, piece in enumerate(_cut(body, ";\n")):
            if content := piece.strip().rstrip(",").strip():
                yield name if place == 0 else "", content


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """`name = body`, as often as it occurs outside brackets; what stands before the first name has none."""
    starts = [match for match in _NAMED.finditer(text) if _depth(text[: match.start()]) == 0]
    ends = [*[match.start() for match in starts[1:]], len(text)][: len(starts)]
    yield "", _first_side(text[: starts[0].start()] if starts else text)
    for match, end in zip(starts, ends, strict=True):
        yield match[1], _first_side(text[match.end() : end])


def _first_side(body: str) -> str:
    """Of `1/√2 ≈ 0.71` the first side; a leading sign of equality is dropped, and a full stop at the end."""
    body = re.sub(r"^[\s=≈]+", "", body)
    body = re.split(r"[=≈]", body)[0] if re.search(r"[=≈]", body) else body
    return re.sub(r"(?<=[\d)\]}])\.\s*$", "", body)


def _alternatives(content: str) -> list[str]:
    """`2 ± √3` is two entries; `x1, x3` names columns 1 and 3."""
    if _INDEXED.fullmatch(content):
        return [", ".join(re.findall(r"\d+", content))]
    if "±" not in content:
        return [content]
    if content.count("±") > 1:
        raise InputError(tr("Only one ± can be read in a row."))
    return [content.replace("±", "+"), content.replace("±", "-")]


def _depth(text: str) -> int:
    return sum(text.count(sign) for sign in _OPEN) - sum(text.count(sign) for sign in _CLOSE)


def _cut(text: str, signs: str) -> list[str]:
    """Cut at some signs outside brackets."""
    pieces, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign in signs and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]]


def flat(entries: tuple[Entry, ...]) -> list[Value]:
    """All numbers of some entries, row after row."""
    return [
        number for entry in entries for number in ([x for row in entry.rows for x in row] if isinstance(entry, Grid)
                                                   else [entry])
    ]  # fmt: skip
