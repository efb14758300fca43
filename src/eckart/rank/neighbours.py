"""Noise with correlated neighbouring columns: the correlation, and the number of components after removing it.

The noise of ordered columns (wavelengths, times, places) often has correlations near r^|i - j| between columns i and j.
With r known, the table times L^-T, where L L^T is the matrix of these correlations, has independent noise and as many
components, so that the tests for independent noise apply.

r is estimated together with the number of components k, so that components that happen to join neighbours are not
mistaken for correlated noise, or vice versa. With n degrees of freedom, p columns and the eigenvalues l of the
covariance of the transformed table, probabilistic PCA (Tipping and Bishop, 1999) has the likelihood

    -2 log L = n [sum of log l_i over i <= k + (p - k) log(mean of the others) + (p - 1) log(1 - r^2)] + constant

The pair with the best Bayesian information criterion is chosen. It must be clearly better than independent noise, also
with a separate variance for each column (see `unequal`). It must also be better than with the columns in random orders:
if the order is arbitrary, any covariance of few columns resembles that of neighbours in some order.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.backends.symmetric import leading_values
from eckart.rank.evidence import Evidence
from eckart.rank.remainder import cross_products
from eckart.rank.resampling import flipped
from eckart.rank.sequential import sequential
from eckart.rank.transformed import transformed
from eckart.rank.unequal import best_factors, white_criteria

_CORRELATIONS = np.round(np.arange(-0.9, 0.91, 0.05), 2)
_COARSE = 2
"""For other orders of the columns, every second correlation is tried."""
_LEAST_CORRELATION = 0.15
"""Smaller correlations do not resemble components."""
_EVIDENCE = 1.0
"""Difference of the criteria that is positive evidence (Kass and Raftery, 1995)."""
_FEWEST = 5
"""Minimum number of columns for comparing their order with others."""
_ORDERS, _BETTER = 19, 3
"""Random orders of the columns, and how many of them may fit better than the given one."""


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
