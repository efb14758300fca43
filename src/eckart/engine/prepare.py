"""What is done to a dense block of rows as it comes into cache: convert, shift, scale.

Each step is a small value with `apply(start, block)` for the rows start, start+1, ...; together they make the matrix
that a solver sees, without a second copy of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eckart.arrays import Array, astype, from_numpy, namespace, to_numpy
from eckart.engine.exponent import times_power_of_two


class Step(Protocol):
    def apply(self, start: int, block: Array) -> Array: ...

    def transposed(self) -> Step: ...


TOGETHER = 64
"""Squares of float32 numbers that are added up in float32; their sums are added up in float64."""


@dataclass(frozen=True)
class Convert:
    """Each entry in another dtype, multiplied by 2^exponent (exact unless it leaves the range)."""

    dtype: Any
    exponent: int = 0

    def apply(self, start: int, block: Array) -> Array:
        block = astype(block, self.dtype)
        return times_power_of_two(block, self.exponent) if self.exponent else block

    def transposed(self) -> Convert:
        return self


@dataclass(frozen=True)
class ShiftColumns:
    """A - 1 c^T. With c near the means, what is left loses no digits to an offset."""

    shift: Array

    def apply(self, start: int, block: Array) -> Array:
        return block - self.shift

    def transposed(self) -> ShiftRows:
        return ShiftRows(self.shift)


@dataclass(frozen=True)
class ShiftRows:
    """A - c 1^T."""

    shift: Array

    def apply(self, start: int, block: Array) -> Array:
        return block - self.shift[start : start + block.shape[0], None]

    def transposed(self) -> ShiftColumns:
        return ShiftColumns(self.shift)


@dataclass(frozen=True)
class ScaleRows:
    """diag(u) A."""

    factors: Array

    def apply(self, start: int, block: Array) -> Array:
        return block * astype(self.factors[start : start + block.shape[0]], block.dtype)[:, None]

    def transposed(self) -> ScaleColumns:
        return ScaleColumns(self.factors)


@dataclass(frozen=True)
class ScaleColumns:
    """A diag(u)."""

    factors: Array

    def apply(self, start: int, block: Array) -> Array:
        return block * astype(self.factors, block.dtype)

    def transposed(self) -> ScaleRows:
        return ScaleRows(self.factors)


@dataclass(frozen=True)
class RecordRows:
    """Each row as it is; its mean and its sum of squares are written down."""

    means: np.ndarray
    squares: np.ndarray

    def apply(self, start: int, block: Array) -> Array:
        xp = namespace(block)
        stop = start + block.shape[0]
        self.means[start:stop] = to_numpy(block @ xp.ones_like(block[0, :])) / block.shape[1]
        self.squares[start:stop] = row_squares(block)
        return block

    def transposed(self) -> Step:
        raise TypeError("Rows are recorded last.")


def row_squares(block: Array) -> np.ndarray:
    """Sum of squares of each row, in float64; those of float32 numbers over 64 columns at a time.

    In a long sum in float32 all that is small beside it is lost, and always to the same side.
    """
    xp = namespace(block)
    if xp is not np:
        return to_numpy(xp.sum(block * block, axis=1, dtype=xp.float64))
    step = block.shape[1] if block.dtype == np.float64 else TOGETHER
    total = np.zeros(block.shape[0])
    for start in range(0, block.shape[1], step):
        part = block[:, start : start + step].T
        total += np.einsum("ji,ji->i", part, part)
    return total


@dataclass(frozen=True)
class StandardizeRows:
    """Each row minus its (weighted) mean, divided by its deviation; means and sums of squares are written down.

    Rows are whole in a block, so the mean is taken twice: the second one removes what rounding left of the first.
    """

    roots: Array | None
    weight: float
    center: bool
    scale: bool
    means: np.ndarray
    squares: np.ndarray

    def apply(self, start: int, block: Array) -> Array:
        stop = start + block.shape[0]
        means = np.zeros(block.shape[0])
        squares = None if self.center else row_squares(block)
        for _ in range(2 if self.center else 0):
            mean = astype(self._mean(block), block.dtype)
            block = block - self._offset(mean, block)
            means += to_numpy(mean).astype(np.float64)  # what was subtracted, not what was meant
            squares = row_squares(block)
            if np.all(self.weight * means**2 <= squares):
                break  # the rounding of a mean within the spread is rounding of the entries
        self.means[start:stop] = means
        assert squares is not None
        self.squares[start:stop] = squares
        if self.scale:
            deviation = np.sqrt(squares / max(self.weight - 1.0, 1.0))
            factors = 1.0 / np.where(deviation > np.finfo(np.float64).eps * np.abs(means), deviation, 1.0)
            block = block * astype(from_numpy(factors, block), block.dtype)[:, None]
        return block

    def _mean(self, block: Array) -> Array:
        """u^T row / u^T u: the entries are weighted by u already. A second one mends the rounding of the first."""
        xp = namespace(block)
        roots = xp.ones_like(block[0, :]) if self.roots is None else astype(self.roots, block.dtype)
        return astype(block @ roots, xp.float64) / self.weight

    def _offset(self, mean: Array, block: Array) -> Array:
        column = mean[:, None]
        return column if self.roots is None else column * astype(self.roots, block.dtype)

    def transposed(self) -> Step:
        raise TypeError("Rows are standardised last.")
