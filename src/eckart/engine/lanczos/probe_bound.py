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

from eckart.arrays import EPSILON, Floats
from eckart.engine.certificate import coupling_factor

if TYPE_CHECKING:
    from eckart.engine.lanczos.basis import Basis

_TERMS = 16
"""Number of derivatives in `sharp_bound`: the remainder is below 2^-16 of its first factor."""
_FARTHEST = 0.5
"""Longest interval that is excluded at once, relative to the distance from t."""
_STEPS = _FARTHEST * np.geomspace(1e-4, 1.0, 41)
"""Step lengths to try, relative to the distance from t."""
_POWERS = _STEPS[:, None] ** np.arange(_TERMS)
_SMALLEST_STEP, _CLOSE, _MOST_INTERVALS = 1e-3, 1e-9, 100
"""The search ends at a step this small relative to the distance from t, this close to t, or after this many steps."""
SHARP_SIZE = 512
"""Largest projected matrix for `sharp_bound`, which needs all its eigenvectors."""


@dataclass(frozen=True)
class ProbeRun:
    """The projected problem of a probe run; R is nonzero in the last columns of N only."""

    projected: Floats
    """T."""
    residual_gram: Floats
    """R^T R."""
    coordinates: Floats
    """C: its rows belong to the first columns of N, the others are zero."""
    error: float
    """eta."""

    @cached_property
    def largest(self) -> float:
        """t = lambda_1(T), a lower bound of lambda_1(P G P) up to eta."""
        return float(np.linalg.eigvalsh(self.projected)[-1])

    @cached_property
    def spread(self) -> float:
        """||C||."""
        return float(np.linalg.norm(self.coordinates, 2))

    @cached_property
    def eigenpairs(self) -> tuple[Floats, Floats]:
        """Eigenpairs of T, in increasing order."""
        values, vectors = np.linalg.eigh(self.projected)
        return values, vectors

    @cached_property
    def recurrence(self) -> tuple[list[float], list[float], float]:
        """Coefficients (alpha_j, beta_j+1) and p_0 of `monotone_bound`."""
        return _global_lanczos(self)

    def with_error(self, error: float) -> ProbeRun:
        """The same with another eta, without recomputing what does not depend on it."""
        found = replace(self, error=error)
        known = ("largest", "spread", "recurrence", "eigenpairs")
        found.__dict__.update({name: self.__dict__[name] for name in known if name in self.__dict__})
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
    size = run.spread

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
    while high > 1.001 * low and high - low > EPSILON * scale:
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
    newest, size = run.residual_gram.shape[0], run.projected.shape[0]
    start = float(np.linalg.norm(run.coordinates))
    block = np.zeros((size, run.coordinates.shape[1]))
    block[: run.coordinates.shape[0]] = run.coordinates / start
    blocks = block.reshape(1, -1)  # one in each row
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    while True:
        product = run.projected @ block
        diagonal.append(float(np.vdot(block, product)))
        flat = product.reshape(-1)
        for _ in range(2):
            flat -= (blocks @ flat) @ blocks
        tail = block[size - newest :]
        outside = float(np.vdot(tail, run.residual_gram @ tail)) if newest else 0.0
        length = float(np.sqrt(flat @ flat + max(outside, 0.0)))
        off_diagonal.append(length)
        # An invariant subspace: the next polynomial is unbounded, so no eigenvalue lies above t.
        if length <= 64 * EPSILON * max(map(abs, diagonal)) or tail.any() or len(blocks) > size:
            return diagonal, off_diagonal, 1.0 / start
        block = product / length
        blocks = np.concatenate([blocks, block.reshape(1, -1)])


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


def sharp_bound(
    run: ProbeRun, probability: float, enough: Callable[[float], bool] | None = None, known: float | None = None
) -> float:
    """s >= lambda_1(P G P) with probability 1 - p: from the monotone bound down, as far as no eigenvalue is possible.

    From x^T P G N = l x^T N follows y = w R_c (l - T)^-1 for y = x^T N, where w holds the coordinates of x in range(R),
    and ||(y, w)||^2 = w K w^T <= 1 with K(l) = I + R_c (l - T)^-2 R_c^T. So ||x^T Omega|| = ||y C|| >= c requires
    ||K(l)^-1/2 F(l)|| >= c, where F(l) = R_c (l - T)^-1 C.

    Derivatives at a exclude an interval [a - h, a]. With D = (a - T)^-1 and h < a - t, F(a - u) = sum_j u^j R_c D^(j+1)
    C, and K(l) >= K(a) for l <= a, so the norm is at most sum_j h^j ||K(a)^-1/2 R_c D^(j+1) C|| for all u <= h. Near
    the last possible l this is Newton's step, from the side where it never overshoots. The search ends early if the
    bound is `enough`. `known`: the monotone bound, if it has been computed.
    """
    bound, top = monotone_bound(run, probability) if known is None else known, run.largest
    if not np.isfinite(bound) or run.residual_gram.shape[0] == 0 or (enough is not None and enough(bound)):
        return bound
    search = _Exclusion.of(run, length_quantile(probability, run.coordinates.shape[1]))
    for _ in range(_MOST_INTERVALS):
        step = search.step_below(bound)
        bound -= step
        gap = bound - top
        if step < _SMALLEST_STEP * gap or gap < _CLOSE * abs(top) or (enough is not None and enough(bound)):
            break
    return bound


