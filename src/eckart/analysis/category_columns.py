"""A note on columns of 0 and 1 that stand for one category each, as `pandas.get_dummies` makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Floats
from eckart.formatting import joined
from eckart.io.roles import quoted
from eckart.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_NAMED = 4


def category_groups(table: Floats) -> list[range]:
    """Neighbouring columns of 0 and 1, of which exactly one is 1 in each row."""
    binary = ((table == 0) | (table == 1)).all(axis=0) & (np.ptp(table, axis=0) > 0)
    found: list[range] = []
    start = 0
    while start < table.shape[1]:
        stop = _end(table, binary, start)
        found += [range(start, stop)] if stop else []
        start = stop or start + 1
    return found


def _end(table: Floats, binary: np.ndarray, start: int) -> int:
    """The end of the group that begins at a column; 0 if none does."""
    total = np.zeros(len(table))
    for j in range(start, table.shape[1]):
        if not binary[j]:
            return 0
        total = total + table[:, j]
        if total.max() > 1:
            return 0
        if total.min() == 1:
            return j + 1
    return 0


def category_note(groups: Sequence[range], names: Sequence[str]) -> Note:
    shown = [_named(group, names) for group in groups[:_MOST_NAMED]]
    more = [f"{len(groups) - len(shown)} more groups"] if len(groups) > len(shown) else []
    one = len(groups) == 1
    listed = joined([*shown, *more])
    text = (
        f"{listed[0].upper()}{listed[1:]} {'stands' if one else 'each stand'} for one category: in every row, "
        "exactly one of the columns is 1. Principal components are made for measurements. For columns of "
        "categories, they mostly show how often each value occurs, and independent categories need all components. "
        "Keep each category as one column of text, which labels the rows, or use multiple correspondence analysis "
        "(the package prince, or MCA of FactoMineR)."
    )
    return Note("category_columns", text, {"groups": tuple(tuple(names[j] for j in group) for group in groups)})


def _named(group: range, names: Sequence[str]) -> str:
    first, last = quoted(names[group[0]]), quoted(names[group[-1]])
    if len(group) == 2:
        return f"the pair of columns {first} and {last}"
    return f"the group of {len(group)} columns {first} to {last}"
