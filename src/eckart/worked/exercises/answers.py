"""Answers as people type them: `3, 1`, `(1, -1)/sqrt(2)`, `V = [1 2; 3 4]; k = 2`, `λ₁ = 2 + √3, λ₂ = 2 - √3`.

An answer is a list of rows, separated by ';' or line breaks, each with an optional name. A row has entries, separated
by commas or spaces. An entry is a number or a bracket with numbers, possibly times a number. An ambiguous answer (a
decimal comma, `2 √3` as one number or two) is read in both ways, and the better verdict counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from itertools import product as cartesian
from math import prod
from typing import Any

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Entry, Grid, Reader, Typed
from eckart.worked.exercises.spellings import spellings
from eckart.worked.exercises.statements import Statement, statements
from eckart.worked.exercises.typed import plain, plain_name, unwrapped
from eckart.worked.exercises.words import are_neutral, are_sides
from eckart.worked.messages import tr

_LONGEST, _MOST_READINGS = 4000, 64
Mode = tuple[bool, bool]
_MODES: tuple[Mode, ...] = ((False, False), (True, False), (False, True))
"""Whether a space multiplies, and whether it separates a number from a vector, as in `Reader`."""
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Target:
    """One thing that is asked for.

    `form` is "number", "count" (a whole number of things), "numbers" (in any order), "list" (in this order),
    "probabilities" (in this order), "matrix", "frame" (a matrix, or its columns one by one), "directions" (columns up
    to sign, of unit length), "axes" (columns of any length), "inverse" (that of the matrix with these axes), "scores"
    (columns up to sign), "set" (whole numbers) or "edges" (pairs of whole numbers). `names` are the accepted names;
    messages use the first. Targets with the same `pairing` must be in the same order, such as eigenvectors in the order
    of the eigenvalues. If `signed`, their signs must match too, such as those of u and v. `label` is the name in the
    key, if the question asks for something other than the last result. `also` contains other right values, such as the
    eigenvalues of the covariance matrix if the solution has those of the cross-products; a Target among them has its
    own form. An `optional` target is an intermediate result: judged if given, but not required. `scale` is the size
    relative to which decimals are rounded, such as 1 for correlations; 0 uses the largest value. A `squared` target
    asks for squares, such as d^2 for d. An `unsigned` one is never negative, so `sigma^2 = 9` gives sigma. `reserved`
    contains letters with another meaning in the question, such as C for the product C U R. `extreme` is "largest" or
    "smallest" for one value of several, which must not be called the other. A target `by_row` has a value or a line
    for each row of the question, so that vectors are its rows.
    """

    names: tuple[str, ...]
    form: str
    value: Any
    pairing: str = ""
    signed: bool = False
    label: str = ""
    also: tuple[Any, ...] = ()
    optional: bool = False
    scale: int = 0
    squared: bool = False
    unsigned: bool = False
    reserved: tuple[str, ...] = ()
    extreme: str = ""
    by_row: bool = False

    @property
    def shown(self) -> str:
        """The name in messages, in the current language."""
        return tr(self.names[0])


@dataclass(frozen=True)
class Row:
    """One row of an answer, and its name if it has one.

    `words` stand before its numbers without an equals sign, as in `rank 2` and `k = not 2`.
    """

    entries: tuple[Entry, ...]
    name: str = ""
    words: str = ""
    differs: bool = False
    """Whether it is an equality whose sides differ, such as 2/4 = 0.6."""

    @property
    def title(self) -> str:
        """The name of the row, with or without an equals sign; `basis: columns 1, 2` says which side."""
        return f"{self.name} {self.words}" if self.name and are_sides(self.words) else self.name or self.words

    def atoms(self) -> list[tuple[Entry, ...]]:
        """Adjacent numbers, and each bracket: units that may belong to different targets."""
        found: list[tuple[Entry, ...]] = []
        for entry in self.entries:
            if found and isinstance(entry, Typed) and isinstance(found[-1][0], Typed):
                found[-1] += (entry,)
            else:
                found.append((entry,))
        return found


def readings(text: str, rewrite: Callable[[str], str] = str) -> list[list[Row]]:
    """All readings of an answer; the first has decimal points and spaces between entries.

    `rewrite` turns each spelling of the text into names and values, in the terms of the question.

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
    found = _read(text, rewrite, errors)
    found += [split for rows in found if (split := _paired(rows)) is not None]
    if not found:
        why = (
            errors[0]
            if errors
            else tr("{sign} was not expected.", sign=repr(text.strip()[:40]))
            if text.strip()
            else ""
        )
        seen = tr("The answer could not be read: {why}", why=why) if why else tr("The answer is empty.")
        forms = tr("Write numbers (3, 1), vectors ((1, 2)/sqrt(2)) and matrices ([1 2; 3 4]), separated by ';', with "
                   "names if you like (lambda = 3, 1).")  # fmt: skip
        raise InputError(f"{seen} {forms}")
    return found


