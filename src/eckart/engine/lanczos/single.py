"""The first steps of a run with one vector at a time, for small data in host memory.

The basis is that of the Lanczos method: T is tridiagonal, values converge after the fewest products, and a check of
convergence costs little. One start vector shows one vector of each eigenspace. Further ones are found by the proofs,
which treat the basis like that of any run, and blocks follow if the proof fails.
"""

from __future__ import annotations

from math import ceil, isfinite, log
from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.lanczos.convergence import remaining_error
from eckart.engine.lanczos.goal import goal_of
from eckart.engine.lanczos.terms import NotWorthError, Start
from eckart.engine.lanczos.tridiagonal import Tridiagonal

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
        self._found = Tridiagonal(run.basis.rows, most)
        self._found.rows[0] = start.block[:, 0]
        self._product: np.ndarray = start.product[:, 0]
        self._products: list[np.ndarray] = []
        self._checks: list[tuple[int, float]] = []

    def extend(self) -> bool:
        """Add vectors until the wanted values have converged; False, with nothing added, if products are not finite."""
        count, following, rest = 0, (self._run.target.k or 0) + _FIRST, self._product
        found = self._found
        while True:
            self._products.append(self._product)
            rest = found.step(count, self._product)
            length = float(found.off_diagonal[count])
            if not isfinite(length):
                return False
            count += 1
            if found.is_lost(count) or count == self._most:
                break
            if count >= following:
                if self._converged(count):
                    break
                following = count + self._until_check(count)
            np.divide(rest, length, out=found.rows[count])
            self._product = self._run.matrix.apply(found.rows[count][:, None])[:, 0]
        self._hand_over(count, rest)
        return True

    def _converged(self, count: int) -> bool:
        """Whether the wanted values will not move by more than the goal; NotWorthError if that will take too long."""
        run, k = self._run, self._run.target.k or 0
        values, vectors = self._found.leading(count, min(k + 1, count))
        residuals = float(self._found.off_diagonal[count - 1]) * np.abs(vectors[-1])
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

    def _expected(self, count: int) -> float:
        """Steps to convergence at the last rate."""
        if len(self._checks) < 2:
            return np.inf
        (before, far), (_, near) = self._checks[-2:]
        return near / max((far - near) / (count - before), _SLOWEST)

    def _until_check(self, count: int) -> int:
        farthest = max(4, int(_FARTHEST * count))
        return max(3, int(min(_SOONER * self._expected(count), farthest)))

    def _hand_over(self, count: int, rest: np.ndarray) -> None:
        run = self._run
        run.basis.take_over(self._found.projected(count), rest[:, None], np.array(self._products).T)
        run.steps += count
        run.passes += ceil(count / _VECTORS)
