"""The complete protocol between solvers and matrices.

A is rows x columns. Every product is float64, in the array library and on the device of the data. One call of `normal`,
`gram` or `moments_and_product` is one pass over the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eckart.arrays import Array, DType


@dataclass(frozen=True)
class MomentsAndProduct:
    """Results of one pass over A; u is the vector of ones, or of the square roots of the row weights."""

    sums: Array
    """u^T A."""
    squares: Array
    """Sum of squares of each column."""
    weight: float
    """u^T u."""
    product: Array | None
    """The requested product; None if none was."""
    stored: Array | None = None
    """Weight of the stored entries of each column, for sparse data."""
    longest: Array | None = None
    """Bound of the largest squared length of a row (an array of one number); None if not computed."""
    from_gram: bool = False
    """Whether `squares` may be the diagonal of A^T A, which is summed in other blocks."""


_POWER = 8
"""Maxima are summed as powers, like everything else: the root of the sum is at least the maximum, and not much more."""


def to_power(longest: Array) -> Array:
    return longest**_POWER


def of_powers(total: Array) -> Array:
    return total ** (1.0 / _POWER)


class Products(Protocol):
    """Products with A and A^T; Q and Y have b columns."""

    def matmat(self, right: Array) -> Array:
        """A Q, rows x b."""
        ...

    def rmatmat(self, left: Array) -> Array:
        """A^T Y, columns x b."""
        ...

    def normal(self, right: Array) -> Array:
        """A^T (A Q), columns x b."""
        ...


class Operator(Products, Protocol):
    """A matrix as a solver sees it."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> DType:
        """The dtype of the result: float32 for float32 data, otherwise float64."""
        ...

    @property
    def precision(self) -> str:
        """The dtype in which products are formed before they are summed in float64."""
        ...

    @property
    def prototype(self) -> Array:
        """A small array that determines library and device."""
        ...

    @property
    def passes(self) -> int:
        """Number of passes over the whole data so far."""
        ...

    def gram(self, right: Array | None = None) -> Array:
        """A^T A, or (A Q)^T (A Q), in one pass."""
        ...

    def moments_and_product(self, right: Array | None = None, *, gram: bool = False) -> MomentsAndProduct:
        """Sums and squares, and A^T (A Q) or A^T A, all in one pass."""
        ...

    def rows(self, index: object) -> Array:
        """Some rows, as they are stored."""
        ...

    def columns(self, index: object) -> Array:
        """Some columns, as they are stored."""
        ...
