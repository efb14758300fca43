"""Coverage of 95 % intervals of imputed values, by column."""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part

COLUMNS = 8


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    rows, gaps = cell
    scales = np.geomspace(0.1, 10.0, COLUMNS)
    noise = rng.uniform(0.3, 1.0, COLUMNS)
    signal = rng.standard_normal((rows, 2)) @ rng.standard_normal((2, COLUMNS))
    whole = (signal + rng.standard_normal((rows, COLUMNS)) * noise) * scales
    gone = rng.random(whole.shape) < gaps
    gone[: COLUMNS + 2] = False
    filled = ek.fill_missing(np.where(gone, np.nan, whole))
    inside = np.abs(filled.values - whole[gone]) < 1.96 * filled.errors
    return [
        float(inside[filled.columns == j].mean()) if (filled.columns == j).any() else np.nan for j in range(COLUMNS)
    ]


PART = Part(
    ("rows", "gaps"),
    tuple(f"column {j + 1}" for j in range(COLUMNS)),
    ((100, 0.1), (100, 0.3), (400, 0.1), (400, 0.3)),
    one,
    lambda _: 200,
    lambda _: {f"column {j + 1}": (0.92, 0.98) for j in range(COLUMNS)},
)
