"""How well hidden values can be predicted from the others: cross-validation by single cells.

error(model) = mean over hidden cells of ((filled - true) / standard deviation of the column)^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from eckart.missing.covariance_model import Correlations
from eckart.missing.em import Completed, complete_by_all, paths
from eckart.missing.fit_variance import noise_variances

SHRINKS = (0.4, 0.2, 0.1, 0.05, 0.025, 0.0125)
_PARTS = 20
"""Number of parts in which values are hidden: hiding many more values than are missing would favour a simpler model."""


@dataclass(frozen=True)
class Shrunk:
    """All components with a share of noise: the mean squared error of hidden values, and the errors of each column.

    `calibration` is the error of hidden values divided by the standard error that the model states, by column.
    """

    shrink: float
    error: float
    calibration: np.ndarray


class HeldOut:
    """A table whose values are hidden in turn, part by part; each part is imputed from the rest."""

    table: np.ndarray
    weights: np.ndarray
    hidden: list[np.ndarray]
    unit: np.ndarray

    def __init__(self, table: np.ndarray, rng: np.random.Generator, *, weights: np.ndarray, tried: int) -> None:
        self.table, self.weights = table, weights
        indices = np.flatnonzero(~np.isnan(table.ravel()))
        part = np.resize(np.arange(_PARTS), len(indices))
        rng.shuffle(part)
        self.hidden = [indices[part == one] for one in range(min(_PARTS, tried))]
        deviation = np.nanstd(table, axis=0)
        self.unit = np.where(deviation > 0.0, deviation, 1.0)

    def by_part(self, most: int) -> np.ndarray:
        """Mean squared errors of 0, 1, ..., `most` components (rows) on each part (columns).

        Components that the values do not support do not change the error.
        """
        found = np.zeros((most + 1, len(self.hidden)))
        for one in range(len(self.hidden)):
            visible, counted = self._visible(one)
            for k, filled in enumerate(paths(visible, most, self.weights)):
                difference = ((filled - self.table) / self.unit).ravel()[counted]
                found[k:, one] = float(np.mean(difference**2)) if counted.size else 0.0
        return found

    def shrunk(self) -> Shrunk:
        """The share of noise with the smallest error; smaller shares are tried until the error rises."""
        best: Shrunk | None = None
        starts: list[Correlations | None] = [None] * len(self.hidden)
        for shrink in SHRINKS:
            found = self._shrunk(shrink, starts)
            if best is not None and found.error > best.error:
                break
            best = found
        assert best is not None
        return best

    def _shrunk(self, shrink: float, starts: list[Correlations | None]) -> Shrunk:
        squares, total = np.zeros(self.table.shape[1]), 0.0
        counts = np.zeros_like(squares)
        for one, start in enumerate(starts):
            visible, counted = self._visible(one)
            filled, starts[one] = complete_by_all(
                visible, shrink, self.weights, start=start, tolerance=1e-3, most_steps=100
            )
            difference = (filled.table - self.table).ravel()[counted]
            columns = counted % self.table.shape[1]
            total += float(np.sum((difference / self.unit[columns]) ** 2))
            squares += np.bincount(columns, (difference / _stated(filled, counted)) ** 2, len(squares))
            counts += np.bincount(columns, minlength=len(squares))
        variances, freedom = noise_variances(squares, counts, np.full(len(squares), 1e-30))
        inflated = stdtrit(np.maximum(freedom, 1.0), 0.975) / stdtrit(1e9, 0.975)
        return Shrunk(shrink, total / max(float(counts.sum()), 1.0), np.sqrt(variances) * inflated)

    def _visible(self, one: int) -> tuple[np.ndarray, np.ndarray]:
        """The table without a part, and the cells of the part that have other values in their column."""
        indices = self.hidden[one]
        visible = self.table.copy()
        visible.ravel()[indices] = np.nan
        few = (~np.isnan(visible)).sum(axis=0) < 2
        visible[:, few] = self.table[:, few]
        return visible, indices[~few[indices % self.table.shape[1]]]


def _stated(filled: Completed, counted: np.ndarray) -> np.ndarray:
    stated: np.ndarray = np.maximum(filled.errors.ravel()[counted], 1e-300)
    return stated
