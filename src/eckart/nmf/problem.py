"""The protocol between solvers of A ~ W H and losses: improve the rows of one factor while the other is fixed.

Both factors are stored as rows: W is rows x k, and H is transposed, columns x k, so that the same code serves both. The
objective is loss(A, W H) + sum over both factors F of lasso |F|_1 + ridge/2 |F|^2.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eckart.arrays import Array, Matrix, is_numpy, namespace
from eckart.nmf.constants import SEGMENTS


@dataclass(frozen=True)
class Penalty:
    """lasso |F|_1 + ridge/2 |F|^2 for one factor."""

    lasso: float = 0.0
    ridge: float = 0.0

    def of(self, factor: Array) -> float:
        if not (self.lasso or self.ridge):
            return 0.0
        total = factor.sum() if is_numpy(factor) else _sum(factor)
        return float(self.lasso * total + 0.5 * self.ridge * dot(factor, factor))


@dataclass(frozen=True)
class Penalties:
    rows: Penalty = Penalty()
    columns: Penalty = Penalty()


@dataclass(frozen=True)
class FactorUpdate:
    """One factor after its step."""

    new: Array
    ahead: Array
    """max(0, new + extrapolation (new - old)): the extrapolated factor."""
    value: float
    """Objective with the new factor, without terms that depend only on the data and the other factor."""
    violation: float
    """Sum of the projected gradients: zero at a stationary point."""


class Problem(Protocol):
    """A loss of a given matrix."""

    penalties: Penalties

    @property
    def constant(self) -> float:
        """Terms of the objective beyond `FactorUpdate.value` and the penalty of the other factor."""
        ...

    @property
    def reference(self) -> float:
        """Loss of a model without parts: of zeros for the squared error, of the mean for Kullback-Leibler."""
        ...

    @property
    def rounding(self) -> float:
        """Changes of the objective below this are rounding errors."""
        ...

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        """W from `begin` for a given H; with `sweeps`, every row is solved to convergence."""
        ...

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        """H from `begin` for a given W."""
        ...


def segments(rows: int, pieces: int = SEGMENTS) -> list[tuple[int, int]]:
    """Rows in equal pieces that depend only on the shape."""
    pieces = max(1, min(pieces, rows))
    return list(itertools.pairwise(rows * i // pieces for i in range(pieces + 1)))


def entry_segments(matrix: Matrix, pieces: int = SEGMENTS) -> list[tuple[int, int]]:
    """Rows of a CSR matrix in pieces of about equally many entries."""
    wanted = np.linspace(0, matrix.indptr[-1], pieces + 1)[1:-1]
    edges = np.unique([0, *np.searchsorted(matrix.indptr, wanted), matrix.shape[0]]).tolist()
    return list(itertools.pairwise(edges))


def total(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """(values, violations) summed in the order of the segments."""
    return float(sum(part[0] for part in parts)), float(sum(part[1] for part in parts))


def dot(first: Array, second: Array) -> float:
    """<F, G>, summed in float64."""
    return float(np.vdot(first, second)) if is_numpy(first) else _sum(first * second)


def length(factor: Array) -> float:
    """|F|, the root of the sum of squares."""
    return float(np.linalg.norm(factor)) if is_numpy(factor) else float(np.sqrt(dot(factor, factor)))


def rounding_of(prototype: Array) -> float:
    """Rounding errors of an objective in the arithmetic of steps on such factors, relative to its terms.

    float32 products err by 6e-8 each, and sums of millions of them by far less.
    """
    return 2.0**-29 if str(prototype.dtype).endswith("float32") else float(np.finfo(np.float64).eps)


def _sum(array: Array) -> float:
    xp = namespace(array)
    return float(xp.sum(array, dtype=xp.float64))
