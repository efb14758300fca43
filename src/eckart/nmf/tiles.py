"""A few rows of a matrix with the products that a Newton step of Kullback-Leibler needs, dense or of stored entries.

Arrays of entries (`model`, `ratio`, `change`) have the shape of the rows where they are dense, and are flat, one number
for each stored entry, where they are sparse: entries that are zero have no part in them but the model itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.arrays import Matrix


class DenseTile:
    """Rows of an array, read where they are."""

    values: np.ndarray
    floor: float

    def __init__(self, values: np.ndarray, floor: float) -> None:
        self.values, self.floor = values, floor
        self._zeros = bool((values == 0.0).any())

    def take(self, chosen: np.ndarray) -> DenseTile:
        """Some of the rows."""
        return DenseTile(self.values[chosen], self.floor)

    def model(self, own: np.ndarray, right: np.ndarray) -> np.ndarray:
        """W H, kept above the floor; `right` is H, k x columns."""
        model: np.ndarray = own @ right
        np.maximum(model, self.floor, out=model)
        return model

    def ratio(self, model: np.ndarray) -> np.ndarray:
        return np.asarray(self.values / model)

    def times(self, entries: np.ndarray, other: np.ndarray) -> np.ndarray:
        """other entries^T: q x rows, for `other` of q x columns."""
        return np.asarray(other @ entries.T)

    def transposed_times(self, entries: np.ndarray, own: np.ndarray) -> np.ndarray:
        """own entries: q x columns, for `own` of q x rows."""
        return np.asarray(own @ entries)

    def lowest(self, step: np.ndarray, right: np.ndarray, model: np.ndarray, *, axis: int) -> np.ndarray:
        """min over the entries with x > 0 of (step right) / model, of each row (axis 1) or column, at most zero."""
        change = step @ right
        change /= model
        if self._zeros:
            change *= self.values > 0.0
        return np.asarray(np.minimum(change.min(axis=axis), 0.0))

    def logarithms(self, model: np.ndarray) -> float:
        """Sum of x log(w h); `model` is overwritten."""
        return float(np.vdot(self.values, np.log(model, out=model)))


class StoredTile:
    """Rows of a CSR matrix."""

    rows: Matrix
    floor: float
    counts: Matrix
    owner: np.ndarray

    def __init__(self, rows: Any, floor: float) -> None:
        self.rows, self.floor = rows, floor
        self.counts = np.diff(rows.indptr)
        self.owner = np.repeat(np.arange(rows.shape[0]), self.counts)

    def take(self, chosen: np.ndarray) -> StoredTile:
        return StoredTile(self.rows[chosen], self.floor)

    def model(self, own: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(self._product(own, right), self.floor))

    def ratio(self, model: np.ndarray) -> np.ndarray:
        return np.asarray(self.rows.data / model)

    def times(self, entries: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.asarray(self._with(entries) @ np.ascontiguousarray(other.T)).T

    def transposed_times(self, entries: np.ndarray, own: np.ndarray) -> np.ndarray:
        return np.asarray(self._with(entries).T @ np.ascontiguousarray(own.T)).T

    def lowest(self, step: np.ndarray, right: np.ndarray, model: np.ndarray, *, axis: int) -> np.ndarray:
        change = self._product(step, right)
        change /= model
        result = np.zeros(self.rows.shape[1 - axis], change.dtype)
        np.minimum.at(result, self.owner if axis == 1 else self.rows.indices, change)
        return result

    def logarithms(self, model: np.ndarray) -> float:
        return float(np.vdot(self.rows.data, np.log(model, out=model)))

    def _product(self, own: np.ndarray, right: np.ndarray) -> np.ndarray:
        """W H at the stored entries, one part at a time: nothing of size entries x k is formed."""
        total = np.zeros(self.rows.nnz, own.dtype)
        for t in range(right.shape[0]):
            total += own[self.owner, t] * right[t, self.rows.indices]
        return total

    def _with(self, entries: np.ndarray) -> Any:
        """The pattern with other entries."""
        from scipy import sparse

        return sparse.csr_array((entries, self.rows.indices, self.rows.indptr), shape=self.rows.shape)


Tile = DenseTile | StoredTile


def tiles_of(matrix: Any, pieces: list[tuple[int, int]], floor: float) -> list[tuple[slice, Tile]]:
    """Consecutive rows, with where they are."""
    kind: Any = DenseTile if isinstance(matrix, np.ndarray) else StoredTile
    return [(slice(*piece), kind(matrix[slice(*piece)], floor)) for piece in pieces]
