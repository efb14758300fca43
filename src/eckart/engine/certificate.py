"""Two-sided bounds for the leading eigenvalues of G = A^T A, from a basis that contains them approximately.

Let M be orthonormal, T = M^T G M, R = G M - M T, S the compression of G to the complement of M, and s >= lambda_max(S).
For every d > 0 the order of positive semi-definite matrices gives

    lambda_i(G) <= the i-th largest of  eig(T + R^T R / d)  united with  {s + d, s + d, ...}.

The bound needs no gap. Lower bounds are the Ritz values, eig(T). R vanishes outside the newest block of a Krylov basis.

Where the Ritz pairs (theta, X) are at hand, a smaller eigenproblem will do: the leading Ritz vectors X_1 are a basis as
well, with T_1 = diag(theta_1), R_1 = R X_1, and for y > s all of G outside of it is at most y if

    diag(theta_2) + X_2^T R^T R X_2 / (y - s) <= y,

by the Schur complement; which one Cholesky factor tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from eckart.arrays import Array
from eckart.engine.backends.symmetric import leading_values, pairs

_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Compression:
    """T, and R^T R of the newest block (the last columns of the basis); `noise` is the size of the rounding in both."""

    matrix: np.ndarray
    residual_gram: np.ndarray
    noise: float = 0.0
    like: Array | None = None
    """An array on the device that may be asked for eigenvalues."""

    @property
    def size(self) -> int:
        return int(self.matrix.shape[0])


Ritz = tuple[np.ndarray, np.ndarray]
"""Ritz values, falling, and their vectors in the coordinates of the basis."""


def upper_bounds(
    compression: Compression, complement: float, ritz: np.ndarray, enough: float = 0.0, every: Ritz | None = None
) -> np.ndarray:
    """Upper bounds of as many leading eigenvalues of G as there are Ritz values, given complement >= lambda_max(S).

    Any d gives a bound; the sum of the bounds is least near d = theta - s, where theta is the last Ritz value wanted.
    Bounds within `enough` of the Ritz values, all together, are not sharpened further. With `every` Ritz pair at hand
    the smaller eigenproblem is tried first.
    """
    gap = ritz[-1] - complement
    scale = max(float(ritz[0]), complement, np.finfo(float).tiny)
    if every is not None:
        bounds = _split_bounds(compression, complement, ritz, every)
        if bounds is not None and float(np.sum(bounds - ritz)) <= enough:
            return bounds
    if gap > 4 * _UNIT * scale:
        trials = [gap, 0.5 * gap]
    else:
        width = float(np.sqrt(max(np.trace(compression.residual_gram), 0.0)))
        trials = [factor * max(width, 1e-14 * scale) for factor in (0.1, 0.3, 1.0, 3.0)]
    best = _bounds_for(compression, complement, len(ritz), trials[0])
    for d in trials[1:]:
        if float(np.sum(best - ritz)) <= enough:
            break
        bounds = _bounds_for(compression, complement, len(ritz), d)
        best = min(best, bounds, key=lambda values: float(np.sum(values)))
    return best


def _bounds_for(compression: Compression, complement: float, count: int, d: float) -> np.ndarray:
    matrix = compression.matrix.copy()
    newest = compression.residual_gram.shape[0]
    if newest:
        matrix[-newest:, -newest:] += compression.residual_gram / d
    # Rounding leaves a trace of a residual in every column, not only in the newest.
    matrix[np.diag_indices_from(matrix)] += compression.noise**2 / d
    values = leading_values(matrix, count, compression.like)
    return np.asarray(np.maximum(values, complement + d))


_SPLIT_GAP = 1e-6
"""Half gaps that are smaller, as shares of the largest value, are near the rounding of the Cholesky factor."""
_SPLIT_SHARE = 0.6
"""Of the Ritz pairs, more than which the smaller problem must not have to be worth it."""


def _split_bounds(compression: Compression, complement: float, ritz: np.ndarray, every: Ritz) -> np.ndarray | None:
    """The bounds by the leading Ritz vectors alone, half of the gap on either side of y; None where that fails."""
    values, vectors = every
    size, half = len(values), 0.5 * (ritz[-1] - complement)
    if half <= _SPLIT_GAP * ritz[0]:
        return None
    most = complement + half
    tail = vectors[size - compression.residual_gram.shape[0] :, :]
    pushed = compression.residual_gram @ tail
    noise = compression.noise**2
    reach = values + (np.einsum("ij,ij->j", tail, pushed) + noise) / half
    # Those whose own entry on the diagonal comes near y lead.
    leading = max(len(ritz), 1 + int(np.flatnonzero(reach > most - 0.1 * half).max(initial=-1)))
    if leading > _SPLIT_SHARE * size:
        return None
    rest = most - 1e-12 * ritz[0] - noise / half
    below = np.diag(rest - values[leading:]) - tail[:, leading:].T @ pushed[:, leading:] / half
    if lapack.dpotrf(below, lower=1, overwrite_a=1)[1]:
        return None
    above = np.diag(values[:leading] + noise / half) + tail[:, :leading].T @ pushed[:, :leading] / half
    return np.asarray(np.maximum(leading_values(above, len(ritz)), ritz[-1]))


@dataclass(frozen=True)
class Probe:
    """A block of random directions that joined the basis late.

    Before it, the basis spanned M_1 (its first `start` columns); `coordinates` are the coefficients of P Omega, the
    standard normal block Omega projected to the complement of M_1, in the columns that it added.
    """

    start: int
    coordinates: np.ndarray
    failure_probability: float


def complement_bound(compression: Compression, probe: Probe) -> tuple[float, float]:
    """(s, t) with s >= lambda_max(S_1) >= t, S_1 the compression of G to the complement of M_1.

    s fails with the stated probability.

    For a unit eigenvector x of S_1 with eigenvalue l, and N = the basis columns after M_1, T_N = N^T G N:
    x^T P Omega = x^T R_N (l - T_N)^-1 C, with C the coordinates of P Omega in N. The left side is a standard normal
    vector, because x does not depend on Omega; its length is at least c with probability 1 - p, c^2 the p-quantile of
    chi-square. So l cannot lie where ||R_N (l - T_N)^-1 C|| < c. S is a compression of S_1, hence s bounds it as well.
    """
    start, width = probe.start, probe.coordinates.shape[1]
    if compression.size <= start:
        return np.inf, 0.0
    values, vectors = pairs(compression.matrix[start:, start:], compression.like)
    coordinates = vectors.T[:, : probe.coordinates.shape[0]] @ probe.coordinates
    # The newest block may have begun before the probes, in the columns of M_1.
    newest = min(compression.residual_gram.shape[0], len(values))
    residual_gram = compression.residual_gram[-newest:, -newest:]
    tail = vectors[-newest:, :]
    length = _length_quantile(probe.failure_probability, width)

    def possible(candidates: np.ndarray) -> np.ndarray:
        """Whether an eigenvalue of S_1 may lie at each candidate."""
        damped = coordinates / np.maximum(candidates[:, None, None] - values[:, None], 1e-300)
        return _lengths(damped, tail @ damped, residual_gram, compression.noise) >= length

    top = float(values[-1])
    span = max(top, np.finfo(float).tiny * 2**60)
    while span < np.inf and possible(np.array([top + span]))[0]:
        span *= 4.0
    # Down from there in equal ratios, to the last distance at which an eigenvalue may lie; then finer between the two.
    distances = span * np.geomspace(1e-15, 1.0, 46)
    for _ in range(2):
        index = _last(lambda some: possible(top + some), distances[:-1]) + 1
        distances = np.geomspace(distances[max(index - 1, 0)], distances[index], 9)
    return float(top + distances[-1]) * (1.0 + 64 * _UNIT), top


def _last(holds: Callable[[np.ndarray], np.ndarray], rising: np.ndarray, few: int = 8) -> int:
    """Index of the last entry for which it holds, or -1; asked from the end, a few at a time."""
    for stop in range(len(rising), 0, -few):
        start = max(0, stop - few)
        found = np.flatnonzero(holds(rising[start:stop]))
        if found.size:
            return start + int(found[-1])
    return -1


@lru_cache(maxsize=64)
def _length_quantile(probability: float, width: int) -> float:
    """Length that a standard normal vector falls short of with the given probability."""
    from scipy.stats import chi2

    return float(np.sqrt(chi2.ppf(probability, width)))


def _lengths(damped: np.ndarray, tail: np.ndarray, residual_gram: np.ndarray, noise: float) -> np.ndarray:
    """||R_N Y||_2 for each Y = (l - T_N)^-1 C, where R_N has the given Gram in its last columns and noise in all."""
    gram = np.swapaxes(tail, 1, 2) @ (residual_gram @ tail) + noise**2 * (np.swapaxes(damped, 1, 2) @ damped)
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[:, -1], 0.0)))


def undetermined_groups(lower: np.ndarray, upper: np.ndarray, slack: float) -> tuple[tuple[int, int], ...]:
    """Runs of neighbours whose intervals [lower - slack, upper + slack] touch: only their span is determined.

    `lower` and `upper` are squared singular values in falling order and may include one value past the last axis.
    """
    groups: list[tuple[int, int]] = []
    first = 0
    for i in range(len(lower)):
        touches = i + 1 < len(lower) and upper[i + 1] + slack >= lower[i] - slack
        if not touches:
            if i > first:
                groups.append((first, i))
            first = i + 1
    return tuple(groups)