@dataclass(frozen=True)
class _Exclusion:
    """R_c and C in the eigenvectors of T, T's eigenvalues, c and eta."""

    values: Floats
    coupling: Floats
    coordinates: Floats
    length: float
    error: float

    @classmethod
    def of(cls, run: ProbeRun, length: float) -> _Exclusion:
        values, vectors = run.eigenpairs
        newest, rows = run.residual_gram.shape[0], run.coordinates.shape[0]
        coupling = coupling_factor(run.residual_gram) @ vectors[len(values) - newest :]
        # The computed eigenpairs are exact for a matrix this close to T, which adds to E.
        rounding = 8.0 * len(values) * EPSILON * float(np.abs(values).max(initial=0.0))
        return cls(values, coupling, vectors[:rows].T @ run.coordinates, length, run.error + rounding)

    def step_below(self, value: float) -> float:
        """Length h of the interval below `value` without an eigenvalue, at most half of the distance to t."""
        gap = value - float(self.values[-1])
        if gap <= 0.0:
            return 0.0
        inverse = 1.0 / (value - self.values)
        # ||y C|| >= c - eta ||(l - T)^-1 C|| and ||(y, w)|| <= 1 + eta / (l - t), both worst at l = a - h.
        farthest = 1.0 / (1.0 - _STEPS)
        lost = self.error * farthest
        spread = float(np.linalg.norm(inverse[:, None] * self.coordinates))
        allowed = (self.length - lost * spread) / (1.0 + lost / gap)
        norms, rest = self._terms(inverse, gap)
        reached = _POWERS @ norms + rest * _STEPS**_TERMS * farthest
        possible = np.flatnonzero(reached < allowed)
        return gap * float(_STEPS[possible[-1]]) if len(possible) else 0.0

    def _terms(self, inverse: Floats, gap: float) -> tuple[Floats, float]:
        """gap^j ||K^-1/2 R_c D^(j+1) C|| for j < _TERMS, and a bound for larger j."""
        first = self.coupling * inverse
        # K = L L^T by QR: just above a Ritz value K is so large that Cholesky fails on the rounded K.
        triangle = np.asarray(np.linalg.qr(np.vstack([np.eye(len(first)), first.T]), mode="r")).T
        first = linalg.solve_triangular(triangle, first, lower=True, check_finite=False)
        powers = (gap * inverse)[None, :] ** np.arange(_TERMS)[:, None]
        products = (first[None, :, :] * powers[:, None, :]) @ self.coordinates
        norms = np.sqrt(np.linalg.eigvalsh(np.swapaxes(products, 1, 2) @ products)[:, -1].clip(0.0))
        half = powers[_TERMS // 2]
        rest = np.linalg.norm(first * half) * np.linalg.norm(half[:, None] * self.coordinates)
        rounding = EPSILON * len(inverse) * np.linalg.norm(first) * np.linalg.norm(self.coordinates)
        return norms * (1.0 + _TERMS * EPSILON * len(inverse)) + rounding, float(rest)


def best_probe_bound(run: ProbeRun, probability: float, enough: Callable[[float], bool]) -> float:
    """The monotone bound, or the sharp one if the first is not enough and the second may be."""
    bound, top = monotone_bound(run, probability), run.largest
    if enough(bound) or run.projected.shape[0] > SHARP_SIZE or not enough(top + 0.5 * (bound - top)):
        return bound
    return sharp_bound(run, probability, enough, bound)


def smallest_probe_bound(run: ProbeRun, probability: float) -> float:
    """The sharp bound if its eigenproblem is not too large, otherwise the monotone one."""
    return (monotone_bound if run.projected.shape[0] > SHARP_SIZE else sharp_bound)(run, probability)
