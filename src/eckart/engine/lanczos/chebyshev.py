"""A bound of the complement of frozen vectors F from Chebyshev polynomials of random columns, for cheap products.

Let P = I - F F^T, H = P G P, and let x be a unit eigenvector of H with its largest eigenvalue l. It does not depend on
the random columns Omega (n x r), so ||x^T Omega|| >= c with probability 1 - p, as in `probe_bound`. With alpha = 4 / t,

    Y_0 = P Omega,   Y_1 = (alpha H / 2 - I) Y_0,   Y_j+1 = (alpha H - 2 I) Y_j - Y_j-1,

x^T Y_d = T_d(xi) x^T Omega with xi = alpha l / 2 - 1, and T_d grows as cosh(d arcosh(xi)) for l > t. Y_d does not grow
if t bounds H, so l <= s as soon as ||Y_d|| < T_d(alpha s / 2 - 1) c. The choice of t affects only how soon.

A block Lanczos run on H takes about two thirds of the passes, but it has to orthogonalise, store and measure a basis.
With few stored entries, that takes longer than the products.

Rounding: if step j adds E_j, x^T Y_d = T_d x^T Omega + T_d x^T E_0 + sum_j U_d-j x^T E_j, so l <= s if

    ||Y_d|| < T_d (c - ||E_0||) - sum_j U_d-j ||E_j||.

U_d-j / T_d falls as xi > 1 grows, so what holds at s holds above. Bounds of ||E_j|| are derived in `_Rounding`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import acosh

import numpy as np

from eckart.arrays import EPSILON
from eckart.engine.backends.base import Backend
from eckart.engine.lanczos.probe_bound import length_quantile
from eckart.engine.lanczos.terms import Matrix

_MOST_PASSES = 96
_CAUTION = 0.05
"""Share of the distance from the expected to the needed bound that is added to t: too small a t takes more passes than
one that is too large.
"""
_TRUSTED, _RECENT, _WORTH = 6, 3, 0.7
"""Passes after which those to come are predicted, from the last few, and their share for which t is replaced."""
_HALVINGS = 6
"""Bisections for the smallest bound that Y_d proves."""
_LARGEST_EXPONENT = 300.0
"""Largest d arcosh(xi), far from overflow."""


@dataclass(frozen=True)
class ChebyshevBound:
    """lambda_1(P G P) <= bound, except with some probability; rounding errors are included."""

    bound: float
    loss: float
    """A bound of ||I - F^T F||."""

    def bound_with(self, error: float, *, sharp: bool) -> float:
        """The bound: it does not depend on measured errors."""
        return self.bound


@dataclass(frozen=True)
class Wanted:
    """What a run is for."""

    needed: float
    """s: the largest bound that helps."""
    expected: float
    """Estimate of lambda_1(P G P)."""
    passes: int
    """Maximum number of passes."""
    probability: float
    """p."""

    def scale(self, top: float) -> float:
        """alpha, given an estimate of lambda_1(P G P)."""
        top = min(top, self.needed)
        return 4.0 / (top + _CAUTION * (self.needed - top))


def chebyshev_bound(
    matrix: Matrix, frozen: np.ndarray, random: np.ndarray, wanted: Wanted
) -> tuple[ChebyshevBound | None, int]:
    """(a bound of at most `needed`, or None if that takes too many passes or rounding hides it; passes)."""
    needed, length = wanted.needed, length_quantile(wanted.probability, random.shape[1])
    run = _Recurrence.begin(matrix, frozen, random, wanted.scale(wanted.expected))
    first, most = run.distance(needed, length), min(wanted.passes, _MOST_PASSES)
    if not np.isfinite(first) or first > most * run.angle(needed):
        return None, 0
    distances, passes = [first], 0
    while passes < most:
        run.step()
        passes += 1
        distances.append(run.distance(needed, length))
        if not np.isfinite(distances[-1]):
            break
        if distances[-1] < 0.0 and run.excludes(needed, length):
            return ChebyshevBound(run.smallest_bound(needed, length), run.rounding.loss), passes
        if run.is_due:
            rate = max((distances[-1 - _RECENT] - distances[-1]) / _RECENT, 1e-300)
            alpha = wanted.scale(run.top)
            afresh = first / max(_angle(alpha, needed), 1e-300)
            if min(afresh, distances[-1] / rate) > most - passes:
                break
            if afresh < _WORTH * distances[-1] / rate:  # t was too small
                run, distances = run.again(alpha), [first]
    return None, passes


@dataclass(frozen=True)
class _Rounding:
    """Bounds of ||E_j||_F, with `EPSILON`, which is twice the unit roundoff, for every rounding.

    Let d = ||I - F^T F||, k = EPSILON (n + f) ||F||_F and u the block that is projected: the computed P u differs from
    P u by at most k ||u||, and F^T times it is at most phi = d ||F^T u|| + k ||u||. The three terms of u are rounded
    by EPSILON times their lengths, and the product with G by the given bound. P is not exactly a projection, so
    H Y_j, Y_j and Y_j-1 differ from P G Y_j, P Y_j and P Y_j-1 by F F^T Y_j, multiplied by at most ||G||.

    x is not exactly orthogonal to F either: l F^T x = (I - F^T F) F^T G P x.
    """

    product: float
    """||fl(G q) - G q|| for a unit vector q."""
    largest: float
    """A bound of ||G||: its trace."""
    projection: float
    """k."""
    loss: float
    """d."""

    @classmethod
    def of(cls, matrix: Matrix, frozen: np.ndarray) -> _Rounding:
        size, count = frozen.shape
        gram = np.asarray(matrix.backend.inner(frozen, frozen))
        length = float(np.sqrt(max(np.trace(gram), 1.0)))
        projection = 1.01 * EPSILON * (size + count + 2) * length
        loss = 1.01 * float(np.linalg.norm(gram - np.eye(count))) + projection * length
        return cls(matrix.product_error, matrix.trace + matrix.trace_error(), projection, loss)

    def along(self, coordinates: float, length: float) -> float:
        """phi, given ||F^T u|| and ||u||."""
        return 1.01 * (self.loss * coordinates + self.projection * length)

    def start(self, length: float, value: float) -> float:
        """||E_0|| for an eigenvalue l >= `value` and ||Omega||."""
        overlap = 1.01 * self.loss * self.largest / value
        return (1.1 * overlap + 2.1 * self.projection) * length


@dataclass
class _Recurrence:
    """Y_d and Y_d-1, with ||E_j||."""

    matrix: Matrix
    frozen: np.ndarray
    alpha: float
    rounding: _Rounding
    start_length: float
    """||Omega||_F."""
    first: np.ndarray
    """Y_0."""
    first_along: float
    """||F^T Y_0||."""
    newest: np.ndarray = field(init=False)
    before: np.ndarray | None = None
    along: tuple[float, float] = field(init=False)
    """||F^T Y_d|| and ||F^T Y_d-1||."""
    length: float = 0.0
    """||Y_d||."""
    growth: float = 1.0
    """||Y_d|| / ||Y_d-1||."""
    lengths: tuple[float, float] = (0.0, 0.0)
    """||Y_d||_F and ||Y_d-1||_F."""
    errors: list[float] = field(default_factory=list)
    """||E_1||, ..., ||E_d||."""

    def __post_init__(self) -> None:
        self.newest, self.along = self.first, (self.first_along, 0.0)
        self._measure()

    @classmethod
    def begin(cls, matrix: Matrix, frozen: np.ndarray, random: np.ndarray, alpha: float) -> _Recurrence:
        rounding, length = _Rounding.of(matrix, frozen), float(np.linalg.norm(random))
        once, _ = _projected(matrix.backend, frozen, random)
        once_length = float(np.linalg.norm(once))
        first, coordinates = _projected(matrix.backend, frozen, once)
        return cls(matrix, frozen, alpha, rounding, length, first, rounding.along(coordinates, once_length))

    def again(self, alpha: float) -> _Recurrence:
        """From the same random columns: their event does not depend on the polynomial."""
        return _Recurrence(
            self.matrix, self.frozen, alpha, self.rounding, self.start_length, self.first, self.first_along
        )

    @property
    def degree(self) -> int:
        return len(self.errors)

    @property
    def is_due(self) -> bool:
        """Whether to predict the passes to come: now and then, once the first of them have shown the rate."""
        return self.degree >= _TRUSTED and self.degree % _RECENT == 0

    @property
    def top(self) -> float:
        """Estimate of lambda_1(P G P): Y_d grows like T_d there if it exceeds t, or else not at all."""
        growth = max(self.growth, 1.0)
        return (1.0 + 0.5 * (growth + 1.0 / growth)) * 2.0 / self.alpha

    def step(self) -> None:
        """One pass: Y_d+1."""
        alpha = self.alpha if self.before is not None else 0.5 * self.alpha
        product = self.matrix.apply(np.ascontiguousarray(self.newest))
        product_length = alpha * float(np.linalg.norm(product))
        product *= alpha
        if self.before is None:
            product -= self.newest
        else:
            product -= 2.0 * self.newest
            product -= self.before
        length, rounding, (now, earlier) = float(np.linalg.norm(product)), self.rounding, self.lengths
        following, coordinates = _projected(self.matrix.backend, self.frozen, product)
        self.errors.append(
            alpha * rounding.product * now
            + 2.0 * EPSILON * (product_length + 2.0 * now + earlier)
            + rounding.projection * length
            + 1.01 * ((alpha * rounding.largest + 2.0) * self.along[0] + self.along[1])
        )
        self.before, self.newest = self.newest, following
        self.along = rounding.along(coordinates, length), self.along[0]
        self._measure()

    def _measure(self) -> None:
        gram = np.asarray(self.matrix.backend.inner(self.newest, self.newest))
        frobenius = float(np.sqrt(max(np.trace(gram), 0.0))) * (1.0 + 1e-6)
        finite, before = np.isfinite(frobenius), self.length
        self.length = float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0))) * (1.0 + 1e-6) if finite else np.inf
        self.growth = self.length / max(before, 1e-300) if self.errors else 1.0
        self.lengths = frobenius, self.lengths[0]

    def angle(self, value: float) -> float:
        """arcosh(xi) at an eigenvalue, rounded down."""
        return _angle(self.alpha, value)

    def distance(self, value: float, length: float) -> float:
        """log(||Y_d|| / (T_d c)) at `value`, without rounding errors: negative if it is excluded."""
        exponent = self.degree * self.angle(value)
        grown = exponent + float(np.log1p(np.exp(-2.0 * exponent))) - float(np.log(2.0))
        return float(np.log(max(self.length, 1e-300) / length)) - grown

    def excludes(self, value: float, length: float) -> bool:
        """Whether no eigenvalue of H exceeds `value`, rounding errors included, if ||x^T Omega|| >= `length`."""
        degree, angle = self.degree, self.angle(value)
        if angle <= 0.0 or degree * angle > _LARGEST_EXPONENT:
            return False
        grown = float(np.cosh(degree * angle)) * (1.0 - 1e-9)
        # U_m(cosh a) = sinh((m + 1) a) / sinh(a), m = d - 1, ..., 0 for E_1, ..., E_d
        orders = np.arange(degree, 0, -1)
        carried = float(np.sinh(orders * angle) @ np.asarray(self.errors)) / float(np.sinh(angle)) * (1.0 + 1e-9)
        left = length - self.rounding.start(self.start_length, value)
        return self.length < grown * left - carried

    def smallest_bound(self, needed: float, length: float) -> float:
        """A value between that which Y_d excludes without rounding errors and `needed`, which it does exclude."""
        angle = float(np.arccosh(max(self.length / length, 1.0))) / self.degree
        low, high = 2.0 * (1.0 + float(np.cosh(angle))) / self.alpha, needed
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if low < middle < high and self.excludes(middle, length):
                high = middle
            else:
                low = middle
        return high


def _angle(alpha: float, value: float) -> float:
    xi = 0.5 * alpha * value * (1.0 - 4.0 * EPSILON) - 1.0
    return acosh(xi) * (1.0 - 1e-12) if xi > 1.0 else 0.0


def _projected(backend: Backend, frozen: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, float]:
    """(P u, ||F^T u||); u may be overwritten."""
    coordinates = backend.inner(frozen, block)
    return np.asarray(backend.subtract(block, frozen, coordinates)), float(np.linalg.norm(coordinates))
