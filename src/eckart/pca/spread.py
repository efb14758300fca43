"""Variances about the mean, for a decomposition without centring.

With B = A - c, where c is near the column means b + c, and n rows: total = sum of squares of B / n - |b|^2. The scores
t = A v have E t^2 = s^2 / n and the mean (b + c) v, hence variance s^2 / n - ((b + c) v)^2. If that cancels, the scores
are formed.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, astype, from_numpy, namespace, to_numpy
from eckart.engine.exponent import times_power_of_two
from eckart.engine.matrix import Opened
from eckart.io.open_matrix import open_matrix
from eckart.pca.scatter import near_mean
from eckart.projecting import project
from eckart.result import Decomposition

_CANCELLED = 1e-5
"""A variance below this share of the mean square has lost too many digits."""


def spread(d: Decomposition, data: object, weights: object = None) -> tuple[np.ndarray, float]:
    """(standard deviation of the scores on each component, root of the variance of all columns), divisor n."""
    opened = open_matrix(data)
    if weights is not None:
        weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (opened.matrix.shape[0],))
    mean, total = _moments(opened, weights)
    count = float(opened.matrix.shape[0]) if weights is None else float(np.sum(weights))
    # In units of the opened matrix, whose squares are in range.
    values = np.ldexp(to_numpy(d.values).astype(np.float64), opened.exponent) / count**0.5
    right = astype(d.right, namespace(d.right).float64)
    squares = values**2
    variances = squares - to_numpy(from_numpy(mean, right) @ right) ** 2
    if bool(np.any((variances < _CANCELLED * squares) & (squares > 0.0))):
        variances = _of_scores(project(d, data), weights, opened.exponent)
    deviations = np.sqrt(np.maximum(variances, 0.0))
    if total == 0.0:
        deviations = deviations * 0.0
    return np.ldexp(deviations, -opened.exponent), float(np.ldexp(total**0.5, -opened.exponent))


def _moments(opened: Opened, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Column means, and the sum of the column variances, in one pass."""
    matrix, shift = near_mean(opened.matrix.precise())
    first = (matrix if weights is None else matrix.weighted(weights)).moments_and_product()
    offset = to_numpy(first.sums) / first.weight
    variances = to_numpy(first.squares) / first.weight - offset**2
    mean = shift + offset
    # A column is constant if its variance is at most the rounding of its mean.
    rounding = (np.finfo(opened.matrix.precision).eps * np.abs(mean)) ** 2
    return mean, float(np.sum(np.where(variances > rounding, variances, 0.0)))


def _of_scores(scores: Array, weights: np.ndarray | None, exponent: int) -> np.ndarray:
    xp = namespace(scores)
    scores = times_power_of_two(astype(scores, xp.float64), exponent)
    centred = scores - _average(scores, weights)
    return to_numpy(_average(centred**2, weights))


def _average(columns: Array, weights: np.ndarray | None) -> Array:
    """Weighted average of each column."""
    xp = namespace(columns)
    if weights is None:
        return xp.mean(columns, axis=0)
    return xp.sum(columns * from_numpy(weights, columns)[:, None], axis=0) / float(np.sum(weights))
