"""CUR's own part of the report: the chosen columns and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import to_numpy
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from eckart.result import Decomposition


def chosen(d: Decomposition) -> dict[str, Table]:
    """The chosen columns and rows, in the order of choice."""
    names = {
        "columns": d.column_names or tuple(f"x{j + 1}" for j in range(d.columns)),
        "rows": d.row_names or range(1, d.rows + 1),
    }
    found = {}
    for key, labels in names.items():
        indices = np.asarray(to_numpy(getattr(d.details, key)), np.intp).tolist()
        lines: tuple[tuple[Cell, ...], ...] = tuple((i + 1, str(labels[j])) for i, j in enumerate(indices))
        found[f"chosen_{key}"] = Table(f"Chosen {key}", ("order", key[:-1]), lines, kinds=("count", "text"))
    return found
