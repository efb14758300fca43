"""Standard errors of explained shares from the influence of each row (the infinitesimal jackknife; Efron, 1982).

With z the centred row, u the direction, l the mean of (u^T z)^2 and T that of ||z||^2, the influence of a row on
log(l / T) is

(u^T z)^2 / l - ||z||^2 / T.

Columns that are divided by their own deviations have the total p. Each z_j then changes the deviation of its column,
and the influence is (u^T z)^2 / l - sum_j u_j^2 z_j^2 (the derivative of an eigenvalue of a correlation matrix). The
influence on the logit is larger by the factor 1 / (1 - share).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.measures import floats
from eckart.arrays import Floats, Matrix, is_sparse, to_numpy
from eckart.result import Decomposition

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LEAST_SHARE = 1e-14
"""Shares below this, or as close to 1, have no spread."""
_TOGETHER = 1_000_000
"""Number of values in memory at a time."""


class ShareErrors:
    """Standard errors of the logits of the shares that directions explain of weighted rows."""

    def __init__(self, matrix: Matrix) -> None:
        sparse = _as_sparse(matrix) if is_sparse(matrix) else None
        self._dense = to_numpy(matrix) if sparse is None else np.zeros((0, 0))
        entries = self._dense if sparse is None else sparse.data
        # Extreme numbers have squares that are infinite or zero. A power of two changes no digit.
        largest = float(max(np.max(entries, initial=0.0), -np.min(entries, initial=0.0)))
        self._unit = float(np.exp2(np.clip(np.frexp(largest)[1], -1000, 1000)))
        self._sparse = None if sparse is None else sparse / self._unit

    def __call__(self, d: Decomposition, weights: Floats, directions: Floats, shares: Floats) -> Floats:
        scale = np.ones(d.columns) if d.scale is None else floats(d.scale) / self._unit
        mean = np.zeros(d.columns) if d.mean is None else floats(d.mean) / self._unit
        axes = directions / scale[:, None]
        squared, lengths = self._squared(mean, axes, np.ones((d.columns, 1)) if d.scale is None else axes**2)
        share = weights / weights.sum()
        known = (shares > _LEAST_SHARE) & (shares < 1 - _LEAST_SHARE)
        parts = [part / np.where(known, np.maximum(share @ part, 1e-300), 1.0) for part in (squared, lengths)]
        error = (share @ (parts[0] - parts[1]) ** 2 / weights.sum()) ** 0.5
        return np.asarray(np.where(known, error / np.where(known, 1 - shares, 1.0), np.nan))

    def _squared(self, mean: Floats, axes: Floats, parts: Floats) -> tuple[Floats, Floats]:
        """(u^T z)^2 of each row and axis, and sum_j parts_j z_j^2 of each row."""
        if self._sparse is not None:
            scores = self._sparse @ axes - mean @ axes
            sums = self._sparse**2 @ parts - 2 * (self._sparse @ (mean[:, None] * parts)) + mean**2 @ parts
            return np.asarray(scores**2), np.asarray(np.maximum(sums, 0.0))
        step = max(1, _TOGETHER // self._dense.shape[1])
        found = []
        for start in range(0, len(self._dense), step):
            rows = self._dense[start : start + step].astype(np.float64) / self._unit - mean
            found.append(((rows @ axes) ** 2, rows**2 @ parts))
        return np.concatenate([scores for scores, _ in found]), np.concatenate([sums for _, sums in found])


def _as_sparse(matrix: Matrix) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array(matrix).astype(np.float64)
