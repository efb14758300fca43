"""Factor model of a table with missing values, fitted to the observed values by variational Bayes.

In standard units, with z_i = (1, scores of row i) and w_j = (mean, loadings) of column j:

    x_ij = w_j . z_i + e_ij,   scores ~ N(0, I),   e_ij ~ N(0, psi_j),   w_jc ~ N(0, 1 / alpha_c).

q(scores_i) = N(s_i, Sigma_i) and q(w_j) = N(w_j, S_j) are updated in turn. The noise has one variance for each column,
and alpha switches off components without support (Bishop 1999; Ilin and Raiko, JMLR 11, 2010). The variances Sigma_i
and S_j prevent an exact fit of rows and columns with few values, so psi cannot collapse because of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eckart.arrays import Floats, Integers
from eckart.engine.backends.symmetric import leading_pairs

_ROWS = 4096
_NUMBERS = 2**22
"""Maximum memory, in numbers, for the rows of a block of patterns."""
_MEAN_PRECISION = 1e-2
"""Prior precision of a column mean, which is near 0 in standard units."""
_NOISE_PRIOR = 2.0
"""Weight of the noise common to all columns, in observations per column."""


@dataclass(frozen=True)
class Gaps:
    """A table in standard units with zeros for missing values, grouped by missingness pattern."""

    values: Floats
    weights: Floats
    patterns: Floats
    """Distinct rows of the indicator of observed values, as floats."""
    pattern: Integers
    """The pattern of each row."""
    floor: Floats
    """Variance of the rounding errors in each column: noise below it cannot be detected."""

    @classmethod
    def of(cls, standard: np.ndarray, weights: np.ndarray, floor: np.ndarray) -> Gaps:
        seen = ~np.isnan(standard)
        patterns, pattern = np.unique(np.packbits(seen, axis=1), axis=0, return_inverse=True)
        indicator = np.unpackbits(patterns, axis=1, count=seen.shape[1]).astype(np.float64)
        return cls(np.where(seen, standard, 0.0), weights, indicator, pattern.reshape(-1), floor)

    @cached_property
    def seen(self) -> np.ndarray:
        seen: np.ndarray = self.patterns[self.pattern]
        return seen

    def blocks(self) -> Iterator[slice]:
        for start in range(0, len(self.values), _ROWS):
            yield slice(start, start + _ROWS)


@dataclass(frozen=True)
class Factors:
    """Means and loadings (columns x (1 + k)), their covariances by column, noise variances and prior precisions."""

    loadings: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    precision: np.ndarray
    steps: int = 0
    converged: bool = True

    @property
    def k(self) -> int:
        return int(self.loadings.shape[1]) - 1

    @cached_property
    def weighing(self) -> np.ndarray:
        """Variance of a value about its fit by the true scores: psi_j + E[z^T S_j z], with E[z z^T] = I."""
        weighing: np.ndarray = self.noise + np.einsum("jkk->j", self.covariance)
        return weighing


@dataclass(frozen=True)
class Inverses:
    """(data + diag(prior))^-1 for a stack of positive semi-definite matrices, with and without the null space of data.

    Without noise, data is so large that the prior is lost in the sum. Directions U that data leave out have the
    covariance U (U^T diag(prior) U)^-1 U^T all the same. In `gain` they are absent: a right-hand side has rounding
    errors there, and divided by the noise these are as large as the scores.
    """

    covariance: np.ndarray
    gain: np.ndarray

    @classmethod
    def of(cls, data: np.ndarray, prior: np.ndarray) -> Inverses:
        """By eigenvectors of the sum with unit diagonal; an eigenvalue below 1e-13 k is one that data leave out."""
        covariance, ill, values, vectors = _well_conditioned(data, prior)
        if not ill.size:
            return cls(covariance, covariance)
        gain = covariance.copy()
        known = values > 1e-13 * data.shape[1]
        # In units of the prior: the solution of the smallest norm has no part in the directions left out.
        root = np.sqrt(prior)[:, None]
        basis = root * vectors
        seen = basis * np.where(known, 1.0 / np.sqrt(np.where(known, values, 1.0)), 0.0)[:, None, :]
        left_out = _range(basis * ~known[:, None, :])
        seen -= left_out @ (left_out.transpose(0, 2, 1) @ seen)
        seen, left_out = seen / root, left_out / root
        gain[ill] = seen @ seen.transpose(0, 2, 1)
        covariance[ill] = gain[ill] + left_out @ left_out.transpose(0, 2, 1)
        return cls(covariance, gain)

    @classmethod
    def of_rows(cls, rows: np.ndarray, patterns: np.ndarray) -> Inverses:
        """The same for data = sum of r r^T over the rows of each pattern, and prior 1.

        Ill-conditioned sums by singular values of the rows, whose rounding errors are eps times the largest. Of
        eigenvalues of data, their squares, those below eps times the largest would be lost.
        """
        k = rows.shape[1]
        flat = patterns @ (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), k * k)
        covariance, ill, _, _ = _well_conditioned(flat.reshape(len(patterns), k, k), np.ones(k))
        if not ill.size:
            return cls(covariance, covariance)
        gain = covariance.copy()
        for chosen in np.array_split(ill, max(1, ill.size * rows.size // _NUMBERS)):
            _, values, v_transposed = np.linalg.svd(patterns[chosen][:, :, None] * rows, full_matrices=False)
            known = values > np.finfo(np.float64).eps * len(rows) * values[:, :1]
            vectors = v_transposed.transpose(0, 2, 1)
            gain[chosen] = (vectors * (known / (1.0 + values**2))[:, None, :]) @ v_transposed
            covariance[chosen] = gain[chosen] + (vectors * ~known[:, None, :]) @ v_transposed
        return cls(covariance, gain)


def _well_conditioned(data: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, ...]:
    """(data + diag(prior))^-1; the indices of ill-conditioned sums, with eigenvalues and vectors of these alone.

    Both are those of the sum with unit diagonal, in which components of very different size are equally accurate.
    """
    whole = data + np.diag(prior)
    unit = 1.0 / np.sqrt(np.einsum("ukk->uk", whole))
    between = unit[:, :, None] * unit[:, None, :]
    whole *= between
    # The smallest eigenvalue is at least the smallest share of the prior in the diagonal.
    easy = (prior * unit**2).min(axis=1, initial=1.0) > 1e-8
    if easy.all():
        nothing = np.zeros(0, dtype=np.intp)
        return np.linalg.inv(whole) * between, nothing, nothing, nothing
    inverse = np.empty_like(whole)
    inverse[easy] = np.linalg.inv(whole[easy]) * between[easy]
    hard = np.flatnonzero(~easy)
    values, vectors = np.linalg.eigh(whole[hard])
    vectors *= unit[hard][:, :, None]
    well = values.min(axis=1, initial=1.0) > 1e-6
    here = vectors[well]
    inverse[hard[well]] = (here / values[well][:, None, :]) @ here.transpose(0, 2, 1)
    return inverse, hard[~well], values[~well], vectors[~well]


def _range(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns of each matrix; zeros for singular values below 1e-13 k."""
    size = np.sqrt(np.einsum("ukl,ukl->ul", columns, columns))
    left, values, _ = np.linalg.svd(columns / np.where(size > 0.0, size, 1.0)[:, None, :])
    basis: np.ndarray = left * (values > 1e-13 * columns.shape[1])[:, None, :]
    return basis


