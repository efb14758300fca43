"""Build the rows of a table from names and numbers, and check their number."""

from __future__ import annotations

from collections.abc import Sequence

from eckart.arrays import Floats
from eckart.errors import InputError
from eckart.formatting import counted
from eckart.result import Decomposition
from eckart.text import Cell


def named_lines(names: Sequence[str], numbers: Floats) -> tuple[tuple[Cell, ...], ...]:
    return tuple((name, *line) for name, line in zip(names, numbers.tolist(), strict=True))


def check_rows(d: Decomposition, count: int) -> None:
    if count != d.rows:
        message = (
            f"{counted(count, 'value was', 'values were')} passed, but the decomposition has {counted(d.rows, 'row')}. "
        )
        raise InputError(message + "Pass one value per fitted row (rows with weight 0 were not fitted).")
