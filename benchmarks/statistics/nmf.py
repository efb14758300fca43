"""Planted parts of a non-negative table."""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    rows, columns, parts, noise = cell
    whole = rng.gamma(0.5, 1.0, (rows, parts)) @ rng.gamma(0.5, 1.0, (parts, columns))
    k = ek.choose_rank(whole * rng.uniform(1 - noise, 1 + noise, whole.shape), method="nmf").k
    return [float(k == parts), float((k or 0) > parts)]


PART = Part(
    ("rows", "columns", "parts", "noise"),
    ("right", "too many"),
    ((60, 24, 3, 0.05), (60, 24, 3, 0.2), (100, 40, 5, 0.1), (40, 12, 2, 0.1)),
    one,
    lambda _: 20,
)
