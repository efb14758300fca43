"""From a table and settings to factors: singular vectors, start, descent, several runs, exact loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, astype, from_numpy, is_host, is_numpy, namespace, to_numpy
from eckart.errors import InputError
from eckart.nmf.candidates import best_start
from eckart.nmf.compare import paired_cosines
from eckart.nmf.constants import (
    EXTREME_ENTRY,
    FILL_AFTER_SQUARES,
    FIRST_EXTRAPOLATION,
    FIRST_TOLERANCE,
    LANES,
    PLAIN_STEPS,
    ROWS_SHARE,
    SQUARES_FIRST,
    SUMMED_EXACTLY_BELOW,
    UNFINISHED_SWEEPS,
)
from eckart.nmf.driver import Outcome, accelerate, alternate, finish_rows
from eckart.nmf.entries import Entries, of_data_alone
from eckart.nmf.factors import mean, on_device_of_table, row_by_row, transposed, without_empty_rows, zeros
from eckart.nmf.formulate import by_newton, compressed_problem, make_problem
from eckart.nmf.loss import exact_divergence, exact_squares, stored_squares
from eckart.nmf.multiplicative import rows_by_updates
from eckart.nmf.options import Settings, check_factor
from eckart.nmf.problem import Penalties, Problem
from eckart.nmf.singular import SingularVectors, singular_vectors
from eckart.nmf.squares import Squares
from eckart.nmf.start import FILLED, column_lengths, from_singular_vectors, random_start
from eckart.nmf.table import NonnegativeTable

IterationCallback = Callable[[int, float], bool | None]


@dataclass(frozen=True)
class Fitted:
    """Factors of a table (2^exponent times the given one), the best of all runs."""

    outcome: Outcome
    loss: float
    """Divergence without penalties."""
    rounding: float
    """Bound of the error of the loss."""
    svd: SingularVectors | None
    compressed: int
    """Preliminary iterations on a cheaper problem."""
    losses: tuple[float, ...]
    """Of every run."""
    agreement: np.ndarray
    """runs x k: cosine of each part with its partner in the best run."""


def fit(
    table: NonnegativeTable,
    settings: Settings,
    rng: np.random.Generator,
    *,
    W: object = None,
    H: object = None,
    callback: IterationCallback | None = None,
) -> Fitted:
    """The best of `n_runs` runs: the first from the requested start, the others from random ones."""
    shape = table.matrix.shape
    _check_zeros(table, settings)
    if _host_only(settings):
        table = table.on_host()
    penalties = settings.penalties(shape, table.exponent)
    svd = singular_vectors(table, settings)
    problem = make_problem(table, settings, penalties)
    runs: list[tuple[Outcome, int, tuple[float, float]]] = []
    for run in range(settings.n_runs):
        chosen = settings if run == 0 else replace(settings, init="random")
        first = _start(table, chosen, svd, rng, W, H)
        start = best_start(table, chosen, penalties, problem, svd, first, rng) if run == 0 else first
        left, right = (row_by_row(factor) for factor in start)
        outcome, compressed = _descend(table, settings, penalties, problem, svd, left, right, callback)
        if settings.accelerated and penalties == Penalties():
            outcome = _scaled_as(first, outcome)
        outcome = _as_returned(table, outcome)
        runs.append((outcome, compressed, loss_of(table, settings, problem, outcome)))
    best = min(range(len(runs)), key=lambda i: runs[i][2][0])
    agreement = np.array([paired_cosines(runs[best][0].right, run[0].right) for run in runs])
    losses = tuple(run[2][0] for run in runs)
    return Fitted(runs[best][0], *runs[best][2], svd, runs[best][1], losses, agreement)


def _scaled_as(start: tuple[Array, Array], outcome: Outcome) -> Outcome:
    """The same product W H, with the ratio of the lengths of W's columns and H's rows that the start had.

    Without penalties the loss does not depend on this ratio, and extrapolation lets it drift far from that of plain
    coordinate descent. What is fitted to W next (a classifier with a penalty, a distance) does depend on it.
    """
    factors = outcome.left, outcome.right
    sizes = np.stack([column_lengths(factor) for factor in (*start, *factors)])
    used = (np.isfinite(sizes) & (sizes > 0.0)).all(axis=0)
    wide, long, widths, lengths = np.log(np.where(used, sizes, 1.0))
    root = np.exp((wide - long - widths + lengths) / 2.0)
    left, right = (f * astype(from_numpy(r, f), f.dtype) for f, r in zip(factors, (root, 1.0 / root), strict=True))
    return replace(outcome, left=left, right=right)


def _as_returned(table: NonnegativeTable, outcome: Outcome) -> Outcome:
    """The factors rounded to the returned dtype: all statements refer to these."""
    factors = _balanced(outcome.left, outcome.right)
    left, right = (astype(astype(f, table.dtype), f.dtype) for f in factors)
    return replace(outcome, left=left, right=right)


def _balanced(left: Array, right: Array) -> tuple[Array, Array]:
    """Parts with one huge and one tiny factor, rescaled to similar size; the product is unchanged.

    A part that the data do not need shrinks in W and grows in H without changing W H. If one factor has vanished, the
    other is set to size 1.
    """
    if not is_numpy(left):
        return left, right
    wide, long = np.abs(left).max(axis=0, initial=0.0), np.abs(right).max(axis=0, initial=0.0)
    lost = ~(np.isfinite(wide) & np.isfinite(long))
    if lost.any():  # one factor overflowed while the other vanished: the part is empty
        left, right = np.where(lost, 0.0, left), np.where(lost, 0.0, right)
        wide, long = np.where(lost, 0.0, wide), np.where(lost, 0.0, long)
    used = (wide > 0.0) & (long > 0.0)
    extreme = (np.maximum(wide, long) > EXTREME_ENTRY) | (used & (np.minimum(wide, long) < 1.0 / EXTREME_ENTRY))
    if not extreme.any():
        return left, right
    sizes = [np.log2(np.where(extreme & (size > 0.0), size, 1.0)) for size in (wide, long)]
    both = np.where(used, (sizes[0] + sizes[1]) / 2.0, 0.0)
    up = [np.where(extreme, np.round(both - size), 0.0).astype(int) for size in sizes]
    up[1] = np.where(used, -up[0], up[1])  # exactly inverse
    return np.ldexp(left, up[0]), np.ldexp(right, up[1])


def _host_only(settings: Settings) -> bool:
    """Whether only NumPy is supported: multiplicative updates for losses other than the squared error."""
    return (
        settings.beta not in (1.0, 2.0)
        or (settings.solver == "mu" and not settings.squares)
        or (settings.solver == "mu" and settings.missing == "mask")
    )


def rows_for(table: NonnegativeTable, settings: Settings, right: Array) -> Array:
    """W for a given H, each row solved to convergence; by multiplicative updates if there is no better solver."""
    if settings.beta not in (1.0, 2.0):
        table, right = table.on_host(), to_numpy(right)
    right = astype(right, table.working)
    penalties = settings.penalties(table.matrix.shape, table.exponent, share=1.0)
    if settings.beta not in (1.0, 2.0):
        return rows_by_updates(make_problem(table, settings, penalties), table, settings, right)
    share = 1.0 if by_newton(table, settings) else ROWS_SHARE[_steps(table)]
    settings = replace(settings, solver="auto", tol=share * settings.tol)
    problem = make_problem(table, settings, penalties)
    shape = (table.matrix.shape[0], right.shape[1])
    begin = zeros(table, shape)
    if not settings.squares:
        begin = begin + table.mean / max(mean(right) * shape[1], 1e-300)
    begin, right = _padded(problem, table, begin), _padded(problem, table, right)
    left = finish_rows(problem, begin, right)
    return without_empty_rows(table, row_by_row(left[:, : shape[1]]))


def _expanded_loss(
    table: NonnegativeTable, settings: Settings, problem: Problem, outcome: Outcome
) -> tuple[float, float]:
    """The loss from sums over the factors, and a bound of its rounding."""
    left, right = outcome.left, outcome.right
    half = problem.rows(left, right, left, 0.0, sweeps=0)
    loss = problem.constant + half.value - problem.penalties.rows.of(left)
    # |A|^2 - 2 <A H^T, W> + <W^T W, H H^T>: sums of non-negative products, in any order.
    size = abs(problem.constant) + abs(half.value) + (table.squared_norm if settings.squares else 0.0)
    unit = float(np.finfo(_steps(table)).eps)
    return loss, (sum(table.matrix.shape) + 2 * int(right.shape[1]) + 16) * unit * size


def loss_of(table: NonnegativeTable, settings: Settings, problem: Problem, outcome: Outcome) -> tuple[float, float]:
    """(divergence of the fit without penalties, bound of its rounding).

    Computed entry by entry if the data are dense, or if the short form has lost too many digits.
    """
    left, right = outcome.left, outcome.right
    if settings.beta == 1.0 and not table.observed and is_numpy(left):
        return exact_divergence(table.matrix, left, right, of_data_alone(table.matrix)[0])
    if table.observed or not settings.squares:
        loss, rounding = _expanded_loss(table, settings, problem, outcome)
        return max(loss, 0.0), rounding
    if not table.dense:
        least = 0.5 * SUMMED_EXACTLY_BELOW[_steps(table)] * table.squared_norm
        loss, rounding = _expanded_loss(table, settings, problem, outcome)
        if loss < least and is_numpy(left):
            loss, rounding = stored_squares(table.matrix, left, right)
        if loss >= least:
            return loss, rounding
    return exact_squares(table.matrix, left, right, table.squared_norm)


def _steps(table: NonnegativeTable) -> str:
    """Precision of the products."""
    return "float64" if is_host(table.prototype) else table.precision


def _descend(
    table: NonnegativeTable, settings: Settings, penalties: Penalties, problem: Problem, svd: SingularVectors | None,
    left: Array, right: Array, callback: IterationCallback | None,
) -> tuple[Outcome, int]:  # fmt: skip
    if not settings.accelerated:
        by_loss = settings.solver == "mu" or settings.beta not in (1.0, 2.0)
        most, tol = settings.max_iter, settings.tol
        return alternate(problem, left, right, max_iter=most, tol=tol, by_loss=by_loss, callback=callback), 0
    extrapolation = FIRST_EXTRAPOLATION["squares" if settings.squares and not table.observed else "entries"]
    left, right, used = _first_iterations(table, settings, penalties, svd, left, right)
    limit = max(settings.max_iter - used, 1)
    left, right = _padded(problem, table, left), _padded(problem, table, right)
    newton = by_newton(table, settings)
    outcome = accelerate(
        problem, left, right, max_iter=limit, tol=settings.tol, extrapolation=extrapolation, callback=callback,
        newton=newton, plain=PLAIN_STEPS if newton else 0,
    )  # fmt: skip
    left = _finished(problem, outcome, newton=newton)
    left, right = (row_by_row(factor[:, : settings.k]) for factor in (left, outcome.right))
    left = without_empty_rows(table, left)
    return replace(outcome, left=left, right=right, iterations=outcome.iterations + used), used


def _begins_with_squares(table: NonnegativeTable, settings: Settings, penalties: Penalties) -> bool:
    plain = settings.init == FILLED and penalties == Penalties() and not table.observed and is_host(table.prototype)
    return plain and by_newton(table, settings)


def _first_iterations(
    table: NonnegativeTable, settings: Settings, penalties: Penalties, svd: SingularVectors | None, left: Array,
    right: Array,
) -> tuple[Array, Array, int]:  # fmt: skip
    """(W, H, iterations) of a cheaper problem with a similar solution, if there is one.

    Squared error: the matrix compressed to its singular vectors. Kullback-Leibler: the squared error, whose iteration
    costs a fifth or less.
    """
    more: Keywords = {"tol": max(settings.tol, FIRST_TOLERANCE), "extrapolation": FIRST_EXTRAPOLATION["squares"]}
    if svd is not None and svd.k > settings.k and table.dense and settings.squares:
        short = compressed_problem(table, settings, penalties, svd.of(table))
        early = accelerate(short, left, right, max_iter=settings.max_iter - 1, **more)
        return early.left, early.right, early.iterations
    most = min(SQUARES_FIRST, settings.max_iter // 2)
    if not most or not _begins_with_squares(table, settings, penalties):
        return left, right, 0
    squares = make_problem(table, replace(settings, beta_loss=2.0), penalties)
    early = accelerate(squares, left, right, max_iter=most, **more)
    return without_zeros(early.left, table.mean), without_zeros(early.right, table.mean), early.iterations


def without_zeros(factor: Array, mean: float) -> Array:
    """Replace zeros with small numbers: Newton steps would leave them late or never."""
    xp, k = namespace(factor), int(factor.shape[1])
    least = FILL_AFTER_SQUARES * xp.mean(factor, axis=0) + 0.1 * FILL_AFTER_SQUARES * float(np.sqrt(mean / k))
    return xp.maximum(factor, least)


def _finished(problem: Problem, outcome: Outcome, *, newton: bool) -> Array:
    """W for the final H: solved to the tolerance, or only a little further if H itself has not converged."""
    left, right = outcome.left, outcome.right
    if not outcome.converged:
        return problem.rows(left, right, left, 0.0, sweeps=1 if newton else UNFINISHED_SWEEPS).new
    return finish_rows(problem, left, right)


def _padded(problem: Problem, table: NonnegativeTable, factor: Array) -> Array:
    """Factors padded with empty parts, so that compiled loops over sparse data have no remainder; they stay empty."""
    short = factor.shape[1] % LANES
    compiled = isinstance(problem, Entries) or (isinstance(problem, Squares) and problem.compiled)
    if table.dense or not is_numpy(factor) or short <= LANES // 4 or not compiled:
        return factor
    return np.pad(factor, ((0, 0), (0, LANES - short)))


def _start(
    table: NonnegativeTable,
    settings: Settings,
    svd: SingularVectors | None,
    rng: np.random.Generator,
    W: object,
    H: object,
) -> tuple[Array, Array]:
    rows, columns = table.matrix.shape
    k = settings.k
    root = 2.0 ** (table.exponent / 2)
    if settings.init == "custom":
        left, right = (
            on_device_of_table(table, f) for f in (check_factor("W", W, (rows, k)), check_factor("H", H, (k, columns)))
        )
        return left * root, transposed(right) * root
    if settings.init == "random":
        left, right = random_start(rows, columns, k, table.mean, rng)
        return on_device_of_table(table, left), on_device_of_table(table, right)
    assert svd is not None
    left, values, right = svd.of(table)
    return from_singular_vectors(left[:, :k], values[:k], right[:, :k], fill=settings.init, mean=table.mean, rng=rng)


def _check_zeros(table: NonnegativeTable, settings: Settings) -> None:
    if settings.beta <= 0.0 and table.smallest == 0.0:
        raise InputError(
            "When beta_loss <= 0 and X contains zeros, the solver may diverge: the divergence of a zero entry is "
            "infinite. Add small values to X, mark the zeros as missing, or use a positive beta_loss."
        )
