"""Simulated eigenvalues of the cross-products of white noise."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

_DRAWS, _MANY = 99, 499
_LARGE = 60
"""With this many eigenvalues, the ratios of white noise are almost surely smaller than any limit that matters."""
_RARE = 4.0
"""Standard deviations of the logarithm of a ratio of eigenvalues that noise rarely exceeds."""


def white_spectra(rows: int, columns: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`draws` spectra of Gaussian noise, each decreasing.

    They are the eigenvalues of B B^T, B lower triangular with chi-distributed diagonal (Bartlett, 1933).

    Examples
    --------
    >>> white_spectra(40, 3, 2, np.random.default_rng(0)).round()
    array([[50., 38., 27.],
           [60., 36., 24.]])
    """
    short, long = sorted((rows, columns))
    triangle = np.tril(rng.standard_normal((draws, short, short)), -1)
    indices = np.arange(short)
    triangle[:, indices, indices] = np.sqrt(rng.chisquare(long - indices, (draws, short)))
    values = np.linalg.eigvalsh(triangle @ triangle.transpose(0, 2, 1))[:, ::-1]
    return np.asarray(np.maximum(values, 1e-300))


@lru_cache(maxsize=256)
def white_falls(rows: int, columns: int) -> np.ndarray:
    """Limits that the ratios l_i / l_(i + 1) of white noise rarely exceed, for all i."""
    drawn = np.log(white_spectra(rows, columns, _DRAWS, _rng(rows, columns)))
    falls = drawn[:, :-1] - drawn[:, 1:]
    return np.asarray(np.exp(falls.mean(axis=0) + _RARE * falls.std(axis=0, ddof=1)))


@lru_cache(maxsize=256)
def white_ratio(rows: int, columns: int, level: float) -> float:
    """Upper limit of the ratio l_1 / l_2 of white noise at this level; 1 for large tables, where it is near 1."""
    if not 2 <= min(rows, columns) <= _LARGE:
        return 1.0
    values = white_spectra(rows, columns, _MANY, _rng(rows, columns))
    return float(np.quantile(values[:, 0] / values[:, 1], level))


@lru_cache(maxsize=256)
def white_shares(rows: int, columns: int, level: float) -> tuple[float, float]:
    """The median of the share l_1 / (sum of l) of white noise, and its upper limit at this level."""
    values = white_spectra(rows, columns, _MANY, _rng(rows, columns))
    shares = values[:, 0] / values.sum(axis=1)
    return float(np.median(shares)), float(np.quantile(shares, level))


def _rng(rows: int, columns: int) -> np.random.Generator:
    """The same random numbers for every table of a shape."""
    return np.random.Generator(np.random.Philox(key=[rows, columns]))
