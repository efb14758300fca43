"""Matrices given entry by entry: `r11 = 3, r12 = 1, r22 = 2`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from eckart.worked.exercises.answers import Row, Target
from eckart.worked.exercises.arithmetic import Grid, Typed

_ENTRY = re.compile(r"([^\W\d_])[\s_]?\(?([1-9])\s*,?\s*([1-9])\)?")
_ZERO = Typed(Decimal(0))
Place = tuple[int, int]


def by_entry(rows: Sequence[Row], targets: Sequence[Target]) -> list[Row]:
    """The rows, with the entries of a matrix gathered under its name; those below its diagonal may be left out."""
    found = list(rows)
    for target in targets:
        shape = getattr(target.value, "shape", (0, 0))
        letters = {name.lower() for name in target.names if len(name) == 1}
        named = [_entry(row, letters) for row in found]
        values = dict(filter(None, named))
        if min(shape) < 2 or not _is_complete(set(values), shape):
            continue
        lines = [tuple(values.get((i, j), _ZERO) for j in _count(shape[1])) for i in _count(shape[0])]
        others = [row for row, own in zip(found, named, strict=True) if own is None]
        found = [Row((Grid(tuple(lines)),), target.names[0]), *others]
    return found


def _entry(row: Row, letters: set[str]) -> tuple[Place, Typed] | None:
    """Row and column of an entry of a matrix with one of these letters, and its value."""
    match = _ENTRY.fullmatch(row.title)
    if match is None or match[1].lower() not in letters or len(row.entries) != 1:
        return None
    value = row.entries[0]
    return None if isinstance(value, Grid) else ((int(match[2]), int(match[3])), value)


def _is_complete(places: set[Place], shape: tuple[int, int]) -> bool:
    every = {(i, j) for i in _count(shape[0]) for j in _count(shape[1])}
    return places in (every, {(i, j) for i, j in every if i <= j})


def _count(size: int) -> range:
    return range(1, size + 1)
