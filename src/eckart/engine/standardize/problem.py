"""Problem: the matrix that a solver works on: centred, scaled, weighted, with its short side as columns.

B = diag(u) (A - 1 mean^T) diag(1/scale), or its transpose if A is wider than tall; u contains the square roots of the
row weights. `standardize` chooses the case; each case is a class in its own file:

    tall      dense rows in memory: D = A - 1 c^T block by block, the rest of the mean by a rank-one correction
    wide      dense in memory: the columns of A are whole in a block of A^T, so they are centred there
    sparse    CSR rows: nothing is shifted but columns without a zero
    streamed  rows that are read in blocks, dense or sparse, tall or wide
    small     B itself, for LAPACK

The first pass over the data gives the moments and the first product. After it, float64 products have the error bound
`product_error()`, and the Gram matrix `gram_error()`. Both follow from the number of roundings, not from chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from eckart.arrays import Array
from eckart.engine.blocks.stacked import StackedBlocks
from eckart.engine.operator import Operator
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.moments import Moments
from eckart.engine.standardize.small import Materialized
from eckart.notes import Note

if TYPE_CHECKING:
    from eckart.engine.standardize.case import Given


class Problem(Protocol):
    """What solvers may ask."""

    transposed: bool
    """Whether B is A^T."""
    row_squares: np.ndarray | None
    """Sum of squares of each row of A, as in B; known after `materialize`, or `product` with `measure`."""

    @property
    def shape(self) -> tuple[int, int]:
        """(long side, short side)."""
        ...

    @property
    def prototype(self) -> Array: ...

    @property
    def workbench(self) -> Array:
        """A small array on the device where large eigenproblems are solved fastest."""
        ...

    @property
    def precision(self) -> str: ...

    @property
    def sparse(self) -> bool: ...

    @property
    def passes(self) -> int: ...

    @property
    def tile(self) -> int:
        """Products process columns in groups of this size, so filling the last group is free."""
        ...

    @property
    def weights(self) -> np.ndarray | None: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...

    @property
    def data(self) -> Given:
        """The rows of the problem."""
        ...

    def first(self, right: Array | None = None, *, gram: bool = False) -> Array | None:
        """The first pass: moments, and B^T B Q or B^T B if requested."""
        ...

    def sharpen(self) -> None:
        """Form products in float64 from now on; the first pass has to be made (again)."""
        ...

    @property
    def operator(self) -> Operator: ...

    def exact(self) -> Operator:
        """B with products in float64."""
        ...

    def exact_product(self, vectors: Array) -> Array:
        """B^T B Q in float64, with the error bound `product_error()`."""
        ...

    def exact_product_and_gram(self, right: Array, other: Array) -> tuple[Array, Array] | None:
        """B^T B Q, and (B V)^T (B V) for V = `other`, in float64 and one pass; None if B^T B V takes no longer.

        For orthonormal V, the second is off by at most 2 `block_error`.
        """
        ...

    @property
    def moments(self) -> Moments: ...

    @property
    def total(self) -> float:
        """||B||_F^2."""
        ...

    def raw_trace(self, trace: float) -> float:
        """The trace before centring, in the units of B: rounding in the products is relative to it."""
        ...

    def product_error(self) -> float:
        """Bound of || computed B^T (B q) - B^T B q || over unit q, for products in float64 (`exact`)."""
        ...

    def block_error(self, columns: int, largest: float) -> float:
        """Bound of || computed B^T (B M) - B^T B M ||_2 for so many orthonormal columns, given one of ||B||_2^2."""
        ...

    def gram_error(self) -> float:
        """Bound of || computed B^T B - B^T B ||_2, in float64."""
        ...

    def total_error(self) -> float:
        """Bound of the error of `total`."""
        ...

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        """(B Q)^T (B Q) with the mean subtracted from B Q itself, and the remaining effect of centring on the bound."""
        ...

    def recentred_growth(self) -> float:
        """gamma(m), where m is the number of roundings of a term of `recentred_gram`."""
        ...

    def approximate(self, right: Array) -> Array | None: ...

    def product(self, right: Array, *, measure: bool) -> Array:
        """B Q; with `measure`, the same pass also gives `row_squares`."""
        ...

    def materialize(self) -> Materialized: ...

    def note(self, step: int, lower: float, upper: float) -> None:
        """Report the certified share so far."""
        ...


def standardize(
    base: RowBlocks | StackedBlocks,
    *,
    center: bool,
    scale: bool,
    shift: Array | None = None,
    exponent: int = 0,
    ddof: int = 1,
) -> Problem:
    """The problem of a matrix, which is 2^exponent times the data.

    `shift` is a row near the column means, if those are large relative to the spread. Scales are standard deviations
    with the divisor n - ddof.
    """
    from eckart.engine.standardize.case import Case
    from eckart.engine.standardize.sparse import SparseTall, SparseWide
    from eckart.engine.standardize.streamed import StreamedTall, StreamedWide
    from eckart.engine.standardize.tall import Tall
    from eckart.engine.standardize.wide import Wide

    rows, columns = base.shape
    if base.sparse:
        sparse: type[Case] = SparseWide if columns > rows else SparseTall
        return sparse(base, center=center, scale=scale, exponent=exponent, ddof=ddof)
    wide: type[Case] = Wide if base.resident else StreamedWide
    tall: type[Case] = Tall if base.resident else StreamedTall
    dense = wide if columns > rows else tall
    return dense(base, center=center, scale=scale, shift=shift, exponent=exponent, ddof=ddof)
