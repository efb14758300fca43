"""How far new rows lie outside the limits of unscaled columns if the columns were scaled by their own deviations.

A new row is divided by deviations s_j that are estimated, and the fitted rows were divided by the same s_j, which makes
their variance exactly 1. The variances of new rows are therefore larger by about 2 / (n - 1): with independent columns,
they have the mean (n - 1) / (n - 3) of F(1, n - 1). Part of this is already counted, because the variances of the
components are estimated from the same rows. To first order in 1 / n, with v_ja the loadings, l_a the variances, u_j the
variance of column j that the kept components leave out, U its sum, and h = U^2 / sum of squared variances left out:

Q   is larger by 2 / n sum_j u_j^2 / U (1 - 1 / h),
T2  is larger by 4 / (n k) sum_j u_j sum_{a <= k} v_ja^2.

They follow from Cov(e_jl, s_m^2) = 2 c_jm c_lm / n for the errors e of the correlations c, along axes that turn with
the scales. Both are 0 if all components are kept: T2 does not depend on the scale.

With few rows, u_j and h of the sample differ from those of the population: k components more are fitted, so u_j is too
small by the factor 1 - k / (n - 1), and n - 1 - k variances spread more than those of the population. Both are
corrected. The entries of a new row also have different variances 1 / s_j^2, with a relative variance of about 2 / n,
although those of the fitted rows are equal. This widens the law of Q, which has h degrees of freedom, to one with
h / (1 + 2 / n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.limits import Spectrum
from eckart.analysis.measures import column_spread, floats, nonzero_components

if TYPE_CHECKING:
    from eckart.result import Decomposition


def factors_of_new_rows(d: Decomposition, k: int, known: Spectrum, confidence: float) -> tuple[float, float]:
    """By how much the limits of T2 and of Q for new rows are larger than for columns that were not scaled."""
    total, free = float(known.counts @ known.left_out), known.freedom - len(known.kept)
    if d.scale is None or total <= 0.0 or known.rows <= 3 or free <= 0:
        return 1.0, 1.0
    nonzero = nonzero_components(d)[:k]
    squares = floats(d.right)[:, :k][:, nonzero] ** 2
    variances = column_spread(d) ** 2
    varied = variances > 0
    unique = np.maximum(1 - (squares @ known.kept)[varied] / variances[varied], 0.0)
    shape = _shape(known, total, free, len(unique) - len(known.kept))
    beside = float(unique @ unique) / max(float(unique.sum()), 1e-300) * known.freedom / free * (1 - 1 / shape)
    inside = 0.0 if d.which == "smallest" else 2.0 * float(unique @ squares[varied].sum(axis=1)) / len(known.kept)
    # The mean of F(1, n - 1) rather than its first terms.
    further = 2 / (known.rows - 3)
    return 1 + further * inside, (1 + further * beside) * _widened(shape, further, confidence)


def _shape(known: Spectrum, total: float, free: float, columns: int) -> float:
    """h of the population: in a sample, 1 / h is larger by about (1 + 1 / h) / f (Bai and Saranadasa, 1996)."""
    sample = float(known.counts @ known.left_out**2) / total**2
    return 1 / min(max((sample - 1 / free) / (1 + 1 / free), 1 / max(columns, 1)), 1.0)


def _widened(shape: float, variance: float, confidence: float) -> float:
    """Ratio of the quantiles of Q / E Q, if the weights of its chi-squared terms have this relative variance."""
    from scipy.special import gammaincinv

    wider = shape / (1 + variance)
    return float(gammaincinv(wider / 2, confidence) / wider / (gammaincinv(shape / 2, confidence) / shape))
