"""Answers row by row, if several things are asked of every row: `score 3, distance 4; score -1, distance 9`.

The answer may be a table with one line per row, or one list without names, thing by thing or row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from eckart.worked.exercises.answers import Row, Target, flat
from eckart.worked.exercises.arithmetic import Grid, Typed
from eckart.worked.exercises.names import find
from eckart.worked.exercises.ordinals import ordinal_of
from eckart.worked.exercises.words import are_neutral, side_of

Lines = list[list[Typed]]


def row_by_row(rows: Sequence[Row], targets: Sequence[Target]) -> Iterator[list[Row]]:
    """The rows without headings such as `row 1`, and the readings as a table or one list."""
    asked = [target for target in targets if target.by_row]
    own = _without_headings(rows) if asked else list(rows)
    yield own
    others = [row for row in own if row.title]
    own = [row for row in own if not row.title]
    numbers = [flat(row.entries) for row in own]
    if len(asked) < 2 or any(_is_asked(row.title, targets) for row in others):
        return
    widths = [_width(target) for target in asked]
    count = _count(asked[0])
    if len(own) == 1 and len(numbers[0]) == count * sum(widths):
        yield others + _named(_blocks(numbers[0], count, widths), asked)
        numbers = _cut(numbers[0], [sum(widths)] * count)
    if len(numbers) == count and {len(line) for line in numbers} == {sum(widths)}:
        yield others + _named(list(map(list, zip(*[_cut(line, widths) for line in numbers], strict=True))), asked)


def _is_asked(title: str, targets: Sequence[Target]) -> bool:
    found = find(title, targets)
    return found is None or targets[found[0]].by_row


def _without_headings(rows: Sequence[Row]) -> list[Row]:
    """The rows without names that only count them from 1; in another order they would belong elsewhere."""
    places = [_heading(row.name) for row in rows]
    found = [place for place in places if place]
    if found != list(range(1, len(found) + 1)):
        return list(rows)
    return [replace(row, name="") if place else row for row, place in zip(rows, places, strict=True)]


def _heading(name: str) -> int:
    """The number in a name that only says which row it is: `row 1`, `seconda riga`, `x'_2`; 0 if there is none."""
    is_row = side_of(name) == "rows" and are_neutral(name)
    digit = re.search(r"\d", name) if is_row or re.fullmatch(r"[Xx](?:'_?\d|_?\d')", name) else None
    return int(digit[0]) if digit else ordinal_of(name) if is_row else 0


def _count(target: Target) -> int:
    return int(target.value.rows) if hasattr(target.value, "rows") else len(target.value)


def _width(target: Target) -> int:
    return int(target.value.cols) if hasattr(target.value, "cols") else 1


def _blocks(numbers: list[Typed], count: int, widths: list[int]) -> list[Lines]:
    """One list as a block of rows for each thing, one after the other."""
    own = _cut(numbers, [count * width for width in widths])
    return [_cut(block, [width] * count) for block, width in zip(own, widths, strict=True)]


def _cut(numbers: list[Typed], sizes: Sequence[int]) -> Lines:
    stops = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    return [numbers[a:b] for a, b in pairwise(stops)]


def _named(blocks: Sequence[Lines], asked: Sequence[Target]) -> list[Row]:
    return [
        Row((Grid(tuple(map(tuple, block))),), target.names[0]) for block, target in zip(blocks, asked, strict=True)
    ]
