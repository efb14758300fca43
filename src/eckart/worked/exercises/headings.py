"""Names that apply to several values: `the eigenvector of 5 is ..`, `first .., second ..`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from eckart.worked.exercises.arithmetic import Linear
from eckart.worked.exercises.lexicon import IS, OF
from eckart.worked.exercises.meaning import Meaning
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.targets import COLUMNS, Target

Rows = list[Row]
Targets = Sequence[Target]
_COVARIANCE, _CORRELATION = re.compile(r"(?i)\bcov|ковар"), re.compile(r"(?i)\bcorr?(?:\b|el|coef)|коррел")
_LETTERS = {"C": "covariance", "S": "covariance", "Sigma": "covariance", "R": "correlation"}
_VECTORS = re.compile(r"(?i)component|eigenv|autov|propi|собственн|компонент|direc")


def place_of(name: str, targets: Targets) -> int | None:
    """The target with this name."""
    return next((i for i, target in enumerate(targets) if name in target.names), None)


def carried(rows: Rows, targets: Targets) -> Rows:
    """`the eigenvector of 5 is (1, 2)`: the name of a vector before a number is that of the vector behind it."""
    found = list(rows)
    for i in range(len(found) - 1):
        found[i : i + 2] = _carry(found[i], found[i + 1], targets)
    return [row for row in found if row.entries or row.equals or row.label]


def _carry(own: Row, after: Row, targets: Targets) -> tuple[Row, Row]:
    """Two rows, the second with the name of the first if that is not a name of its number."""
    named = own.meaning.targets
    if not named or not own.is_number or after.starts:
        return own, after
    index = _index(own)
    if index and _is_numbered(after, named, {targets[i].form for i in named}):
        return replace(own, entries=()), after.means(min(named), index)  # eigenvalue 1: 4, eigenvector 1: (3, 4)
    plain = after.meaning.targets is None
    shaped = after.is_vectors and all(hasattr(targets[i].value, "shape") for i in named)
    if not shaped or not (plain or (after.meaning.targets or frozenset()) & named):
        return own, after
    number = replace(own, meaning=Meaning(None, title=own.title, prose=True))
    return number, replace(after, meaning=own.meaning) if plain else after


def _is_numbered(row: Row, named: frozenset[int], forms: set[str]) -> bool:
    """Whether a row is what a name with a number is about: vectors, or one number without a name of its own."""
    own = row.meaning.targets
    if row.is_vectors:
        return forms <= COLUMNS and (own is None or bool(own & named))
    return own is None and row.is_number and not row.label and forms == {"numbers"}


def _index(row: Row) -> int:
    """The number behind a noun, `eigenvector 1`; 0 for any other number."""
    last = row.label[-1] if row.label else ""
    whole = row.is_number and row.numbers[0].value in range(1, 10) and not row.numbers[0].error
    noun = isinstance(last, str) and last.isalpha() and last.lower() not in OF | IS
    return int(row.numbers[0].value) if whole and noun else 0


def continued(rows: Rows, targets: Targets) -> Rows:
    """The next of several things: `second` after `first component`, `PC2` after `scores PC1`."""
    found: Rows = []
    for row in rows:
        known = (one for one in reversed(found) if one.meaning.target is not None)
        before = next((one for one in known if one.is_vectors == row.is_vectors), None)
        found.append(_next(row, before) if before is not None else row)
    return found


def _next(row: Row, before: Row) -> Row:
    index, target = row.meaning.index, before.meaning.target
    if index < 2 or before.meaning.index != index - 1 or target is None:
        return row
    letters = [re.sub(r"[\d_]", "", one.symbol.symbol) if one.symbol else "" for one in (before, row)]
    follows = (row.meaning.targets is None and not row.indices) or letters[0] == letters[1] != ""
    return row.means(target, index) if follows else row


def headed(rows: Rows, targets: Targets) -> Rows:
    """Vectors below the name of a matrix as its components: `covariance: v1 = .., v2 = ..`."""
    sides = {side: place_of(f"components of the {side} matrix", targets) for side in ("covariance", "correlation")}
    if None in sides.values():
        return rows
    found: Rows = []
    heading = letter = ""
    seen: set[tuple[int | None, int]] = set()
    for row in rows:
        said = _matrix(row)
        name = re.sub(r"\d", "", row.title)
        heading, letter = said or _LETTERS.get(name, heading), name if said else letter
        key = (row.meaning.target, row.meaning.index)
        repeated = (key in seen and row.meaning.target == sides["covariance"]) or (name == letter and not said)
        seen.add(key)
        found.append(_component(row, sides.get(heading), bool(said), repeated, sides))
    return found


def _matrix(row: Row) -> str:
    """The matrix that a label names."""
    text = words(row)
    if _VECTORS.search(text) and row.symbol and row.symbol.symbol in _LETTERS:
        return _LETTERS[row.symbol.symbol]  # eigenvectors of R
    return "covariance" if _COVARIANCE.search(text) else "correlation" if _CORRELATION.search(text) else ""


def _component(row: Row, own: int | None, said: bool, repeated: bool, sides: dict[str, int | None]) -> Row:
    """A row of vectors as the components of the matrix above, or perhaps as the matrix itself."""
    if own is None or not row.is_vectors:
        return row
    generic = _VECTORS.search(words(row)) is not None
    if generic or ((said or repeated) and row.meaning.target in sides.values()):
        return row.means(own, row.meaning.index)
    if said and re.sub(r"\d", "", row.title) not in _LETTERS:
        return replace(row, meaning=replace(row.meaning, targets=(row.meaning.targets or frozenset()) | {own}))
    return row


def numbered(rows: Rows, targets: Targets) -> Rows:
    """Rows that only count the rows of the question, `row 1: ..`, in their order under the name above them."""
    found: Rows = []
    for row in rows:
        place = row.meaning.sense.place
        counts = row.meaning.targets is None and place and row.meaning.index and not row.indices
        found.append(_counted(row, found) if counts and found else row)
    return found


def _counted(row: Row, before: Rows) -> Row:
    place = row.meaning.sense.place
    first = next((one for one in reversed(before) if one.meaning.sense.place == place), None)
    ordered = row.meaning.index == (first.meaning.index + 1 if first else 1)
    return replace(row, meaning=replace(row.meaning, title="")) if ordered else row


def words(row: Row) -> str:
    """The label of a row as text."""
    return " ".join(item.name if isinstance(item, Linear) else item for item in row.label)
