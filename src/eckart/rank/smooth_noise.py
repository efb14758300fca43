"""Noise whose columns i and j have the correlation 0.5^|i - j|: how far its largest direction stands out.

It is the reference for components in noise of unknown covariance. The eigenvalues of its covariance lie between 1/3 and
3, and the order of the columns does not change them. A component exceeds such noise by its distance from the next
(`smooth_ratio`) or by its share of the residual (`smooth_share`). Both share the level. Noise of which the neighbours
are known to have a larger correlation is compared with that correlation.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from eckart.rank.edge import tracy_widom, upper_edge
from eckart.rank.evidence import Evidence

CORRELATION = 0.5
_DRAWS = 399
_DRAWN = 30
"""Maximum number of columns for simulating the largest share; for more, the edge of the spectrum is accurate."""
_WIDEST = 200
"""Number of columns of simulated noise; with more columns its largest eigenvalues are closer."""
_ROUNDING = 1e-12


def above_smooth_noise(e: Evidence, most: int, correlation: float = CORRELATION) -> int:
    """Number of components, up to `most`, that successively explain more of the residual than such noise."""
    ratios = np.asarray(e.ratios[: e.short])
    for k in range(min(most, len(ratios) - 1, e.short - 2)):
        left = max(1.0 - float(ratios[:k].sum()), 0.0)
        limit = smooth_share(e.free_rows - k, e.columns - k, e.options.level, correlation)
        if left <= _ROUNDING or ratios[k] / left <= limit:
            return k
    return max(min(most, len(ratios) - 1, e.short - 2), 0)


def smooth_ratio(rows: int, columns: int, level: float, correlation: float = CORRELATION) -> float:
    """Upper limit of l_1 / l_2 of such noise at this level."""
    values = _spectra(max(rows, 2), min(max(columns, 2), _WIDEST), correlation)
    return float(np.quantile(values[:, -1] / np.maximum(values[:, -2], 1e-300), (1.0 + level) / 2.0))


@lru_cache(maxsize=1024)
def smooth_share(rows: int, columns: int, level: float, correlation: float = CORRELATION) -> float:
    """Upper limit of l_1 / (sum of l) of such noise at this level."""
    if columns <= _DRAWN:
        values = _spectra(max(rows, 2), max(columns, 2), correlation)
        return float(np.quantile(values[:, -1] / values.sum(axis=1), (1.0 + level) / 2.0))
    angles = np.pi * (np.arange(columns) + 0.5) / columns  # approximately the eigenvalues of the covariance
    r = correlation
    eigenvalues = (1.0 - r * r) / (1.0 + r * r - 2.0 * r * np.cos(angles))
    return upper_edge(eigenvalues, rows, tracy_widom((1.0 + level) / 2.0)) / float(eigenvalues.sum())


@lru_cache(maxsize=64)
def _spectra(rows: int, columns: int, correlation: float) -> np.ndarray:
    """Eigenvalues of the cross-products of such noise, increasing."""
    places = np.arange(columns)
    factor = np.linalg.cholesky(correlation ** np.abs(np.subtract.outer(places, places)))
    rng = np.random.Generator(np.random.Philox(key=[rows, columns]))
    if rows >= columns:
        # Bartlett: B B^T with lower triangular B has the law of the cross-products of white noise.
        drawn = np.tril(rng.standard_normal((_DRAWS, columns, columns)), -1)
        drawn[:, places, places] = np.sqrt(rng.chisquare(rows - places, (_DRAWS, columns)))
        tables = factor @ drawn
    else:
        tables = np.swapaxes(factor @ rng.standard_normal((_DRAWS, columns, rows)), 1, 2)
    return np.asarray(np.maximum(np.linalg.eigvalsh(tables @ np.swapaxes(tables, 1, 2)), 1e-300))
