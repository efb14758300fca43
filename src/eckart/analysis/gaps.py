"""The limits of T2 and Q if missing values were imputed.

An imputed entry of a factor model lies on the plane of the components, without noise, so the residual variance of
complete rows is larger. A row with means as entries is not on the plane of the components even without noise. With S =
V L V^T + s I the covariance of complete rows, D the projection onto the observed columns of a row and P = V V^T, its
residual (I - P) D x has the covariance R = (I - P) D S D (I - P), and its scores have V^T D S D V. Its Q is about
g chi2(h), with the moments tr R = g h and tr R^2 = g^2 h (Box, 1954), and so is its T2. The rows together follow a
mixture of these laws, whose mean is that of the fitted rows.

Means in place of a share m of the entries lower the covariances by the factor (1 - m)^2 and the variances by 1 - m:
S* = (1 - m)^2 S + m (1 - m) diag S, which gives L and s.

A residual that is signal grows with the scores of its row, as the row's influence on the components does. For normal
scores E[t_1^2 t^T t] is k + 2 times E[t_1^2], not k times: this part of a large Q is fitted as closely as by k + 2
components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.limits import most_typical
from eckart.analysis.measures import floats, nonzero_components, row_weights
from eckart.arrays import Floats
from eckart.missing.fill import imputation_of

if TYPE_CHECKING:
    from eckart.result import Decomposition


_MOST = 2000
"""Rows whose gaps are considered; of more rows, evenly chosen ones."""
_LEAST_NOISE = 0.05
"""Minimum share of the residual variance that is noise."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Mixture:
    """Rows with the laws g chi2(h), and how often each counts."""

    scales: Floats
    shapes: Floats
    weights: Floats

    @classmethod
    def of(cls, first: Floats, second: Floats, weights: Floats) -> Mixture:
        """From the traces of R and of R^2."""
        return cls(second / first, first**2 / second, weights / weights.sum())

    def quantile(self, share: float) -> float:
        from scipy.optimize import brentq
        from scipy.special import chdtr

        def excess(q: float) -> float:
            return float(self.weights @ chdtr(self.shapes, q / self.scales)) - share

        means = self.scales * self.shapes
        high = float(means.max())
        while excess(high) < 0.0:
            high *= 2.0
        return float(brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-13))

    def mean(self, *, typical: bool) -> float:
        """The mean; without clear outliers if `typical`, as `limits.typical_moments` computes it."""
        from scipy.special import chdtr

        means = self.scales * self.shapes
        if not typical:
            return float(self.weights @ means)
        end = most_typical(*(self.quantile(share) for share in (0.25, 0.5, 0.75)))
        inside = chdtr(self.shapes, end / self.scales)
        return float(self.weights @ (means * chdtr(self.shapes + 2.0, end / self.scales)) / (self.weights @ inside))


@dataclass(frozen=True)
class GapLaws:
    """The laws of T2 and Q of rows with means as entries, and the share of Q that is signal."""

    inside: Mixture
    outside: Mixture
    signal: float

    def t2_factor(self, k: int, confidence: float) -> float:
        """The quantile of T2 over that of rows without gaps."""
        from scipy.special import chdtri

        usual = float(chdtri(k, 1.0 - confidence)) / k
        return self.inside.quantile(confidence) / self.inside.mean(typical=False) / usual

    def q_factor(self, confidence: float, *, typical: bool) -> float:
        """The quantile of Q over its mean."""
        return self.outside.quantile(confidence) / self.outside.mean(typical=typical)


def gap_laws(d: Decomposition, k: int) -> GapLaws | None:
    """The laws of T2 and Q; None if no entries became means."""
    imputed = imputation_of(d)
    if imputed is None or imputed.how != "mean" or not len(imputed.rows):
        return None
    alive = nonzero_components(d)[:k]
    right, kept = floats(d.right)[:, :k][:, alive], floats(d.explained_variance)[:k][alive]
    known = np.ones((d.rows, d.columns), dtype=bool)
    known[imputed.rows, imputed.columns] = False
    weights = row_weights(d)
    gone = 1.0 - float(weights @ known.mean(axis=1)) / float(weights.sum())
    signal, noise = _complete_rows(d, right, kept, gone)
    chosen = np.unique(np.linspace(0, d.rows - 1, min(d.rows, _MOST)).astype(int))
    traces = np.array([_traces(right[seen], signal, noise, kept) for seen in known[chosen]])
    usable = (traces[:, :4] > 0.0).all(axis=1)
    if not usable.any():
        return None
    traces, weights = traces[usable], weights[chosen][usable]
    inside = Mixture.of(traces[:, 0], traces[:, 1], weights)
    outside = Mixture.of(traces[:, 2], traces[:, 3], weights)
    return GapLaws(inside, outside, float(weights @ traces[:, 4]) / float(weights @ traces[:, 2]))


def residual_noise(d: Decomposition, k: int) -> float:
    """The residual variance of complete rows over that of rows with imputed values, which lack noise; 1 if none are."""
    imputed = imputation_of(d)
    if imputed is None or imputed.explained_variance_ratio is None:
        return 1.0
    left = 1.0 - float(floats(d.explained_variance_ratio)[:k].sum())
    complete = 1.0 - float(imputed.explained_variance_ratio[:k].sum())
    return max(complete / left, 1.0) if left > _ROUNDING else 1.0


def _complete_rows(d: Decomposition, right: Floats, kept: Floats, gone: float) -> tuple[Floats, float]:
    """L and s, from the variances of a table with the share `gone` of means."""
    total = d.norm**2 / max(d.weight - 1.0, 1.0)
    observed = max(1.0 - gone, 0.05) ** 2
    left = max((total - float(kept.sum())) / max(d.columns - len(kept), 1), 0.0)
    shares = right**2  # of the components in each column
    variances = shares @ kept + left * (1.0 - shares.sum(axis=1))
    signal = np.maximum(kept - gone * (shares.T @ variances), 0.0) / observed
    own = float((1.0 - shares.sum(axis=1)) @ variances) / max(d.columns - len(kept), 1)
    noise = max(left - gone * own, _LEAST_NOISE * left) / observed
    return np.maximum(signal - noise, 0.0), noise


def _traces(seen: Floats, signal: Floats, noise: float, kept: Floats) -> tuple[float, ...]:
    """tr C and tr C^2 of T2, tr R and tr R^2 of Q, and the part of tr R that is signal.

    Of a row, from the loadings of its observed columns.
    """
    inside = seen.T @ seen  # V^T D V
    rest = np.eye(len(signal)) - inside
    scores = (inside * signal @ inside + noise * inside) / kept
    # A = (I - P) D V has A^T A = V^T D V (I - V^T D V) and A^T D A = (I - V^T D V) A^T A.
    spread = inside @ rest * signal
    lost = float(np.trace(spread))
    first = lost + noise * (len(seen) - np.trace(inside))
    second = np.sum(spread * spread.T) + 2.0 * noise * np.trace(rest @ inside @ rest * signal)
    second += noise**2 * (len(seen) - 2.0 * np.trace(inside) + np.sum(inside**2))
    return float(np.trace(scores)), float(np.sum(scores * scores.T)), float(first), float(second), lost
