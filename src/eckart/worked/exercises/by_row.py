"""Answers row by row, if several things are asked of every row: `score 3, distance 4; score -1, distance 9`.

The answer may be a table with one line per row, or one list without names, thing by thing or row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from eckart.worked.exercises.arithmetic import Grid, Typed
from eckart.worked.exercises.rows import Row, named
from eckart.worked.exercises.targets import Target

Lines = list[list[Typed]]


def row_by_row(rows: Sequence[Row], targets: Sequence[Target]) -> Iterator[list[Row]]:
    """The rows, and their readings as a table or one list."""
    yield list(rows)
    asked = [i for i, target in enumerate(targets) if target.by_row]
    own = [row for row in rows if row.meaning.targets is None]
    others = [row for row in rows if row not in own]
    if len(asked) > 1 and _in_order(own) and not _are_named(others, asked):
        yield from map(others.__add__, _tables(_lines(own), asked, targets))


def _are_named(rows: Sequence[Row], asked: Sequence[int]) -> bool:
    """Whether some rows have the name of a target."""
    return any((row.meaning.targets or frozenset()) & set(asked) for row in rows)


def _tables(numbers: Lines, asked: Sequence[int], targets: Sequence[Target]) -> Iterator[list[Row]]:
    """The readings of numbers as a block for each thing, and as a line for each row."""
    widths = [_width(targets[i]) for i in asked]
    count = _count(targets[asked[0]])
    if len(numbers) == 1 and len(numbers[0]) == count * sum(widths):
        yield _named(_blocks(numbers[0], count, widths), asked)
        numbers = _cut(numbers[0], [sum(widths)] * count)
    if len(numbers) == count and {len(line) for line in numbers} == {sum(widths)}:
        yield _named(list(map(list, zip(*[_cut(line, widths) for line in numbers], strict=True))), asked)


def _in_order(rows: Sequence[Row]) -> bool:
    """Whether the rows that have numbers are in their order."""
    places = [row.meaning.index for row in rows if row.meaning.sense.place]
    return places == sorted(places)


def _lines(rows: Sequence[Row]) -> Lines:
    """The numbers of the rows that start a line, with those that follow on it."""
    found: Lines = []
    for row in rows:
        if row.starts or not found:
            found.append([])
        found[-1] += row.numbers
    return found


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


def _named(blocks: Sequence[Lines], asked: Sequence[int]) -> list[Row]:
    return [named([Grid(tuple(map(tuple, block)))], target) for block, target in zip(blocks, asked, strict=True)]
