"""The first steps of a run with one vector at a time, for small data in host memory.

The basis is that of the Lanczos method: T is tridiagonal, values converge after the fewest products, and a check of
convergence costs little. One start vector shows one vector of each eigenspace. Further ones are found by the proofs,
which treat the basis like that of any run, and blocks follow if the proof fails.
"""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from eckart.engine.lanczos.convergence import remaining_error
from eckart.engine.lanczos.goal import goal_of
from eckart.engine.lanczos.terms import NotWorthError, Start

if TYPE_CHECKING:
    from eckart.engine.lanczos.block_lanczos import _Run

_FIRST, _FARTHEST = 8, 0.25
"""The first check is made after this many vectors more than wanted, and the next ones after this share more at most."""
_SOONER = 0.9
"""Steps to the next check relative to those to convergence at the last rate, which grows."""
_PROVABLE = 0.03
"""Error of the values, relative to the goal, at which the run hands over to a proof: it has to leave room for one."""
_SLOWEST = 0.05
"""Smallest rate, as a logarithm per step, that is believed."""
_RELIABLE = 3
"""Checks after which the number of steps is predicted."""
_VECTORS = 8
"""Steps with one vector that cost about as much as one step with a block, and count as one pass."""
_GROWTH = 0.5
"""Steps to convergence relative to those expected at the last rate, as in `ConvergenceSchedule.expected_steps`."""
_PASSES, _MOST = 0.7, 300
"""Share of the allowed passes, and number of vectors, after which blocks follow: orthogonalising them one by one takes
longer.
"""
_ORTHOGONAL = 0.7
"""Share of its length that a residual keeps in the projection against the basis unless that has to be repeated."""
_PROJECTIONS = 3
"""Maximum number of projections."""
_BREAKDOWN = 1e-10
"""Relative length of a residual at which its direction is lost in rounding."""


def begin(run: _Run, start: Start) -> None:
    """Fill the empty basis of a run: with single vectors if the start allows it, otherwise with the start block."""
    room = min(run.capacity, run.matrix.size) - 2 * run.block
    most = min(room, int(_PASSES * run.allowed * _VECTORS), _MOST)
    if not (start.single and most > 0 and _Vectors(run, start, most).extend()):
        run.add(start.block, start.product)
        run.passes += 1


class _Vectors:
    """Lanczos vectors in the rows of a basis, their products, and T."""

    def __init__(self, run: _Run, start: Start, most: int) -> None:
        self._run, self._most, self._residual = run, most, start.residual
        self._rows: np.ndarray = run.basis.rows
        self._rows[0] = start.block[:, 0]
        self._product: np.ndarray = start.product[:, 0]
        self._products = np.empty((most, run.matrix.size))
        self._diagonal, self._off_diagonal = np.zeros(most), np.zeros(most)
        self._checks: list[tuple[int, float]] = []

    def extend(self) -> bool:
        """Add vectors until the wanted values have converged; False, with nothing added, if products are not finite."""
        count, following, rest = 0, (self._run.target.k or 0) + _FIRST, self._product
        while True:
            rest = self._step(count)
            length = float(self._off_diagonal[count])
            if not np.isfinite(length):
                return False
            count += 1
            lost = length <= _BREAKDOWN * float(np.abs(self._diagonal[:count]).max())
            if lost or count == self._most:
                break
            if count >= following:
                if self._converged(count):
                    break
                following = count + self._until_check(count)
            np.divide(rest, length, out=self._rows[count])
            self._product = self._run.matrix.apply(self._rows[count][:, None])[:, 0]
        self._hand_over(count, rest)
        return True

    def _step(self, count: int) -> np.ndarray:
        """The residual of the newest vector, orthogonal to all, and its coefficients in T."""
        self._products[count] = product = self._product
        known, newest = self._rows[: count + 1], self._rows[count]
        # G times the newest vector has components along this and the previous one; along all others only rounding.
        self._diagonal[count] = along = newest @ product
        rest: np.ndarray = product - along * newest
        if count:
            rest -= self._off_diagonal[count - 1] * self._rows[count - 1]
        length = np.sqrt(rest @ rest)
        for _ in range(_PROJECTIONS):
            rest -= (known @ rest) @ known
            before, length = length, np.sqrt(rest @ rest)
            if not length < _ORTHOGONAL * before:  # the criterion of Daniel, Gragg, Kaufman and Stewart (1976)
                break
        self._off_diagonal[count] = length
        return rest

    def _converged(self, count: int) -> bool:
        """Whether the wanted values will not move by more than the goal; NotWorthError if that will take too long."""
        run, k = self._run, self._run.target.k or 0
        values, last = self._leading(count, min(k + 1, count))
        residuals = float(self._off_diagonal[count - 1]) * np.abs(last)
        goal = _PROVABLE * goal_of(run, float(values[k - 1]), float(values[0])) if values[k - 1] > 0.0 else 0.0
        error = remaining_error(values, residuals, k, float(values[k]) if len(values) > k else 0.0)
        if error <= goal:
            largest = float(residuals[:k].max(initial=0.0))
            return self._residual == np.inf or largest <= self._residual * float(values[0])
        self._checks.append((count, log(error / max(goal, 1e-300))))
        worth = run.target.worth if len(self._checks) >= _RELIABLE else None
        if worth is not None and not worth(ceil(count / _VECTORS), _GROWTH * self._expected(count) / _VECTORS):
            raise NotWorthError
        return False

    def _leading(self, count: int, wanted: int) -> tuple[np.ndarray, np.ndarray]:
        """The leading eigenvalues of T, decreasing, and the last entries of their vectors."""
        off = np.append(self._off_diagonal[: count - 1], 0.0)  # overwritten, and one longer than the subdiagonal
        found, values, vectors, failed = lapack.dstemr(
            self._diagonal[:count], off, 2, 0.0, 0.0, count - wanted + 1, count
        )
        if failed or found != wanted:
            values, vectors = np.linalg.eigh(self._projected(count))
            return values[::-1][:wanted], vectors[-1, ::-1][:wanted]
        return values[:wanted][::-1], vectors[-1, :wanted][::-1]

    def _expected(self, count: int) -> float:
        """Steps to convergence at the last rate."""
        if len(self._checks) < 2:
            return np.inf
        (before, far), (_, near) = self._checks[-2:]
        return near / max((far - near) / (count - before), _SLOWEST)

    def _until_check(self, count: int) -> int:
        farthest = max(4, int(_FARTHEST * count))
        return max(3, int(min(_SOONER * self._expected(count), farthest)))

    def _projected(self, count: int) -> np.ndarray:
        """T."""
        off = self._off_diagonal[: count - 1]
        return np.diag(self._diagonal[:count]) + np.diag(off, 1) + np.diag(off, -1)

    def _hand_over(self, count: int, rest: np.ndarray) -> None:
        run = self._run
        run.basis.take_over(self._projected(count), rest[:, None], self._products[:count].T)
        run.steps += count
        run.passes += ceil(count / _VECTORS)
