"""The residual of a centred table after k components, and the projection of other tables onto the same space.

With U, V the components and h, g the leverages of rows and columns, entry (i, j) of the residual E has lost the share
h_i + g_j - h_i g_j of its variance to the components. `noise` restores it: E_ij / sqrt((1 - h_i)(1 - g_j)), the HC2
correction of MacKinnon and White (1985).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eckart.arrays import Floats

_LEAST_FREE = 0.1
"""A row or column whose residual is below this share of its variance gives no information about its noise."""


@dataclass(frozen=True)
class Remainder:
    """The table without the components u, v."""

    whole: Floats
    u: Floats
    v: Floats
    center: bool
    free: int
    """Number of remaining components."""

    @cached_property
    def table(self) -> np.ndarray:
        return np.asarray(self.whole - (self.whole @ self.v) @ self.v.T)

    @property
    def columns_left(self) -> int:
        """Number of columns minus the directions of the components."""
        return int(self.v.shape[0] - self.v.shape[1])

    @cached_property
    def free_rows(self) -> np.ndarray:
        """1 - h."""
        mean = 1.0 / len(self.u) if self.center else 0.0
        return np.asarray(np.maximum(1.0 - np.sum(self.u**2, axis=1) - mean, _LEAST_FREE))

    @cached_property
    def free_columns(self) -> np.ndarray:
        """1 - g."""
        return np.asarray(np.maximum(1.0 - np.sum(self.v**2, axis=1), _LEAST_FREE))

    @cached_property
    def noise(self) -> np.ndarray:
        return np.asarray(self.table / np.sqrt(self.free_rows)[:, None] / np.sqrt(self.free_columns))

    def projected(self, table: np.ndarray) -> np.ndarray:
        """(I - u u^T) table (I - v v^T), centred, of one table or of each in a stack."""
        if self.center:
            table = table - table.mean(axis=-2, keepdims=True)
        table = table - self.u @ (self.u.T @ table)
        return np.asarray(table - (table @ self.v) @ self.v.T)


def cross_products(table: np.ndarray) -> np.ndarray:
    """A^T A or A A^T, the smaller, of one table or of each in a stack."""
    transposed = np.swapaxes(table, -1, -2)
    return np.asarray(transposed @ table if table.shape[-2] >= table.shape[-1] else table @ transposed)
