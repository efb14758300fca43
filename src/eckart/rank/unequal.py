"""Noise of unequal variance: the noise variance of each column, and the number of components after equalising it.

Columns with large noise rotate the components of a PCA towards themselves. With a component of singular value s and
loadings v, a column of noise variance d keeps too little residual variance, by the share 2 v_j^2 if s^2 is twice n d.
Tests against the residual then find components that do not exist.

Factor analysis estimates the noise variances d together with k components. It has the likelihood

    -2 log L = n [sum of log d_j + sum of (log m_i - m_i + 1) over i <= k + sum of c_j / d_j - p] + constant

for n degrees of freedom, p columns, variances c of the columns and the leading eigenvalues m of the covariance of
columns divided by sqrt(d) (Joereskog, 1967). k components of p columns are determined if (p - k)^2 >= p + k (Ledermann,
1937). The k with the best Bayesian information criterion is chosen, if it is better than that of noise of equal
variance. The table with its columns divided by sqrt(d) has as many components and noise of equal variance, so a PCA is
not biased and the tests apply (Leeb and Romanov, 2021).

If there are more columns than rows, the same is done with the rows. The variances of the longer side average out, and
tests with random signs allow for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from eckart.engine.backends.symmetric import leading_pairs
from eckart.rank.evidence import Evidence
from eckart.rank.transformed import Transformed, transformed

_STEPS, _TOLERANCE = 100, 0.02
"""Maximum number of steps of the search; it ends when a step changes the log likelihood by about the tolerance."""
_LEAST = 1e-3
"""Minimum share of a column's variance that is noise."""
_FEWEST = 5
"""Minimum number of columns, or rows, for distinguishing a component from unequal noise."""


@dataclass(frozen=True)
class Factors:
    """k components in noise of the variances `noise`, and the criterion of the fit; -inf if k is not determined."""

    k: int
    noise: np.ndarray
    criterion: float


def equalised(e: Evidence, most: int) -> Transformed | None:
    """The table with noise of equal variance; None if it already seems to have that.

    At most `most` components are considered.
    """
    by_rows = e.free_rows < e.columns
    table = e.centred.astype(np.float64, copy=False)
    long, covariance = (e.columns, table @ table.T) if by_rows else (e.free_rows, table.T @ table)
    variances = np.diag(covariance)
    if len(covariance) < _FEWEST or not float(variances.min()) > 0.0:
        return None
    most = min(most, e.short - 1)
    # Both models describe all rows or columns, including the direction of the means, so the unit cancels.
    white = white_criteria(e.ratios[: e.short] * float(variances.sum()) / long, long, len(covariance), most)
    found = best_factors(covariance / long, long, most, int(white.argmax()))
    if found.criterion <= white.max():
        return None
    weights = 1.0 / np.sqrt(found.noise)
    return transformed(e, table * weights[:, None], weights) if by_rows else transformed(e, table * weights)


def best_factors(covariance: np.ndarray, rows: int, most: int, start: int) -> Factors:
    """The number of components with the best criterion: none, or the nearest to `start` that beats its neighbours."""
    tried: dict[int, Factors] = {}

    def fitted(k: int) -> Factors:
        if k not in tried:
            tried[k] = factors(covariance, rows, k)
        return tried[k]

    best = max(fitted(0), fitted(min(start, most)), key=lambda found: found.criterion)
    while True:
        near = [fitted(k) for k in (best.k - 1, best.k + 1) if 0 <= k <= most]
        better = max([best, *near], key=lambda found: found.criterion)
        if better is best:
            return best
        best = better


def factors(covariance: np.ndarray, rows: int, k: int) -> Factors:
    """Maximum likelihood of k components in noise with a separate variance for each column."""
    columns = len(covariance)
    variances = np.maximum(np.diag(covariance), 1e-300)
    if (columns - k) ** 2 < columns + k:
        return Factors(k, variances, -np.inf)
    logs, fit = np.zeros(columns), 0.0
    if k:
        correlations = covariance / np.sqrt(variances) / np.sqrt(variances)[:, None]
        found = minimize(
            _fit, np.log(_unique_shares(correlations, k)), (correlations, k), "L-BFGS-B", jac=True,
            bounds=[(np.log(_LEAST), 0.0)] * columns, options={"maxiter": _STEPS, "ftol": _TOLERANCE / rows},
        )  # fmt: skip
        logs, fit = found.x, float(found.fun)
    fit += float(np.log(variances).sum())
    penalty = np.log(rows) * (loadings(k, columns) + columns)
    return Factors(k, variances * np.exp(logs), float(-0.5 * (rows * fit + penalty)))


def _unique_shares(correlations: np.ndarray, k: int) -> np.ndarray:
    """Start of the search: approximately the shares that the other columns do not explain (Joereskog, 1967)."""
    columns = len(correlations)
    inverse = np.diag(np.linalg.inv(correlations + _LEAST * np.eye(columns)))
    return np.asarray(np.clip((1.0 - 0.5 * k / columns) / inverse, 2.0 * _LEAST, 0.99))


def _fit(logs: np.ndarray, correlations: np.ndarray, k: int) -> tuple[float, np.ndarray]:
    """-2 log L / n as a function of log d, for columns of variance 1, and its gradient."""
    noise = np.exp(logs)
    roots = np.sqrt(noise)
    values, vectors = leading_pairs(correlations / roots[:, None] / roots, k)
    values = np.maximum(values, 1.0)
    explained = noise * ((values - 1.0) * vectors**2).sum(axis=1)
    fit = logs.sum() + (np.log(values) - values + 1.0).sum() + (1.0 / noise - 1.0).sum()
    return float(fit), np.asarray((explained + noise - 1.0) / noise)


def white_criteria(values: np.ndarray, rows: int, columns: int, most: int) -> np.ndarray:
    """Bayesian information criterion of 0 to `most` components in white noise (Tipping and Bishop, 1999).

    It is the log likelihood minus half log(rows) per parameter. With n degrees of freedom, p columns and eigenvalues l
    of the covariance, -2 log L = n [sum of log l_i over i <= k + (p - k) log(mean of the others)] + constant.
    """
    k = np.arange(most + 1)
    values = np.maximum(values, 1e-300)
    taken = np.concatenate([[0.0], np.cumsum(values[:most])])
    left = np.maximum((values.sum() - taken) / (columns - k), 1e-300)
    fit = np.concatenate([[0.0], np.cumsum(np.log(values[:most]))]) + (columns - k) * np.log(left)
    return np.asarray(-0.5 * (rows * fit + np.log(rows) * (loadings(k, columns) + 1)))


def loadings(k: int | np.ndarray, columns: int) -> int | np.ndarray:
    """Free parameters of k components: p k loadings minus the rotations."""
    return k * columns - k * (k - 1) // 2