def score_inverses(patterns: np.ndarray, f: Factors) -> Inverses:
    """Sigma = (I + sum over observed columns of w w^T / psi)^-1 for each pattern."""
    return Inverses.of_rows(f.loadings[:, 1:] / np.sqrt(f.weighing)[:, None], patterns)


def scores(values: np.ndarray, seen: np.ndarray, gain: np.ndarray, f: Factors) -> np.ndarray:
    """(1, E[scores]) of each row, given the gain of its pattern."""
    z = np.zeros((len(values), f.k + 1))
    z[:, 0] = 1.0
    # The second round corrects the rounding errors of the normal equations by the residuals.
    for _ in range(2):
        rest = (values - z @ f.loadings.T) * seen
        z[:, 1:] += np.einsum("rkl,rl->rk", gain, (rest / f.weighing) @ f.loadings[:, 1:] - z[:, 1:])
    return z


def no_factors(gaps: Gaps) -> Factors:
    """Column means alone."""
    columns = gaps.values.shape[1]
    f = Factors(np.zeros((columns, 1)), np.zeros((columns, 1, 1)), np.ones(columns), np.array([_MEAN_PRECISION]))
    return fit(gaps, f, tolerance=1e-3, most_steps=50)


def residuals(gaps: Gaps, f: Factors) -> np.ndarray:
    """Observed values minus their fit, zero elsewhere."""
    gain = score_inverses(gaps.patterns, f).gain
    rest = np.empty_like(gaps.values)
    for block in gaps.blocks():
        seen = gaps.patterns[gaps.pattern[block]]
        z = scores(gaps.values[block], seen, gain[gaps.pattern[block]], f)
        rest[block] = (gaps.values[block] - z @ f.loadings.T) * seen
    return rest


