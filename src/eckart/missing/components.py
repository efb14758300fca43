"""Number of components that the observed values support, and the factor model with this number.

Components are added one at a time, along the residuals. A surplus component therefore starts with the remainder, and
cannot join an exact fit of the observed values that leaves the missing ones undetermined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eckart.missing.factor_model import (
    Factors,
    Gaps,
    fit,
    grown,
    no_factors,
    residuals,
    score_inverses,
    scores,
    step,
)
from eckart.missing.fit_variance import fit_variances, information

CLEAR = 0.01
"""If noise is below this share of the variance, no relevant component is hidden."""
_SMALL = 20_000
"""Maximum number of cells of a table with so few values per parameter that a component can be hidden."""
_ROUNDING = 1e8
"""Noise variances up to this many times that of rounding errors hide no component."""
_DETERMINED = 1.0 / 3.0
"""Least share of the missing values that a hidden component must determine."""
_PREDICTED = 0.7
"""Least share of the observed values that the others of their row must predict in an exact fit."""
_LOADINGS = 400
_ALTERNATING_STEPS = 50
_HELD = 1e-4
"""Noise variance held during least squares, as a share of the noise of the model so far."""
_PROMISING = 0.15
"""The minimum of least squares is sought where alternating steps come below this share of the noise."""
_STARTS = 24
"""Maximum number of starts of least squares."""
_NEWTON_STEPS = 30
_TRIAL_STEPS = 6
_SLOW = 0.05
"""Decrease in one step, as a share of the loss, below which a start is given up after the trial steps."""


def fit_components(
    gaps: Gaps, most: int, *, tolerance: float, most_steps: int, known: bool = False
) -> Iterator[Factors]:
    """The model with 0, 1, ... components, each started from the previous one, until no more are supported.

    `known` states that there are `most` components, so that values that barely determine them suffice.
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
    if gaps.values.size <= _SMALL and _may_hide(gaps, f) and not (known and f.k == most):
        yield from _sharper(gaps, f, most, most if known else max(f.k, 1))


def _sharper(gaps: Gaps, f: Factors, most: int, least: int) -> Iterator[Factors]:
    """The model with at least `least` components that the values barely determine, if it determines more than f."""
    sharp = _barely_determined(gaps, f, most, least)
    if sharp is not None and _determines_more(gaps, sharp, f):
        yield sharp


def _supported(f: Factors) -> bool:
    """Whether the loadings of every component are larger than their standard errors (root mean square)."""
    power = np.einsum("jk,jk->k", f.loadings, f.loadings)
    return bool(np.all(power[1:] > np.einsum("jkk->k", f.covariance)[1:]))


def _degrees_of_freedom(gaps: Gaps, k: int) -> float:
    """Degrees of freedom: values minus the scores, means and loadings that k components fit.

    Rotations of the scores count once.
    """
    left = gaps.weights @ np.maximum(gaps.patterns.sum(axis=1) - k, 0.0)[gaps.pattern]
    return float(left - gaps.values.shape[1] * (k + 1) + k * (k + 1))


def _determines_more(gaps: Gaps, f: Factors, other: Factors) -> bool:
    """Whether f determines many missing values that `other` predicts only up to its noise.

    A table with columns that depend on each other exactly has an exact fit with as many components as it has rank. Such
    a fit determines the missing values of these columns, as `other` does, but may leave all others undetermined, and
    far from the mean. Which of them are missing is chance, so the observed values must be predictable as well.
    """
    if _predicted(gaps, f) < _PREDICTED:
        return False
    missing = gaps.seen == 0.0
    of_f, of_other = ((fit_variances(gaps, one)[1] + one.noise)[missing] for one in (f, other))
    open_to_other = of_other > 0.1 * float(np.mean(other.noise))
    return bool(np.mean(open_to_other & (of_f < CLEAR * of_other)) >= _DETERMINED)


