"""Integers that float64 cannot represent: found while blocks are read, reported once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from eckart.formatting import listed
from eckart.notes import Note

EXACT = 2.0**53
"""Integers up to this one are exact in float64."""
ROUNDED = "Integers larger than 2**53 were rounded to the nearest float64 number"


class Rounded:
    """Columns in which reading has found integers that float64 rounds; all blocks of a source share one record.

    Blocks are read on demand, so the record is complete after the first pass over the data.
    """

    names: dict[str, None]
    """In the order found; "" stands for columns without names."""

    def __init__(self) -> None:
        self.names = {}

    def add(self, names: Iterable[str]) -> None:
        self.names.update(dict.fromkeys(names))

    def check(self, block: Any, integers: Sequence[int], names: Sequence[str] | None) -> None:
        """Record the columns of a block of floats, stored as integers, that have large entries."""
        if not len(integers):
            return
        if not isinstance(block, np.ndarray):
            self.add([""] if is_rounded(block.data) else [])
            return
        large = np.asarray((block >= EXACT).any(axis=0) | (block <= -EXACT).any(axis=0))
        self.add([names[j] if names else "" for j in integers if large[j]] if large.any() else [])

    def notes(self, columns: Sequence[str] | None = None) -> tuple[Note, ...]:
        """A note that names the columns, in the order of `columns` if given: blocks can be read in any order."""
        order = {name: place for place, name in enumerate(columns or ())}
        return rounding_notes(sorted(self.names, key=lambda name: order.get(name, -1)))


def is_rounded(numbers: np.ndarray) -> bool:
    """Whether some of these numbers, stored as integers, may have been rounded."""
    return bool((numbers >= EXACT).any() or (numbers <= -EXACT).any())


def is_long(dtype: np.dtype) -> bool:
    """Whether the type has integers that float64 rounds."""
    return dtype.kind in "iu" and dtype.itemsize >= 8


def whole_columns(matrix: np.ndarray) -> tuple[int, ...]:
    """Positions of columns without fractions."""
    return tuple(np.flatnonzero(~(np.floor(matrix) < matrix).any(axis=0)).tolist())


def rounding_notes(names: Sequence[str]) -> tuple[Note, ...]:
    """A note that names these columns, if there are any; "" is a column without a name."""
    if not names:
        return ()
    return (Note("rounded_integers", f"{ROUNDED} in {listed(names)}." if all(names) else f"{ROUNDED}."),)
