"""Operations on a dense block of rows while it is in cache: convert, shift, scale.

Each step is a small value with `apply(start, block)` for the rows start, start+1, ... Together they form the matrix
that a solver sees, without a second copy of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from eckart.arrays import Array, DType, astype, from_numpy, namespace, to_numpy
from eckart.engine.constancy import differing
from eckart.engine.exponent import Exponent, times_power_of_two


class Step(Protocol):
    def apply(self, start: int, block: Array) -> Array: ...

    def transposed(self) -> Step: ...


TOGETHER = 64
"""Number of squares of float32 numbers summed in float32; these sums are added in float64."""


@dataclass(frozen=True)
class Convert:
    """Each entry in another dtype, multiplied by 2^exponent (exact unless it leaves the range)."""

    dtype: DType
    exponent: Exponent = 0
    """One for all, or one for each column; for each row with `by_row`."""
    by_row: bool = False

    @property
    def scales(self) -> bool:
        # Requested once per block, and NumPy is slow for a single number.
        return self.exponent != 0 if isinstance(self.exponent, int) else bool(np.any(self.exponent))

    def apply(self, start: int, block: Array) -> Array:
        block = astype(block, self.dtype)
        if not self.scales:
            return block
        if self.by_row and isinstance(self.exponent, np.ndarray):
            return times_power_of_two(block.T, self.exponent[start : start + block.shape[0]]).T
        return times_power_of_two(block, self.exponent)

    def transposed(self) -> Convert:
        return replace(self, by_row=not self.by_row)


@dataclass(frozen=True)
class _EachColumn:
    """A step with one number for each column; for each row with `by_row`."""

    numbers: Array
    by_row: bool = False

    def _of(self, start: int, block: Array) -> Array:
        """The numbers of this block, in a shape that broadcasts."""
        return self.numbers[start : start + block.shape[0], None] if self.by_row else self.numbers

    def transposed(self) -> Self:
        return replace(self, by_row=not self.by_row)


class Shift(_EachColumn):
    """A - 1 c^T, or A - c 1^T by rows. With c near the means, the remainder loses no digits to an offset."""

    def apply(self, start: int, block: Array) -> Array:
        return block - self._of(start, block)


class Scale(_EachColumn):
    """A diag(u), or diag(u) A by rows."""

    def apply(self, start: int, block: Array) -> Array:
        return block * astype(self._of(start, block), block.dtype)


@dataclass(frozen=True)
class RecordRows:
    """Leaves rows unchanged and records their means and sums of squares in float64."""

    means: np.ndarray
    squares: np.ndarray

    def apply(self, start: int, block: Array) -> Array:
        xp = namespace(block)
        stop = start + block.shape[0]
        whole = astype(block, xp.float64)
        self.means[start:stop] = to_numpy(whole @ xp.ones_like(whole[0, :])) / block.shape[1]
        self.squares[start:stop] = row_squares(whole)
        return block

    def transposed(self) -> Step:
        raise TypeError("Rows are recorded last.")


def row_squares(block: Array) -> np.ndarray:
    """Sum of squares of each row of a float64 block."""
    if isinstance(block, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", block, block))
    return to_numpy(namespace(block).sum(block * block, axis=1))


@dataclass(frozen=True)
class StandardizeRows:
    """Subtract the (weighted) mean of each row and divide by its deviation; record means and sums of squares.

    A block contains whole rows, so the mean is subtracted twice: the second time removes the rounding of the first.
    Entries are not weighted yet: a weighted entry is rounded, and a large mean would expose the rounding.
    """

    weights: Array | None
    weight: float
    center: bool
    scales: Callable[[slice, np.ndarray, np.ndarray], np.ndarray] | None
    """Scales of some rows from their sums of squares and means; None if rows are not scaled."""
    shift: np.ndarray
    rest: np.ndarray
    """The mean is the sum of both parts, each as it was subtracted."""
    squares: np.ndarray

    def apply(self, start: int, block: Array) -> Array:
        rows = slice(start, start + block.shape[0])
        same = np.zeros(block.shape[0], bool)
        if self.center:
            same = ~self._varying(block)
            block, self.shift[rows] = self._without_mean(block)
        squares = np.where(same, 0.0, self._squares(block))
        # The rounding of a mean within the spread is rounding of the entries.
        if self.center and not np.all(self.weight * self.shift[rows] ** 2 <= squares):
            block, self.rest[rows] = self._without_mean(block)
            squares = np.where(same, 0.0, self._squares(block))
        self.squares[rows] = squares
        if self.scales is not None:
            factors = 1.0 / self.scales(rows, squares, self.shift[rows] + self.rest[rows])
            block = block * astype(from_numpy(factors, block), block.dtype)[:, None]
        return block

    def _varying(self, block: Array) -> np.ndarray:
        """Whether the entries of each row differ: the spurious variance of a constant row must not be scaled."""
        if isinstance(block, np.ndarray):
            return differing(block.T)
        return to_numpy(namespace(block).any(block != block[:, :1], axis=1))

    def _without_mean(self, block: Array) -> tuple[Array, np.ndarray]:
        """(rows minus their means, those means in the dtype of the block)."""
        xp = namespace(block)
        whole = astype(block, xp.float64)
        factors = xp.ones_like(whole[0, :]) if self.weights is None else self.weights
        mean = astype((whole @ factors) / self.weight, block.dtype)
        return block - mean[:, None], to_numpy(mean).astype(np.float64)

    def _squares(self, block: Array) -> np.ndarray:
        whole = astype(block, namespace(block).float64)
        return row_squares(whole) if self.weights is None else to_numpy((whole * whole) @ self.weights)

    def transposed(self) -> Step:
        raise TypeError("Rows are standardised last.")
