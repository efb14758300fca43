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
from eckart.missing.fit_variance import information

CLEAR = 0.01
"""If noise is below this share of the variance, no relevant component is hidden."""
_SMALL = 20_000
"""Maximum number of cells of a table with so few values per parameter that a component can be hidden."""
_ROUNDING = 1e8
"""Noise variances up to this many times that of rounding errors hide no component."""
_LOADINGS = 400
_ALTERNATING_STEPS = 50
_HELD = 1e-4
"""Noise variance held during least squares, as a share of the noise of the model so far."""
_PROMISING = 0.15
"""The minimum of least squares is sought where alternating steps come below this share of the noise."""
_HOPEFUL = 0.1
"""Three times as many starts are tried where the lowest mean square comes below this share of the noise."""
_STARTS = 12
_NEWTON_STEPS = 30


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
    noisy = float(np.mean(f.noise)) > _ROUNDING * float(np.median(gaps.floor))
    if noisy and gaps.values.size <= _SMALL and not (known and f.k == most):
        sharp = _barely_determined(gaps, f, most, most if known else max(f.k, 1))
        if sharp is not None:
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


def _barely_determined(gaps: Gaps, f: Factors, most: int, least: int) -> Factors | None:
    """At least `least` components if they alone explain the table, although there are few values per parameter.

    In such tables the uncertainty shared by scores and loadings hides a component. With the noise held small, the fit
    is one of least squares. Its residual sum of squares divided by its degrees of freedom d falls steadily while
    components fit noise, and abruptly at the rank of the table. A fall by 10^(1.5 + 10 / d), to less than a hundredth
    of the noise so far, is not due to noise: chi-square(d) / d is smaller than 10^(-10 / d) in less than one table in
    10^4.
    """
    values = float(gaps.weights @ gaps.patterns.sum(axis=1)[gaps.pattern])
    noise = float(np.mean(f.noise))
    for k in range(max(f.k, 1), most + 1):
        free = _degrees_of_freedom(gaps, k)
        more = grown(gaps, f) if k > f.k else f
        if free < 3.0 or more is None or more.loadings.size > _LOADINGS:
            return None
        f = fit(gaps, more, tolerance=1e-2, most_steps=_ALTERNATING_STEPS, held=_HELD * noise)
        if k < least or free >= 0.5 * values or _mean_square(gaps, f, free) > _PROMISING * noise:
            continue
        if (found := _abrupt_fall(gaps, f, noise, free)) is not None:
            return found
    return None


def _abrupt_fall(gaps: Gaps, f: Factors, noise: float, free: float) -> Factors | None:
    """The least-squares fit with as many components as f, if the last of them explains all but rounding."""
    allowance = 10.0 ** (-10.0 / free)
    found, level = _lowest(gaps, f, noise, _STARTS, allowance * 0.01 * noise)
    if level >= allowance * 0.01 * noise:
        return None
    bar = level * 10.0**1.5 / allowance
    before = _lowest(gaps, _without_last(f), noise, _STARTS // 3, bar)[1]
    return _least_squares(gaps, found, level, free) if before > bar else None


def _without_last(f: Factors) -> Factors:
    return Factors(f.loadings[:, :-1], f.covariance[:, :-1, :-1], f.noise, f.precision[:-1])


def _lowest(gaps: Gaps, f: Factors, noise: float, starts: int, target: float) -> tuple[Factors, float]:
    """The least-squares fit with as many components as f, from f and from random loadings, and its mean square.

    No more starts are tried once the mean square is below `target`.

    With few values for each parameter alternating steps stop far above the minimum, and from half of the starts up to
    nine in ten lead to another minimum than the lowest.
    """
    free, size = _degrees_of_freedom(gaps, f.k), f.loadings.size
    f = replace(f, noise=np.maximum(_HELD * noise, gaps.floor), covariance=np.zeros_like(f.covariance))
    if not f.k:
        return f, _mean_square(gaps, f, free)
    rng = np.random.default_rng(f.k)
    best, lowest = f, np.inf
    usual = int(np.clip(starts * (_LOADINGS / 4 / size) ** 2, 2, starts))
    for start in range(3 * usual):
        if start == usual and lowest > _HOPEFUL * noise:
            break
        if start:
            drawn = rng.standard_normal((len(f.loadings), f.k)) / np.sqrt(f.k)
            f = replace(
                f, loadings=np.column_stack([best.loadings[:, 0], drawn]),
                precision=np.append(f.precision[0], np.full(f.k, float(f.k))),
            )  # fmt: skip
        found = _newton(gaps, f)
        level = _mean_square(gaps, found, free)
        if level < lowest:
            best, lowest = found, level
        if lowest < target:
            break
    return best, lowest


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


def _newton(gaps: Gaps, f: Factors) -> Factors:
    """Minimise sum of residuals^2 / psi + |scores|^2 + alpha |loadings|^2 by Levenberg-Marquardt steps.

    With the scores eliminated, the Gauss-Newton matrix of the loadings is `information`. Convergence is quadratic if
    the residuals are small, while alternating least squares may take thousands of steps (Buchanan and Fitzgibbon, CVPR
    2005).
    """
    damping = 1e-3
    loss, z, rest = _loss(gaps, f)
    for _ in range(_NEWTON_STEPS):
        values, vectors = information(gaps, f, z, score_inverses(gaps.patterns, f).gain)
        gradient = (rest * gaps.weights[:, None]).T @ z / f.noise[:, None] - f.loadings * f.precision
        along = np.where(values > 0.0, vectors.T @ gradient.ravel(), 0.0)
        before = loss
        while damping < 1e9:
            change = vectors @ (along / (1.0 + values * (1.0 + damping)))
            tried = replace(f, loadings=f.loadings + change.reshape(f.loadings.shape))
            found = _loss(gaps, tried)
            if found[0] < loss:
                f, (loss, z, rest), damping = tried, found, damping / 100.0
                break
            damping = max(10.0 * damping, 1e-12)
        if before - loss <= 1e-6 * abs(before):
            break
    return f


def _loss(gaps: Gaps, f: Factors) -> tuple[float, np.ndarray, np.ndarray]:
    """The loss with the best scores, the scores and the residuals."""
    seen = gaps.seen
    z = scores(gaps.values, seen, score_inverses(gaps.patterns, f).gain[gaps.pattern], f)
    rest = (gaps.values - z @ f.loadings.T) * seen
    squares = float(np.sum(gaps.weights @ rest**2 / f.noise) + gaps.weights @ (z[:, 1:] ** 2).sum(axis=1))
    return squares + float(np.sum(f.loadings**2 * f.precision)), z, rest
