"""Block Lanczos on trial: the cost of its steps compared with that of the Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

from eckart.engine.backends.host import HostBackend

STEP, SPARSE_STEP = 0.002, 0.0006
"""Seconds per step that do not depend on the size, on dense and on sparse rows."""
CHECK, SPARSE_CHECK = 1e-10, 5e-11
"""Seconds per size^3 and step for convergence checks (Ritz pairs and eigenproblems) on dense and on sparse rows, whose
narrow blocks are checked less often.
"""


@dataclass(frozen=True)
class Trial:
    """The cost of continuing compared with the alternative, by the same model (a clock would not be reproducible).

    No model knows the spectrum: for the same shape, a decaying one takes five steps and a flat one twenty or more.
    """

    product: float
    """Seconds of a step's products."""
    width: int
    size: int
    capacity: int
    """Maximum number of columns of the basis."""
    alternative: float
    step: float = STEP
    """Seconds of a step that do not depend on the size."""
    check: float = CHECK
    untested: float = 0.0
    """Seconds before which predictions do not count."""

    def cost(self, steps: float) -> float:
        """Seconds of this many steps: products, orthogonalisation, and the eigenproblems of convergence checks."""
        basis = checks = 0.0
        for step in range(1, round(steps) + 1):
            columns = min(step * self.width, self.capacity)
            basis += 4.0 * self.size * columns * self.width / HostBackend.costs.dense_rate["float64"]
            checks += self.check * columns**3
        return steps * (self.product + self.step) + basis + checks

    def worth(self, done: int, remaining: float) -> bool:
        """Whether this many more steps, and those already taken, each cost less than the alternative.

        Otherwise a prediction that grows with every step would never be given up.
        """
        spent = self.cost(done)
        return spent <= self.untested or max(spent, self.cost(done + remaining) - spent) <= self.alternative
