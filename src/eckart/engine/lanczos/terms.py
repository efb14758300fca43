"""What block Lanczos is given and what it gives: what is wanted, the matrix, and the pairs with their bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eckart.arrays import Array


@dataclass(frozen=True)
class Target:
    """What is wanted: k pairs, or as many as hold `share` of the trace; their sum proved to `tolerance` x the last."""

    k: int | None
    share: float | None = None
    tolerance: float = 1e-9
    failure_probability: float = 1e-6
    max_reads: int = 200
    patience: int = 12
    """Further reads spent on a proof after the pairs have settled."""
    note: Callable[[int, float, float], None] | None = None
    """Told (steps, certified lower share, upper share) whenever they are known."""


@dataclass(frozen=True)
class Matrix:
    """G: its size, G Q, its trace, and `rounding`, which bounds what rounding does to one of its eigenvalues."""

    size: int
    apply: Callable[[Array], Array]
    like: Array
    measure: Callable[[], tuple[float, float]]
    """Trace and rounding, as late as they are needed: they may come from the first read. May refuse the matrix."""
    doubt: Callable[[], float] = lambda: 0.0
    """What products in single precision may have done to the trace; nothing where they are in double precision."""
    tile: int = 1
    """Columns that a product takes at a time: more of them, up to a multiple of this, cost nothing."""

    def settle(self) -> None:
        """Measure it now."""
        _ = self._measured

    @cached_property
    def _measured(self) -> tuple[float, float]:
        return self.measure()

    @property
    def trace(self) -> float:
        return self._measured[0]

    @property
    def rounding(self) -> float:
        return self._measured[1]


@dataclass(frozen=True)
class Pairs:
    """Leading eigenpairs with their bounds; `upper` holds one more value than `values` when one more is known."""

    values: np.ndarray
    vectors: Array
    upper: np.ndarray
    residuals: np.ndarray
    proved: bool
    settled: bool
    failure_probability: float
    noise: float
    dropped: float
    """Length of what blocks left out: it may move a value by as much."""
    drift: float
    """What a basis that is not quite orthonormal may do to a value."""
    crowding: np.ndarray
    """What rounding may do to each value beyond `noise`, because it has near neighbours."""
    steps: int
    restarts: int
    basis: int
    history: tuple[tuple[int, float, float], ...]
