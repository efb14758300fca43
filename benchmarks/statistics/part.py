"""A part of the study: cells, one simulated table of a cell, and what its mean has to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Cell = tuple[object, ...]
Outcome = list[float]


@dataclass(frozen=True)
class Part:
    """`one` simulates a table and returns one number per column; the study prints their means."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    one: Callable[[Cell, np.random.Generator], Outcome]
    tables: Callable[[Cell], int]
    wanted: Callable[[Cell], dict[str, tuple[float, float]]] = lambda _: {}
    """Column -> (lowest, highest) mean."""
    percent: bool = True
