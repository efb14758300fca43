"""Bayesian information criterion of k components in white noise (probabilistic PCA).

With n degrees of freedom, p columns and the eigenvalues l of the covariance, probabilistic PCA (Tipping and Bishop,
1999) has the likelihood

    -2 log L = n [sum of log l_i over i <= k + (p - k) log(mean of the others)] + constant
"""

from __future__ import annotations

import numpy as np


def white_criteria(values: np.ndarray, rows: int, columns: int, most: int) -> np.ndarray:
    """For 0 to `most` components: the log likelihood minus half log(rows) per parameter."""
    k = np.arange(most + 1)
    values = np.maximum(values, 1e-300)
    taken = np.concatenate([[0.0], np.cumsum(values[:most])])
    left = np.maximum((values.sum() - taken) / (columns - k), 1e-300)
    fit = np.concatenate([[0.0], np.cumsum(np.log(values[:most]))]) + (columns - k) * np.log(left)
    return np.asarray(-0.5 * (rows * fit + np.log(rows) * (loadings(k, columns) + 1)))


def loadings(k: int | np.ndarray, columns: int) -> int | np.ndarray:
    """Free parameters of k components: p k loadings minus the rotations."""
    return k * columns - k * (k - 1) // 2
