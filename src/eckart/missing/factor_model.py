"""Factor model of a table with gaps, fitted to the values that are present by variational Bayes.

In standard units, with z_i = (1, scores of row i) and w_j = (mean, loadings) of column j:

    x_ij = w_j . z_i + e_ij,   scores ~ N(0, I),   e_ij ~ N(0, psi_j),   w_jc ~ N(0, 1 / alpha_c).

q(scores_i) = N(s_i, Sigma_i) and q(w_j) = N(w_j, S_j) are updated in turn; the noise has one variance for each column,
and alpha switches off components without support (Bishop 1999; Ilin and Raiko, JMLR 11, 2010). The variances Sigma_i
and S_j keep rows and columns with few values from being fitted exactly, so psi cannot collapse because of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from eckart.engine.backends.symmetric import leading_pairs

_ROWS = 4096
_MEAN_PRECISION = 1e-2
"""Prior precision of a column mean, which is near 0 in standard units."""
_NOISE_PRIOR = 2.0
"""Observations that the noise common to all columns counts for in each of them."""

_CLEAR = 0.01
"""With less noise than this share of the variance, no component of weight is hidden."""


@dataclass(frozen=True)
class Gaps:
    """A table in standard units, zero where a value is missing, grouped by the pattern of its gaps."""

    values: np.ndarray
    weights: np.ndarray
    patterns: np.ndarray
    """Distinct rows of the indicator of values present, as floats."""
    pattern: np.ndarray
    """The pattern of each row."""
    floor: np.ndarray
    """Variance of the rounding errors in each column: noise cannot be seen below it."""

    @classmethod
    def of(cls, standard: np.ndarray, weights: np.ndarray, floor: np.ndarray) -> Gaps:
        seen = ~np.isnan(standard)
        patterns, pattern = np.unique(np.packbits(seen, axis=1), axis=0, return_inverse=True)
        indicator = np.unpackbits(patterns, axis=1, count=seen.shape[1]).astype(np.float64)
        return cls(np.where(seen, standard, 0.0), weights, indicator, pattern.reshape(-1), floor)

    @property
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

    @property
    def weighing(self) -> np.ndarray:
        """Variance of a value about its fit by the true scores: psi_j + E[z^T S_j z], with E[z z^T] = I."""
        weighing: np.ndarray = self.noise + np.einsum("jkk->j", self.covariance)
        return weighing


def score_covariances(patterns: np.ndarray, f: Factors) -> np.ndarray:
    """Sigma = (I + sum over columns present of E[w w^T] / psi)^-1 for each pattern."""
    k = f.k
    here = f.loadings[:, 1:]
    second = here[:, :, None] * here[:, None, :] / f.weighing[:, None, None]
    return inverses((patterns @ second.reshape(len(here), k * k)).reshape(len(patterns), k, k), np.ones(k))


def inverses(data: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(data + diag(prior))^-1 for a stack of positive semi-definite matrices.

    Without noise, data is so large that the prior is lost in the sum. A direction v that data leaves out has the
    variance 1 / v^T diag(prior) v all the same.
    """
    size = data.shape[1]
    whole = data + np.diag(prior)
    unit = 1.0 / np.sqrt(np.einsum("ukk->uk", whole))
    between = unit[:, :, None] * unit[:, None, :]
    whole *= between
    inverse: np.ndarray = np.empty_like(data)
    share = prior * unit**2
    easy = share.min(axis=1, initial=1.0) > 1e-8
    inverse[easy] = np.linalg.inv(whole[easy])
    if not easy.all():
        values, vectors = np.linalg.eigh(whole[~easy])
        least = np.einsum("ukl,uk->ul", vectors**2, share[~easy])
        values = np.where(values > 1e-14 * size, values, least)
        inverse[~easy] = (vectors / values[:, None, :]) @ vectors.transpose(0, 2, 1)
    inverse *= between
    return inverse


def scores(values: np.ndarray, seen: np.ndarray, spread: np.ndarray, f: Factors) -> np.ndarray:
    """(1, E[scores]) of each row, given its Sigma."""
    right = (seen * (values - f.loadings[:, 0]) / f.weighing) @ f.loadings[:, 1:]
    found = np.einsum("rkl,rl->rk", spread, right)
    return np.concatenate([np.ones((len(values), 1)), found], axis=1)


def no_factors(gaps: Gaps) -> Factors:
    """Column means alone."""
    columns = gaps.values.shape[1]
    f = Factors(np.zeros((columns, 1)), np.zeros((columns, 1, 1)), np.ones(columns), np.array([_MEAN_PRECISION]))
    return fit(gaps, f, tolerance=1e-3, most_steps=50)


