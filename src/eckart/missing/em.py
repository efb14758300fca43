"""Missing values predicted from the other values of their row, with a standard error for each.

The model is a factor model (`factor_model`) or, with a share of noise, all components (`covariance_model`). In both, a
row is mean + scale (W s + e) with s ~ N(0, I) and e_j ~ N(0, noise_j), and a missing value is its expectation given the
observed values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from eckart.arrays import Floats
from eckart.missing.components import CLEAR, fit_components
from eckart.missing.covariance_model import Correlations, conditionals, fit_correlations
from eckart.missing.factor_model import Factors, Gaps, score_inverses, scores
from eckart.missing.fit_variance import fit_variances, noise_variances

_TWO_SIDED = 0.975
_NORMAL = 1.959963984540054
_LEAST_NOISE = 1e-8
"""Smallest noise, as a share of the sum of squared loadings, with which covariances of rows are inverted."""


@dataclass(frozen=True)
class GapModel:
    """The imputation model: means and scales of the columns.

    Loadings (columns x k) and noise variances in these units.
    """

    mean: Floats
    scale: Floats
    loadings: Floats
    noise: Floats

    @property
    def k(self) -> int:
        return int(self.loadings.shape[1])

    @property
    def precision(self) -> np.ndarray | None:
        """Inverse covariance of a row, if it is accurate and cheaper than scores: many components, and much noise."""
        columns, k = self.loadings.shape
        if 2 * k <= columns or self.noise.min() < _LEAST_NOISE * np.sum(self.loadings**2):
            return None
        precision: np.ndarray = np.linalg.inv(self.loadings @ self.loadings.T + np.diag(self.noise))
        return precision

    def factors(self) -> Factors:
        """The same as factors with zero means and known loadings."""
        columns, k = self.loadings.shape
        loadings = np.column_stack([np.zeros(columns), self.loadings])
        return Factors(loadings, np.zeros((columns, 1 + k, 1 + k)), self.noise, np.ones(1 + k))


@dataclass(frozen=True)
class Completed:
    """A completed table, its model, the standard errors (0 for observed values), and how the iteration ended."""

    table: np.ndarray
    model: GapModel
    errors: np.ndarray
    steps: int = 0
    converged: bool = True
    clear: bool = False
    """Whether there is so little noise that only few components can explain the table."""


@dataclass(frozen=True)
class _Units:
    """The columns that vary, in standard units of their observed values; the others are unchanged."""

    mean: np.ndarray
    scale: np.ndarray
    varying: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray, weights: np.ndarray) -> _Units:
        gone = np.isnan(table)
        mean = means_present(table, gone, weights)
        deviation = np.sqrt(weights @ np.where(gone, 0.0, table - mean) ** 2 / (weights @ ~gone))
        varying = deviation > 1e-13 * np.abs(mean)
        return cls(mean, np.where(varying, deviation, 1.0), varying, (~gone).sum(axis=0))

    def standard(self, table: np.ndarray) -> np.ndarray:
        values: np.ndarray = ((table - self.mean) / self.scale)[:, self.varying]
        return values

    def floor(self) -> np.ndarray:
        """Variance of the rounding errors of the values, in standard units."""
        mean, scale = self.mean[self.varying], self.scale[self.varying]
        floor: np.ndarray = (4.0 * np.finfo(np.float64).eps * (1.0 + np.abs(mean) / scale)) ** 2
        return floor

    def completed(
        self, table: np.ndarray, fit: np.ndarray, errors: np.ndarray, loadings: np.ndarray, noise: np.ndarray,
        center: np.ndarray, spread: np.ndarray | float = 1.0,
    ) -> tuple[np.ndarray, GapModel, np.ndarray]:  # fmt: skip
        """The filled table, model and standard errors in the units of the table, from those of the varying columns."""
        columns = table.shape[1]
        mean, scale = self.mean.copy(), self.scale.copy()
        mean[self.varying] += center * self.scale[self.varying]
        scale[self.varying] *= spread
        every, level = np.zeros((columns, loadings.shape[1])), np.ones(columns)
        every[self.varying], level[self.varying] = loadings, noise
        filled, stated = np.broadcast_to(self.mean, table.shape).copy(), np.empty(table.shape)
        filled[:, self.varying] += fit * self.scale[self.varying]
        # A column with a single value gives no information about its spread; one that never varies counts as constant.
        stated[:] = np.where(self.counts > 1, np.finfo(np.float64).eps * np.abs(self.mean), np.inf)
        stated[:, self.varying] = errors * self.scale[self.varying]
        gone = np.isnan(table)
        return np.where(gone, filled, table), GapModel(mean, scale, every, level), np.where(gone, stated, 0.0)


def means_present(table: np.ndarray, gone: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted column means over the observed values."""
    mean: np.ndarray = (weights @ np.where(gone, 0.0, table)) / (weights @ ~gone)
    return mean


