"""A few rows of a matrix with the products for a Newton step of Kullback-Leibler, dense or of stored entries.

Arrays of entries (`model`, `ratio`, `change`) have the shape of the rows if dense. If sparse they are flat, with one
number per stored entry; zero entries contribute only to the model itself. Dense tiles serve NumPy and CuPy, whose
functions have the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eckart.engine.backends.csr import CsrArrays
from eckart.nmf.constants import COMPUTED_ENTRIES, COMPUTED_RATIO

Numbers = Any
"""An array of NumPy or CuPy."""


def module_of(array: Numbers) -> Any:
    """NumPy, or CuPy for its arrays."""
    if isinstance(array, np.ndarray):
        return np
    from eckart.nmf.cuda.kernels import cupy

    return cupy()


def summed(array: Numbers) -> float:
    """The sum in float64: single precision would lose the digits in which losses differ."""
    return float(array.sum(dtype=np.float64))


class DenseTile:
    """Rows of an array, as a view."""

    observed: bool = False
    values: Numbers
    floor: float

    def __init__(self, values: Numbers, floor: float) -> None:
        self.values, self.floor = values, floor
        self._zeros = bool((values == 0.0).any())

    def take(self, chosen: Numbers) -> DenseTile:
        """Some of the rows."""
        return DenseTile(self.values[chosen], self.floor)

    def model(self, own: Numbers, right: Numbers, place: Numbers | None = None) -> Numbers:
        """W H, kept above the floor and written to `place` if given; `right` is H, k x columns."""
        model = own @ right if place is None else np.matmul(own, right, out=place)
        return module_of(model).maximum(model, self.floor, out=model)

    def ratio(self, model: Numbers, place: Numbers | None = None) -> Numbers:
        return self.values / model if place is None else np.divide(self.values, model, out=place)

    def times(self, entries: Numbers, other: Numbers) -> Numbers:
        """other entries^T: q x rows, for `other` of q x columns."""
        return other @ entries.T

    def transposed_times(self, entries: Numbers, own: Numbers) -> Numbers:
        """own entries: q x columns, for `own` of q x rows."""
        return own @ entries

    def lowest(self, step: Numbers, right: Numbers, model: Numbers, *, axis: int) -> Numbers:
        """min over the entries with x > 0 of (step right) / model, for each row (axis 1) or column, at most zero."""
        change = step @ right
        change /= model
        if self._zeros:
            change *= self.values > 0.0
        return module_of(change).minimum(change.min(axis=axis), 0.0)

    def logarithms(self, model: Numbers) -> float:
        """Sum of x log(w h); `model` is overwritten."""
        logs = module_of(model).log(model, out=model)
        if isinstance(logs, np.ndarray) and logs.dtype == np.float64:
            return float(np.vdot(self.values, logs))
        logs *= self.values
        return summed(logs)


@dataclass(frozen=True)
class Stored(CsrArrays):
    """Rows in CSR format; NumPy arrays, or CuPy arrays for the GPU kernels."""

    @cached_property
    def owner(self) -> Numbers:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def rows(self, start: int, stop: int) -> Stored:
        """Consecutive rows, without a copy of their entries."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - first
        return Stored(self.data[first:last], self.indices[first:last], indptr, (stop - start, self.shape[1]))

    def take(self, chosen: Numbers) -> Stored:
        """Some of the rows."""
        starts = self.indptr[chosen]
        indptr = np.zeros(chosen.shape[0] + 1, self.indptr.dtype)
        indptr[1:] = np.cumsum(self.indptr[chosen + 1] - starts)
        empty = Stored(np.empty(int(indptr[-1]), self.data.dtype), None, indptr, (chosen.shape[0], self.shape[1]))
        place = np.arange(int(indptr[-1])) + (starts - indptr[:-1])[empty.owner]
        return Stored(self.data[place], self.indices[place], indptr, empty.shape)

    @cached_property
    def transposed(self) -> tuple[Stored, Numbers]:
        """The columns as rows, and the positions of their entries in the rows."""
        order = np.argsort(self.indices, kind="stable")
        edges = np.searchsorted(self.indices[order], np.arange(self.shape[1] + 1))
        owner = self.owner[order].astype(self.indices.dtype)
        return Stored(self.data[order], owner, edges.astype(self.indptr.dtype), self.shape[::-1]), order

    def product(self, entries: Numbers, other: Numbers) -> Numbers:
        """A B for the pattern with the given `entries`, with B of columns x q."""
        from scipy import sparse

        return np.asarray(sparse.csr_array((entries, self.indices, self.indptr), shape=self.shape) @ other)


class StoredTile:
    """Rows in CSR format; with `observed`, entries that are not stored are unknown, otherwise they are zero."""

    rows: Stored
    floor: float
    observed: bool

    def __init__(self, rows: Stored, floor: float, *, observed: bool = False) -> None:
        self.rows, self.floor, self.observed = rows, floor, observed

    def take(self, chosen: Numbers) -> StoredTile:
        return StoredTile(self.rows.take(chosen), self.floor, observed=self.observed)

    def model(self, own: Numbers, right: Numbers) -> Numbers:
        return np.maximum(self._product(own, right), self.floor)

    def ratio(self, model: Numbers) -> Numbers:
        return self.rows.data / model

    def times(self, entries: Numbers, other: Numbers) -> Numbers:
        return np.ascontiguousarray(self.rows.product(entries, np.ascontiguousarray(other.T)).T)

    def transposed_times(self, entries: Numbers, own: Numbers) -> Numbers:
        columns, order = self.rows.transposed
        return np.ascontiguousarray(columns.product(entries[order], np.ascontiguousarray(own.T)).T)

    def lowest(self, step: Numbers, right: Numbers, model: Numbers, *, axis: int) -> Numbers:
        change = self._product(step, right)
        change /= model
        change *= self.rows.data > 0.0
        result = np.zeros(self.rows.shape[1 - axis], change.dtype)
        np.minimum.at(result, self.rows.owner if axis == 1 else self.rows.indices, change)
        return result

    def logarithms(self, model: Numbers) -> float:
        logs = np.log(model, out=model)
        logs *= self.rows.data
        return summed(logs)

    def _product(self, own: Numbers, right: Numbers) -> Numbers:
        """W H at the stored entries: the whole product if that is small, otherwise one part at a time.

        A matrix product takes a hundredth of the time of gathering factors; nothing of size entries x k is formed.
        """
        count, cells = self.rows.data.shape[0], self.rows.shape[0] * self.rows.shape[1]
        if cells <= min(COMPUTED_ENTRIES, COMPUTED_RATIO * count):
            return (own @ right)[self.rows.owner, self.rows.indices]
        total = np.zeros(count, own.dtype)
        for t in range(right.shape[0]):
            total += own[self.rows.owner, t] * right[t, self.rows.indices]
        return total


Tile = DenseTile | StoredTile


def tiles_of(
    matrix: Numbers | Stored, pieces: list[tuple[int, int]], floor: float, *, observed: bool = False
) -> list[tuple[slice, Tile]]:
    """Consecutive rows, with their range."""
    if isinstance(matrix, Stored):
        return [(slice(*piece), StoredTile(matrix.rows(*piece), floor, observed=observed)) for piece in pieces]
    return [(slice(*piece), DenseTile(matrix[slice(*piece)], floor)) for piece in pieces]
