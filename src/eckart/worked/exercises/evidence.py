"""Answers that contain everything that is asked for, whatever surrounds it.

The grammar of statements says which values belong to which name. Where it fails, the values themselves decide: the
numbers of a matrix occur in their order, vectors one by one, next to intermediate results that the solution has too.
Small whole numbers prove nothing, so the grammar must have read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.arithmetic import Entry, Grid, Typed
from eckart.worked.exercises.assignment import Compare, Piece
from eckart.worked.exercises.compare import Part, close, scale_of, shaped
from eckart.worked.exercises.knowledge import Knowledge
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.targets import COLUMNS, Target

_WEAK = frozenset({"count", "set", "edges"})
"""Forms with small whole numbers."""
Numbers = list[Typed]
Span = tuple[int, int]
Pieces = dict[int | None, Piece]


@dataclass(frozen=True)
class _Layout:
    """Pieces in which a target may be written, each with the test for its numbers, and how they are put together."""

    sizes: list[int]
    tests: list[Callable[[Numbers], bool]]
    ordered: bool
    join: Callable[[list[Numbers]], Part]
    upright: bool = False
    """Whether the pieces are columns, so that lines of numbers below the name of a matrix are not."""


@dataclass
class _Search:
    """The values of an answer, and which of them are explained."""

    rows: Sequence[Row]
    targets: Sequence[Target]
    compare: Compare
    layouts: dict[int, list[_Layout]]
    items: list[tuple[Entry, int]] = field(init=False)
    used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.items = [(entry, place) for place, row in enumerate(self.rows) for entry in row.entries]

    def find(self, target: int) -> Piece | None:
        """A target among the values that are not used yet."""
        if target not in self.layouts:
            self.layouts[target] = list(_layouts(self.targets[target]))
        for layout in self.layouts[target]:
            spans = self.spans(target, layout)
            if spans is None:
                continue
            title = self.rows[self.items[spans[0][0]][1]].title
            part = replace(layout.join([self.numbers(span) for span in spans]), name=title)
            verdict = self.compare(part, self.targets[target])
            if verdict:
                self.used |= {i for a, b in spans for i in range(a, b)}
                return Piece(target, part, verdict)
        return None

    def numbers(self, span: Span) -> Numbers:
        return [x for entry, _ in self.items[slice(*span)] for x in _flat(entry)]

    def spans(self, target: int, layout: _Layout) -> list[Span] | None:
        """Where the pieces of a layout are: their last places, in the order of the answer."""
        found: list[Span] = []
        stop, count = len(self.items), len(layout.sizes)
        for place in reversed(range(count)):
            free = (one for one in self.windows(target, layout.sizes[place], stop) if self.fits(one, layout, place))
            span = next((one for one in free if not any(_overlap(one, other) for other in found)), None)
            if span is None:
                return None
            found.append(span)
            stop = span[0] if layout.ordered else stop
        indices = set(map(self.index, found))
        return sorted(found, key=self.index if len(indices - {0}) == count else None)

    def fits(self, span: Span, layout: _Layout, place: int) -> bool:
        """Whether some values are one piece of a layout, by their numbers and by the number in their name."""
        if layout.upright and self.is_line(span):
            return False
        several = layout.ordered and len(layout.sizes) > 1
        return not (several and self.index(span) not in {0, place + 1}) and layout.tests[place](self.numbers(span))

    def index(self, span: Span) -> int:
        """The number in the name of some values, 2 for v_2."""
        return self.rows[self.items[span[0]][1]].meaning.index

    def windows(self, target: int, size: int, stop: int) -> Iterator[Span]:
        """Adjacent values with so many numbers, the last ones first, and named ones before the others."""
        own = [span for last in range(stop, 0, -1) if (span := self.window(target, size, last)) is not None]
        yield from sorted(own, key=lambda span: self.rows[self.items[span[0]][1]].meaning.targets is None)

    def is_line(self, span: Span) -> bool:
        """Whether some numbers are part of a matrix with a capital letter as its name."""
        entry, place = self.items[span[0]]
        return isinstance(entry, Typed) and not Part((), self.rows[place].title).may_have_rows

    def window(self, target: int, size: int, stop: int) -> Span | None:
        count, start = 0, stop
        while start and count < size and self.may_be(start - 1, target):
            start -= 1
            count += len(_flat(self.items[start][0]))
        return (start, stop) if count == size else None

    def may_be(self, item: int, target: int) -> bool:
        """Whether a value may be part of a target: not under another name, nor in a matrix of another shape."""
        entry, place = self.items[item]
        row, shape = self.rows[place], getattr(self.targets[target].value, "shape", ())
        if isinstance(entry, Grid) and min(entry.shape) > 1 and entry.shape != shape:
            return False
        if row.meaning.sense.transposed or (row.meaning.squared and not self.targets[target].squared):
            return False
        named = row.meaning.targets
        return item not in self.used and not row.indices and (named is None or target in named)


def evident(
    rows: Sequence[Row],
    read: Sequence[Piece],
    targets: Sequence[Target],
    known: Knowledge,
    compare: Compare,
) -> list[Piece] | None:
    """The right pieces of an answer; None if something is missing, contradicts them, or is not explained."""
    if any(row.differs for row in rows) or not _is_counted(rows) or any(map(_contradicts(targets, known), read)):
        return None
    search = _Search(rows, targets, compare, known.layouts)
    right = {piece.target: piece for piece in read if piece.right}
    found = _asked(search, right)
    if found is None:
        return None
    found = {**right, **found}
    return list(found.values()) if all(map(_explains(search, found, known), range(len(search.items)))) else None


def _asked(search: _Search, right: Pieces) -> Pieces | None:
    """A right piece for everything that is asked for, the largest first; None if one is missing."""
    targets = search.targets
    found: Pieces = {}
    for place in sorted((i for i, one in enumerate(targets) if not one.optional), key=lambda i: -_size(targets[i])):
        piece = None if is_weak(targets[place]) else search.find(place)
        piece = piece or right.get(place)
        if piece is None:
            return None
        found[place] = piece
    return found


def is_weak(target: Target) -> bool:
    """Whether a target is one whole number, or a few small ones: they may be met by chance."""
    whole = _size(target) == 1 and all(sp.sympify(x).is_Integer for x in _values(target))
    return target.form in _WEAK or whole


def _values(target: Target) -> list[Any]:
    several = hasattr(target.value, "shape") or isinstance(target.value, list)
    return list(target.value) if several else [target.value]


def _is_counted(rows: Sequence[Row]) -> bool:
    """Whether rows, columns and points that are numbered are in their order."""
    places = [place for row in rows if (place := _place(row))]
    return places == sorted(places)


def _place(row: Row) -> int:
    """The number of the row, column or point that some values are about; 0 if there is none."""
    if row.indices and len(row.entries) == 1:
        return int(row.numbers[0].value)
    return row.meaning.index if row.meaning.sense.place else 0


def _contradicts(targets: Sequence[Target], known: Knowledge) -> Callable[[Piece], bool]:
    """A test whether a piece is a wrong intermediate result; a share may be the one that the question names."""

    def test(piece: Piece) -> bool:
        if piece.target is None or piece.right or not targets[piece.target].optional:
            return False
        if not piece.title and all(isinstance(entry, Grid) and known.has(entry) for entry in piece.part.entries):
            return False
        return not all(x.percent and known.has_share(x) for x in piece.part.flat)

    return test


def _explains(search: _Search, found: Pieces, known: Knowledge) -> Callable[[int], bool]:
    """A test whether a value that is not part of the result may stand in the answer."""
    taken = {search.items[i][1] for i in search.used}
    places = [i for i in found if i is not None]
    weak = {i for i in places if is_weak(search.targets[i])}
    repeats = _repeats(search.targets, found)

    def test(item: int) -> bool:
        entry, place = search.items[item]
        row = search.rows[place]
        if item in search.used or row.meaning.foreign or repeats(entry, row):
            return True
        if isinstance(entry, Grid):
            return known.has(entry)
        if place in taken or (row.meaning.targets or frozenset()) & weak:
            return False
        whole = entry.value == entry.value.to_integral_value()
        return known.has(entry) and not (whole and len(weak) == len(places))

    return test


def _repeats(targets: Sequence[Target], found: Pieces) -> Callable[[Entry, Row], bool]:
    """A test whether a value is a right one again, under the same name or none; edges may be a path too."""
    settled = {target: {x.value for x in piece.part.flat} for target, piece in found.items()}
    edges = {i for i in found if i is not None and targets[i].form == "edges"}

    def test(entry: Entry, row: Row) -> bool:
        numbers, named = {x.value for x in _flat(entry)}, row.meaning.targets
        own = [i for i in settled if named is None or i in named or (i in edges and isinstance(entry, Grid))]
        return any(numbers <= settled[i] for i in own)

    return test


def _layouts(target: Target) -> Iterator[_Layout]:
    """The ways in which a target may be written."""
    scale = scale_of(target)
    if target.form in {"number", "numbers", "list", "probabilities"}:
        tests = [_is_number(x, scale) for x in _values(target)]
        yield _Layout([1] * len(tests), tests, target.form != "numbers", _as_list)
    if hasattr(target.value, "shape"):
        yield from chain(_in_rows(target, scale), _in_columns(target, scale))


def _in_rows(target: Target, scale: Decimal) -> Iterator[_Layout]:
    """All numbers of a matrix in their order, or row by row."""
    rows, cols = target.value.shape
    signed = target.form in {"directions", "scores"}
    if target.form != "axes":
        every = _are_numbers(list(target.value), scale, signed)
        yield _Layout([rows * cols], [every], True, lambda pieces: Part(((shaped(pieces[0], (rows, cols)),),)))
    if target.form in {"matrix", "scores", "frame"} and rows > 1:
        tests = [_are_numbers(list(target.value[i, :]), scale, signed) for i in range(rows)]
        yield _Layout([cols] * rows, tests, True, lambda pieces: Part(((Grid(tuple(map(tuple, pieces))),),)))


def _in_columns(target: Target, scale: Decimal) -> Iterator[_Layout]:
    """One vector after the other."""
    if target.form not in COLUMNS:
        return
    rows, cols = target.value.shape
    signed = target.form in {"directions", "scores"}
    columns = [target.value[:, j] for j in range(cols)]
    tests = [_is_parallel(x) if target.form == "axes" else _are_numbers(list(x), scale, signed) for x in columns]
    ordered = target.form in {"frame", "scores"} and not target.pairing
    yield _Layout([rows] * cols, tests, ordered, _as_vectors, upright=True)


def _is_number(true: Any, scale: Decimal) -> Callable[[Numbers], bool]:
    return lambda given: close(given[0], true, scale)


def _are_numbers(true: list[Any], scale: Decimal, signed: bool) -> Callable[[Numbers], bool]:
    """A test for numbers in their order, up to signs if these are free: then the whole part decides."""
    choices = [(y, -y) if signed else (y,) for y in true]

    def test(given: Numbers) -> bool:
        return all(any(close(x, y, scale) for y in both) for x, both in zip(given, choices, strict=True))

    return test


def _is_parallel(true: Any) -> Callable[[Numbers], bool]:
    direction = np.array(true.evalf().tolist(), dtype=float).ravel()

    def test(given: Numbers) -> bool:
        own = np.array([float(x.value) for x in given])
        size = float(np.linalg.norm(own) * np.linalg.norm(direction))
        return size > 0 and abs(abs(float(own @ direction)) / size - 1) < 1e-4

    return test


def _as_list(pieces: list[Numbers]) -> Part:
    return Part((tuple(chain.from_iterable(pieces)),))


def _as_vectors(pieces: list[Numbers]) -> Part:
    return Part((tuple(Grid((tuple(piece),)) for piece in pieces),))


def _flat(entry: Entry) -> Numbers:
    return list(chain.from_iterable(entry.rows)) if isinstance(entry, Grid) else [entry]


def _size(target: Target) -> int:
    return len(_values(target))


def _overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]