def grown(gaps: Gaps, f: Factors) -> Factors | None:
    """The factors with one more component, along the leading one of the residuals.

    None if these are rounding errors.
    """
    rest = residuals(gaps, f) * np.sqrt(gaps.weights)[:, None]
    count = np.maximum(gaps.weights @ gaps.seen, 1.0)
    squares = np.einsum("ij,ij->j", rest, rest) / count
    if np.all(squares <= 100.0 * gaps.floor):
        return None
    if rest.shape[0] < rest.shape[1]:
        value, left = leading_pairs(rest @ rest.T, 1)
        direction = rest.T @ left[:, 0] / np.sqrt(max(float(value[0]), 1e-300))
    else:
        value, right = leading_pairs(rest.T @ rest, 1)
        direction = right[:, 0]
    share = float(count.mean() / gaps.weights.sum())
    new = direction * np.sqrt(max(float(value[0]), 0.0) / gaps.weights.sum()) / share
    size = f.k + 2
    covariance = np.zeros((len(new), size, size))
    covariance[:, :-1, :-1] = f.covariance
    covariance[:, -1, -1] = f.noise / count
    precision = 1.0 / max(float(np.mean(new**2)), 1e-300)
    return Factors(np.column_stack([f.loadings, new]), covariance, f.noise, np.append(f.precision, precision))


def fit(gaps: Gaps, f: Factors, *, tolerance: float, most_steps: int, held: float | None = None) -> Factors:
    """Update until a step changes the fit of the missing values by less than `tolerance` of their standard errors.

    `held` is a fixed noise variance for all columns.
    """
    hidden = 1.0 - gaps.patterns
    before = np.full(gaps.values.shape, 1e100)
    converged = False
    steps = 0
    while not converged and steps < most_steps:
        steps += 1
        noise = f.noise
        here = f.loadings[:, 1:]
        f, fitted, spread = step(gaps, f, held)
        open_to = f.weighing + np.einsum("ujk,jk->uj", here @ spread, here)
        change = (fitted - before) ** 2 * (hidden / (tolerance**2 * open_to + gaps.floor))[gaps.pattern]
        before = fitted
        visible = 100.0 * gaps.floor
        still = np.abs(np.log((f.noise + visible) / (noise + visible))).max() <= 10.0 * tolerance
        converged = bool(still and change.sum() <= max(hidden[gaps.pattern].sum(), 1.0))
    return replace(f, steps=steps, converged=converged)


