"""Answers as people type them: `3, 1`, `(1, -1)/sqrt(2)`, `V = [1 2; 3 4]; k = 2`, `λ₁ = 2 + √3, λ₂ = 2 - √3`.

An answer is a list of rows, separated by ';' or line breaks, each with an optional name. A row has entries,
separated by commas or spaces; an entry is a number or a bracket with numbers, perhaps times a number. What can be
read in two ways (a decimal comma, `2 √3` as one number or two) is read in both, and the kinder verdict counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product as cartesian
from math import prod
from typing import Any

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Entry, Grid, Reader
from eckart.worked.exercises.typed import plain, unwrapped
from eckart.worked.messages import tr

_LONGEST, _MOST_READINGS = 4000, 64
_OPEN, _CLOSE = "([{", ")]}"
_WORD = r"(?!sqrt|cbrt)[^\W\d_](?:[\w'~+]|\^\([-+]?\w*\)|\^-?)*"
_INDEX = r"\s*\(\s*\w+(?:\s*[,;]\s*\w+)*\s*\)"  # rank(A), x(1, 1)
_NAMED = re.compile(rf"(?<![\w.)])({_WORD}(?:,?[^\S\n]+{_WORD}){{0,9}}(?:{_INDEX})?)\s*(?:=|:|≈)")
_LABEL = re.compile(r"\s*((?:(?!sqrt|cbrt)[^\W\d_]{2,}\s+)+)(?=[-+(\[{\d.]|sqrt|cbrt)")
_INDEXED = re.compile(r"\s*[^\W\d_]_?\d+(?:\s*[,\s]\s*[^\W\d_]_?\d+)*\s*")


@dataclass(frozen=True)
class Target:
    """One thing that is asked for.

    `form` is "number", "numbers" (in any order), "list" (in this order), "matrix", "frame" (a matrix, or its columns
    one by one), "directions" (columns up to sign, of unit length), "axes" (columns of any length), "scores" (columns
    up to sign) or "set" (whole numbers). `names` are what it may be called; messages use the first.
    Targets with the same `pairing` must be in the same order, such as eigenvectors in the order of the eigenvalues;
    where `signed`, their signs belong together too, such as those of u and v. `label` is how the key prints it, for
    questions that ask for something else than what the solution ends with. `also` has other values that are as right,
    such as the eigenvalues of the covariance matrix where the solution has those of the cross-products; a Target among
    them has its own form. An `optional` target is judged where it is given and may be left out: results on the way.
    """

    names: tuple[str, ...]
    form: str
    value: Any
    pairing: str = ""
    signed: bool = False
    label: str = ""
    also: tuple[Any, ...] = ()
    optional: bool = False

    @property
    def shown(self) -> str:
        """The name in messages, in the current language."""
        return tr(self.names[0])


@dataclass(frozen=True)
class Row:
    """One row of an answer and, where one stands before it, its name."""

    entries: tuple[Entry, ...]
    name: str = ""
    differs: bool = False
    """Whether it is written as an equality whose sides are not equal, such as 2/4 = 0.6."""


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
    errors: list[str] = []
    found = _read(text, errors)
    found += [split for rows in found if (split := _paired(rows)) is not None]
    if not found:
        seen = tr("The answer could not be read: {why}", why=errors[0]) if errors else tr("The answer is empty.")
        forms = tr("Write numbers (3, 1), vectors ((1, 2)/sqrt(2)) and matrices ([1 2; 3 4]), separated by ';', with "
                   "names if you like (lambda = 3, 1).")  # fmt: skip
        raise InputError(f"{seen} {forms}")
    return found


def _read(text: str, errors: list[str]) -> list[list[Row]]:
    read: list[list[Row | None]] = []
    try:
        whole = plain(text)
        for candidate in [one for own in dict.fromkeys((whole, unwrapped(whole))) for one in _spellings(own)]:
            pieces = list(_pieces(candidate))
            read += [[_row(name, piece, product, errors) for name, piece in pieces] for product in (False, True)]
    except InputError as error:
        errors.append(str(error))
    return _combined(read)


def _paired(rows: list[Row]) -> list[Row] | None:
    """Numbers with brackets next to them, `3, (1, 1)`, as numbers and brackets apart: eigenpairs are written so."""
    kept: list[Row] = []
    numbers: list[Entry] = []
    grids: list[Entry] = []
    for row in rows:
        own = [entry for entry in row.entries if isinstance(entry, Grid)]
        rest = tuple(entry for entry in row.entries if not isinstance(entry, Grid))
        if own and rest:
            grids += own
            if row.name:
                kept.append(Row(rest, row.name))
            else:
                numbers += rest
        elif len({entry.shape for entry in own}) > 1:
            kept += [Row((entry,), row.name if place == 0 else "") for place, entry in enumerate(own)]
        else:
            kept.append(row)
    parts = [Row(tuple(entries), "") for entries in (numbers, grids) if entries]
    return [*kept, *parts] if parts or len(kept) != len(rows) else None


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
    found: list[list[Row]] = []
    parts = [_parts(rows) for rows in read]
    for rows in parts:
        whole = [row for part in rows if part is not None for row in part]
        if whole and None not in rows and whole not in found:
            found.append(whole)
    if any(parts) and len({len(rows) for rows in parts}) == 1:
        choices = [_distinct(rows[place] for rows in parts) for place in range(len(parts[0]))]
        if 0 < prod(map(len, choices)) <= _MOST_READINGS:
            mixed = [[row for part in chosen for row in part] for chosen in cartesian(*choices)]
            found += [rows for rows in mixed if rows not in found]
    return found


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
    if match:
        name, content = name or match[1].strip(), content[match.end() :]
    try:
        if not re.search(r"[=≈]", content):
            return Row(_entries(content, product), name)
        first, last = (_entries(_side(content, product, end), product) for end in (0, -1))
        return Row(first, name, differs=not _agree(first, last))
    except InputError as error:
        errors.append(str(error))
        return None


def _entries(content: str, product: bool) -> tuple[Entry, ...]:
    found = tuple(entry for cell in _alternatives(content) for entry in Reader(cell, product).row())
    if not found:
        raise InputError(tr("The answer is empty."))
    return found


def _side(content: str, product: bool, end: int) -> str:
    """Of `1/√2 ≈ 0.71, V D^3 V^-1 = 5` the first or the last sides that can be read, `1/√2, 5` or `0.71, 5`."""
    chosen = []
    for item in _cut(content, ","):
        sides = [side for side in re.split(r"[=≈]", item) if side.strip()]
        readable = [side for side in sides if _is_readable(side, product)]
        chosen.append((readable or sides or [""])[end])
    return ", ".join(chosen)


def _is_readable(side: str, product: bool) -> bool:
    try:
        return bool(_entries(side, product))
    except InputError:
        return False


def _agree(first: tuple[Entry, ...], last: tuple[Entry, ...]) -> bool:
    """Whether two sides of an equality are the same numbers, as far as a rounded one says."""
    pairs = list(zip(flat(first), flat(last), strict=False))
    near = [abs(a.value - b.value) <= max(a.error, b.error, abs(a.value) / 50) for a, b in pairs]
    return len(flat(first)) == len(flat(last)) and all(near)


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
    yield "", _trimmed(text[: starts[0].start()] if starts else text)
    for match, end in zip(starts, ends, strict=True):
        yield match[1], _trimmed(text[match.end() : end])


def _trimmed(body: str) -> str:
    """Without a leading sign of equality, and without a full stop at the end."""
    return re.sub(r"(?<=[\d)\]}])\s*\.\s*$", "", re.sub(r"^[\s=≈]+", "", body))


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


def flat(entries: tuple[Entry, ...]) -> list[Any]:
    """All numbers of some entries, row after row."""
    return [
        number for entry in entries for number in ([x for row in entry.rows for x in row] if isinstance(entry, Grid)
                                                   else [entry])
    ]  # fmt: skip
