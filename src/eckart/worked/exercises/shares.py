"""Shares of single components between their eigenvalues: `λ = 6 (75 %), 2 (25 %)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eckart.worked.exercises.meaning import Meaning
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.targets import Target

Rows = list[Row]


def without_shares(rows: Rows, targets: Sequence[Target]) -> Rows:
    """The rows with the numbers around shares as one row, if there are several; only the share of all is asked for."""
    place = next((i for i, one in enumerate(targets) if "share" in one.names and one.optional), None)
    if place is None or sum(_is_share(row, place) for row in rows) < 2:
        return rows
    unasked = Meaning(frozenset(), title=targets[place].shown)
    shares = [replace(row, meaning=unasked) for row in rows if _is_share(row, place)]
    return [*_joined(rows, place), *shares]


def _joined(rows: Rows, place: int) -> Rows:
    """The rows that are not shares, with a number behind a share in the row of the number in front of it."""
    found: Rows = []
    for own, before in zip(rows, [None, *rows], strict=False):
        if before is not None and _is_share(before, place) and _continues(own) and found:
            found[-1] = replace(found[-1], entries=found[-1].entries + own.entries)
        elif not _is_share(own, place):
            found.append(own)
    return found


def _is_share(row: Row, place: int) -> bool:
    """Whether a row is one percentage without a name, on the line of what it is about."""
    bare = row.is_number and not row.title and not row.starts
    return bare and row.numbers[0].percent and row.meaning.target == place


def _continues(row: Row) -> bool:
    return row.is_number and not row.title and not row.starts and row.meaning.targets is None
