"""Upper bounds for the complement of a basis from random columns (probes).

F is orthonormal and fixed, P = I - F F^T. Omega (n x r) is standard normal and independent of G and F. N is an
orthonormal basis in the complement of F with P Omega = N C, T = N^T G N and R = P G N - N T.

Let x be a unit eigenvector of P G P in the complement of F, with eigenvalue l > lambda_1(T). It does not depend on
Omega, so x^T Omega is standard normal, and ||x^T Omega|| >= c with probability 1 - p, where c^2 is the p-quantile of
the chi-square distribution with r degrees of freedom. The event is the same after every pass, so checking the bound
repeatedly costs no further probability.

Rounding: where P G N = N T + R + E with ||E|| <= eta, y = x^T N - x^T E (l - T)^-1 satisfies y (l - T) = x^T R exactly,
||(y, w)|| <= 1 + eta / (l - t) and ||y C|| >= c - eta ||C|| / (l - t), t = lambda_1(T).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, special

from eckart.arrays import Floats

if TYPE_CHECKING:
    from eckart.engine.lanczos.basis import Basis

_UNIT = float(np.finfo(np.float64).eps)
_NEARLY_REAL = 1e-7
"""Relative size of an imaginary part that may be rounding; counting more eigenvalues as real only raises the bound."""
_SPLIT = 0.01
"""tau: share of the unit norm of x that is spent on rounding in `sharp_bound`."""
SHARP_SIZE = 160
"""Largest projected matrix for `sharp_bound`, whose eigenproblem is not symmetric and has twice its size."""


@dataclass(frozen=True)
class ProbeRun:
    """The projected problem of a probe run; R is nonzero in the last columns of N only."""

    projected: Floats
    residual_gram: Floats
    coordinates: Floats
    """C: its rows belong to the first columns of N, the others are zero."""
    error: float = 0.0
    """eta."""

    @cached_property
    def largest(self) -> float:
        """t = lambda_1(T), a lower bound of lambda_1(P G P) up to eta."""
        return float(np.linalg.eigvalsh(self.projected)[-1])

    @cached_property
    def recurrence(self) -> tuple[list[float], list[float], float]:
        """Coefficients (alpha_j, beta_j+1) and p_0 of `monotone_bound`."""
        return _global_lanczos(self)

    def with_error(self, error: float) -> ProbeRun:
        """The same with another eta, without recomputing what does not depend on it."""
        found = replace(self, error=error)
        found.__dict__.update(largest=self.largest, recurrence=self.recurrence)
        return found


@dataclass(frozen=True)
class BoundedRun:
    """lambda_1(P G P) <= bound, except with some probability, provided that eta is at most `assumed`."""

    run: ProbeRun
    probability: float
    bound: float
    assumed: float

    def bound_with(self, error: float, *, sharp: bool) -> float:
        """A bound with the measured eta: the current one if it still holds, unless the smallest is wanted (`sharp`)."""
        holds = error <= self.assumed
        if holds and not sharp:
            return self.bound
        bound = (smallest_probe_bound if sharp else monotone_bound)(self.run.with_error(error), self.probability)
        return min(bound, self.bound) if holds else bound


@dataclass(frozen=True)
class RideAlong:
    """Probes in the main basis: first column, coordinates, step at which they joined, and their probability."""

    begin: int
    coordinates: Callable[[], np.ndarray]
    step: int
    probability: float

    def run(self, basis: Basis, error: float) -> ProbeRun | None:
        """The projected problem from the probes on; None before the first of them has been multiplied."""
        if basis.count <= self.begin:
            return None
        projected, gram = basis.projected[self.begin :, self.begin :], basis.residual_gram
        older = max(0, len(gram) - len(projected))
        return ProbeRun(projected, gram[older:, older:], self.coordinates(), error)


@lru_cache(maxsize=128)
def length_quantile(probability: float, count: int) -> float:
    """c: a standard normal vector of `count` entries is shorter than c with the given probability."""
    return float(np.sqrt(2.0 * special.gammaincinv(count / 2.0, probability)))  # chi-square is a gamma distribution


def monotone_bound(run: ProbeRun, probability: float) -> float:
    """s >= lambda_1(P G P) with probability 1 - p, by scalar orthogonal polynomials.

    The blocks V_j = p_j(P G P) P Omega of global Lanczos are orthonormal in the Frobenius inner product, and
    x^T V_j = p_j(l) x^T Omega. Bessel's inequality with x^T Omega gives sum_j p_j(l)^2 ||x^T Omega||^2 <= 1. All roots
    of the p_j lie below t, so the sum increases with l, and l cannot exceed the root of sum_j p_j(l)^2 = 1 / c^2.
    """
    top, length = run.largest, length_quantile(probability, run.coordinates.shape[1])
    diagonal, off_diagonal, start = run.recurrence
    size = float(np.linalg.norm(run.coordinates, 2))

    def possible(excess: float) -> bool:
        """Whether an eigenvalue may lie at t + excess."""
        blur = run.error / excess
        reached = length - blur * size
        if reached <= 0.0:
            return True
        return _sum_of_squares(top + excess, diagonal, off_diagonal, start) <= ((1.0 + blur) / reached) ** 2

    scale = max(
        abs(top), run.error, float(np.sqrt(max(np.trace(run.residual_gram), 0.0))), np.finfo(float).tiny * 2**60
    )
    high = scale
    while possible(high):
        high *= 4.0
        if not np.isfinite(high):
            return np.inf
    low = 1e-16 * scale
    if not possible(low):
        return top + low
    while high > 1.001 * low and high - low > _UNIT * scale:
        middle = float(np.sqrt(low * high))
        if possible(middle):
            low = middle
        else:
            high = middle
    return top + high


def _global_lanczos(run: ProbeRun) -> tuple[list[float], list[float], float]:
    """Recurrence coefficients (alpha_j, beta_j+1) and p_0 = 1 / ||C||_F; full reorthogonalisation.

    A block with a part in the newest columns can be multiplied once more, because R^T R is known, but not twice.
    """
    newest = run.residual_gram.shape[0]
    start = float(np.linalg.norm(run.coordinates))
    block = np.zeros((run.projected.shape[0], run.coordinates.shape[1]))
    block[: run.coordinates.shape[0]] = run.coordinates / start
    blocks, diagonal, off_diagonal = [block], [], []
    while True:
        product = run.projected @ blocks[-1]
        diagonal.append(float(np.vdot(blocks[-1], product)))
        for _ in range(2):
            for other in blocks:
                product = product - np.vdot(other, product) * other
        tail = blocks[-1][len(product) - newest :]
        outside = float(np.vdot(tail, run.residual_gram @ tail)) if newest else 0.0
        length = float(np.sqrt(np.vdot(product, product) + max(outside, 0.0)))
        off_diagonal.append(length)
        # An invariant subspace: the next polynomial is unbounded, so no eigenvalue lies above t.
        if length <= 64 * _UNIT * max(map(abs, diagonal)) or np.any(tail) or len(blocks) > len(product):
            return diagonal, off_diagonal, 1.0 / start
        blocks.append(product / length)


def _sum_of_squares(value: float, diagonal: list[float], off_diagonal: list[float], start: float) -> float:
    """sum_j p_j(l)^2, by the three-term recurrence, which is stable above the spectrum."""
    before, now, beta = 0.0, start, 0.0
    total = now * now
    for alpha, following in zip(diagonal, off_diagonal, strict=True):
        if following == 0.0:
            return np.inf
        before, now, beta = now, ((value - alpha) * now - beta * before) / following, following
        total += now * now
        if total > 1e200:
            return np.inf
    return total


def sharp_bound(run: ProbeRun, probability: float) -> float:
    """s >= lambda_1(P G P) with probability 1 - p: the largest real eigenvalue of H, or t if that is larger.

        H = [[T, (C C^T - c^2 I) / c], [R^T R / c, T]]

    From x^T P G N = l x^T N follows x^T N = w R_c (l - T)^-1, where w holds the coordinates of x in range(R), and
    ||w||^2 + ||x^T N||^2 <= 1. With ||x^T N C|| >= c this requires that
    R_c (l - T)^-1 (C C^T - c^2 I) (l - T)^-1 R_c^T - c^2 I has a nonnegative eigenvalue. The matrix tends to -c^2 I as
    l grows, so it is singular at some l at least as large; singular at l means that l is an eigenvalue of H.
    """
    top, size = run.largest, run.projected.shape[0]
    length = length_quantile(probability, run.coordinates.shape[1]) / np.sqrt(1.0 + _SPLIT)
    residual = np.zeros((size, size))
    newest = run.residual_gram.shape[0]
    if newest:
        residual[size - newest :, size - newest :] = run.residual_gram
    residual[np.diag_indices(size)] += run.error**2 / _SPLIT
    outer = np.zeros((size, size))
    rows = run.coordinates.shape[0]
    outer[:rows, :rows] = run.coordinates @ run.coordinates.T
    outer[np.diag_indices(size)] -= length**2
    # A diagonal similarity balances the blocks off the diagonal.
    first, second = (max(float(np.abs(part).max()), np.finfo(float).tiny) / length for part in (outer, residual))
    balance = float(np.sqrt(second / first))
    whole = np.block([[run.projected, outer * (balance / length)], [residual / (balance * length), run.projected]])
    values = linalg.eigvals(whole, check_finite=False, overwrite_a=True)
    scale = float(np.abs(values).max(initial=abs(top)))
    real = values.real[np.abs(values.imag) <= _NEARLY_REAL * scale]
    return max(top, float(real.max(initial=top))) + _NEARLY_REAL * scale


def best_probe_bound(run: ProbeRun, probability: float, enough: Callable[[float], bool]) -> float:
    """The monotone bound, or the sharp one if the first is not enough and the second may be."""
    bound, top = monotone_bound(run, probability), run.largest
    if enough(bound) or run.projected.shape[0] > SHARP_SIZE or not enough(top + 0.5 * (bound - top)):
        return bound
    return min(bound, sharp_bound(run, probability))


def smallest_probe_bound(run: ProbeRun, probability: float) -> float:
    """The smaller of both bounds; the sharp one only if its eigenproblem is not too large."""
    bound = monotone_bound(run, probability)
    return bound if run.projected.shape[0] > SHARP_SIZE else min(bound, sharp_bound(run, probability))
