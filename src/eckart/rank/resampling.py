"""Tables with their structure destroyed (shuffled columns, random signs), and how many of them to draw.

A few dozen draws decide clear cases. Otherwise their number doubles until the result differs from its limit by more
than three standard errors, or until the budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from eckart.arrays import Matrix, is_sparse

FIRST = 39
_MOST = 1279
_BUDGET = 20_000_000
"""Entries of drawn tables."""
_ERRORS = 3.0
"""Standard errors that are clear."""
_SURE = 8.0
"""Standard deviations from the mean of the draws at which a result is beyond any of them."""

Clear = Callable[[np.ndarray, np.ndarray], bool]
"""Whether the observed statistic, given the drawn ones, is far from its limit."""


def permuted(table: Matrix, rng: np.random.Generator) -> Matrix:
    """Each column in its own random order; the entries of a sparse column move to random rows."""
    if not is_sparse(table):
        return rng.permuted(table, axis=0)
    columns = sparse.csc_array(table)
    counts = np.diff(columns.indptr)
    positions = [rng.choice(table.shape[0], int(count), replace=False, shuffle=False) for count in counts]
    indices = np.concatenate([np.sort(place) for place in positions]) if positions else columns.indices
    data = columns.data.copy()
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        rng.shuffle(data[start:stop])
    return sparse.csr_array(sparse.csc_array((data, indices, columns.indptr), shape=table.shape))


def flipped(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each entry with a random sign."""
    return np.asarray(table * _signs(table.size, rng).reshape(table.shape))


def rows_flipped(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each row with a random sign."""
    return np.asarray(table * _signs(len(table), rng)[:, None])


def _signs(count: int, rng: np.random.Generator) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), np.uint8), count=count)
    return np.asarray(2 * bits.astype(np.int8) - 1)


def until_clear(
    observed: np.ndarray, draw: Callable[[], np.ndarray], size: int, clear: Clear, *, first: int = FIRST
) -> np.ndarray:
    """Drawn statistics, one per table of `size` entries: `first`, or more until the result is clear."""
    most = int(np.clip(_BUDGET // max(size, 1), first, _MOST))
    drawn = [draw() for _ in range(first)]
    while len(drawn) < most and not clear(observed, np.asarray(drawn)):
        drawn += [draw() for _ in range(min(len(drawn), most - len(drawn)))]
    return np.asarray(drawn)


def rank_is_clear(observed: float, drawn: np.ndarray, share: float) -> bool:
    """Whether the share of draws that reach the statistic clearly differs from `share`."""
    count = len(drawn)
    mean, deviation = float(drawn.mean()), float(drawn.std(ddof=1))
    if observed > mean + _SURE * deviation:
        return True
    error = np.sqrt(count * share * (1.0 - share))
    return bool(abs(float(np.sum(drawn >= observed)) - count * share) > _ERRORS * error)


def excess_is_clear(excess: float, count: int, *limits: float) -> bool:
    """Whether a number of standard deviations, estimated from `count` draws, clearly differs from all limits."""
    error = np.sqrt((1.0 + excess**2 / 2.0) / count)
    return all(abs(excess - limit) > _ERRORS * error for limit in limits)
