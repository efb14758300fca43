"""Noise that is not white, and the number of components of a table transformed to white noise.

**Unequal variances.** Columns with large noise rotate the components of a PCA towards themselves. With a component of
singular value s and loadings v, a column of noise variance d keeps too little residual variance, by the share 2 v_j^2
if s^2 is twice n d. Tests against the residual then find components that do not exist.

Factor analysis estimates the noise variances d together with k components. It has the likelihood

    -2 log L = n [sum of log d_j + sum of (log m_i - m_i + 1) over i <= k + sum of c_j / d_j - p] + constant

for n degrees of freedom, p columns, variances c of the columns and the leading eigenvalues m of the covariance of
columns divided by sqrt(d) (Joereskog, 1967). k components of p columns are determined if (p - k)^2 >= p + k (Ledermann,
1937). The k with the best Bayesian information criterion is chosen, if it is better than that of noise of equal
variance. The table with its columns divided by sqrt(d) has as many components and noise of equal variance, so a PCA is
not biased and the tests apply (Leeb and Romanov, 2021).

If there are more columns than rows, the same is done with the rows. The variances of the longer side average out, and
tests with random signs allow for them.

**Correlated neighbouring columns.** The noise of ordered columns (wavelengths, times, places) often has correlations
near r^|i - j| between columns i and j. With r known, the table times L^-T, where L L^T is the matrix of these
correlations, has independent noise and as many components, so that the tests for independent noise apply.

r is estimated together with the number of components k, so that components that happen to join neighbours are not
mistaken for correlated noise, or vice versa. With n degrees of freedom, p columns and the eigenvalues l of the
covariance of the transformed table, probabilistic PCA (Tipping and Bishop, 1999) has the likelihood

    -2 log L = n [sum of log l_i over i <= k + (p - k) log(mean of the others) + (p - 1) log(1 - r^2)] + constant

The pair with the best Bayesian information criterion is chosen. It must be clearly better than independent noise, also
with a separate variance for each column. It must also be better than with the columns in random orders: if the order is
arbitrary, any covariance of few columns resembles that of neighbours in some order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from eckart.engine.backends.symmetric import leading_pairs, leading_values
from eckart.rank.evidence import Evidence
from eckart.rank.remainder import Remainder, cross_products
from eckart.rank.resampling import flipped
from eckart.rank.sequential import sequential

_STEPS, _TOLERANCE = 100, 0.02
"""Maximum number of steps of the search; it ends when a step changes the log likelihood by about the tolerance."""
_LEAST = 1e-3
"""Minimum share of a column's variance that is noise."""
_FEWEST = 5
"""Minimum number of columns, or rows, for distinguishing a component from unequal noise or comparing orders."""
_CORRELATIONS = np.round(np.arange(-0.9, 0.91, 0.05), 2)
_COARSE = 2
"""For other orders of the columns, every second correlation is tried."""
_LEAST_CORRELATION = 0.15
"""Smaller correlations do not resemble components."""
_EVIDENCE = 1.0
"""Difference of the criteria that is positive evidence (Kass and Raftery, 1995)."""
_ORDERS, _BETTER = 19, 3
"""Random orders of the columns, and how many of them may fit better than the given one."""


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


def neighbour_correlation(e: Evidence, most: int) -> float:
    """The correlation of neighbouring columns of noise that fits the table best with at most `most` components.

    0 if independent noise fits as well, or if the columns in other orders do.
    """
    if e.columns < _FEWEST:
        return 0.0
    table, most = e.centred.astype(np.float64, copy=False) / e.free_rows**0.5, min(most, e.short - 1)
    gram = table.T @ table
    criteria = _by_correlation(_CORRELATIONS, gram, table, e, most)
    correlation = max(criteria, key=lambda r: (criteria[r], -abs(r)))
    best = criteria[correlation] - _EVIDENCE
    if abs(correlation) < _LEAST_CORRELATION or criteria[0.0] > best:
        return 0.0
    if best_factors(gram, e.free_rows, most, most // 2).criterion > best:
        return 0.0
    rng = e.rng(17)
    better = 0
    for _ in range(_ORDERS):
        order = rng.permutation(e.columns)
        others = _by_correlation(_CORRELATIONS[::_COARSE], gram[np.ix_(order, order)], table[:, order], e, most)
        better += max(others.values()) > criteria[correlation] + 1e-9
    return correlation if better <= _BETTER else 0.0


def _by_correlation(
    correlations: np.ndarray, gram: np.ndarray, table: np.ndarray, e: Evidence, most: int
) -> dict[float, float]:
    """The best criterion for each correlation; `gram` is that of the table."""
    found = {}
    for r in correlations.tolist():
        if e.free_rows >= e.columns:
            changed = _decorrelated(_decorrelated(gram, r).T, r)
        else:
            changed = cross_products(_decorrelated(table, r))
        found[r] = float(_criteria(leading_values(changed, e.short), r, e.free_rows, e.columns, most).max())
    return found


def without_correlation(e: Evidence, correlation: float) -> tuple[int | None, str]:
    """The sequential test with random signs, after the correlation of neighbouring columns is removed."""
    given = _decorrelated(e.centred.astype(np.float64, copy=False), correlation)
    return sequential(transformed(e, given), flipped, e.rng(14), "tables with random signs")


def _decorrelated(table: np.ndarray, r: float) -> np.ndarray:
    """Columns a_1 and (a_j - r a_(j-1)) / sqrt(1 - r^2): L^-1 of the correlations r^|i - j| has two diagonals."""
    if not r:
        return table
    return np.hstack([table[:, :1], (table[:, 1:] - r * table[:, :-1]) / (1.0 - r * r) ** 0.5])


def _criteria(values: np.ndarray, r: float, rows: int, columns: int, most: int) -> np.ndarray:
    """The criteria of 0 to `most` components, with the correlation as one more parameter."""
    change = rows * (columns - 1) * np.log(1.0 - r * r) + np.log(rows) * (r != 0.0)
    return np.asarray(white_criteria(values, rows, columns, most) - 0.5 * change)


@dataclass(frozen=True)
class Transformed(Evidence):
    """The evidence of a given centred table.

    `mean` is the row direction removed by centring, as a column; it has no columns without centring.
    """

    given: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    mean: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def centred(self) -> np.ndarray:
        return self.given

    def remainder(self, k: int) -> Remainder:
        left = np.hstack([self.mean, self._left[:, :k]])
        return Remainder(self.given, left, self.right[:, :k], False, self.short - k)


def transformed(e: Evidence, table: np.ndarray, weights: np.ndarray | None = None) -> Transformed:
    """The evidence of a table made of the rows of `e.centred`, each multiplied by its entry of `weights` if given."""
    mean = np.zeros((e.rows, 0))
    if e.center:
        mean = (np.ones(e.rows) if weights is None else weights)[:, None]
        mean = mean / np.linalg.norm(mean)
        table = table - mean @ (mean.T @ table)
    _, values, right = np.linalg.svd(table, full_matrices=False)
    squares = values[: e.short] ** 2
    return Transformed(
        e.rows, e.columns, e.center, False, e.norm, squares / max(float(squares.sum()), 1e-300), True,
        right[: e.short].T, opened=e.opened, moments=e.moments, options=e.options, given=table, mean=mean,
    )  # fmt: skip
