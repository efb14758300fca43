"""What products in float32 do to Ritz values, and how to mend it.

l = ||B v||^2. A sum of products in float32 is off by about c u times itself (`rounding.deviation_of_sum`). So y = B v
is off by c u |y_i| in row i, and l by 2 c u sqrt(sum of y_i^4), since the errors of the rows have all signs.
Where y is spread over many rows that is next to nothing; where one row or column rules, it is not. The root is at most
sqrt(l times the largest squared length of a row); for the other product it is l sqrt(sum of v_j^4).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import Array, fetch_later, from_numpy, namespace, to_numpy
from eckart.engine.backends.tall import times
from eckart.engine.lanczos.terms import Pairs
from eckart.engine.standardize.rounding import DEVIATIONS, deviation_of_sum
from eckart.engine.standardize.standardized import Standardized

_MOST_ROWS = 8192
"""Rows whose products are added up in float32; beyond, in float64."""
_TOLERATED = 0.25
"""Share of the asked accuracy that these errors may have of the captured sum; more is worth half a read."""


def unit(problem: Standardized) -> float:
    """Of rounding, in products of float32; none is to be allowed for where they are formed in float64."""
    return float(np.finfo(np.float32).eps) if problem.precision == "float32" else 0.0


def errors(problem: Standardized, values: np.ndarray, vectors: Array) -> np.ndarray:
    """Bounds, each of four standard deviations, of the error of ||B v||^2 beyond a unit of the largest."""
    squares = vectors * vectors
    shares = fetch_later(namespace(vectors).sum(squares * squares, axis=0))
    centring = problem.centring_error(vectors)
    values = np.maximum(values, 0.0)
    rows = np.sqrt(np.minimum(problem.longest_row, values) * values)
    length, width = problem.shape
    forth, back = 2.0 * deviation_of_sum(width), deviation_of_sum(min(length, _MOST_ROWS))
    own = DEVIATIONS * unit(problem) * (forth * rows + back * values * np.sqrt(shares()))
    return np.asarray(own + centring)


def tolerable(found: np.ndarray, values: np.ndarray, tolerance: float) -> bool:
    return bool(np.linalg.norm(found) <= _TOLERATED * tolerance * np.sum(values))


def mended(problem: Standardized, pairs: Pairs) -> Pairs:
    """The pairs of V^T B^T B V in float64, for half a read: their values are what float32 would have given exactly."""
    exact = to_numpy(problem.exact().gram(pairs.vectors))
    exact = (exact + exact.T) / 2.0
    values, turn = np.linalg.eigh(exact)
    values, turn = values[::-1], np.ascontiguousarray(turn[:, ::-1])
    off = float(np.linalg.norm(exact - np.diag(pairs.values)))
    return replace(
        pairs,
        values=values,
        vectors=times(pairs.vectors, from_numpy(turn, pairs.vectors)),
        residuals=np.abs(turn).T @ pairs.residuals + off,
    )
