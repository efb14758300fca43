"""Least squares with non-negative coefficients, solved exactly: the rows that coordinate descent leaves unfinished.

Sweeps over the coordinates converge as slowly as the square of the condition number of the parts suggests. The minimum
of 1/2 w G w^T - t w^T over w >= 0 follows from one linear system, once it is known which coefficients are positive.

Reference: Kim and Park (2011), Fast nonnegative matrix factorization: an active-set-like method and comparisons, SIAM
Journal on Scientific Computing 33(6), section 3 (block principal pivoting).
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import EPSILON, Floats
from eckart.nmf.constants import BLOCK_EXCHANGES, EXACT_SHARE, ROWS_OF_SYSTEMS, SWEEPS_CONVERGE_UP_TO

_ROUNDINGS = 16.0
"""Roundings of a gradient, in units of the sum of the absolute values of its terms."""


def needs_pivoting(gram: Floats) -> bool:
    """Whether sweeps converge slowly, because parts are similar, but not linearly dependent."""
    return _least_curvature(_influential(gram)[1]) > 0.0


def _influential(gram: Floats) -> tuple[np.ndarray, Floats]:
    """The parts that are not zero, and their G."""
    some = np.flatnonzero(np.diagonal(gram) > 0.0)
    return some, gram[np.ix_(some, some)]


def _least_curvature(gram: Floats) -> float:
    """The smallest eigenvalue of G if sweeps converge slowly; 0 if they do not, or if the minimum is not unique."""
    values = np.linalg.eigvalsh(gram) if gram.size else np.zeros(1)
    dependent = values[0] <= len(gram) * EPSILON * values[-1]
    return 0.0 if dependent or values[-1] <= SWEEPS_CONVERGE_UP_TO * values[0] else float(values[0])


def solved_exactly(left: Floats, target: Floats, gram: Floats) -> Floats:
    """W with exact minima for rows whose coefficients may be off by more than a share of the largest.

    A row w with projected gradients v is at most |v| / lambda away from its minimum, where lambda is the smallest
    eigenvalue of G.
    """
    some, gram = _influential(gram)
    least = _least_curvature(gram)
    if not least:
        return left
    target, own = target[:, some], left[:, some]
    slopes = own @ gram - target
    violation = np.where(own > 0.0, np.abs(slopes), np.maximum(-slopes, 0.0)).max(axis=1)
    far = np.flatnonzero(violation > EXACT_SHARE * least * own.max(axis=1))
    if not far.size:
        return left
    new, height = left.copy(), max(1, ROWS_OF_SYSTEMS // some.size**2)
    for start in range(0, far.size, height):
        part = far[start : start + height]
        found, done = _pivot(own[part] > 0.0, target[part], gram)
        new[np.ix_(part[done], some)] = found[done]
    return new


def _pivot(free: np.ndarray, target: Floats, gram: Floats) -> tuple[Floats, np.ndarray]:
    """Block principal pivoting for all rows at once, beginning with the `free` coefficients; (W, rows solved).

    All coefficients of the wrong sign change sides. If this does not lower their number several times in a row, only
    the last one does, which ends after finitely many steps (Murty's rule).
    """
    rows, k = target.shape
    eye, found, done = np.eye(k), np.zeros((rows, k)), np.zeros(rows, bool)
    fewest, chances = np.full(rows, k + 1), np.full(rows, BLOCK_EXCHANGES)
    going = np.arange(rows)
    for _ in range(10 * k + 20):
        inside = free[going]
        systems = np.where(inside[:, :, None] & inside[:, None, :], gram, eye)
        own = np.linalg.solve(systems, np.where(inside, target[going], 0.0)[:, :, None])[:, :, 0]
        slopes = own @ gram - target[going]
        noise = _ROUNDINGS * EPSILON * (np.abs(own) @ np.abs(gram) + np.abs(target[going]))
        wrong = np.where(inside, own < 0.0, slopes < -noise)
        count = wrong.sum(axis=1)
        found[going], done[going] = own, count == 0
        still = count > 0
        going, wrong, count = going[still], wrong[still], count[still]
        if not going.size:
            break
        fewer = count < fewest[going]
        block = fewer | (chances[going] > 0)
        chances[going] = np.where(fewer, BLOCK_EXCHANGES, chances[going] - 1)
        fewest[going] = np.minimum(fewest[going], count)
        last = np.arange(k) == k - 1 - np.argmax(wrong[:, ::-1], axis=1)[:, None]
        free[going] ^= np.where(block[:, None], wrong, last)
    return found, done
