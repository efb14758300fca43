"""How often the tests are right if the covariance of the noise is known: what the verdict can reach at most.

The tables are those of `rank`, divided by the true deviations of rows and columns, or multiplied by the inverse root of
the true correlations. What is left to find is the number of components in white noise.
"""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from benchmarks.statistics.rank import SHAPES, with_components

RULES = ("sign_flip", "permutation", "gap", "minka")


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    family, rows, columns = cell
    whiten = np.eye(columns)
    by_row = np.ones((rows, 1))
    if "unequal" in str(family):
        by_row = rng.uniform(0.5, 2.0, (rows, 1))
        whiten = np.diag(1.0 / rng.uniform(0.5, 2.0, columns))
    elif "correlated" in str(family):
        near = 0.5 ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
        whiten = np.linalg.inv(np.linalg.cholesky(near)).T
    noise = by_row * (rng.standard_normal((rows, columns)) @ np.linalg.inv(whiten))
    table, rank = with_components(str(family), noise, rng)
    table = (table - table.mean(axis=0)) @ whiten / by_row
    choice = ek.choose_rank(table, RULES, method="svd")
    return [float(choice[rule].k == rank) for rule in RULES]


PART = Part(
    ("family", "rows", "columns"),
    RULES,
    tuple(
        (family, *shape) for family in ("strong", "strong unequal", "strong correlated") for shape in list(SHAPES)[:3]
    ),
    one,
    lambda _: 200,
)
