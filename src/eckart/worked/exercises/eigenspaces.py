"""Eigenvalues next to their vectors: `E(-6) = (1, 2)`, `v_{λ=3} = (0, 1)`, `the first is 3 with vector (0, 1)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from eckart.errors import InputError
from eckart.worked.exercises.answers import Row, Target
from eckart.worked.exercises.arithmetic import Grid, Reader, Typed
from eckart.worked.exercises.names import bare, find, is_free, is_unknown

_SPACE = re.compile(
    r"(?:E|Eig|V|v|e|x|w|u|eigenspace|autospazio|autoespacio)[\s_]*(?:\(([^()]*)\)|(lambda_?\d|(?<=[Eg_])\d+))"
    r"|(?:the\s|l')?(?:eigenvalue|eigval|autovalore?|valor propio|собственное (?:значение|число))\s+"
    r"(?P<own>[-\d(][^=]*)"
    r"|[^\W\d_](?:[^\W\d_]|\s)*\s(?:for|to|of|a|per|di|para|de|для)\s+(?P<value>[-\d(][^=]*)"
)
_BY_ORDER = re.compile(r"lambda_?(\d)")
Key = Typed | int


def by_eigenvalue(rows: Sequence[Row], targets: Sequence[Target]) -> list[Row]:
    """The rows, with vectors named by their eigenvalues renamed to the targets.

    Eigenvalues that occur nowhere else are added as a row.
    """
    values = next((one for one in targets if "lambda" in one.names and one.form in {"numbers", "number"}), None)
    vectors = next((one for one in targets if one.form in {"directions", "axes"}), None)
    if values is None or vectors is None:
        return list(rows)
    keys = [_key(row, targets) for row in rows]
    if not any(keys):
        return list(rows)
    given = [x for row in rows if _is_named(row.title, values, targets) for x in row.entries if isinstance(x, Typed)]
    listed = given or [key for key in keys if isinstance(key, Typed)]
    renamed = []
    for row, key in zip(rows, keys, strict=True):
        place = key if isinstance(key, int) else _place(key, listed)
        renamed.append(replace(row, name=f"{vectors.names[0]}{place}", words="") if key and place else row)
    return renamed if given or not listed else [Row(tuple(listed), values.names[0]), *renamed]


def in_pairs(rows: Sequence[Row], targets: Sequence[Target]) -> list[Row]:
    """The rows, with alternating numbers and vectors as all numbers and all vectors, whatever the words around them.

    Rows that name something else stay as they are.
    """
    paired = [i for i, one in enumerate(targets) if one.pairing and one.form in {"numbers", "directions", "axes"}]
    own = _block(rows, [_is_pair(row.title, paired, targets) for row in rows])
    atoms = [atom for row in own for atom in row.atoms()]
    kinds = [isinstance(atom[0], Grid) for atom in atoms]
    titled = any(row.title for row in own)
    if len(paired) != 2 or len(atoms) < 4 or not titled or kinds != [kinds[0], not kinds[0]] * (len(atoms) // 2):
        return list(rows)
    numbered = [int(digit[0]) if (digit := re.search(r"\d$", row.title)) else 0 for row in own for _ in row.atoms()]
    apart = any(a and b and a != b for a, b in zip(numbered[::2], numbered[1::2], strict=True))
    if apart or any(len(atom) > 1 for atom in atoms):
        return list(rows)
    numbers = tuple(atom[0] for atom in atoms if not isinstance(atom[0], Grid))
    vectors = tuple(atom[0] for atom in atoms if isinstance(atom[0], Grid))
    values, columns = sorted((targets[i] for i in paired), key=lambda one: one.form != "numbers")
    return [Row(numbers, values.names[0]), Row(vectors, columns.names[0]), *[row for row in rows if row not in own]]


def _block(rows: Sequence[Row], fits: Sequence[bool]) -> list[Row]:
    """The first adjacent rows that fit, if they are several."""
    blocks = [
        [row for row, _ in block] for fit, block in groupby(zip(rows, fits, strict=True), lambda one: one[1]) if fit
    ]
    return next((block for block in blocks if sum(len(row.atoms()) for row in block) > 3), [])


def _is_pair(title: str, paired: Sequence[int], targets: Sequence[Target]) -> bool:
    """Whether a title is that of eigenvalues or vectors, or says nothing."""
    found = find(title, targets)
    return found[0] in paired if found else not title or is_unknown(title, targets) or is_free(bare(title), targets)


def _key(row: Row, targets: Sequence[Target]) -> Key | None:
    """The eigenvalue in a name, or its number as in `v(λ1)`; None if there is none."""
    match = _SPACE.fullmatch(row.title)
    if match is None or (match[2] and find(row.title, targets) is not None):
        return None  # v2 is the second one
    if match["own"] and not any(isinstance(entry, Grid) for entry in row.entries):
        return None  # eigenvalue 1: 28
    inside = (match[1] or match[2] or match["own"] or match["value"]).strip()
    if order := _BY_ORDER.fullmatch(inside):
        return int(order[1])
    try:
        entries = Reader(inside).row()
    except InputError:
        return None
    return entries[0] if len(entries) == 1 and isinstance(entries[0], Typed) else None


def _is_named(title: str, target: Target, targets: Sequence[Target]) -> bool:
    found = find(title, targets)
    return found is not None and targets[found[0]] is target


def _place(key: Typed | None, listed: Sequence[Typed]) -> int:
    """Index of this eigenvalue, from 1; 0 for none of them."""
    if key is None:
        return 0
    near = (i for i, x in enumerate(listed, 1) if abs(x.value - key.value) <= max(x.error, key.error))
    return next(near, 0)
