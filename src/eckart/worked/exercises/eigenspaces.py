"""Vectors named by their eigenvalue: `E(-6) = (1, 2)`, `v_{λ=3} = (0, 1)`, `E_3 = span{(1, 1)}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from eckart.errors import InputError
from eckart.worked.exercises.answers import Row, Target
from eckart.worked.exercises.arithmetic import Grid, Reader, Typed
from eckart.worked.exercises.names import find

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
