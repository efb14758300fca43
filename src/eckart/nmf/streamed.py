"""NMF of rows read in blocks: one pass per iteration; W is computed block by block and not kept.

For a given H, the best W is a separate convex problem for each row. A block contributes to the sums that the step of H
needs (W^T W and W^T A, or their Kullback-Leibler equivalents) and is then discarded. Only H and these sums are kept.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.arrays import Array, Matrix
from eckart.components.find import find_components
from eckart.engine.blocks.checkpoint import Journal, key_of
from eckart.errors import AccuracyWarning, DataWarning, InputError, ParameterError
from eckart.nmf.certificate import summary
from eckart.nmf.constants import (
    FIRST_TOLERANCE,
    LEAST_AFTER_EXTRAPOLATION,
    MOST_PARTS_OF_COLUMNS,
    SQUARES_FIRST,
    SQUARES_SHARE,
    STREAMED_EXACT_BELOW,
    STREAMED_EXTRAPOLATION,
    STREAMED_SWEEPS,
    SVD_PASSES,
    SVD_TOLERANCE,
)
from eckart.nmf.curvature import newton_step
from eckart.nmf.driver import Outcome, accelerate
from eckart.nmf.entries import of_the_mean
from eckart.nmf.fit import rows_for, without_zeros
from eckart.nmf.loss import squared_error
from eckart.nmf.options import Settings, check_factor
from eckart.nmf.problem import FactorUpdate, Penalties
from eckart.nmf.squares import solve_given
from eckart.nmf.start import FILLED, from_singular_vectors, random_start
from eckart.nmf.statistics import SufficientStatistics, check_squares, derivatives_of_table, squares_of
from eckart.nmf.table import NonnegativeTable, open_nonnegative
from eckart.result import Certificate
from eckart.wording import MEMORY, assigned

_NAMES = ("gram", "cross", "sums", "rows", "norm", "own", "fitted")


@dataclass(frozen=True)
class PartsTask:
    """Contribution of a block for parts H (k x columns): "sums" for the next H, "rows" of W, or the squared "error"."""

    parts: np.ndarray
    settings: Settings
    name: str
    kind: str = "sums"

    def __call__(self, block: object, start: int, stop: int) -> list[np.ndarray]:
        table = _table(block, self.name, start, stop)
        with np.errstate(under="ignore", over="ignore"):
            # The error of sums over W is the square of that of W, so a tenfold tolerance is enough. For squares, which
            # are cheap, the stated error is exactly that of the returned rows.
            loose = self.kind == "sums" and not self.settings.squares
            settings = replace(self.settings, tol=10.0 * self.settings.tol) if loose else self.settings
            left = rows_for(table, settings, np.ascontiguousarray(self.parts.T))
            left = np.ldexp(left, -table.exponent)
            if self.kind == "rows":
                return [left]
            if self.kind == "error":
                matrix = table.matrix * 2.0**-table.exponent if table.exponent else table.matrix
                return [np.array([squared_error(matrix, left, np.ascontiguousarray(self.parts.T))])]
            hessians = len(self.parts) <= MOST_PARTS_OF_COLUMNS
            found, hessian = derivatives_of_table(table, left, self.parts, self.settings.beta, hessians=hessians)
        more = [] if hessian is None else [hessian]
        return [*(np.asarray(getattr(found, name), dtype=np.float64) for name in _NAMES), *more]

    @property
    def key(self) -> str:
        return key_of(f"nmf {self.kind} {self.settings.beta:g}", self.parts)


@dataclass(frozen=True)
class TotalsTask:
    """Sum and squares of a block, and the squared lengths of the positive and negative halves of A V / values."""

    right: np.ndarray
    values: np.ndarray
    name: str

    def __call__(self, block: object, start: int, stop: int) -> list[np.ndarray]:
        table = _table(block, self.name, start, stop)
        squares, scale = squares_of(table), 2.0**-table.exponent
        total = table.mean * scale * (stop - start) * self.right.shape[0]
        left = np.asarray(table.operator().matmat(self.right)) * scale
        left = left / np.where(self.values > 0, self.values, 1.0)
        halves = [np.sum(np.square(np.maximum(sign * left, 0.0)), axis=0) for sign in (1.0, -1.0)]
        return [np.array([total, squares]), *halves]

    @property
    def key(self) -> str:
        return key_of("nmf survey", self.right)


class StreamedParts:
    """A loss whose W is recomputed in every pass: an empty array stands for it, and its sums are known."""

    matrix: Matrix
    settings: Settings
    constant: float
    reference: float
    rounding: float

    def __init__(self, matrix: Any, settings: Settings, squared_norm: float, total: float) -> None:
        self.matrix, self.settings = matrix, settings
        self.penalties: Penalties = settings.penalties(matrix.shape)
        self.constant = 0.5 * squared_norm if settings.squares else 0.0
        self.reference = self.constant
        self._total = total
        self.rounding = 16.0 * float(np.finfo(np.float64).eps) * max(squared_norm, 1e-300)
        self._known: list[tuple[np.ndarray, SufficientStatistics, np.ndarray | None]] = []

    def seen(self, token: np.ndarray) -> SufficientStatistics:
        return next(seen for known, seen, _ in self._known if known is token)

    def rows(
        self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        """One pass: solve W for the parts `other` to convergence, and sum over it."""
        parts = np.ascontiguousarray(other.T)
        found = self.matrix.total(PartsTask(parts, self.settings, self.matrix.source.metadata.name))
        arrays = dict(zip((*_NAMES, "hessian"), found, strict=False))
        numbers = {name: float(arrays[name]) for name in ("norm", "own", "fitted")}
        seen = SufficientStatistics(arrays["gram"], arrays["cross"], arrays["sums"], int(arrays["rows"]), **numbers)
        token = np.empty((0, other.shape[1]))
        # The accepted factor may be three back: two steps from it may be refused.
        self._known = [*self._known[-2:], (token, seen, arrays.get("hessian"))]
        if not self.settings.squares:
            self.reference = of_the_mean(seen.own, self._total, self.matrix.shape[0] * self.matrix.shape[1])
        penalty = self.penalties.rows
        value = penalty.lasso * float(seen.sums.sum()) + 0.5 * penalty.ridge * float(np.trace(seen.gram))
        value += seen.loss(parts, self.settings.beta) - self.constant
        return FactorUpdate(token, token, value, 0.0)

    def columns(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float) -> FactorUpdate:
        """H from the sums."""
        seen, penalty = self.seen(other), self.penalties.columns
        if self.settings.squares:
            gram = np.ascontiguousarray(seen.gram + penalty.ridge * np.eye(len(seen.gram)))
            products = np.ascontiguousarray(seen.cross.T)
            return solve_given(products, gram, penalty, begin, old, extrapolation, STREAMED_SWEEPS, SQUARES_SHARE)
        return self._divergence(begin, other, old, extrapolation)

    def _divergence(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float) -> FactorUpdate:
        """A Newton step, or a Lee-Seung step after one that raised the loss (`extrapolation` is 0)."""
        seen, penalty = self.seen(other), self.penalties.columns
        hessian = next(hessian for known, _, hessian in self._known if known is other)
        numerator, slope = seen.cross.T, seen.sums + penalty.lasso
        inside = begin > 0.0
        gradient = np.where(inside, slope + penalty.ridge * begin - numerator / np.where(inside, begin, 1.0), 0.0)
        if hessian is None or extrapolation == 0.0:
            new = _divergence_step(numerator, slope, penalty.ridge, begin)
        else:
            new = newton_step(begin, gradient, hessian, penalty.ridge)
        ahead = np.maximum(new + extrapolation * (new - old), LEAST_AFTER_EXTRAPOLATION * new)
        return FactorUpdate(new, ahead, 0.0, float(np.abs(gradient).sum()))


def _divergence_step(numerator: np.ndarray, slope: np.ndarray, ridge: float, begin: np.ndarray) -> np.ndarray:
    """The h that minimises -pull log h + slope h + ridge/2 h^2."""
    if ridge:
        return np.asarray((np.sqrt(slope * slope + 4.0 * ridge * numerator) - slope) / (2.0 * ridge))
    return np.where(slope > 0.0, numerator / np.where(slope > 0.0, slope, 1.0), begin)


@dataclass(frozen=True)
class Streamed:
    """The parts, the sums over their W, and the bounds."""

    outcome: Outcome
    seen: SufficientStatistics
    loss: float
    svd: list[np.ndarray] | None
    losses: tuple[float, ...]


def fit_blocks(
    matrix: Any, settings: Settings, rng: np.random.Generator, *, H: Array | None = None, executor: object = None
) -> Streamed:
    """The best of `n_runs` runs; each makes one pass per iteration."""
    _refuse(settings)
    svd = _singular_vectors(matrix, settings, executor)
    right = np.zeros((matrix.shape[1], 1)) if svd is None else svd[1]
    values = np.ones(1) if svd is None else svd[0]
    (total, squares), *halves = matrix.total(TotalsTask(right, values, matrix.source.metadata.name))
    check_squares(float(squares), zeros=float(total) == 0.0)
    mean = float(total) / (matrix.shape[0] * matrix.shape[1])
    runs: list[Streamed] = []
    for run in range(settings.n_runs):
        chosen = settings if run == 0 else replace(settings, init="random")
        start = _start(chosen, svd, halves, mean, matrix.shape[1], rng, H)
        start, used = _first_iterations(matrix, chosen, float(squares), float(total), start)
        problem = StreamedParts(matrix, settings, float(squares), float(total))
        empty = np.empty((0, settings.k))
        outcome = accelerate(
            problem, empty, start, max_iter=max(settings.max_iter - used, 1), tol=settings.tol,
            extrapolation=STREAMED_EXTRAPOLATION, newton=not settings.squares and settings.k <= MOST_PARTS_OF_COLUMNS,
        )  # fmt: skip
        outcome = replace(outcome, iterations=outcome.iterations + used)
        seen = problem.seen(outcome.left)
        runs.append(Streamed(outcome, seen, _loss(matrix, settings, outcome, seen), svd, ()))
    best = min(runs, key=lambda run: run.loss)
    return replace(best, losses=tuple(run.loss for run in runs))


def _first_iterations(
    matrix: Any, settings: Settings, squared_norm: float, total: float, start: np.ndarray
) -> tuple[np.ndarray, int]:
    """(H, iterations): Kullback-Leibler from the default start begins with the squared error, as in memory."""
    most = min(SQUARES_FIRST, settings.max_iter // 2)
    if settings.squares or settings.init != FILLED or settings.alpha_W or settings.alpha_H or not most:
        return start, 0
    squares = StreamedParts(matrix, replace(settings, beta_loss=2.0), squared_norm, total)
    tol, empty = max(settings.tol, FIRST_TOLERANCE), np.empty((0, settings.k))
    early = accelerate(squares, empty, start, max_iter=most, tol=tol, extrapolation=STREAMED_EXTRAPOLATION)
    mean = total / (matrix.shape[0] * matrix.shape[1])
    return without_zeros(early.right, mean), early.iterations


def rows_of(matrix: Any, settings: Settings, right: np.ndarray) -> np.ndarray:
    """W, rows x k, in one more pass."""
    task = PartsTask(np.ascontiguousarray(right.T), settings, matrix.source.metadata.name, "rows")
    found: np.ndarray = matrix.rows_of(task, right.shape[1])
    return found


def _rounding(streamed: Streamed) -> float:
    """Relative rounding of |A|^2 - 2 <W^T A, H> + <W^T W H, H>: sums of non-negative products, in any order."""
    right = streamed.outcome.right
    return float(4 * (streamed.seen.rows + sum(right.shape) + 16) * np.finfo(np.float64).eps)


def certificate_of(streamed: Streamed, settings: Settings, passes: int, moved: float) -> Certificate | None:
    """For squares, the explained share and its upper limit for k parts.

    `moved` bounds how far rounding to the dtype of the data moves W H, relative to the data.
    """
    norm = streamed.seen.norm
    if not settings.squares or norm == 0.0:
        return None
    captured = max(0.0, 1.0 - float(np.sqrt(2.0 * streamed.loss / norm + _rounding(streamed)) + moved) ** 2)
    best, lower, upper, chance = 1.0, np.empty(0), np.empty(0), 0.0
    if streamed.svd is not None:
        _, _, lower, upper, (_, high, chance) = streamed.svd
        best = max(captured, min(1.0, float(upper @ upper) / norm * (1.0 + _rounding(streamed)), float(high)))
    return Certificate(
        explained=(captured, best), lower=lower, upper=upper, residuals=np.array([streamed.outcome.violation]),
        angle=1.0, failure_probability=float(chance), tolerance=settings.tol, proved=streamed.outcome.converged,
        passes=passes, summary=summary(settings.k, captured, None if streamed.svd is None else best),
    )  # fmt: skip


def _refuse(settings: Settings) -> None:
    if settings.missing == "mask" or settings.beta not in (1.0, 2.0) or settings.solver != "auto":
        raise ParameterError(
            f"When the table is read in blocks, NMF supports only {assigned('solver', 'auto')}, the "
            f"losses 'frobenius' and 'kullback-leibler', and {assigned('missing', 'error')}. For "
            f"other settings, allow enough memory for the whole table with {MEMORY}."
        )


def _singular_vectors(matrix: Any, settings: Settings, executor: object) -> list[np.ndarray] | None:
    """[values, right, lower, upper, (explained, chance)] of the certified SVD, from the journal if available."""
    k = min(settings.k, *matrix.shape)
    if not settings.init.startswith("nndsvd") and not settings.squares:
        return None
    journal: Journal | None = matrix.reading.journal
    known = None if journal is None else journal.result(0, f"svd {k}")
    if known is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # the certificate states what was reached
            warnings.simplefilter("ignore", DataWarning)
            d = find_components(
                matrix.source, "svd", k=k, tol=SVD_TOLERANCE, max_passes=SVD_PASSES, stream=True,
                callback=matrix.reading.callback, executor=executor,
            )  # fmt: skip
        c = d.certificate
        assert c is not None
        known = [d.values, d.right, c.lower, c.upper, np.array([*c.explained, c.failure_probability])]
        known = [np.asarray(array, np.float64) for array in known]
        if journal is not None:
            journal.finish(0, f"svd {k}", known)
    return known


def _start(
    settings: Settings, svd: list[np.ndarray] | None, halves: list[np.ndarray], mean: float, columns: int,
    rng: np.random.Generator, H: object,
) -> np.ndarray:  # fmt: skip
    """Transposed H. Only the lengths of the halves of the left singular vectors matter, so two rows represent them."""
    if settings.init == "custom":
        parts: np.ndarray = check_factor("H", H, (settings.k, columns))
        return np.ascontiguousarray(parts.T)
    if settings.init == "random":
        return random_start(1, columns, settings.k, mean, rng)[1]
    assert svd is not None
    left = np.array([np.sqrt(halves[0]), -np.sqrt(halves[1])])
    right: np.ndarray = from_singular_vectors(left, svd[0], svd[1].copy(), fill=settings.init, mean=mean, rng=rng)[1]
    return right


def _loss(matrix: Any, settings: Settings, outcome: Outcome, seen: SufficientStatistics) -> float:
    loss = seen.loss(np.ascontiguousarray(outcome.right.T), settings.beta)
    if settings.squares and loss < 0.5 * STREAMED_EXACT_BELOW * seen.norm:
        parts = np.ascontiguousarray(outcome.right.T)
        (error,) = matrix.total(PartsTask(parts, settings, matrix.source.metadata.name, "error"))
        return 0.5 * float(error[0])
    return max(loss, 0.0)


def _table(block: Matrix, name: str, start: int, stop: int) -> NonnegativeTable:
    try:
        return open_nonnegative(block.matrix, missing="error")
    except InputError as error:
        raise type(error)(f"{name}, in the block of rows {start + 1:,} to {stop:,}: {error}") from error
