"""Gaps filled by the axes that the values present determine: regularised iterative PCA (Josse and Husson, 2012).

With x = (row - mean) / scale, V the k leading axes (columns x k) and R = diag(noise / signal) on them, a gap is v_m y,
where (V_o^T V_o + R) y = V_o^T x_o over the values x_o that are present. Means, scales and axes are then those of the
filled table, and so on until the filled values stay where they are.

The noise is that of the axes left out; or, with all axes kept, a share h of each column, which shrinks correlations
towards zero (Schneider's regularised EM, 2001): better where no few axes hold the table. Cross-validation decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eckart.engine.backends.symmetric import leading_pairs

Alike = tuple[np.ndarray, np.ndarray]
"""(rows, rows x gaps: their columns)"""
_BLOCK = 2**22
"""Numbers that the small systems of a block of rows may take."""
_ROWS = 8192
_NO_RIDGE = 1e-6
"""So little that it only decides what the values of a row leave open."""


@dataclass(frozen=True)
class GapModel:
    """What fills a gap: means, scales, axes, the ridge on each of them, and the variance of a residual."""

    mean: np.ndarray
    scale: np.ndarray
    right: np.ndarray
    ridge: np.ndarray
    noise: float

    @property
    def k(self) -> int:
        return int(self.right.shape[1])


@dataclass(frozen=True)
class Completed:
    """A table without gaps, what filled them, the steps it took, and whether the last one changed nothing."""

    table: np.ndarray
    model: GapModel
    steps: int
    settled: bool


def fill_rows(rows: np.ndarray, model: GapModel, alike: Sequence[Alike] | None = None) -> np.ndarray:
    """The rows with every NaN replaced by its expectation given the other values of its row."""
    filled = np.array(rows, dtype=np.float64)
    for chosen, gaps in rows_alike(rows, model.k) if alike is None else alike:
        known = (filled[chosen] - model.mean) / model.scale
        np.put_along_axis(known, gaps, 0.0, axis=1)
        values, _ = _expected(known @ model.right, gaps, model, errors=False)
        filled[chosen[:, None], gaps] = values * model.scale[gaps] + model.mean[gaps]
    return filled


def gap_errors(rows: np.ndarray, model: GapModel) -> np.ndarray:
    """Standard error of each filled value, 0 where a value is present.

    Means, scales and axes are taken as known, so it errs on the low side where they rest on few rows.
    """
    errors = np.zeros(rows.shape)
    for chosen, gaps in rows_alike(rows, model.k):
        _, spread = _expected(np.zeros((len(chosen), model.k)), gaps, model, errors=True)
        errors[chosen[:, None], gaps] = np.sqrt(model.noise * spread) * model.scale[gaps]
    return errors


def rows_alike(rows: np.ndarray, k: int) -> list[Alike]:
    """Rows with equally many gaps, some at a time, with the places of their gaps."""
    found: list[Alike] = []
    counts = np.isnan(rows).sum(axis=1)
    for count in np.unique(counts[counts > 0]):
        those = np.flatnonzero(counts == count)
        size = max(1, _BLOCK // max(int(count) * max(k, 1), rows.shape[1]))
        for start in range(0, len(those), size):
            chosen = those[start : start + size]
            found.append((chosen, np.nonzero(np.isnan(rows[chosen]))[1].reshape(len(chosen), count)))
    return found


def _expected(scores: np.ndarray, gaps: np.ndarray, model: GapModel, *, errors: bool) -> tuple[np.ndarray, np.ndarray]:
    """Values of the gaps in standard units, and their variances in units of the noise.

    With scores = V_o^T x_o and D = (I + R)^-1: by k equations, V_m (I + R - V_m^T V_m)^-1 scores, or by one equation
    for each gap, (I - V_m D V_m^T)^-1 V_m D scores, which is the same; whichever is less.
    """
    here = model.right[gaps]  # rows x gaps x k
    count, k = here.shape[1:]
    if count < k:
        weighted = here / (1.0 + model.ridge)
        system = np.eye(count) - weighted @ here.transpose(0, 2, 1)
        values = np.linalg.solve(system, weighted @ scores[:, :, None])[:, :, 0]
        spread = np.einsum("rii->ri", np.linalg.inv(system)) if errors else values
        return values, spread
    # An axis that no value of the row sees, without noise, gets the score 0.
    system = np.diag(1.0 + model.ridge + 1e-10) - here.transpose(0, 2, 1) @ here
    values = (here @ np.linalg.solve(system, scores[:, :, None]))[:, :, 0]
    spread = 1.0 + np.einsum("rgi,rgi->rg", here @ np.linalg.inv(system), here) if errors else values
    return values, spread


def complete(
    table: np.ndarray,
    k: int,
    *,
    shrink: float = 0.0,
    standard: bool = True,
    regularised: bool = True,
    weights: np.ndarray | None = None,
    start: np.ndarray | None = None,
    tolerance: float = 1e-6,
    most_steps: int = 500,
) -> Completed:
    """The table with its NaN filled by k axes; by all of them with a share `shrink` of noise, where that is given.

    With `standard`, each column counts in its own standard deviations; without, all count in the same unit.
    Without `regularised`, axes count as if there were no noise in them.
    `start` is a table without gaps to begin from; else the column means. The filled values have settled when a step
    changes them by less than `tolerance` standard deviations (root mean square).
    """
    gone = np.isnan(table)
    touched = np.flatnonzero(gone.any(axis=1))
    weights = np.ones(len(table)) if weights is None else weights
    given, gaps = table[touched], gone[touched]
    count = int(gaps.sum())
    filled = np.where(gone, means_present(table, gone, weights) if start is None else start, table)
    alike = rows_alike(given, min(table.shape) if shrink else k)
    fitting = _Fitting(filled, touched, weights, k, shrink, count, standard, regularised)
    model, settled, steps = fitting.model(), not count, 0
    while not settled and steps < most_steps:
        steps += 1
        after = fill_rows(given, model, alike)
        change = np.sum(((after - filled[touched]) / model.scale)[gaps] ** 2)
        filled[touched] = after
        model = fitting.model()
        settled = bool(change <= tolerance**2 * count)
    return Completed(filled, model, steps, settled)


def means_present(table: np.ndarray, gone: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted column means over the values present."""
    mean: np.ndarray = (weights @ np.where(gone, 0.0, table)) / (weights @ ~gone)
    return mean