def residuals(gaps: Gaps, f: Factors) -> np.ndarray:
    """Values present less their fit, zero elsewhere."""
    spread = score_covariances(gaps.patterns, f)
    rest = np.empty_like(gaps.values)
    for block in gaps.blocks():
        seen = gaps.patterns[gaps.pattern[block]]
        z = scores(gaps.values[block], seen, spread[gaps.pattern[block]], f)
        rest[block] = (gaps.values[block] - z @ f.loadings.T) * seen
    return rest


def grown(gaps: Gaps, f: Factors) -> Factors | None:
    """One more component, along the leading one of the residuals; None where they are rounding errors."""
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


def fit_components(gaps: Gaps, most: int, *, tolerance: float, most_steps: int) -> Iterator[Factors]:
    """The model with 0, 1, ... components, each started from the one before; ended at `most` or where no more are seen.

    Components are added one at a time, along the residuals: a surplus component starts with what is left, and cannot
    take part in an exact fit of the values present that leaves the gaps open.
    """
    f = no_factors(gaps)
    yield f
    while f.k < most:
        more = grown(gaps, f)
        if more is None:
            return
        more = fit(gaps, more, tolerance=tolerance, most_steps=most_steps)
        if not _supported(more):
            break
        f = more
        yield f
    sharp = _barely_determined(gaps, f, most, most_steps)
    if sharp is not None:
        yield sharp


def _supported(f: Factors) -> bool:
    """Whether the loadings of every component are larger than their standard errors (root mean square)."""
    power = np.einsum("jk,jk->k", f.loadings, f.loadings)
    return bool(np.all(power[1:] > np.einsum("jkk->k", f.covariance)[1:]))


def degrees_of_freedom(gaps: Gaps, k: int) -> float:
    """Values less scores, means and loadings that k components can fit; rotations of the scores count once."""
    left = gaps.weights @ np.maximum(gaps.patterns.sum(axis=1) - k, 0.0)[gaps.pattern]
    return float(left - gaps.values.shape[1] * (k + 1) + k * (k + 1))


def _barely_determined(gaps: Gaps, f: Factors, most: int, most_steps: int) -> Factors | None:
    """More components where they alone explain the table, though there are few values for each parameter.

    There the noise that scores and loadings share out between them hides a component. With the noise held small, the
    fit is one of least squares, and the residual sum of squares over its degrees of freedom d tells: by chance it is
    10^(1 + 10 / d) times smaller than the noise so far in less than one table of 10^5 (lower tail of chi-square(d)).
    """
    values = float(gaps.weights @ gaps.patterns.sum(axis=1)[gaps.pattern])
    noise = float(np.mean(f.noise))
    if noise < _CLEAR:
        return None
    for k in range(f.k + 1, min(most, f.k + 3) + 1):
        free = degrees_of_freedom(gaps, k)
        more = grown(gaps, f)
        if free < 3.0 or free > 0.5 * values or more is None:
            return None
        f = fit(gaps, more, tolerance=1e-2, most_steps=min(most_steps, 300), held=1e-4 * noise)
        if _mean_square(gaps, f, free) < noise * 10.0 ** (-1.0 - 10.0 / free):
            return _held_at_its_noise(gaps, f, free, min(most_steps, 300))
    return None


def _held_at_its_noise(gaps: Gaps, f: Factors, free: float, most_steps: int) -> Factors:
    """One noise variance for all columns, equal to the residual sum of squares over its degrees of freedom."""
    level = float(np.mean(f.noise))
    for _ in range(10):
        before, level = level, max(_mean_square(gaps, f, free), float(gaps.floor.min()))
        f = fit(gaps, f, tolerance=1e-3, most_steps=most_steps, held=level)
        if abs(np.log(level / before)) < 0.1:
            break
    return f


def _mean_square(gaps: Gaps, f: Factors, free: float) -> float:
    return float(gaps.weights @ (residuals(gaps, f) ** 2).sum(axis=1)) / free


