"""The loss of a table in the form that suits its data, solver and device."""

from __future__ import annotations

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, astype, from_numpy, is_host, is_numpy
from eckart.nmf.constants import (
    COMPILE_FROM_ENTRIES,
    DENSE_COPY_ENTRIES,
    DENSE_COPY_RATIO,
    END_SHARE,
    MOST_NEWTON_PARTS,
    NEWTON_TOLERANCES,
    POOL_FROM,
    SWEEPS_PER_PRODUCT,
)
from eckart.nmf.device import DeviceEntries, DeviceSquares
from eckart.nmf.divergence import Divergence
from eckart.nmf.entries import Entries, NewtonEntries
from eckart.nmf.factors import zeros
from eckart.nmf.multiplicative import (
    MultiplicativeBeta,
    MultiplicativeDivergence,
    MultiplicativeEntries,
    MultiplicativeSquares,
)
from eckart.nmf.one_pass import OnePassSquares
from eckart.nmf.options import Settings
from eckart.nmf.problem import Penalties, Problem
from eckart.nmf.small_squares import SmallSquares
from eckart.nmf.squares import Product, Squares, compiles
from eckart.nmf.table import NonnegativeTable


def make_problem(table: NonnegativeTable, settings: Settings, penalties: Penalties) -> Problem:
    """The loss in the form that suits its data and solver."""
    multiplicative = settings.solver == "mu" or settings.beta not in (1.0, 2.0)
    if settings.squares and not table.observed:
        return _squares(table, settings, penalties, multiplicative=multiplicative)
    if settings.beta == 1.0 and multiplicative:
        if table.dense and not table.observed and is_numpy(table.matrix):
            return MultiplicativeDivergence(table.matrix, penalties)
        return MultiplicativeEntries(table.matrix, penalties, divergence=True, observed=table.observed, sweeps=1)
    if multiplicative:
        return MultiplicativeBeta(table.matrix, penalties, settings.beta, table.mean, observed=table.observed)
    more: Keywords = {
        "divergence": settings.beta == 1.0, "observed": table.observed, "sweeps": SWEEPS_PER_PRODUCT["entries"],
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
        dense = rows * columns <= min(DENSE_COPY_ENTRIES, DENSE_COPY_RATIO * table.matrix.nnz)
        matrix = table.matrix.toarray().astype(np.float64, copy=False) if dense else table.matrix
        transposed = matrix.T
        return (lambda other: np.asarray(matrix @ other)), (lambda other: np.asarray(transposed @ other))
    operator = table.operator()
    return operator.matmat, operator.rmatmat


def _squares(table: NonnegativeTable, settings: Settings, penalties: Penalties, *, multiplicative: bool) -> Problem:
    small = _small(table, settings)
    kind = "small" if small else "dense" if table.dense else "sparse"
    sweeps = 1 if settings.solver == "cd" else SWEEPS_PER_PRODUCT[kind]
    small = small and is_host(table.prototype)
    products = _products(table, small=small)
    if multiplicative:
        return MultiplicativeSquares(*products, table.squared_norm, penalties)
    end = max(END_SHARE, min(_finish_tolerance(table, settings), 1e150) ** 2)  # a larger square overflows
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
    row_tolerance = max(min(_finish_tolerance(table, settings), NEWTON_TOLERANCES[0]), NEWTON_TOLERANCES[1])
    on_host, full = is_host(table.prototype), table.dense and not table.observed
    newton = by_newton(table, settings)
    if newton and (full or table.known * settings.k**2 < COMPILE_FROM_ENTRIES):
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
    return settings.beta == 1.0 and settings.k <= MOST_NEWTON_PARTS and (is_host(table.prototype) or not stored)


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
        sweeps=SWEEPS_PER_PRODUCT["small" if _small(table, settings) else "dense"],
        prototype=left,
        compiled=not (_small(table, settings) and is_host(left)),
    )


def _finish_tolerance(table: NonnegativeTable, settings: Settings) -> float:
    wanted = max(settings.tol, 1e-9)
    # float32 factors fluctuate in their last digits.
    return wanted if is_host(table.prototype) or table.precision == "float64" else max(wanted, 1e-5)
