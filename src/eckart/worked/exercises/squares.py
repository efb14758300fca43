"""Roots where squares are asked for: `d = 3, d^2 = 9` and `‖A - C U R‖_F = 3` say how large a square is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, localcontext

from eckart.worked.exercises.arithmetic import CONTEXT, Entry, Grid, Typed, raised
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.statement import agree
from eckart.worked.exercises.targets import Target

Rows = list[Row]
_TWO = Typed(Decimal(2))


def with_squares(rows: Rows, targets: Sequence[Target]) -> Rows:
    """The rows with the squares of norms, and without the roots of squares that are there too."""
    roots = [row for row in rows if _is_root(row, targets) and any(_is_square_of(row, one) for one in rows)]
    rest = [row for row in rows if row not in roots]
    return [_compared(_squared(row) if row.meaning.sense.root else row, roots) for row in rest]


def _compared(row: Row, roots: Rows) -> Row:
    """A row, marked if one of the roots is that of something else."""
    return replace(row, differs=row.differs or any(_disagree(root, row) for root in roots))


def _squared(row: Row) -> Row:
    """A row with the squares of its values, under the name of the square."""
    with localcontext(CONTEXT):
        entries = tuple(map(_square, row.entries))
    sense = replace(row.meaning.sense, root=False, squared=True)
    return replace(row, entries=entries, meaning=replace(row.meaning, sense=sense, squared=True))


def _square(entry: Entry) -> Entry:
    if isinstance(entry, Grid):
        return Grid(tuple(tuple(_times_itself(x) for x in row) for row in entry.rows))
    return _times_itself(entry)


def _times_itself(x: Typed) -> Typed:
    return raised(x, _TWO)  # type: ignore[return-value]


def _is_root(row: Row, targets: Sequence[Target]) -> bool:
    """Whether a row has the name of what is asked for squared."""
    target = row.meaning.target
    return target is not None and targets[target].squared and not row.meaning.squared and bool(row.entries)


def _is_square_of(row: Row, other: Row) -> bool:
    """Whether another row has the squares of what a row has."""
    own, squares = row.meaning, other.meaning
    return squares.squared and squares.target == own.target and squares.index == own.index and bool(other.entries)


def _disagree(row: Row, squares: Row) -> bool:
    if not _is_square_of(row, squares):
        return False
    own = _squared(row).entries
    return len(own) != len(squares.entries) or not all(map(agree, own, squares.entries))