def fit(gaps: Gaps, f: Factors, *, tolerance: float, most_steps: int, held: float | None = None) -> Factors:
    """Update until a step changes the fit of the gaps by less than `tolerance` of their standard errors.

    `held` is a noise variance for all columns that is not updated.
    """
    hidden = 1.0 - gaps.patterns
    before = np.full(gaps.values.shape, 1e100)
    converged = False
    steps = 0
    while not converged and steps < most_steps:
        steps += 1
        noise = f.noise
        here = f.loadings[:, 1:]
        f, fitted, spread = _step(gaps, f, held)
        open_to = f.weighing + np.einsum("jk,ukl,jl->uj", here, spread, here, optimize=True)
        change = (fitted - before) ** 2 * (hidden / (tolerance**2 * open_to + gaps.floor))[gaps.pattern]
        before = fitted
        visible = 100.0 * gaps.floor
        still = np.abs(np.log((f.noise + visible) / (noise + visible))).max() <= 10.0 * tolerance
        converged = bool(still and change.sum() <= max(hidden[gaps.pattern].sum(), 1.0))
    return replace(f, steps=steps, converged=converged)


def _step(gaps: Gaps, f: Factors, held: float | None) -> tuple[Factors, np.ndarray, np.ndarray]:
    """Scores, noise and loadings in turn, then a rotation of both; also the fit and Sigma before it."""
    columns, size = f.loadings.shape
    spread = score_covariances(gaps.patterns, f)
    fitted = np.empty_like(gaps.values)
    products, cross, squares = np.zeros((columns, size * size)), np.zeros((columns, size)), np.zeros(columns)
    moments = np.zeros((size, size))
    for block in gaps.blocks():
        pattern, weights = gaps.pattern[block], gaps.weights[block]
        seen = gaps.patterns[pattern]
        z = scores(gaps.values[block], seen, spread[pattern], f)
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
    # sum of w^T Sigma w = w^T (sum of Sigma) w: the scores' own part of the second moments.
    counts = gaps.weights @ gaps.seen
    by_pattern = np.bincount(gaps.pattern, gaps.weights, len(gaps.patterns))
    flat = (gaps.patterns * by_pattern[:, None]).T @ spread.reshape(len(spread), (size - 1) ** 2)
    spreads = flat.reshape(columns, size - 1, size - 1)
    here = f.loadings[:, 1:]
    expected = squares + np.einsum("jk,jkl,jl->j", here, spreads, here) + np.einsum("jkl,jkl->j", f.covariance, second)
    noise = moderated(expected, counts, gaps.floor) if held is None else np.maximum(held, gaps.floor)
    covariance = inverses(second / noise[:, None, None], f.precision)
    # The gradient at the present loadings: its rounding errors are those of the residuals, not of the values.
    gradient = cross / noise[:, None] - f.loadings * f.precision
    gradient[:, 1:] -= np.einsum("jkl,jl->jk", spreads, here) / noise[:, None]
    loadings = f.loadings + np.einsum("jkl,jl->jk", covariance, gradient)
    return _rotated(Factors(loadings, covariance, noise, f.precision), moments / gaps.weights.sum()), fitted, spread


def moderated(squares: np.ndarray, counts: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Noise variances of the columns, each drawn a little towards the one common to all."""
    common = squares.sum() / max(float(counts.sum()), 1.0)
    noise: np.ndarray = np.maximum((squares + _NOISE_PRIOR * common) / (counts + _NOISE_PRIOR), floor)
    return noise


def _rotated(f: Factors, moments: np.ndarray) -> Factors:
    """The same fit with scores of mean 0 and covariance I, and loadings that are orthogonal; prior precisions anew.

    Without it, scale and rotation drift slowly between scores and loadings (Liu, Rubin and Wu's PX-EM, 1998).
    """
    if not f.k:
        return f
    mean = moments[0, 1:]
    root = np.linalg.cholesky(moments[1:, 1:] - np.outer(mean, mean) + 1e-14 * np.eye(f.k))
    change = np.eye(f.k + 1)
    change[1:, 0], change[1:, 1:] = mean, root  # w_new = w @ change: (mean + loadings . m, loadings @ root)
    loadings = f.loadings @ change
    covariance = change.T @ f.covariance @ change
    gram = loadings[:, 1:].T @ loadings[:, 1:] + covariance[:, 1:, 1:].sum(axis=0)
    _, axes = leading_pairs(gram, f.k)
    turn = np.eye(f.k + 1)
    turn[1:, 1:] = axes
    loadings, covariance = loadings @ turn, turn.T @ covariance @ turn
    power = np.einsum("jk,jk->k", loadings[:, 1:], loadings[:, 1:]) + np.einsum("jkk->k", covariance[:, 1:, 1:])
    precision = np.append(_MEAN_PRECISION, len(loadings) / np.maximum(power, 1e-300))
    return Factors(loadings, covariance, f.noise, precision)
