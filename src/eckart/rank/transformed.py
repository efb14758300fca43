"""The evidence of a table transformed to independent noise of equal variance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.remainder import Remainder


@dataclass(frozen=True)
class Transformed(Evidence):
    """The evidence of a given centred table.

    `mean` is the row direction removed by centring, as a column; it has no columns without centring.
    """

    given: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    mean: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def centred(self) -> np.ndarray:
        return self.given

    def remainder(self, k: int) -> Remainder:
        left = np.hstack([self.mean, self._left[:, :k]])
        return Remainder(self.given, left, self.right[:, :k], False, self.short - k)


def transformed(e: Evidence, table: np.ndarray, weights: np.ndarray | None = None) -> Transformed:
    """The evidence of a table made of the rows of `e.centred`, each multiplied by its entry of `weights` if given."""
    mean = np.zeros((e.rows, 0))
    if e.center:
        mean = (np.ones(e.rows) if weights is None else weights)[:, None]
        mean = mean / np.linalg.norm(mean)
        table = table - mean @ (mean.T @ table)
    _, values, right = np.linalg.svd(table, full_matrices=False)
    squares = values[: e.short] ** 2
    return Transformed(
        e.rows, e.columns, e.center, False, e.norm, squares / max(float(squares.sum()), 1e-300), True,
        right[: e.short].T, opened=e.opened, moments=e.moments, options=e.options, given=table, mean=mean,
    )  # fmt: skip
