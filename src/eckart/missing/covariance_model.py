"""Covariance model of a table with missing values: all components, with a share of noise (Schneider, 2001).

With R the correlations of the columns, a row in standard units has the covariance (1 - h) R + h I and the precision P,
its inverse. Given the observed values, its missing values m have

    mean  -P_mm^-1 P_mo x_o,   covariance  P_mm^-1.

EM: alternate the means and covariances of the filled table, plus the covariances of the missing values, until the
filled values no longer change. This is better than few factors if no few components explain the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_BLOCK = 2**22
"""Maximum memory, in numbers, for the small systems of a block of rows."""


@dataclass(frozen=True)
class Correlations:
    """Means, scales and correlations of the filled table, which is in the same units."""

    mean: np.ndarray
    scale: np.ndarray
    matrix: np.ndarray
    filled: np.ndarray
    steps: int
    converged: bool


@dataclass(frozen=True)
class Conditional:
    """Rows with equally many missing values: their indices, the missing columns, expectations and covariances."""

    rows: np.ndarray
    gaps: np.ndarray
    values: np.ndarray
    covariances: np.ndarray


def conditionals(standard: np.ndarray, precision: np.ndarray) -> Iterator[Conditional]:
    """The missing values (NaN) of a table in standard units, given the observed values."""
    gone = np.isnan(standard)
    counts = gone.sum(axis=1)
    for count in np.unique(counts[counts > 0]):
        those = np.flatnonzero(counts == count)
        for rows in np.array_split(those, max(1, len(those) * int(count) * standard.shape[1] // _BLOCK)):
            gaps = np.nonzero(gone[rows])[1].reshape(len(rows), int(count))
            known = np.where(gone[rows], 0.0, standard[rows]) @ precision
            covariances = np.linalg.inv(precision[gaps[:, :, None], gaps[:, None, :]])
            values = -np.einsum("rgh,rh->rg", covariances, np.take_along_axis(known, gaps, axis=1))
            yield Conditional(rows, gaps, values, covariances)


def fit_correlations(
    table: np.ndarray, weights: np.ndarray, shrink: float, *, start: Correlations | None = None,
    tolerance: float, most_steps: int,
) -> Correlations:  # fmt: skip
    """EM with a share `shrink` of noise, until a step changes values by less than `tolerance` (root mean square)."""
    gone = np.isnan(table)
    filled = np.where(gone, 0.0 if start is None else start.filled, table)
    spread = np.zeros((table.shape[1], table.shape[1]))
    converged, steps = False, 0
    while True:
        found = _moments(filled, weights, spread)
        if converged or steps >= most_steps:
            return Correlations(*found, filled, steps, converged)
        steps += 1
        mean, scale, matrix = found
        spread = np.zeros_like(spread)
        change = 0.0
        for part in conditionals((table - mean) / scale, _precision(matrix, shrink)):
            values = part.values * scale[part.gaps] + mean[part.gaps]
            change += float(np.sum((values - filled[part.rows[:, None], part.gaps]) ** 2))
            filled[part.rows[:, None], part.gaps] = values
            weighted = part.covariances * weights[part.rows][:, None, None]
            np.add.at(spread, (part.gaps[:, :, None], part.gaps[:, None, :]), weighted)
        spread *= scale[:, None] * scale
        converged = change <= tolerance**2 * max(int(gone.sum()), 1)


def _precision(matrix: np.ndarray, shrink: float) -> np.ndarray:
    precision: np.ndarray = np.linalg.inv((1.0 - shrink) * matrix + shrink * np.eye(len(matrix)))
    return precision


def _moments(filled: np.ndarray, weights: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean, standard deviations, correlations) of a filled table, including the covariances of missing values."""
    total = weights.sum()
    mean = weights @ filled / total
    metadata = (filled - mean) * np.sqrt(weights)[:, None]
    covariance = (metadata.T @ metadata + spread) / total
    scale = np.sqrt(np.diagonal(covariance))
    return mean, scale, covariance / np.outer(scale, scale)
