"""The best of several starts, found on a sample of rows: which local minimum is reached depends on the start.

For many rows a sample costs little and tells the minima apart: the same rows decide between them. Rows are drawn with
probability proportional to half their share of the squares plus half of 1 / rows, and scaled so that the loss of the
sample estimates that of all rows (Drineas, Kannan and Mahoney, 2006).
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import is_numpy
from eckart.nmf.constants import CANDIDATE_ROWS, CANDIDATE_SWEEPS, FURTHER_ITERATIONS, LOWER_LOSS, TRIAL_ITERATIONS
from eckart.nmf.driver import Outcome, accelerate
from eckart.nmf.one_pass import OnePassSquares
from eckart.nmf.options import Settings
from eckart.nmf.problem import Penalties, Problem
from eckart.nmf.singular import SingularVectors
from eckart.nmf.small_squares import SmallSquares
from eckart.nmf.squares import Squares, compiles
from eckart.nmf.start import FILLED, from_singular_vectors, random_start
from eckart.nmf.table import NonnegativeTable

_ROWS_FROM = 8 * CANDIDATE_ROWS
"""Number of rows from which the sample costs little compared with all rows."""


def best_start(
    table: NonnegativeTable, settings: Settings, penalties: Penalties, problem: Problem, svd: SingularVectors | None,
    start: tuple[np.ndarray, np.ndarray], rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """`start`, or W and H from a candidate that is clearly better on a sample of rows."""
    if svd is None or not _worthwhile(table, settings, penalties):
        return start
    sample, chosen, scales = _sampled(table, settings.k, rng)
    k = settings.k
    left, values, right = svd.of(table)
    filled = from_singular_vectors(left[:, :k], values[:k], right[:, :k], fill="nndsvda", mean=table.mean, rng=rng)
    random = random_start(table.matrix.shape[0], table.matrix.shape[1], k, table.mean, rng)
    default, *others = (_trial(sample, w[chosen] * scales, h, TRIAL_ITERATIONS) for w, h in (start, filled, random))
    best = min(others, key=lambda outcome: outcome.history[-1])
    if best.history[-1] > LOWER_LOSS * default.history[-1]:
        return start
    right = _trial(sample, best.left, best.right, FURTHER_ITERATIONS).right
    begin = np.zeros_like(start[0])
    return problem.rows(begin, right, begin, 0.0, sweeps=CANDIDATE_SWEEPS).new, right


def _worthwhile(table: NonnegativeTable, settings: Settings, penalties: Penalties) -> bool:
    plain = settings.init == FILLED and settings.squares and penalties == Penalties() and not table.observed
    return plain and is_numpy(table.matrix) and table.matrix.shape[0] >= _ROWS_FROM


def _trial(problem: Squares, left: np.ndarray, right: np.ndarray, most: int) -> Outcome:
    return accelerate(problem, left, right, max_iter=most, tol=1e-4, extrapolation=0.3)


def _sampled(table: NonnegativeTable, k: int, rng: np.random.Generator) -> tuple[Squares, np.ndarray, np.ndarray]:
    """(the loss of a sample of rows, which rows, their scales as a column)."""
    matrix = table.matrix
    squares = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
    shares = 0.5 / len(squares) + 0.5 * squares / max(float(squares.sum()), np.finfo(float).tiny)
    chosen = np.sort(rng.choice(len(shares), CANDIDATE_ROWS, replace=False, p=shares / shares.sum()))
    scales = 1.0 / np.sqrt(CANDIDATE_ROWS * shares[chosen])[:, None]
    rows = matrix[chosen] * scales
    norm = float(np.vdot(rows, rows))
    products = (lambda other: rows @ other), (lambda other: rows.T @ other)
    if compiles(sum(matrix.shape), k):
        return OnePassSquares(rows, *products, norm, Penalties(), sweeps=4, compiled=True), chosen, scales
    return SmallSquares(*products, norm, Penalties(), sweeps=2, end=1e-14), chosen, scales
