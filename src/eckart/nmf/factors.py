"""Factors as arrays: where they live, how they are stored, which of their rows are empty."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, astype, device, from_numpy, is_numpy, namespace
from eckart.nmf.table import NonnegativeTable


def transposed(factor: Array) -> Array:
    """The transpose, stored row by row."""
    if is_numpy(factor):
        return np.ascontiguousarray(factor.T)
    xp = namespace(factor)
    return xp.reshape(xp.reshape(factor.T, (-1,)), (factor.shape[1], factor.shape[0]))


def row_by_row(factor: Array) -> Array:
    """Rows stored one after the other: compiled loops are slow, and compiled once more, for any other order."""
    return np.ascontiguousarray(factor) if is_numpy(factor) else factor


def on_device_of_table(table: NonnegativeTable, factor: Array) -> Array:
    """A factor from the host, or from where the data are, in the library of the data and their precision."""
    return astype(from_numpy(factor, table.prototype) if is_numpy(factor) else factor, table.working)


def zeros(table: NonnegativeTable, shape: tuple[int, int]) -> Array:
    return namespace(table.prototype).zeros(shape, dtype=table.working, device=device(table.prototype))


def mean(factor: Array) -> float:
    return float(factor.mean() if is_numpy(factor) else namespace(factor).mean(factor))


def without_empty_rows(table: NonnegativeTable, left: Array) -> Array:
    """Rows without any positive entry have no parts."""
    return namespace(left).where(table.without_parts()[:, None], 0.0, left)
