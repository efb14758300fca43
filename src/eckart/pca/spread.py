"""Variances about the mean, for a decomposition without centring.

With B = A - c, where c is near the column means b + c, and n rows: total = sum of squares of B / n - |b|^2. The scores
t = A v have E t^2 = s^2 / n and the mean (b + c) v, hence variance s^2 / n - ((b + c) v)^2. If that cancels, the scores
are formed.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, Matrix, astype, from_numpy, is_sparse, namespace, to_numpy
from eckart.engine.backends.csr_scipy import COMPILE_FROM
from eckart.engine.exponent import times_power_of_two
from eckart.engine.matrix import Opened
from eckart.io.open_matrix import open_matrix
from eckart.pca.constants import CANCELLED_SHARE, SAFE_SQUARES
from eckart.pca.scatter import near_mean
from eckart.projecting import project
from eckart.result import Decomposition, SVDDetails

_KEPT_SHARE = 0.25
"""Variance relative to the mean square below which a shift is worth another pass."""


def spread(d: Decomposition, data: Matrix, weights: object = None) -> tuple[np.ndarray, float]:
    """(standard deviation of the scores on each component, root of the variance of all columns), divisor n."""
    if weights is None and (found := _of_stored(d, data)) is not None:
        mean, total = found
        values = to_numpy(d.values).astype(np.float64) / data.shape[0] ** 0.5
        variances = _variances(d, values**2, mean)
        if variances is not None:
            return np.sqrt(np.maximum(variances, 0.0)) * (total > 0.0), total**0.5
    opened = open_matrix(data)
    if weights is not None:
        weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (opened.matrix.shape[0],))
    mean, total = _moments(opened, weights)
    count = float(opened.matrix.shape[0]) if weights is None else float(np.sum(weights))
    # In units of the opened matrix, whose squares are in range.
    values = np.ldexp(to_numpy(d.values).astype(np.float64), opened.exponent) / count**0.5
    variances = _variances(d, values**2, mean)
    if variances is None:
        variances = _of_scores(project(d, data), weights, opened.exponent)
    deviations = np.sqrt(np.maximum(variances, 0.0))
    if total == 0.0:
        deviations = deviations * 0.0
    return np.ldexp(deviations, -opened.exponent), float(np.ldexp(total**0.5, -opened.exponent))


def _variances(d: Decomposition, squares: np.ndarray, mean: np.ndarray) -> np.ndarray | None:
    """Variances of the scores from their mean squares; None if these cancel."""
    right = astype(d.right, namespace(d.right).float64)
    variances = squares - to_numpy(from_numpy(mean, right) @ right) ** 2
    cancelled = bool(np.any((variances < CANCELLED_SHARE * squares) & (squares > 0.0)))
    return None if cancelled else variances


def _of_stored(d: Decomposition, data: Matrix) -> tuple[np.ndarray, float] | None:
    """`_moments` of a small SciPy CSR matrix of ordinary magnitude, given its column norms; None if not.

    Opening a small matrix once more takes longer than its sums. No shift is needed where no variance cancels.
    """
    if not is_sparse(data) or data.format != "csr" or data.dtype.char not in "fd" or not 0 < data.nnz < COMPILE_FROM:
        return None
    details = d.details
    if not isinstance(details, SVDDetails):
        return None
    rows = data.shape[0]
    mean = (data.T @ np.ones(rows)) / rows
    squares = to_numpy(details.column_norms) ** 2 / rows
    low, high = SAFE_SQUARES
    if not low < float(squares.max()) < high:
        return None
    variances = squares - mean**2
    if bool(np.any(variances < _KEPT_SHARE * squares)):
        return None
    return mean, float(np.sum(variances))


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