def step(gaps: Gaps, f: Factors, held: float | None) -> tuple[Factors, np.ndarray, np.ndarray]:
    """Update scores, noise and loadings in turn, then rotate both; also returns the previous fit and Sigma."""
    columns, size = f.loadings.shape
    inverses = score_inverses(gaps.patterns, f)
    spread = inverses.covariance
    fitted = np.empty_like(gaps.values)
    products, cross, squares = np.zeros((columns, size * size)), np.zeros((columns, size)), np.zeros(columns)
    moments = np.zeros((size, size))
    for block in gaps.blocks():
        pattern, weights = gaps.pattern[block], gaps.weights[block]
        seen = gaps.patterns[pattern]
        z = scores(gaps.values[block], seen, inverses.gain[pattern], f)
        fitted[block] = z @ f.loadings.T
        rest = (gaps.values[block] - fitted[block]) * seen
        second = z[:, :, None] * z[:, None, :]
        second[:, 1:, 1:] += spread[pattern]
        weighted = seen * weights[:, None]
        products += weighted.T @ second.reshape(len(z), size * size)
        cross += (rest * weights[:, None]).T @ z
        squares += weights @ rest**2
        moments += np.tensordot(weights, second, 1)
    second = products.reshape(columns, size, size)
    # sum of w^T Sigma w = w^T (sum of Sigma) w: the part of the second moments due to the scores.
    counts = gaps.weights @ gaps.seen
    by_pattern = np.bincount(gaps.pattern, gaps.weights, len(gaps.patterns))
    flat = (gaps.patterns * by_pattern[:, None]).T @ spread.reshape(len(spread), (size - 1) ** 2)
    spreads = flat.reshape(columns, size - 1, size - 1)
    here = f.loadings[:, 1:]
    expected = squares + np.einsum("jk,jkl,jl->j", here, spreads, here) + np.einsum("jkl,jkl->j", f.covariance, second)
    noise = moderated(expected, counts, gaps.floor) if held is None else np.maximum(held, gaps.floor)
    found = Inverses.of(second / noise[:, None, None], f.precision)
    # The gradient at the current loadings: its rounding errors are those of the residuals, not of the values.
    gradient = cross / noise[:, None] - f.loadings * f.precision
    gradient[:, 1:] -= np.einsum("jkl,jl->jk", spreads, here) / noise[:, None]
    loadings = f.loadings + np.einsum("jkl,jl->jk", found.gain, gradient)
    loadings -= np.einsum("jkl,jl->jk", found.covariance - found.gain, f.loadings * f.precision)
    covariance = found.covariance
    return _rotated(Factors(loadings, covariance, noise, f.precision), moments / gaps.weights.sum()), fitted, spread


def moderated(squares: np.ndarray, counts: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Noise variances of the columns, each shrunk slightly towards the common one."""
    common = squares.sum() / max(float(counts.sum()), 1.0)
    noise: np.ndarray = np.maximum((squares + _NOISE_PRIOR * common) / (counts + _NOISE_PRIOR), floor)
    return noise


def _rotated(f: Factors, moments: np.ndarray) -> Factors:
    """The same fit with scores of mean 0 and covariance I, and orthogonal loadings, with new prior precisions.

    Without it, scale and rotation drift slowly between scores and loadings (PX-EM of Liu, Rubin and Wu, 1998).
    """
    if not f.k:
        return f
    mean = moments[0, 1:]
    values, vectors = np.linalg.eigh(moments[1:, 1:] - np.outer(mean, mean))
    root = vectors * np.sqrt(np.maximum(values, 1e-14 * max(float(values[-1]), 1.0)))
    change = np.eye(f.k + 1)
    change[1:, 0], change[1:, 1:] = mean, root  # w_new = w @ change: (mean + loadings . m, loadings @ root)
    loadings = f.loadings @ change
    covariance = change.T @ f.covariance @ change
    gram = loadings[:, 1:].T @ loadings[:, 1:] + covariance[:, 1:, 1:].sum(axis=0)
    turn = np.eye(f.k + 1)
    turn[1:, 1:] = np.linalg.eigh(gram)[1][:, ::-1]
    loadings, covariance = loadings @ turn, turn.T @ covariance @ turn
    power = np.einsum("jk,jk->k", loadings[:, 1:], loadings[:, 1:]) + np.einsum("jkk->k", covariance[:, 1:, 1:])
    precision = np.append(_MEAN_PRECISION, len(loadings) / np.maximum(power, 1e-300))
    return Factors(loadings, covariance, f.noise, precision)