def _read(text: str, rewrite: Callable[[str], str], errors: list[str]) -> list[list[Row]]:
    read: list[list[Row | None]] = []
    try:
        whole = plain(text)
        for candidate in [rewrite(one) for own in dict.fromkeys((whole, unwrapped(whole))) for one in spellings(own)]:
            pieces = statements(candidate)
            modes = _MODES if re.search(r"[\w)\]}][^\S\n]+[(\[{]|[)\]}][^\S\n]+[sc][qb]rt", candidate) else _MODES[:2]
            read += [[_row(piece, mode, errors) for piece in pieces] for mode in modes]
    except InputError as error:
        errors.append(str(error))
    return _combined(read)


def _paired(rows: list[Row]) -> list[Row] | None:
    """Numbers next to vectors, `3, (1, 1)`, separated into numbers and vectors: the usual notation of eigenpairs."""
    if (pairs := _alternating(rows) or _side_by_side(rows)) is not None:
        return pairs
    mixed = [row for row in rows if _is_mixed(row)]
    if not mixed:
        return None
    numbers, grids = _numbers_and_grids(list(chain.from_iterable(row.entries for row in mixed)))
    return [*(row for row in rows if not _is_mixed(row)), Row(numbers, ""), Row(grids, "")]


def _numbers_and_grids(entries: list[Entry]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    grids = tuple(entry for entry in entries if isinstance(entry, Grid))
    return tuple(entry for entry in entries if not isinstance(entry, Grid)), grids


def _is_mixed(row: Row) -> bool:
    """Whether numbers and brackets are adjacent, without a name."""
    return not row.title and len({isinstance(entry, Grid) for entry in row.entries}) == 2


def _alternating(rows: list[Row]) -> list[Row] | None:
    """`3; 0.6, 0.8; 1; 0.8, -0.6`: numbers and vectors alternate, with or without brackets."""
    atoms = list(chain.from_iterable(row.atoms() for row in rows))
    if len(atoms) < 4 or len(atoms) % 2 or not all(are_neutral(row.title) for row in rows):
        return None
    vectors = [_as_vector(atom) for atom in atoms[1::2]]
    if not all(map(_is_number, atoms[::2])) or not _are_equally_long(vectors):
        return None
    return [Row(tuple(atom[0] for atom in atoms[::2])), *[Row((vector,)) for vector in vectors]]


def _is_number(atom: tuple[Entry, ...]) -> bool:
    return len(atom) == 1 and not isinstance(atom[0], Grid)


def _are_equally_long(vectors: list[Grid]) -> bool:
    """Whether all are single rows or columns of one length above 1."""
    sizes = {len(flat((vector,))) for vector in vectors}
    return len(sizes) == 1 and sizes != {1} and all(1 in vector.shape for vector in vectors)


def _side_by_side(rows: list[Row]) -> list[Row] | None:
    """As many rows as vectors, `3 0.6 0.8` and `1 0.8 -0.6`: each a number and a vector without brackets."""
    atoms = [atom for row in rows for atom in row.atoms()]
    side = len(rows)
    if side < 2 or any(row.title for row in rows) or {len(atom) for atom in atoms} != {side + 1} or len(atoms) > side:
        return None
    return [Row(tuple(atom[0] for atom in atoms)), *[Row((_as_vector(atom[1:]),)) for atom in atoms]]


def _as_vector(atom: tuple[Entry, ...]) -> Grid:
    """Adjacent numbers as one row, or their bracket."""
    return atom[0] if isinstance(atom[0], Grid) else Grid((tuple(x for x in atom if isinstance(x, Typed)),))


def _combined(read: list[list[Row | None]]) -> list[list[Row]]:
    """Readings that are the same for all parts, then those that differ from part to part."""
    parts = [_parts(rows) for rows in read]
    found: list[list[Row]] = []
    for rows in (*map(_joined, parts), *_part_by_part(parts)):
        if rows and rows not in found:
            found.append(rows)
    return found


def _joined(parts: Sequence[list[Row] | None]) -> list[Row]:
    """The rows of all parts; none if a part could not be read."""
    return [] if None in parts else [row for part in parts if part is not None for row in part]


def _part_by_part(parts: list[list[list[Row] | None]]) -> list[list[Row]]:
    """All combinations of readings for each part, unless there are too many."""
    if not any(parts) or len({len(rows) for rows in parts}) > 1:
        return []
    choices = [_distinct(rows[place] for rows in parts) for place in range(len(parts[0]))]
    few = 0 < prod(map(len, choices)) <= _MOST_READINGS
    return list(map(_joined, cartesian(*choices))) if few else []


def _parts(rows: list[Row | None]) -> list[list[Row] | None]:
    """Rows under one name are read in the same way; None if one of them cannot be read."""
    found: list[list[Row] | None] = []
    named = False
    for row in rows:
        if row is None:
            found.append(None)
        elif row.title or not named or found[-1] is None:
            found.append([row])
        else:
            found[-1].append(row)
        named = bool(row and row.title) or (named and bool(row))
    return found


def _distinct(parts: Iterable[list[Row] | None]) -> list[list[Row]]:
    found: list[list[Row]] = []
    for part in parts:
        if part is not None and part not in found:
            found.append(part)
    return found


def _row(given: Statement, mode: Mode, errors: list[str]) -> Row | None:
    """One row, or None if it cannot be read this way."""
    name = plain_name(given.name)
    try:
        if not re.search(r"[=≈]", given.content):
            return Row(_entries(given.content, mode), name, given.words)
        first, last = (_entries(_side(given.content, mode, end), mode) for end in (0, -1))
        return Row(first, name, given.words, differs=not _agree(first, last))
    except InputError as error:
        errors.append(str(error))
        return None


def _entries(content: str, mode: Mode) -> tuple[Entry, ...]:
    found = tuple(entry for cell in _alternatives(content) for entry in Reader(cell, *mode).row())
    if not found:
        raise InputError(tr("The answer is empty."))
    return found


def _side(content: str, mode: Mode, end: int) -> str:
    """The first or last readable sides of `1/√2 ≈ 0.71, V D^3 V^-1 = 5`: `1/√2, 5` or `0.71, 5`."""
    chosen = []
    for item in _cut(content, ","):
        sides = [side for side in re.split(r"[=≈]", item) if side.strip()]
        readable = [side for side in sides if _is_readable(side, mode)]
        chosen.append((readable or sides or [""])[end])
    return ", ".join(chosen)


def _is_readable(side: str, mode: Mode) -> bool:
    try:
        return bool(_entries(side, mode))
    except InputError:
        return False


def _agree(first: tuple[Entry, ...], last: tuple[Entry, ...]) -> bool:
    """Whether two sides of an equality are equal, within rounding."""
    return len(flat(first)) == len(flat(last)) and all(map(_is_rounded, flat(first), flat(last)))


def _is_rounded(a: Typed, b: Typed) -> bool:
    """Whether one number is the other, rounded or truncated; two decimals may both be rounded."""
    gap = abs(a.value - b.value)
    if a.error and b.error:
        return gap <= max(a.error, b.error, abs(a.value) / 50)
    error = max(a.error, b.error)
    cut = gap < error and abs(b.value if b.error else a.value) < abs(a.value if b.error else b.value)
    return cut or gap <= error / 2 * Decimal("1.0000001") or gap <= Decimal("1e-12") * abs(a.value)


def _alternatives(content: str) -> list[str]:
    """`2 ± √3` is two entries."""
    if "±" not in content:
        return [content]
    if content.count("±") > 1:
        raise InputError(tr("Only one ± can be read in a row."))
    return [content.replace("±", "+"), content.replace("±", "-")]


def _cut(text: str, signs: str) -> list[str]:
    """Split at some characters outside brackets."""
    pieces, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign in signs and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]]


def flat(entries: tuple[Entry, ...]) -> list[Any]:
    """All numbers of some entries, in row order."""
    return [
        number for entry in entries for number in ([x for row in entry.rows for x in row] if isinstance(entry, Grid)
                                                   else [entry])
    ]  # fmt: skip
