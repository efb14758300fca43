"""Input and output of block Lanczos: the operator, the target, and eigenpairs with bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.base import Backend
from eckart.engine.backends.select import backend_of

PROBES = 8
"""Random columns of a proof phase."""
MOST_PASSES = 48
"""Its passes, at most."""
MOST_PROBES = PROBES * MOST_PASSES
"""Maximum number of columns of its basis."""
NARROWEST = 8
"""Number of columns of the narrowest blocks."""


@dataclass(frozen=True)
class Target:
    """k pairs, or as many as explain `target_ratio` of the trace, each within 2 tolerance x the last."""

    k: int | None
    target_ratio: float | None = None
    tolerance: float = 1e-9
    failure_probability: float = 1e-9
    max_passes: int = 200
    note: Callable[[int, float, float], None] | None = None
    """Called with (step, lower bound, upper bound of the explained share) whenever they are known."""
    flat_tolerance: float | None = None
    """The tolerance if convergence is slow; None: the same."""
    worth: Callable[[int, float], bool] | None = None
    """Whether to continue, given the passes so far and the expected ones; None: always."""

    def after(self, passes: int) -> Target:
        """The target of a run that continues after this number of passes."""
        worth = self.worth
        return replace(
            self,
            max_passes=max(1, self.max_passes - passes),
            worth=None if worth is None else lambda done, expected: worth(passes + done, expected),
        )


class NotWorthError(Exception):
    """The expected remaining passes cost more than the alternative."""


class HiddenByRoundingError(NotWorthError):
    """Float32 products hide a wanted value, and continuing in float64 costs more than the alternative."""

    def __init__(self, value: float = 0.0) -> None:
        super().__init__()
        self.value = value
        """The last wanted Ritz value."""


@dataclass(frozen=True)
class Matrix:
    """A symmetric G: its size, G Q, its trace, and the rounding of its products."""

    size: int
    apply: Callable[[Array], Array]
    prototype: Array
    measure: Callable[[], tuple[float, float]]
    """(trace, bound of ||fl(G q) - G q|| for a unit vector q in float64), known after the first pass."""
    trace_error: Callable[[], float] = lambda: 0.0
    """Bound of the error of the trace beyond that of a product."""
    exact: Callable[[Array], Array] | None = None
    """G Q in float64, if `apply` uses float32."""
    exact_and_gram: Callable[[Array, Array], tuple[Array, Array] | None] | None = None
    """G Q and V^T G V in float64 for the cost of half of G V, if such a way exists."""
    block_error: Callable[[int, float], float] | None = None
    """||fl(G M) - G M|| for so many orthonormal columns in float64, given a bound of the largest eigenvalue."""
    tile: int = 1
    """Products process columns in groups of this size, so filling the last group is free."""
    resident: bool = False
    """Whether the data are in memory, so that a pass with a few columns costs little."""
    entries: int = 0
    """Entries of dense data."""

    @cached_property
    def backend(self) -> Backend:
        return backend_of(self.prototype)

    @cached_property
    def _measured(self) -> tuple[float, float]:
        return self.measure()

    @property
    def trace(self) -> float:
        return self._measured[0]

    @property
    def product_error(self) -> float:
        return self._measured[1]

    def products_error(self, columns: int, largest: float = np.inf) -> float:
        """Bound of ||fl(G M) - G M|| in float64: sqrt(d) times that of a column, or less if `largest` is known."""
        if self.block_error is None or not np.isfinite(largest):
            return float(columns**0.5 * self.product_error)
        return self.block_error(columns, largest)


@dataclass(frozen=True)
class Start:
    """The first orthonormal block, G times it (the first pass), and the room for the basis and for that of a proof."""

    block: Array
    product: Array
    capacity: int
    probes: int = MOST_PROBES
    most: int = 0
    """Columns to which the basis may grow if k is not known in advance; 0 if it may not grow."""
    single: bool = False
    """Whether the first steps take one vector each (`single`)."""
    residual: float = np.inf
    """Residuals of the wanted vectors, relative to the largest value, at which those steps end: for accurate vectors.
    """


@dataclass
class FailureBudget:
    """Splits the probability of a false bound among the random statements of a run.

    The i-th statement of a kind gets 1 / (i (i + 1)) of the portion of that kind, which sums to 1 over all i. With
    successive halves, nothing would be left for the hundredth.
    """

    total: float
    portions: dict[str, float] = field(default_factory=lambda: {"proof": 0.25, "ride-along": 0.125, "rounding": 0.25})
    spent: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def spend(self, kind: str) -> float:
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        probability = self.total * self.portions[kind] / (count * (count + 1))
        self.spent += probability
        return probability


@dataclass(frozen=True)
class Assessment:
    """State of a run after a step."""

    k: int
    values: np.ndarray
    coefficients: np.ndarray
    residuals: np.ndarray
    goal: float
    """Allowed sum of upper_i - theta_i, i <= k."""
    converged: bool
    upper: np.ndarray | None = None
    """Upper bounds without rounding errors; None while no statement about the complement is useful."""
    decided: bool = True
    """Whether k is the smallest number that reaches the requested share."""

    @property
    def done(self) -> bool:
        if self.upper is None or not self.decided:
            return False
        return float(np.sum(self.upper[: self.k] - self.values[: self.k])) <= self.goal


@dataclass(frozen=True)
class Pairs:
    """Leading eigenpairs with bounds; `upper` has one more value than `values` if one more is known."""

    values: np.ndarray
    vectors: Array
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    """Bounds of ||G v - theta v||."""
    proved: bool
    converged: bool
    """Whether more passes would not change the values."""
    undecided: bool
    """Whether rounding determines the smallest k that reaches the share."""
    failure_probability: float
    error: float
    """Rounding included in each bound."""
    steps: int
    passes: int
    restarts: int
    basis: int
    precision: str
    history: tuple[tuple[int, float, float], ...]
