"""The limit of Q if missing values were imputed.

An imputed entry of a factor model lies on the plane of the components, without noise, so the residual variance of
complete rows is larger. A row with means as entries is not on the plane of the components even without noise. With S =
V L V^T + s I the covariance of complete rows, D the projection onto the observed columns of a row and P = V V^T, its
residual (I - P) D x has the covariance R = (I - P) D S D (I - P). Its Q is about g chi2(h), with the moments tr R = g h
and tr R^2 = g^2 h (Box, 1954). The limit is multiplied by the ratio of the quantile of this mixture to that of one law
for all rows.

Means in place of a share m of the entries lower the covariances by the factor (1 - m)^2 and the variances by 1 - m:
S* = (1 - m)^2 S + m (1 - m) diag S, which gives L and s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.limits import typical_moments
from eckart.analysis.measures import floats, nonzero_components
from eckart.missing.fill import imputation_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition

    Matrix = NDArray[np.float64]

_MOST = 2000
"""Rows whose gaps are considered; of more rows, evenly chosen ones."""
_LEAST_NOISE = 0.05
"""Minimum share of the residual variance that is noise."""
_ROUNDING = 1e-12
_DRAWS = 20_000


def gap_factor(d: Decomposition, k: int, confidence: float, *, moments: bool) -> float:
    """The factor of a limit of Q that was computed as if all rows had the same law; 1 if no entries became means.

    `moments` tells whether that law has the mean and variance of the Q of typical rows, or only the mean of all rows.
    """
    from scipy.special import chdtri

    imputed = imputation_of(d)
    if imputed is None or imputed.how != "mean" or not len(imputed.rows):
        return 1.0
    scales, shapes = _laws(d, k, imputed.rows, imputed.columns)
    if not len(scales):
        return 1.0
    rng = np.random.Generator(np.random.Philox(key=[_DRAWS, 23]))
    drawn = np.ravel(scales * rng.chisquare(shapes, (-(-_DRAWS // len(scales)), len(scales))))
    mean, shape = float(drawn.mean()), float(d.columns - k)
    if moments:
        mean, mean_square = typical_moments(drawn, np.ones(len(drawn)))
        shape = 2.0 * mean**2 / max(mean_square - mean**2, 1e-300)
    return float(np.quantile(drawn, confidence)) / (mean / shape * float(chdtri(shape, 1.0 - confidence)))


def residual_noise(d: Decomposition, k: int) -> float:
    """The residual variance of complete rows over that of rows with imputed values, which lack noise; 1 if none are."""
    imputed = imputation_of(d)
    if imputed is None or imputed.explained_variance_ratio is None:
        return 1.0
    left = 1.0 - float(floats(d.explained_variance_ratio)[:k].sum())
    complete = 1.0 - float(imputed.explained_variance_ratio[:k].sum())
    return max(complete / left, 1.0) if left > _ROUNDING else 1.0


def _laws(d: Decomposition, k: int, rows: Matrix, columns: Matrix) -> tuple[Matrix, Matrix]:
    """g and h of the rows."""
    alive = nonzero_components(d)[:k]
    right, kept = floats(d.right)[:, :k][:, alive], floats(d.explained_variance)[:k][alive]
    total = d.norm**2 / max(d.weight - 1.0, 1.0)
    gone = len(rows) / (d.rows * d.columns)
    observed = max(1.0 - gone, 0.05) ** 2
    left = max((total - float(kept.sum())) / max(d.columns - len(kept), 1), 0.0)
    shares = right**2  # of the components in each column
    variances = shares @ kept + left * (1.0 - shares.sum(axis=1))
    signal = np.maximum(kept - gone * (shares.T @ variances), 0.0) / observed
    own = float((1.0 - shares.sum(axis=1)) @ variances) / max(d.columns - len(kept), 1)
    noise = max(left - gone * own, _LEAST_NOISE * left) / observed
    signal = np.maximum(signal - noise, 0.0)
    chosen = np.unique(np.linspace(0, d.rows - 1, min(d.rows, _MOST)).astype(int))
    known = np.ones((d.rows, d.columns), dtype=bool)
    known[rows, columns] = False
    moments = np.array([_moments(right[seen], signal, noise) for seen in known[chosen]])
    moments = moments[(moments > 0.0).all(axis=1)]
    return moments[:, 1] / moments[:, 0], moments[:, 0] ** 2 / moments[:, 1]


def _moments(seen: Matrix, signal: Matrix, noise: float) -> tuple[float, float]:
    """tr R and tr R^2 of a row, from the loadings of its observed columns."""
    inside = seen.T @ seen  # V^T D V
    rest = np.eye(len(signal)) - inside
    # A = (I - P) D V has A^T A = V^T D V (I - V^T D V) and A^T D A = (I - V^T D V) A^T A.
    spread = inside @ rest * signal
    first = np.trace(spread) + noise * (len(seen) - np.trace(inside))
    second = np.sum(spread * spread.T) + 2.0 * noise * np.trace(rest @ inside @ rest * signal)
    second += noise**2 * (len(seen) - 2.0 * np.trace(inside) + np.sum(inside**2))
    return float(first), float(second)