def _predicted(gaps: Gaps, f: Factors) -> float:
    """Share of the observed values that are not fitted by scores of their own: the rest of the row restricts them.

    Counted in rows with more values than scores. In others no value is restricted, whatever the table.
    """
    patterns = gaps.patterns * (gaps.patterns.sum(axis=1, keepdims=True) > f.k)
    here = f.loadings[:, 1:]
    leverage = np.einsum("jk,ukl,jl->uj", here, score_inverses(gaps.patterns, f).covariance, here) / f.weighing
    seen = patterns * np.bincount(gaps.pattern, gaps.weights, len(patterns))[:, None]
    return float(np.sum(seen * (leverage < 1.0 - CLEAR)) / max(seen.sum(), 1.0))


def _may_hide(gaps: Gaps, f: Factors) -> bool:
    """Whether a component or a better minimum may be hidden: by much noise, or by few values per parameter."""
    noise = float(np.mean(f.noise))
    if noise > CLEAR:
        return True
    return noise > _ROUNDING * float(np.median(gaps.floor)) and _few_values(gaps, f.k)


def _few_values(gaps: Gaps, k: int) -> bool:
    """Whether scores, means and loadings of k components take more than half of the values."""
    return _degrees_of_freedom(gaps, k) < 0.5 * float(gaps.weights @ gaps.patterns.sum(axis=1)[gaps.pattern])


def _barely_determined(gaps: Gaps, f: Factors, most: int, least: int) -> Factors | None:
    """At least `least` components if they alone explain the table, although there are few values per parameter.

    In such tables the uncertainty shared by scores and loadings hides a component. With the noise held small, the fit
    is one of least squares. Its residual sum of squares divided by its degrees of freedom d falls steadily while
    components fit noise, and abruptly at the rank of the table. A fall by 10^(1.5 + 8 / d), to less than
    10^(-2 - 8 / d) of the noise so far, is not due to noise: even with one degree of freedom, chi-square(d) / d is
    smaller than 10^(-1.5 - 8 / d) in about one table in 10^5.
    """
    noise = float(np.mean(f.noise))
    for k in range(max(f.k, 1), most + 1):
        free = _degrees_of_freedom(gaps, k)
        more = grown(gaps, f) if k > f.k else f
        if free < 1.0 or more is None or more.loadings.size > _LOADINGS:
            return None
        f = fit(gaps, more, tolerance=1e-2, most_steps=_ALTERNATING_STEPS, held=_HELD * noise)
        if k < least or not _few_values(gaps, k) or _mean_square(gaps, f, free) > _PROMISING * noise:
            continue
        if (found := _abrupt_fall(gaps, f, noise, free)) is not None:
            return found
    return None