class _Fitting:
    """The model of a table whose touched rows change; sums and cross-products of the others are taken once."""

    def __init__(
        self,
        filled: np.ndarray,
        touched: np.ndarray,
        weights: np.ndarray,
        k: int,
        shrink: float,
        gaps: int,
        standard: bool,
        regularised: bool,
    ) -> None:
        self.standard, self.regularised = standard, regularised
        self.filled, self.touched, self.weights, self.gaps = filled, touched, weights, gaps
        self.k, self.shrink, self.weight = k, shrink, float(weights.sum())
        self.tall = filled.shape[0] >= filled.shape[1]
        self.shift = weights @ filled / self.weight
        others = np.setdiff1d(np.arange(len(filled)), touched)
        self.still = self._sums(others) if self.tall else None

    def _sums(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted sums and cross-products of some rows about the shift."""
        columns = self.filled.shape[1]
        sums, products = np.zeros(columns), np.zeros((columns, columns))
        for start in range(0, len(rows), _ROWS):
            chosen = rows[start : start + _ROWS]
            block = (self.filled[chosen] - self.shift) * np.sqrt(self.weights[chosen])[:, None]
            sums += np.sqrt(self.weights[chosen]) @ block
            products += block.T @ block
        return sums, products

    def model(self) -> GapModel:
        rows, columns = self.filled.shape
        count = min(rows, columns, self.filled.size if self.shrink else self.k + 1)
        mean, scale, values, right = self._axes_tall(count) if self.still is not None else self._axes_wide(count)
        if self.shrink:
            positive = values > 1e-8 * columns
            signal = (1.0 - self.shrink) * values[positive]
            return GapModel(mean, scale, right[:, positive], self.shrink / signal, self.shrink)
        k = min(self.k, len(values))
        rest = max(columns - float(values[:k].sum()), 0.0)
        free = max((rows - 1 - k) * (columns - k), 1)
        level = rest * rows * columns / (max(min(columns, rows - 1), 1) * free)
        level = min(level, float(values[k]) if len(values) > k else level)
        signal = np.maximum(values[:k] - level, 1e-9 * columns)
        ridge = level / signal if self.regularised else np.full(k, _NO_RIDGE)
        return GapModel(mean, scale, right[:, :k], ridge, rest * rows / max(free - self.gaps, 1))

    def _axes_tall(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        assert self.still is not None
        sums, products = self._sums(self.touched)
        offset = (self.still[0] + sums) / self.weight
        covariance = (self.still[1] + products) / self.weight - np.outer(offset, offset)
        scale = self._scale(np.diagonal(covariance), self.shift)
        values, right = leading_pairs(covariance / np.outer(scale, scale), count)
        return self.shift + offset, scale, np.maximum(values, 0.0), right

    def _axes_wide(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        mean = self.weights @ self.filled / self.weight
        matrix = (self.filled - mean) * np.sqrt(self.weights / self.weight)[:, None]
        scale = self._scale(np.einsum("ij,ij->j", matrix, matrix), mean)
        matrix /= scale
        values, left = leading_pairs(matrix @ matrix.T, count)
        values = np.maximum(values, 0.0)
        return mean, scale, values, matrix.T @ (left / np.sqrt(np.maximum(values, 1e-300)))

    def _scale(self, variances: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Standard deviations, 1 for columns that do not vary beyond the rounding of their mean; or one for all."""
        deviations = np.sqrt(np.maximum(variances, 0.0))
        if not self.standard:
            return np.full(len(mean), float(np.sqrt(np.mean(deviations**2))) or 1.0)
        return np.where(deviations > 1e-13 * np.abs(mean), deviations, 1.0)
