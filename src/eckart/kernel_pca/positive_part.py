"""The sum of the positive eigenvalues of A = H K H: components explain shares of it.

It is the trace if K is positive semi-definite. An indefinite kernel has negative eigenvalues, of sum -N. Its trace is
then too small by N, and shares of the trace could exceed 1. N is known if all eigenvalues are. Otherwise

    N >= the absolute values of negative Ritz values, and sum of positive eigenvalues >= that of the wanted ones,
    N <= (n - 1) d,  if Cholesky shows that A + d is positive definite (Rump, "Verification of positive definiteness",
         BIT 46, 2006),
    N <= m |l_min|  and  N <= (sqrt(m q) - s) / 2  for the m eigenvalues that are not among the wanted ones proved to be
         positive, with sum s and squares of sum q (Cauchy-Schwarz on their absolute values). One is 0, for the vector
         of ones, and is not counted.

Between these bounds, stochastic Lanczos quadrature estimates N: z^T f(A) z has the mean trace f(A), f(x) = max(-x, 0),
and Gauss quadrature by Lanczos approximates it (Ubaru, Chen, Saad, SIAM J. Matrix Anal. Appl. 38, 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, namespace, to_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.quadrature import lanczos_quadrature
from eckart.kernel_pca.constants import LANCZOS_STEPS, RANDOM_VECTORS

UNIT = float(np.finfo(np.float64).eps) / 2


@dataclass(frozen=True)
class PositivePart:
    """The sum of the positive eigenvalues."""

    total: float
    """The sum, or an estimate of it."""
    low: float
    """Lower bound of the sum."""
    high: float
    """Upper bound of the sum; infinite if none is known."""
    negative: float = 0.0
    """Sum of the negative eigenvalues, without sign."""

    @property
    def negative_share(self) -> float:
        """Negative eigenvalues relative to the positive ones."""
        return self.negative / self.total if self.total > 0.0 else float(self.negative > 0.0)

    @property
    def interval(self) -> tuple[float, float]:
        """(middle, half width) of the bounds; (total, infinite) if there is no upper bound."""
        if not np.isfinite(self.high):
            return self.total, float("inf")
        return 0.5 * (self.low + self.high), 0.5 * (self.high - self.low)


def of_trace(trace: float, error: float) -> PositivePart:
    """For a kernel without negative eigenvalues."""
    return PositivePart(trace, trace - error, trace + error)


def of_spectrum(values: np.ndarray, trace: float, trace_error: float, error: float) -> PositivePart:
    """From all eigenvalues; `error` bounds the Frobenius norm of what they are off by.

    Sums of absolute eigenvalues move by at most the nuclear norm, sqrt(n) times the Frobenius norm (Mirsky). Negative
    values within that are rounding: the trace is more accurate then.
    """
    off = len(values) ** 0.5 * error
    positive, negative = float(values[values > 0].sum()), -float(values[values < 0].sum())
    total, negative = (trace, 0.0) if negative <= off else (positive, negative)
    return PositivePart(total, max(positive - off, trace - trace_error), positive + off, negative)


@dataclass(frozen=True)
class Known:
    """What is known of A without all its eigenvalues."""

    size: int
    trace: float
    trace_error: float
    length: float
    """Bound of ||A||_F."""
    lower: np.ndarray
    upper: np.ndarray
    """Bounds of the leading eigenvalues."""
    lowest: float
    """Lower bound of the smallest eigenvalue."""
    ritz: float
    """Upper bound of the smallest eigenvalue."""


def of_bounds(known: Known, estimate: float, definite: float | None) -> PositivePart:
    """Bounds of the sum, and the estimate of N moved between them; `definite` is d of the proof by Cholesky."""
    positive = known.lower > 0.0
    least = known.lower[positive]
    others = max(known.size - 1 - len(least), 0)
    squares = max(known.length**2 - float(least @ least), 0.0)
    rest = known.trace - known.trace_error - float(known.upper[positive].sum())
    most = max(min(0.5 * ((others * squares) ** 0.5 - rest), others * max(-known.lowest, 0.0)), 0.0)
    if definite is not None:
        most = min(most, (known.size - 1) * definite)
    fewest = min(max(-known.ritz, float(least.sum()) - known.trace - known.trace_error, 0.0), most)
    negative = min(max(estimate, fewest), most) if definite is None else 0.0
    low, high = known.trace - known.trace_error + fewest, known.trace + known.trace_error + most
    return PositivePart(known.trace + negative, low, high, negative)


def definite_within(centred: np.ndarray, error: float) -> float | None:
    """d such that no eigenvalue is below -d, of the order of rounding, by Cholesky; None if it fails.

    If the factorisation of A + c in floating point succeeds, l_min(A + c) > -(n + 2) u trace(A + c). `error` is that
    of A itself, which is overwritten.
    """
    from scipy.linalg.lapack import dpotrf

    size = len(centred)
    trace = float(np.abs(np.diagonal(centred)).sum())
    rounding = 2.0 * (size + 2) * UNIT * trace
    centred[np.diag_indices_from(centred)] += 4.0 * rounding + error
    info = dpotrf(centred.T, lower=1, clean=0, overwrite_a=1)[1]
    return 5.0 * rounding + 2.0 * error if info == 0 else None


def estimate_negative(apply: Callable[[Array], Array], start: Array) -> float:
    """Sum of the negative eigenvalues of A, without sign, by Lanczos quadrature with the columns of `start`."""
    xp = namespace(start)
    lengths = xp.sqrt(xp.sum(start * start, axis=0))
    rules = lanczos_quadrature(apply, start / lengths, min(LANCZOS_STEPS, start.shape[0] - 1))
    found = [
        square * float(weights @ np.maximum(-nodes, 0.0))
        for square, (nodes, weights) in zip(to_numpy(lengths) ** 2, rules, strict=True)
    ]
    return float(np.mean(found))


def random_columns(rng: np.random.Generator, size: int, prototype: Array) -> Array:
    """Start of the estimate: standard normal columns."""
    return orthogonal.gaussian(rng, size, RANDOM_VECTORS, prototype)
