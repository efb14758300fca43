"""The loss of a table in the form that suits its data, solver and device."""

from __future__ import annotations

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, astype, from_numpy, is_host, is_numpy
from eckart.nmf.device import DeviceEntries, DeviceSquares
from eckart.nmf.divergence import MOST_PARTS, Divergence
from eckart.nmf.entries import Entries, NewtonEntries
from eckart.nmf.factors import zeros
from eckart.nmf.multiplicative import MultiplicativeBeta, MultiplicativeEntries, MultiplicativeSquares
from eckart.nmf.one_pass import POOL_FROM, OnePassSquares
from eckart.nmf.options import Settings
from eckart.nmf.problem import Penalties, Problem
from eckart.nmf.small_squares import SmallSquares
from eckart.nmf.squares import END, Product, Squares, compiles
from eckart.nmf.table import NonnegativeTable

_COMPILE_ENTRIES = 4_000_000
"""The same for stored entries times k^2, if Newton steps need a Hessian for every row."""
_CELLS, _DENSER = 2**20, 20
"""Maximum size of a sparse matrix, in total and per stored entry, for which a dense copy multiplies faster."""
_SWEEPS = {"dense": 4, "small": 2, "sparse": 1, "entries": 2}
"""Number of sweeps over the coordinates per product: more if a product costs more than a sweep."""
_NEWTON_ROWS = 1e-4, 1e-7
"""Largest and smallest tolerance of rows that Newton steps solve to convergence."""


def make_problem(table: NonnegativeTable, settings: Settings, penalties: Penalties) -> Problem:
    """The loss in the form that suits its data and solver."""
    multiplicative = settings.solver == "mu" or settings.beta not in (1.0, 2.0)
    if settings.squares and not table.observed:
        return _squares(table, settings, penalties, multiplicative=multiplicative)
    if settings.beta == 1.0 and multiplicative:
        return MultiplicativeEntries(table.matrix, penalties, divergence=True, observed=table.observed, sweeps=1)
    if multiplicative:
        return MultiplicativeBeta(table.matrix, penalties, settings.beta, table.mean, observed=table.observed)
    more: Keywords = {
        "divergence": settings.beta == 1.0, "observed": table.observed, "sweeps": _SWEEPS["entries"],
    }  # fmt: skip
    return _entries(table, settings, penalties, more)


def _products(table: NonnegativeTable, *, small: bool) -> tuple[Product, Product]:
    """A and A^T times a factor: plain NumPy products if threads would cost more than they save."""
    if is_numpy(table.matrix) and table.matrix.size < POOL_FROM:
        matrix = astype(table.matrix, np.float64)
        transposed = matrix.T
        return (lambda other: matrix @ other), (lambda other: transposed @ other)
    if small and not table.dense and table.matrix.nnz < POOL_FROM:
        rows, columns = table.matrix.shape
        dense = rows * columns <= min(_CELLS, _DENSER * table.matrix.nnz)
        matrix = table.matrix.toarray().astype(np.float64, copy=False) if dense else table.matrix
        transposed = matrix.T
        return (lambda other: np.asarray(matrix @ other)), (lambda other: np.asarray(transposed @ other))
    operator = table.operator()
    return operator.matmat, operator.rmatmat


def _squares(table: NonnegativeTable, settings: Settings, penalties: Penalties, *, multiplicative: bool) -> Problem:
    small = _small(table, settings)
    kind = "small" if small else "dense" if table.dense else "sparse"
    sweeps = 1 if settings.solver == "cd" else _SWEEPS[kind]
    small = small and is_host(table.prototype)
    products = _products(table, small=small)
    if multiplicative:
        return MultiplicativeSquares(*products, table.squared_norm, penalties)
    end = max(END, _finish_tolerance(table, settings) ** 2)
    if small and table.known < POOL_FROM and table.working is np.float64:
        return SmallSquares(*products, table.squared_norm, penalties, sweeps=sweeps, end=end)
    more: Keywords = {"sweeps": sweeps, "compiled": not small, "end": end}
    if is_numpy(table.matrix):
        return OnePassSquares(table.matrix, *products, table.squared_norm, penalties, **more)
    more["prototype"] = zeros(table, (0, 0))
    return squares_class(table.prototype)(*products, table.squared_norm, penalties, **more)


def _small(table: NonnegativeTable, settings: Settings) -> bool:
    """Whether the factors are too small to be worth the time that compiling takes."""
    return not compiles(sum(table.matrix.shape), settings.k)


def _entries(table: NonnegativeTable, settings: Settings, penalties: Penalties, more: Keywords) -> Problem:
    """Losses that need W H at every entry: by matrix products if they pay, otherwise row by row, compiled."""
    # Newton steps square the error, so the extra digits for flat directions cost only one more step.
    row_tolerance = max(min(_finish_tolerance(table, settings), _NEWTON_ROWS[0]), _NEWTON_ROWS[1])
    on_host, full = is_host(table.prototype), table.dense and not table.observed
    newton = by_newton(table, settings)
    if newton and (full or table.known * settings.k**2 < _COMPILE_ENTRIES):
        from eckart.nmf.entries_of import dense_entries, stored_entries

        entries = dense_entries(table) if full else stored_entries(table)
        return Divergence(entries, penalties, settings.k, row_tolerance=row_tolerance, observed=table.observed)
    if not on_host:
        from eckart.nmf.entries_of import both_ways

        return DeviceEntries(*both_ways(table), penalties, **more)
    if newton:
        return NewtonEntries(table.matrix, penalties, observed=table.observed, row_tolerance=row_tolerance)
    return Entries(table.matrix, penalties, **more)


def by_newton(table: NonnegativeTable, settings: Settings) -> bool:
    """Whether Kullback-Leibler uses Newton steps, which solve a row to convergence in one call.

    On a GPU only if all entries are dense and a matrix product forms the Hessians: the kernel that sweeps over the
    coordinates of stored entries takes a thirtieth of the time.
    """
    stored = table.observed or not table.dense
    return settings.beta == 1.0 and settings.k <= MOST_PARTS and (is_host(table.prototype) or not stored)


def squares_class(prototype: Array) -> type[Squares]:
    """The squared error on the device of the data."""
    return Squares if is_host(prototype) else DeviceSquares


def compressed_problem(
    table: NonnegativeTable, settings: Settings, penalties: Penalties, axes: tuple[Array, np.ndarray, Array]
) -> Squares:
    """The same loss for U S V^T instead of A: a product costs (rows + columns) k instead of rows x columns."""
    left, values, right = axes
    scaled = right * astype(from_numpy(values, right), right.dtype)
    return squares_class(left)(
        lambda other: left @ (scaled.T @ other),
        lambda other: scaled @ (left.T @ other),
        float(values @ values),
        penalties,
        sweeps=_SWEEPS["small" if _small(table, settings) else "dense"],
        prototype=left,
        compiled=not (_small(table, settings) and is_host(left)),
    )


def _finish_tolerance(table: NonnegativeTable, settings: Settings) -> float:
    wanted = max(settings.tol, 1e-9)
    # float32 factors fluctuate in their last digits.
    return wanted if is_host(table.prototype) or table.precision == "float64" else max(wanted, 1e-5)
