"""Factors as arrays: device, memory layout, and empty rows."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, astype, device, from_numpy, is_numpy, namespace
from eckart.nmf.table import NonnegativeTable


def transposed(factor: Array) -> Array:
    """The transpose in row-major order."""
    if is_numpy(factor):
        return np.ascontiguousarray(factor.T)
    xp = namespace(factor)
    return xp.reshape(xp.reshape(factor.T, (-1,)), (factor.shape[1], factor.shape[0]))


def row_by_row(factor: Array) -> Array:
    """The array in row-major order: compiled loops are slow for other orders, and compiled again for them."""
    return np.ascontiguousarray(factor) if is_numpy(factor) else factor


def on_device_of_table(table: NonnegativeTable, factor: Array) -> Array:
    """A factor from the host or from the device of the data, in the library and precision of the data."""
    return astype(from_numpy(factor, table.prototype) if is_numpy(factor) else factor, table.working)


def zeros(table: NonnegativeTable, shape: tuple[int, int]) -> Array:
    return namespace(table.prototype).zeros(shape, dtype=table.working, device=device(table.prototype))


def mean(factor: Array) -> float:
    return float(factor.mean() if is_numpy(factor) else namespace(factor).mean(factor))


def without_empty_rows(table: NonnegativeTable, left: Array) -> Array:
    """Set rows without a positive entry to zero."""
    return namespace(left).where(table.without_parts()[:, None], 0.0, left)
