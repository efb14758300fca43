"""Gap: components that stand apart from the next ones, for any covariance of the noise.

The eigenvalues of noise with a smooth covariance are close together, while those of strong components stand apart. k is
the last place at which the ratio l_k / l_(k+1) of neighbours is large (Ahn and Horenstein, 2013, take the largest
ratio; Onatski, 2010, the last large difference). Large is at least 2.2, and more than

- l_1 / l_2 of white noise of rows - k + 1 by columns - k + 1 reaches in 99 % of draws, which matters for few rows;
- 1.5 times the mean ratio of m = columns - k + 1 eigenvalues that range over a factor of 9, 9^(1 / (m - 1)), as those
  of columns with correlations of 0.5^|i - j| do, which matters for few columns.

Weak components do not stand apart. If no component does, components count while each explains more of the residual than
the largest direction of noise whose columns i and j have the correlation 0.5^|i - j|.

This noise is also the reference for components in noise of unknown covariance. The eigenvalues of its covariance lie
between 1/3 and 3, and the order of the columns does not change them. A component exceeds such noise by its distance
from the next (`smooth_ratio`) or by its share of the residual (`smooth_share`). Both share the level. Noise of which
the neighbours are known to have a larger correlation is compared with that correlation.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from eckart.formatting import counted
from eckart.rank.edge import tracy_widom, upper_edge
from eckart.rank.evidence import Evidence
from eckart.rank.white import white_ratio

_RATIO = 2.2
_RANGE, _FACTOR = 9.0, 1.5
_FEWEST = 4
CORRELATION = 0.5
_DRAWS = 399
_DRAWN = 30
"""Maximum number of columns for simulating the largest share; for more, the edge of the spectrum is accurate."""
_WIDEST = 200
"""Number of columns of simulated noise; with more columns its largest eigenvalues are closer."""
_ROUNDING = 1e-12


def by_gap(e: Evidence) -> tuple[int | None, str]:
    """The last component that stands apart from the next, or from noise with smooth correlations."""
    known = min(e.short, len(e.ratios))
    if known < _FEWEST:
        return None, (
            f"This rule compares successive components and needs at least {_FEWEST}, but only {known} are known."
        )
    most = e.options.most or e.short
    ratios = e.ratios[:-1] / np.maximum(e.ratios[1:], 1e-300)
    for k in e.falls(_RATIO)[::-1].tolist():
        smooth = _FACTOR * _RANGE ** (1.0 / max(e.short - k, 1))
        limit = max(_RATIO, smooth, white_ratio(e.free_rows - k + 1, e.columns - k + 1, e.options.level))
        if k > most:
            return (
                None,
                (
                    f"Component {k} is clearly larger than the next, but the rule considered only "
                    f"{counted(most, 'component')}. There may be more."
                ),
            )
        if ratios[k - 1] > limit:
            apart = f"Component {k} explains {ratios[k - 1]:.3g} times as much as the next"
            return k, f"{apart}; in pure noise, this ratio rarely exceeds {limit:.3g}."
    if above := above_smooth_noise(e, min(most, e.short)):
        return above, (
            f"{counted(above, 'component explains', 'components explain')} more than noise would, "
            "even with a correlation of 0.5 between neighbouring columns."
        )
    largest = float(ratios[: max(3 * e.short // 4, 1)].max())
    return 0, f"No component explains more than {largest:.3g} times as much as the next."


def above_smooth_noise(e: Evidence, most: int, correlation: float = CORRELATION) -> int:
    """Number of components, up to `most`, that successively explain more of the residual than smooth noise."""
    ratios = np.asarray(e.ratios[: e.short])
    for k in range(min(most, len(ratios) - 1, e.short - 2)):
        left = max(1.0 - float(ratios[:k].sum()), 0.0)
        limit = smooth_share(e.free_rows - k, e.columns - k, e.options.level, correlation)
        if left <= _ROUNDING or ratios[k] / left <= limit:
            return k
    return max(min(most, len(ratios) - 1, e.short - 2), 0)


def smooth_ratio(rows: int, columns: int, level: float, correlation: float = CORRELATION) -> float:
    """Upper limit of l_1 / l_2 of smooth noise at this level."""
    values = _spectra(max(rows, 2), min(max(columns, 2), _WIDEST), correlation)
    return float(np.quantile(values[:, -1] / np.maximum(values[:, -2], 1e-300), (1.0 + level) / 2.0))


@lru_cache(maxsize=1024)
def smooth_share(rows: int, columns: int, level: float, correlation: float = CORRELATION) -> float:
    """Upper limit of l_1 / (sum of l) of smooth noise at this level."""
    if columns <= _DRAWN:
        values = _spectra(max(rows, 2), max(columns, 2), correlation)
        return float(np.quantile(values[:, -1] / values.sum(axis=1), (1.0 + level) / 2.0))
    angles = np.pi * (np.arange(columns) + 0.5) / columns  # approximately the eigenvalues of the covariance
    r = correlation
    eigenvalues = (1.0 - r * r) / (1.0 + r * r - 2.0 * r * np.cos(angles))
    return upper_edge(eigenvalues, rows, tracy_widom((1.0 + level) / 2.0)) / float(eigenvalues.sum())


@lru_cache(maxsize=64)
def _spectra(rows: int, columns: int, correlation: float) -> np.ndarray:
    """Eigenvalues of the cross-products of smooth noise, increasing."""
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