def fill_rows(rows: np.ndarray, model: GapModel) -> np.ndarray:
    """The rows with every NaN replaced by its expectation given the other values of the row."""
    filled = np.array(rows, dtype=np.float64)
    standard = (filled - model.mean) / model.scale
    precision = model.precision
    if precision is not None:
        for part in conditionals(standard, precision):
            values = part.values * model.scale[part.gaps] + model.mean[part.gaps]
            filled[part.rows[:, None], part.gaps] = values
        return filled
    gaps = Gaps.of(standard, np.ones(len(rows)), np.zeros(rows.shape[1]))
    f = model.factors()
    fit = scores(gaps.values, gaps.seen, score_inverses(gaps.patterns, f).gain[gaps.pattern], f) @ f.loadings.T
    return np.where(np.isnan(filled), fit * model.scale + model.mean, filled)


def complete_by_factors(table: np.ndarray, most: int, weights: np.ndarray) -> Completed:
    """The table imputed by as many components as the observed values support, up to `most`."""
    units = _Units.of(table, weights)
    if not units.varying.any():
        nothing = np.zeros((len(table), 0))
        return Completed(*units.completed(table, nothing, nothing, np.zeros((0, 0)), np.zeros(0), np.zeros(0)))
    gaps = Gaps.of(units.standard(table), weights, units.floor())
    most = min(most, min(gaps.values.shape) - 1)
    *_, f = fit_components(gaps, most, tolerance=1e-3, most_steps=1000)
    fit, errors = _fit_and_errors(gaps, f)
    found = units.completed(table, fit, errors, f.loadings[:, 1:], f.weighing, f.loadings[:, 0])
    return Completed(*found, steps=f.steps, converged=f.converged, clear=bool(np.mean(f.noise) < CLEAR))


def paths(table: np.ndarray, most: int, weights: np.ndarray) -> Iterator[np.ndarray]:
    """The table imputed by 0, 1, ..., `most` components, until the observed values support no more."""
    units = _Units.of(table, weights)
    if not units.varying.any():
        yield np.where(np.isnan(table), units.mean, table)
        return
    gaps = Gaps.of(units.standard(table), weights, units.floor())
    for f in fit_components(gaps, most, tolerance=1e-2, most_steps=200, known=True):
        z = scores(gaps.values, gaps.seen, score_inverses(gaps.patterns, f).gain[gaps.pattern], f)
        filled = np.broadcast_to(units.mean, table.shape).copy()
        filled[:, units.varying] += (z @ f.loadings.T) * units.scale[units.varying]
        yield np.where(np.isnan(table), filled, table)


def _fit_and_errors(gaps: Gaps, f: Factors) -> tuple[np.ndarray, np.ndarray]:
    """Fit of every cell, and the standard error of a value about it: noise plus the uncertainty of the fit.

    The noise of a column is its residual sum of squares divided by its remaining degrees of freedom. With few of these,
    errors follow Student's t; they are scaled so that 1.96 of them cover 95 %.
    """
    fit, variances = fit_variances(gaps, f)
    rest = gaps.weights @ (((gaps.values - fit) * gaps.seen) ** 2)
    for _ in range(2):
        leverage = np.minimum(variances / f.noise, 1.0)
        freedom = gaps.weights @ ((1.0 - leverage) * gaps.seen)
        noise, total = noise_variances(rest, freedom, gaps.floor)
        f = replace(f, noise=noise)
        _, variances = fit_variances(gaps, f)
    return fit, np.sqrt(variances + noise) * stdtrit(np.maximum(total, 1.0), _TWO_SIDED) / _NORMAL


def complete_by_all(
    table: np.ndarray,
    shrink: float,
    weights: np.ndarray,
    *,
    start: Correlations | None = None,
    tolerance: float = 1e-5,
    most_steps: int = 500,
) -> tuple[Completed, Correlations]:
    """The table imputed by all components with a share `shrink` of noise, and the start for the next share."""
    units = _Units.of(table, weights)
    values = units.standard(table)
    found = fit_correlations(values, weights, shrink, start=start, tolerance=tolerance, most_steps=most_steps)
    eigenvalues, vectors = np.linalg.eigh(found.matrix)
    loadings = vectors * np.sqrt((1.0 - shrink) * np.maximum(eigenvalues, 0.0))
    precision = np.linalg.inv(loadings @ loadings.T + shrink * np.eye(len(vectors)))
    errors = np.zeros(values.shape)
    for part in conditionals((values - found.mean) / found.scale, precision):
        deviations = np.sqrt(np.einsum("rgg->rg", part.covariances))
        errors[part.rows[:, None], part.gaps] = deviations * found.scale[part.gaps]
    noise = np.full(len(vectors), shrink)
    done = units.completed(table, found.filled, errors, loadings, noise, found.mean, found.scale)
    return Completed(*done, steps=found.steps, converged=found.converged), found
