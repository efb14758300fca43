"""How often the tests are right if the covariance of the noise is known: what the verdict can reach at most.

The tables are those of `rank`, divided by the true deviations of rows and columns, or multiplied by the inverse root of
the true correlations. What is left to find is the number of components in white noise.

"known family" is the number with the best Bayesian information criterion if only the family is known: white noise, a
variance of its own for each column (factor analysis), or correlations of r^|i - j|, with the parameters estimated.
"""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from benchmarks.statistics.rank import SHAPES, with_components
from eckart.rank.noise_models import factors, white_criteria

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
    given = table
    table = (table - table.mean(axis=0)) @ whiten / by_row
    choice = ek.choose_rank(table, RULES, method="svd")
    return [*(float(choice[rule].k == rank) for rule in RULES), float(known_family(str(family), given) == rank)]


def known_family(family: str, table: np.ndarray) -> int:
    """The number of components with the best criterion."""
    rows, columns = table.shape
    table = (table - table.mean(axis=0)) / (rows - 1) ** 0.5
    if "unequal" in family:
        return max((factors(table.T @ table, rows - 1, k) for k in range(columns - 1)), key=lambda f: f.criterion).k
    best = []
    for r in np.arange(0.0, 0.91, 0.05) if "correlated" in family else (0.0,):
        near = r ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
        white = table @ np.linalg.inv(np.linalg.cholesky(near)).T
        values = np.linalg.svd(white, compute_uv=False) ** 2
        criteria = white_criteria(values, rows - 1, columns, columns - 2)
        criteria -= 0.5 * (rows - 1) * (columns - 1) * np.log(1.0 - r * r)
        best.append((criteria.max(), criteria.argmax()))
    return int(max(best)[1])


PART = Part(
    ("family", "rows", "columns"),
    (*RULES, "known family"),
    tuple(
        (family, *shape) for family in ("strong", "strong unequal", "strong correlated") for shape in list(SHAPES)[:3]
    ),
    one,
    lambda _: 200,
)
