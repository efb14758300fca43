"""Eigenvalues next to their vectors: `5: (1, 2)/√5; -1: ..`, `5 with vector ..`, `(1, 2)/√5 for 5`."""

from __future__ import annotations

from collections.abc import Sequence

from eckart.worked.exercises.arithmetic import Entry, Grid, Typed
from eckart.worked.exercises.rows import Row, named
from eckart.worked.exercises.targets import Target

Rows = list[Row]


def in_pairs(rows: Rows, targets: Sequence[Target]) -> Rows:
    """Alternating numbers and vectors as all numbers and all vectors; other rows stay as they are."""
    places = _places(targets)
    if places is None:
        return rows
    values, vectors = places
    if split := _side_by_side(rows, targets[vectors].value.rows):
        return _of_pairs(split, values, vectors)
    own = [row for row in rows if _fits(row, values, vectors)]
    asked = targets[values].value
    pairs = _pairs_in(own, len(asked) if isinstance(asked, list) else 1)
    if not pairs or not _is_ordered(own):
        return rows
    return [*_of_pairs(pairs, values, vectors), *[row for row in rows if row not in own]]


def _of_pairs(pairs: list[tuple[Typed, Grid]], values: int, vectors: int) -> Rows:
    return [named([x for x, _ in pairs], values), named([v for _, v in pairs], vectors)]


def _pairs_in(rows: Rows, count: int) -> list[tuple[Typed, Grid]]:
    """The numbers and vectors next to each other, in the order of the `count` eigenvalues in front of them, if any."""
    listed, pairs = _paired([entry for row in rows for entry in row.entries], count)
    return _as_listed(pairs, listed) if listed else pairs


def _as_listed(pairs: list[tuple[Typed, Grid]], listed: list[Typed]) -> list[tuple[Typed, Grid]]:
    """The pairs in the order of the eigenvalues in front of them; none if they have other eigenvalues."""
    order = [_near(key, listed) for key, _ in pairs]
    return [pairs[order.index(i)] for i in range(len(order))] if sorted(order) == list(range(len(listed))) else []


def _places(targets: Sequence[Target]) -> tuple[int, int] | None:
    """The eigenvalues and their vectors, if the question asks for both."""
    values = [i for i, one in enumerate(targets) if one.form in {"numbers", "number"} and "lambda" in one.names]
    vectors = [i for i, one in enumerate(targets) if one.form in {"directions", "axes"} and not one.optional]
    return (values[0], vectors[0]) if values and len(vectors) == 1 and not targets[values[0]].optional else None


def _side_by_side(rows: Rows, length: int) -> list[tuple[Typed, Grid]]:
    """A row for each vector, `3 0.6 0.8` and `1 0.8 -0.6`: a number and a vector without brackets."""
    lines = [row.numbers for row in rows]
    if not all(map(_is_bare, rows)) or {len(line) for line in lines} != {length + 1}:
        return []
    return [(line[0], Grid((tuple(line[1:]),))) for line in lines]


def _is_bare(row: Row) -> bool:
    """Whether a row contains only numbers, without a name."""
    return row.meaning.targets is None and not row.title and all(isinstance(x, Typed) for x in row.entries)


def _fits(row: Row, values: int, vectors: int) -> bool:
    """Whether a row may be about eigenvalues or vectors."""
    named_so = row.meaning.targets is None or bool(row.meaning.targets & {values, vectors})
    one_by_one = all(isinstance(x, Typed) or 1 in x.shape for x in row.entries)
    return named_so and one_by_one and not row.indices and not any(x.percent for x in row.numbers)


def _is_ordered(rows: Rows) -> bool:
    """Whether numbers and vectors next to each other have the same index, if they have one."""
    indices = [row.meaning.index for row in rows if len(row.entries) == 1]
    firsts = indices[::2], indices[1::2]
    return all(a == b or not a or not b for a, b in zip(*firsts, strict=False))


def _paired(entries: list[Entry], count: int) -> tuple[list[Typed], list[tuple[Typed, Grid]]]:
    """Eigenvalues that stand in front, and pairs of an eigenvalue and a vector; no pairs if they do not alternate."""
    for start in dict.fromkeys((0, count)):
        front, rest = entries[:start], entries[start:]
        listed = [x for x in front if isinstance(x, Typed)]
        if len(rest) == 2 * count and len(listed) == len(front) and count + start > 1:
            pairs = _pairs(rest[::2], rest[1::2]) or _pairs(rest[1::2], rest[::2])
            if pairs:
                return listed, pairs
    return [], []


def _pairs(keys: list[Entry], grids: list[Entry]) -> list[tuple[Typed, Grid]]:
    """Numbers with their vectors; none if something else is among them."""
    found = [(k, g) for k, g in zip(keys, grids, strict=True) if isinstance(k, Typed) and isinstance(g, Grid)]
    return found if len(found) == len(keys) else []


def _near(key: Typed, listed: list[Typed]) -> int:
    """Which of the listed eigenvalues this one is; -1 for none."""
    return next((i for i, x in enumerate(listed) if abs(x.value - key.value) <= max(x.error, key.error)), -1)