def _abrupt_fall(gaps: Gaps, f: Factors, noise: float, free: float) -> Factors | None:
    """The least-squares fit with as many components as f, if the last of them explains all but rounding."""
    allowance = 10.0 ** (-8.0 / free)
    found = _below(gaps, f, noise, allowance * 0.01 * noise, _STARTS)
    if found is None:
        return None
    bar = _mean_square(gaps, found, free) * 10.0**1.5 / allowance
    return found if _below(gaps, _without_last(f), noise, bar, _STARTS // 3) is None else None


def _without_last(f: Factors) -> Factors:
    return Factors(f.loadings[:, :-1], f.covariance[:, :-1, :-1], f.noise, f.precision[:-1])


def _below(gaps: Gaps, f: Factors, noise: float, target: float, starts: int) -> Factors | None:
    """A least-squares fit with as many components as f whose mean square is below `target`; None if none was found.

    With few values for each parameter alternating steps stop far above the minimum, and from half of the starts up to
    nine in ten lead to another minimum than the lowest: f is tried first, then random loadings. The noise held raises
    residuals that are smaller, so a fit with such residuals is compared with `target` after its noise has been found.
    """
    reached = max(target, _HELD * noise)
    free, size = _degrees_of_freedom(gaps, f.k), f.loadings.size
    f = replace(f, noise=np.maximum(_HELD * noise, gaps.floor), covariance=np.zeros_like(f.covariance))
    if not f.k:
        return f if _mean_square(gaps, f, free) < target else None
    rng = np.random.default_rng(f.k)
    for start in range(int(np.clip(starts * (_LOADINGS / 4 / size) ** 2, 2, starts))):
        if start:
            drawn = rng.standard_normal((len(f.loadings), f.k)) / np.sqrt(f.k)
            f = replace(
                f, loadings=np.column_stack([f.loadings[:, 0], drawn]),
                precision=np.append(f.precision[0], np.full(f.k, float(f.k))),
            )  # fmt: skip
        found = _newton(gaps, f, reached * free)
        level = _mean_square(gaps, found, free)
        if level < reached:
            found = _least_squares(gaps, found, level, free)
            if _mean_square(gaps, found, free) < target:
                return found
    return None


def _mean_square(gaps: Gaps, f: Factors, free: float) -> float:
    return float(gaps.weights @ (residuals(gaps, f) ** 2).sum(axis=1)) / free


def _least_squares(gaps: Gaps, f: Factors, level: float, free: float) -> Factors:
    """Fit with one noise variance for all columns: the residual sum of squares over its degrees of freedom."""
    least = float(np.median(gaps.floor))
    level = max(level, least)
    for _ in range(10):
        f = _newton(gaps, replace(f, noise=np.maximum(level, gaps.floor), covariance=np.zeros_like(f.covariance)))
        before, level = level, max(_mean_square(gaps, f, free), least)
        if abs(np.log(level / before)) < 0.1:
            break
    found, _, _ = step(gaps, f, level)
    return found


def _newton(gaps: Gaps, f: Factors, target: float = 0.0) -> Factors:
    """Minimise sum of residuals^2 / psi + |scores|^2 + alpha |loadings|^2 by Levenberg-Marquardt steps.

    With the scores eliminated, the Gauss-Newton matrix of the loadings is `information`. Convergence is quadratic if
    the residuals are small, while alternating least squares may take thousands of steps (Buchanan and Fitzgibbon, CVPR
    2005). Slow convergence therefore leads to a minimum with large residuals: it ends the iteration while their sum of
    squares is above `target`.
    """
    damping = 1e-3
    loss, z, rest, gain = _loss(gaps, f)
    for taken in range(_NEWTON_STEPS):
        values, vectors = information(gaps, f, z, gain)
        gradient = (rest * gaps.weights[:, None]).T @ z / f.noise[:, None] - f.loadings * f.precision
        along = np.where(values > 0.0, vectors.T @ gradient.ravel(), 0.0)
        before = loss
        while damping < 1e9:
            change = vectors @ (along / (1.0 + values * (1.0 + damping)))
            tried = replace(f, loadings=f.loadings + change.reshape(f.loadings.shape))
            found = _loss(gaps, tried)
            if found[0] < loss:
                f, (loss, z, rest, gain), damping = tried, found, damping / 10.0
                break
            damping = max(10.0 * damping, 1e-12)
        slow = taken >= _TRIAL_STEPS and float(np.sum(gaps.weights @ rest**2)) > target > 0.0
        if before - loss <= (_SLOW if slow else 1e-6) * abs(before):
            break
    return f


def _loss(gaps: Gaps, f: Factors) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The loss with the best scores, the scores, the residuals, and the inverses for the scores of each pattern."""
    seen, gain = gaps.seen, score_inverses(gaps.patterns, f).gain
    z = scores(gaps.values, seen, gain[gaps.pattern], f)
    rest = (gaps.values - z @ f.loadings.T) * seen
    squares = float(np.sum(gaps.weights @ rest**2 / f.noise) + gaps.weights @ (z[:, 1:] ** 2).sum(axis=1))
    return squares + float(np.sum(f.loadings**2 * f.precision)), z, rest, gain
