"""From a table and settings to factors: singular vectors, start, descent, several runs, the loss without rounding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.arrays import Array, astype, from_numpy, is_host, is_numpy, to_numpy
from eckart.engine.backends.cuda.arrays import given_back
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.svd import find_components
from eckart.errors import AccuracyWarning, DataWarning, InputError
from eckart.nmf.compare import paired_cosines
from eckart.nmf.device import DeviceEntries, DeviceSquares
from eckart.nmf.divergence import MOST_PARTS, Divergence
from eckart.nmf.driver import Outcome, accelerate, alternate, finish_rows, objective_of
from eckart.nmf.entries import Entries, NewtonEntries, of_data_alone
from eckart.nmf.factors import mean, on_device_of_table, row_by_row, transposed, without_empty_rows, zeros
from eckart.nmf.loss import exact_divergence, exact_squares, stored_squares
from eckart.nmf.multiplicative import MultiplicativeBeta, MultiplicativeEntries, MultiplicativeSquares, rows_by_updates
from eckart.nmf.options import Settings, check_factor
from eckart.nmf.problem import Penalties, Problem
from eckart.nmf.squares import END, Product, SparseSquares, Squares
from eckart.nmf.start import from_singular_vectors, random_start
from eckart.nmf.table import NonnegativeTable
from eckart.result import Decomposition

EXTRA = 20
"""Singular vectors beyond k that a dense matrix is compressed to before the first iterations."""
_COMPRESSED_GAIN = 8
"""How much less a product must cost for the compressed matrix to pay for its singular vectors."""
_SVD_TOLERANCE = 1e-4
_SVD_PASSES = 8
_LANES = 16
"""Numbers that compiled loops take at once: four vectors of four."""
_COMPILE_FROM = 50_000
"""Numbers in both factors from which on compiled loops pay for the time it takes to compile them."""
_POOL_FROM = 2**18
"""Entries from which on threads pay."""
_EXTRAPOLATION = {"squares": 0.3, "entries": 0.3}
"""First extrapolation, as a share of the last move."""
_SWEEPS = {"dense": 4, "small": 2, "sparse": 1, "entries": 2}
"""Sweeps over the coordinates per product: more where a product costs more than a sweep."""
_ROWS_SHARE = 1e-2
"""Rows for given parts are found to this share of the tolerance; while the parts are sought, to the tolerance."""
_NEWTON_ROWS = 1e-6
_COMPRESSED_TOLERANCE = 1e-4
"""The compressed matrix is no more than a way to a good start."""
_EXACT_BELOW = {"float64": 1e-6, "float32": 1e-3}
"""Relative squared errors below this have lost digits in their short form, and are added up entry by entry."""

IterationCallback = Callable[[int, float], bool | None]


@dataclass(frozen=True)
class Fitted:
    """Factors of a table (2^exponent of what was given), best of all runs."""

    outcome: Outcome
    loss: float
    """Divergence without penalties."""
    rounding: float
    """Bound of the error of that."""
    svd: Decomposition | None
    compressed: int
    """Iterations made on the compressed matrix."""
    losses: tuple[float, ...]
    """Of every run."""
    agreement: np.ndarray
    """runs x k: cosine of each part with its partner in the best run."""


def fit(
    table: NonnegativeTable,
    settings: Settings,
    rng: np.random.Generator,
    *,
    W: Any = None,
    H: Any = None,
    callback: IterationCallback | None = None,
) -> Fitted:
    """The best of `n_runs` runs: the first from the start asked for, the others from random ones."""
    shape = table.matrix.shape
    _check_zeros(table, settings)
    if _host_only(settings):
        table = table.on_host()
    penalties = settings.penalties(shape, table.exponent)
    svd = _singular_vectors(table, settings)
    problem = make_problem(table, settings, penalties)
    runs: list[tuple[Outcome, int, tuple[float, float]]] = []
    for run in range(settings.n_runs):
        chosen = settings if run == 0 else replace(settings, init="random")
        left, right = (row_by_row(factor) for factor in _start(table, chosen, svd, rng, W, H))
        outcome, compressed = _descend(table, settings, penalties, problem, svd, left, right, callback)
        outcome = _as_returned(table, outcome)
        runs.append((outcome, compressed, loss_of(table, settings, problem, outcome)))
    best = min(range(len(runs)), key=lambda i: runs[i][2][0])
    agreement = np.array([paired_cosines(runs[best][0].right, run[0].right) for run in runs])
    losses = tuple(run[2][0] for run in runs)
    return Fitted(runs[best][0], *runs[best][2], svd, runs[best][1], losses, agreement)


def _as_returned(table: NonnegativeTable, outcome: Outcome) -> Outcome:
    """The factors rounded to the dtype in which they are returned: all statements refer to these."""
    factors = _balanced(outcome.left, outcome.right)
    left, right = (astype(astype(f, table.dtype), f.dtype) for f in factors)
    return replace(outcome, left=left, right=right)


_EXTREME = 1e12
"""Entries beyond this, or below its inverse: their squares come near the range of float32."""


def _balanced(left: Array, right: Array) -> tuple[Array, Array]:
    """Parts whose factors are extreme, one huge and one tiny, with both of about the same size; the product is equal.

    A part that the data do not need shrinks in W and grows in H without changing W H. Where one factor has vanished,
    the other has any size, and gets size 1.
    """
    if not is_numpy(left):
        return left, right
    wide, long = np.abs(left).max(axis=0, initial=0.0), np.abs(right).max(axis=0, initial=0.0)
    lost = ~(np.isfinite(wide) & np.isfinite(long))
    if lost.any():  # a factor has overflowed while the other vanished: the part is empty
        left, right = np.where(lost, 0.0, left), np.where(lost, 0.0, right)
        wide, long = np.where(lost, 0.0, wide), np.where(lost, 0.0, long)
    used = (wide > 0.0) & (long > 0.0)
    extreme = (np.maximum(wide, long) > _EXTREME) | (used & (np.minimum(wide, long) < 1.0 / _EXTREME))
    if not extreme.any():
        return left, right
    sizes = [np.log2(np.where(extreme & (size > 0.0), size, 1.0)) for size in (wide, long)]
    both = np.where(used, (sizes[0] + sizes[1]) / 2.0, 0.0)
    up = [np.where(extreme, np.round(both - size), 0.0).astype(int) for size in sizes]
    up[1] = np.where(used, -up[0], up[1])  # exactly inverse
    return np.ldexp(left, up[0]), np.ldexp(right, up[1])


def make_problem(table: NonnegativeTable, settings: Settings, penalties: Penalties) -> Problem:
    """The loss, in the form that its data and its solver call for."""
    multiplicative = settings.solver == "mu" or settings.beta not in (1.0, 2.0)
    if settings.squares and not table.observed:
        return _squares(table, settings, penalties, multiplicative=multiplicative)
    if settings.beta == 1.0 and multiplicative:
        return MultiplicativeEntries(table.matrix, penalties, divergence=True, observed=table.observed, sweeps=1)
    if multiplicative:
        return MultiplicativeBeta(table.matrix, penalties, settings.beta, table.mean, observed=table.observed)
    more: dict[str, Any] = {
        "divergence": settings.beta == 1.0, "observed": table.observed, "sweeps": _SWEEPS["entries"],
    }  # fmt: skip
    if is_host(table.prototype):
        return _entries(table, settings, penalties, more)
    from eckart.nmf.entries_of import stored_entries

    return DeviceEntries(*stored_entries(table), penalties, **more)


def _squares(table: NonnegativeTable, settings: Settings, penalties: Penalties, *, multiplicative: bool) -> Problem:
    rows, columns = table.matrix.shape
    on_host = is_host(table.prototype)
    small = on_host and (rows + columns) * settings.k < _COMPILE_FROM
    if is_numpy(table.matrix) and table.precision == "float64" and table.matrix.size < _POOL_FROM:
        matrix, transposed = table.matrix, table.matrix.T
        products: tuple[Product, Product] = (lambda other: matrix @ other, lambda other: transposed @ other)
    elif small and not table.dense and table.matrix.nnz < _POOL_FROM:
        matrix, transposed = table.matrix, table.matrix.T
        products = (lambda other: np.asarray(matrix @ other), lambda other: np.asarray(transposed @ other))
    else:
        operator = table.operator()
        products, small = (operator.matmat, operator.rmatmat), small and table.dense
    if multiplicative:
        return MultiplicativeSquares(*products, table.squared_norm, penalties)
    end = max(END, (0.1 * _finish_tolerance(table, settings)) ** 2)
    sweeps = 1 if settings.solver == "cd" else _SWEEPS["small" if small else "dense" if table.dense else "sparse"]
    if table.dense or not on_host or small:
        more: dict[str, Any] = {"sweeps": sweeps, "prototype": zeros(table, (0, 0)), "compiled": not small, "end": end}
        return squares_class(table.prototype)(*products, table.squared_norm, penalties, **more)
    return SparseSquares(table.matrix, table.squared_norm, penalties, sweeps=sweeps, end=end)


def _entries(table: NonnegativeTable, settings: Settings, penalties: Penalties, more: dict[str, Any]) -> Problem:
    """Losses that need W H at every entry: by matrix products where they pay, otherwise row by row, compiled."""
    # Newton steps square the error: the digits that flat directions need cost a step more.
    row_tolerance = max(min(_finish_tolerance(table, settings), _NEWTON_ROWS), 1e-7)
    newton = _newton(table, settings)
    if newton and not table.observed and (table.dense or table.matrix.nnz < _POOL_FROM):
        return Divergence(
            table.matrix, penalties, settings.k, prototype=zeros(table, (0, 0)), row_tolerance=row_tolerance
        )
    if newton:
        return NewtonEntries(table.matrix, penalties, observed=table.observed, row_tolerance=row_tolerance)
    return Entries(table.matrix, penalties, **more)


def _newton(table: NonnegativeTable, settings: Settings) -> bool:
    """Whether Kullback-Leibler goes by Newton steps, which solve a row to its end in one call."""
    return settings.beta == 1.0 and settings.k <= MOST_PARTS and is_host(table.prototype)


def squares_class(prototype: Array) -> type[Squares]:
    """The squared error where the data are."""
    return Squares if is_host(prototype) else DeviceSquares


def _host_only(settings: Settings) -> bool:
    """Whether there is no text for other libraries: updates as taught, but for the squared error."""
    return (
        settings.beta not in (1.0, 2.0)
        or (settings.solver == "mu" and not settings.squares)
        or (settings.solver == "mu" and settings.missing == "mask")
    )


def rows_for(table: NonnegativeTable, settings: Settings, right: Array) -> Array:
    """W for a given H: every row independently, to convergence; multiplicative updates where there is nothing
    better.
    """
    if settings.beta not in (1.0, 2.0):
        table, right = table.on_host(), to_numpy(right)
    right = astype(right, table.working)
    penalties = settings.penalties(table.matrix.shape, table.exponent, share=1.0)
    if settings.beta not in (1.0, 2.0):
        return rows_by_updates(make_problem(table, settings, penalties), table, settings, right)
    settings = replace(settings, solver="auto", tol=_ROWS_SHARE * settings.tol)
    problem = make_problem(table, settings, penalties)
    shape = (table.matrix.shape[0], right.shape[1])
    begin = zeros(table, shape)
    if not settings.squares:
        begin = begin + table.mean / max(mean(right) * shape[1], 1e-300)
    most = 1 if _newton(table, settings) else 20
    begin, right = _padded(table, begin), _padded(table, right)
    left = finish_rows(problem, begin, right, tol=_finish_tolerance(table, settings), most=most)
    return without_empty_rows(table, row_by_row(left[:, : shape[1]]))


def loss_of(table: NonnegativeTable, settings: Settings, problem: Problem, outcome: Outcome) -> tuple[float, float]:
    """(divergence of the fit without penalties, bound of its rounding).

    Entry by entry where that costs no more than an iteration, or where the short form has lost too many digits.
    """
    left, right = outcome.left, outcome.right
    short = settings.squares and not table.observed
    if short and table.dense:
        return exact_squares(table.matrix, left, right, table.squared_norm)
    if short and is_numpy(left):
        loss, rounding = stored_squares(table.matrix, left, right)
    elif settings.beta == 1.0 and not table.observed and is_numpy(left):
        return exact_divergence(table.matrix, left, right, of_data_alone(table.matrix)[0])
    else:
        half = problem.rows(left, right, left, 0.0, sweeps=0)
        loss = problem.constant + half.value - problem.penalties.rows.of(left)
        # |A|^2 - 2 <A H^T, W> + <W^T W, H H^T>: sums of products without a sign, in any order.
        size = abs(problem.constant) + abs(half.value) + (table.squared_norm if settings.squares else 0.0)
        unit = float(np.finfo(_steps(table)).eps)
        rounding = (sum(table.matrix.shape) + 2 * int(right.shape[1]) + 16) * unit * size
    if short and loss < 0.5 * _EXACT_BELOW[_steps(table)] * table.squared_norm:
        return exact_squares(table.matrix, left, right, table.squared_norm)
    return max(loss, 0.0), rounding


def _steps(table: NonnegativeTable) -> str:
    """Precision of the products."""
    return "float64" if is_host(table.prototype) else table.precision


def _descend(
    table: NonnegativeTable, settings: Settings, penalties: Penalties, problem: Problem, svd: Decomposition | None,
    left: Array, right: Array, callback: IterationCallback | None,
) -> tuple[Outcome, int]:  # fmt: skip
    if settings.solver != "auto" or settings.beta not in (1.0, 2.0):
        by_loss = settings.solver == "mu" or settings.beta not in (1.0, 2.0)
        return alternate(problem, left, right, max_iter=settings.max_iter, tol=settings.tol, by_loss=by_loss), 0
    used = 0
    extrapolation = _EXTRAPOLATION["squares" if settings.squares and not table.observed else "entries"]
    if svd is not None and svd.k > settings.k and table.dense and settings.squares:
        short = _compressed(table, svd, penalties)
        early = accelerate(
            short,
            left,
            right,
            max_iter=settings.max_iter - 1,
            tol=max(settings.tol, _COMPRESSED_TOLERANCE),
            extrapolation=extrapolation,
        )
        left, right, used = early.left, early.right, early.iterations
    limit = max(settings.max_iter - used, 1)
    left, right = _padded(table, left), _padded(table, right)
    newton = _newton(table, settings)
    start = objective_of(problem, left, right) if newton else None
    outcome = accelerate(
        problem,
        left,
        right,
        max_iter=limit,
        tol=settings.tol,
        extrapolation=extrapolation,
        callback=callback,
        start=start,
    )
    tol = _finish_tolerance(table, settings)
    left = finish_rows(problem, outcome.left, outcome.right, tol=tol, most=1 if newton else 20)
    left, right = (row_by_row(factor[:, : settings.k]) for factor in (left, outcome.right))
    left = without_empty_rows(table, left)
    return replace(outcome, left=left, right=right, iterations=outcome.iterations + used), used


def _padded(table: NonnegativeTable, factor: Array) -> Array:
    """Empty parts, so that loops along the parts of sparse data have no remainder; they stay empty."""
    short = factor.shape[1] % _LANES
    if table.dense or not is_numpy(factor) or short <= _LANES // 4:
        return factor
    return np.pad(factor, ((0, 0), (0, _LANES - short)))


def _compressed(table: NonnegativeTable, svd: Decomposition, penalties: Penalties) -> Squares:
    """The same loss for U S V^T in the place of A: a product costs (rows + columns) k, not rows x columns."""
    left, values, right = _components(table, svd)
    scaled = right * astype(from_numpy(values, right), right.dtype)
    return squares_class(left)(
        lambda other: left @ (scaled.T @ other),
        lambda other: scaled @ (left.T @ other),
        float(values @ values),
        penalties,
        sweeps=_SWEEPS["dense"],
        prototype=left,
    )


def _components(table: NonnegativeTable, svd: Decomposition) -> tuple[Array, np.ndarray, Array]:
    """Singular vectors on the device of the factors; values in float64 on the host."""
    left, right = svd.left, svd.right
    if isinstance(table.matrix, DeviceCsr):
        left, right = given_back(left, table.prototype), given_back(right, table.prototype)
    elif is_numpy(table.prototype):
        left, right = to_numpy(left), to_numpy(right)
    return astype(left, table.working), np.asarray(to_numpy(svd.values), dtype=np.float64), astype(right, table.working)


def _singular_vectors(table: NonnegativeTable, settings: Settings) -> Decomposition | None:
    """The certified SVD: a start, a shorter problem, and the bound that no factorisation can beat."""
    needed = settings.init.startswith("nndsvd")
    bound = settings.squares and settings.solver == "auto" and not table.observed
    short = min(table.matrix.shape)
    if not needed and not bound:
        return None
    k = min(settings.k, short)
    rows, columns = table.matrix.shape
    shorter = _COMPRESSED_GAIN * (rows + columns) * (k + EXTRA) <= rows * columns
    if table.dense and settings.squares and settings.solver == "auto" and shorter and k + EXTRA <= short:
        k += EXTRA
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # the certificate says what was reached, and is used as such
        warnings.simplefilter("ignore", DataWarning)
        return find_components(table.as_given(), "svd", k=k, left=True, tol=_SVD_TOLERANCE, max_passes=_SVD_PASSES)


def _start(
    table: NonnegativeTable, settings: Settings, svd: Decomposition | None, rng: np.random.Generator, W: Any, H: Any
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
    left, values, right = _components(table, svd)
    return from_singular_vectors(left[:, :k], values[:k], right[:, :k], fill=settings.init, mean=table.mean, rng=rng)


def _check_zeros(table: NonnegativeTable, settings: Settings) -> None:
    if settings.beta <= 0.0 and table.smallest == 0.0:
        raise InputError(
            "When beta_loss <= 0 and X contains zeros, the solver may diverge: the divergence of a zero entry is "
            "infinite. Add small values to X, mark the zeros as missing, or use a positive beta_loss."
        )


def _finish_tolerance(table: NonnegativeTable, settings: Settings) -> float:
    wanted = max(settings.tol, 1e-9)
    # Factors in float32 tremble in their last digits.
    return wanted if is_host(table.prototype) or table.precision == "float64" else max(wanted, 1e-5)
