"""Build the rows of a table from names and numbers, and check their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eckart.errors import InputError
from eckart.result import Decomposition
from eckart.text import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


def named_lines(names: Sequence[str], numbers: Matrix) -> tuple[tuple[Cell, ...], ...]:
    return tuple((name, *line) for name, line in zip(names, numbers.tolist(), strict=True))


def check_rows(d: Decomposition, count: int) -> None:
    if count != d.rows:
        message = f"{count:,} values were passed, but the decomposition has {d.rows:,} rows. "
        raise InputError(message + "Pass one value per fitted row (rows with weight 0 were not fitted).")
