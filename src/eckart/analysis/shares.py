"""Standard errors of explained shares, and their intervals from those of resamples.

Standard errors follow from the influence of each row (the infinitesimal jackknife; Efron, 1982). With z the centred
row, u the direction, l the mean of (u^T z)^2 and T that of ||z||^2, the influence of a row on log(l / T) is

(u^T z)^2 / l - ||z||^2 / T.

Columns that are divided by their own deviations have the total p. Each z_j then changes the deviation of its column,
and the influence is (u^T z)^2 / l - sum_j u_j^2 z_j^2 (the derivative of an eigenvalue of a correlation matrix). The
influence on the logit is larger by the factor 1 / (1 - share).

Intervals. The largest of several similar shares is too large in a sample, because it is the largest, and once more in a
resample: the quantiles of sorted shares would count this bias twice. The intervals of shares have the spread of the
shares along the aligned directions, which are not chosen for their size, about the share of the fit and the same less
its bias. The bias is the mean share of the resamples less that of the fit, on the scale of logits.

This difference is too small within a group: the shares of the fit already differ by chance, which leaves less for the
resamples to add. Sums of squares are additive. If D is the sum of squared deviations of the group's logits from their
mean, the expectation of D is that of the population plus the noise N, and N is the mean of D over the resamples less D
of the fit. The deviations are therefore multiplied by sqrt(max(0, 1 - N / D)), and only the mean of the group is
corrected by a difference. For large D, both corrections agree to first order.

Whether the shares of a group differ is unknown: components three standard errors apart are in a group in half of all
samples. Shrinking is right if they are equal, and the plain difference is right if they are not. For standard
deviations 3 and 2 and 60 rows, 95 % intervals about the shrunk shares contain only 90 % of the true ones. The bias
itself is also uncertain: subtracting its estimate increases the variance of the share of a component that has close
neighbours, and the spread along aligned directions does not contain this error. With the variances 0.6^k and 100 rows,
intervals about the third share less its bias cover 80 %, although its bias is small. The intervals therefore extend
from the lowest to the highest of three centres: the share of the fit, the same less its bias, and the shrunk share.

A group can contain components that were not requested. Those that the resamples contain take part in the mean.

If rows have heavy tails, resamples vary less than samples: with t(5) and 50 rows, 87 to 94 % of the intervals from
percentiles cover. Bootstrap-t intervals divide each deviation by the standard error of its resample (Hall, 1988), which
adds 1 to 3 %. Neither covers more in every case, so the intervals extend to the farther end of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.alignment import close_groups
from eckart.analysis.measures import floats
from eckart.arrays import Floats, Matrix, is_sparse, to_numpy
from eckart.engine.leading import leading
from eckart.result import Decomposition

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

_TOGETHER = 1_000_000
"""Number of values in memory at a time."""
_LEAST_SHARE = 1e-14
"""Shares below this are 0 and have no spread; shares that are as close to 1 are 1."""
_KNOWN = 0.9
"""Minimum share of resamples whose standard errors are known."""


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
        known = _has_spread(shares)
        influences = self._influences(d, weights, directions, known)
        error = (weights @ influences**2) ** 0.5 / weights.sum()
        return np.asarray(np.where(known, error / np.where(known, 1 - shares, 1.0), np.nan))

    def inflation(self, d: Decomposition, weights: Floats) -> Floats:
        """Standard error of log(l_i / l_(i+1)) of neighbouring components over that of normal rows, at least 1.

        For normal rows it is 2 / sqrt(n) (Anderson, 1963); heavy tails make it larger.
        """
        known = _has_spread(floats(d.explained_variance_ratio))
        influences = self._influences(d, weights, floats(d.right), known)
        error = (weights @ np.diff(influences, axis=1) ** 2 / weights.sum()) ** 0.5 / 2.0
        return np.asarray(np.where(known[1:] & known[:-1], np.maximum(error, 1.0), 1.0))

    def _influences(self, d: Decomposition, weights: Floats, directions: Floats, known: NDArray[np.bool_]) -> Floats:
        """The influence of each row on the logarithms of the shares."""
        scale = np.ones(d.columns) if d.scale is None else floats(d.scale) / self._unit
        mean = np.zeros(d.columns) if d.mean is None else floats(d.mean) / self._unit
        axes = directions / scale[:, None]
        squared, lengths = self._squared(mean, axes, np.ones((d.columns, 1)) if d.scale is None else axes**2)
        share = weights / weights.sum()
        parts = [part / np.where(known, np.maximum(share @ part, 1e-300), 1.0) for part in (squared, lengths)]
        return np.asarray(parts[0] - parts[1])

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


def _has_spread(shares: Floats) -> NDArray[np.bool_]:
    return np.asarray((shares > _LEAST_SHARE) & (shares < 1 - _LEAST_SHARE))


def _as_sparse(matrix: Matrix) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array(matrix).astype(np.float64)


def corrected_shares(d: Decomposition, drawn: Floats, inflation: Floats) -> Floats:
    """The shares of the fit, the same less their bias, and the same with the groups shrunk, from those of resamples.

    `inflation` is that of the components of d, for the groups.
    """
    from scipy.special import expit

    shares = floats(d.explained_variance_ratio)
    fit, again = _logit(shares), _logit(drawn[:, : len(shares)])
    # Resamples have fewer distinct rows, so the last of few components can be 0 in them. The mean of the logits of a
    # group does not exist with such a component.
    counted = int(
        np.logical_and.accumulate(np.minimum(shares, drawn[:, : len(shares)].min(axis=0)) > _LEAST_SHARE).sum()
    )
    shrunk = _unbiased(fit, again, close_groups(leading(d, counted), inflation=inflation) if counted else ())
    return np.asarray(expit(np.array([fit, _unbiased(fit, again, ()), shrunk])))


def share_intervals(
    corrected: Floats,
    aligned: Floats,
    errors: Floats,
    ends: Callable[[Floats], tuple[Floats, Floats]],
    confidence: float,
) -> tuple[Floats, Floats]:
    """Lower and upper ends about the corrected shares, with the spread of resamples along their aligned directions.

    `errors` are the standard errors of the fit and of the resamples.
    """
    from scipy.special import expit

    spread, centres = _logit(aligned), _logit(corrected)
    spread -= spread.mean(axis=0)
    lower, upper = ends(spread)
    lowest, highest = _studentized(spread, errors, confidence)
    lower, upper = np.minimum(lower, lowest), np.maximum(upper, highest)
    low, high = expit(centres.min(axis=0) + lower), expit(centres.max(axis=0) + upper)
    return np.where(low > _LEAST_SHARE, low, 0.0), np.where(high < 1 - _LEAST_SHARE, high, 1.0)


def _studentized(spread: Floats, errors: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Ends of the bootstrap-t interval about 0; 0 if too few standard errors are known."""
    known = np.isfinite(errors) & (errors > 0)
    usable = known[0] & (known[1:].mean(axis=0) >= _KNOWN)
    ratios = np.where(known[1:], spread / np.where(known[1:], errors[1:], 1.0), np.nan)
    ratios[:, ~usable] = 0.0
    low, high = np.nanquantile(ratios, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    error = np.where(usable, errors[0], 0.0)
    return np.asarray(-error * high), np.asarray(-error * low)


def _unbiased(fit: Floats, drawn: Floats, groups: tuple[tuple[int, ...], ...]) -> Floats:
    """The values of the fit less their bias; those of a group move towards the mean of the group."""
    result = 2 * fit - drawn.mean(axis=0)
    for group in map(list, groups):
        mean, means = fit[group].mean(), drawn[:, group].mean(axis=1)
        found = float(np.square(fit[group] - mean).sum())
        noise = float(np.square(drawn[:, group] - means[:, None]).sum(axis=1).mean()) - found
        kept = max(0.0, 1 - noise / found) ** 0.5 if found > 0 else 0.0
        result[group] = 2 * mean - means.mean() + kept * (fit[group] - mean)
    return np.asarray(result)


def _logit(shares: Floats) -> Floats:
    share = np.clip(shares, _LEAST_SHARE / 2, 1 - _LEAST_SHARE / 2)
    return np.asarray(np.log(share) - np.log1p(-share))
