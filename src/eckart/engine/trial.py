"""Block Lanczos on trial: the cost of its steps compared with that of the Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.backends.host import HostBackend

if TYPE_CHECKING:
    from eckart.engine.choose import Choice, Shape

STEP, SPARSE_STEP = 0.002, 0.0006
"""Seconds per step that do not depend on the size, on dense and on sparse rows."""
CHECK, SPARSE_CHECK = 1e-10, 5e-11
"""Seconds per size^3 and step for convergence checks (Ritz pairs and eigenproblems) on dense and on sparse rows, whose
narrow blocks are checked less often.
"""

_SKINNY = 0.75
"""Measured rate of products with a few dense columns relative to that of a Gram matrix."""
_STEPS, _SHARE, _UNTESTED = 5, 0.3, 0.12
"""Block Lanczos is tried if this many steps cost at most this share of the Gram matrix and its eigenvectors. A trial on
a flat spectrum adds up to this share, and more spectra are flat at the cut than it seems: k is often beyond the signal.
On sparse rows it is not given up before the second share: steps cost little, and residuals stagnate while values of a
cluster are found.
"""
_SINGLE_STEP = 0.0002
"""The same for a pass of a run that begins with single vectors."""
_VECTORS, _PASS, _ENTRY = 0.003, 4.4e-5, 1.4e-9
"""Seconds of a whole run with single vectors on sparse rows in cache: a constant, and for each expected pass a constant
and a share of the stored entries.
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
    whole: float = np.inf
    """Seconds of a whole run, if they can be predicted: then it is tried if they are fewer than the alternative's."""

    def cost(self, steps: float) -> float:
        """Seconds of this many steps: products, orthogonalisation, and the eigenproblems of convergence checks."""
        basis = checks = 0.0
        for step in range(1, round(steps) + 1):
            columns = min(step * self.width, self.capacity)
            basis += 4.0 * self.size * columns * self.width / HostBackend.costs.dense_rate["float64"]
            checks += self.check * columns**3
        return steps * (self.product + self.step) + basis + checks

    @property
    def worth_a_start(self) -> bool:
        """Whether the first steps, or a whole run, cost little enough, compared with the alternative, to be tried."""
        return self.whole <= self.alternative or self.cost(_STEPS) <= _SHARE * self.alternative

    def worth(self, done: int, remaining: float) -> bool:
        """Whether this many more steps, and those already taken, each cost less than the alternative.

        Otherwise a prediction that grows with every step would never be given up.
        """
        spent = self.cost(done)
        return spent <= self.untested or max(spent, self.cost(done + remaining) - spent) <= self.alternative


def trial_of(shape: Shape, choice: Choice, alternative: float) -> Trial:
    """Block Lanczos as chosen, on trial against an alternative that takes so many seconds."""
    # On sparse rows, whose steps cost little, only slow runs are given up, and probes do not ride along in these.
    width = choice.block if shape.sparse else choice.block + 5
    rate = shape.costs.sparse_rate if shape.sparse else _SKINNY * shape.costs.dense_rate[shape.precision]
    product = 4.0 * shape.entries * width / rate
    step = _SINGLE_STEP if choice.single else SPARSE_STEP
    constants = (step, SPARSE_CHECK, _UNTESTED * alternative) if shape.sparse else (STEP, CHECK, 0.0)
    whole = _VECTORS + choice.passes * (_PASS + _ENTRY * shape.entries) if choice.single else np.inf
    return Trial(product, width, shape.short, choice.capacity, alternative, *constants, whole)
