"""CSR rows on any device: the functions that a device provides, and products built from them.

`CsrFunctions` is a protocol of modules: `host_csr` for SciPy arrays, `cuda/device_rows` for arrays on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from eckart.arrays import Array, Matrix
from eckart.engine.backends.products import MOST_SEGMENTS
from eckart.engine.exponent import Exponent
from eckart.engine.operator import MomentsAndProduct

if TYPE_CHECKING:
    from eckart.engine.rows import RowBlocks


@dataclass(frozen=True)
class CsrArrays:
    """The arrays of a CSR matrix, of NumPy or CuPy, and its shape."""

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]


class CsrFunctions(Protocol):
    """`op` is a RowBlocks with a CSR matrix on this device; `matrix` is such a matrix."""

    def matmat(self, op: RowBlocks, right: Array) -> Array: ...

    def rmatmat(self, op: RowBlocks, left: Array) -> Array: ...

    def normal(self, op: RowBlocks, right: Array) -> Array: ...

    def gram(self, op: RowBlocks, right: Array | None = None) -> Array: ...

    def moments_and_product(self, op: RowBlocks, right: Array | None, *, gram: bool) -> MomentsAndProduct: ...

    def squares_about_mean(self, op: RowBlocks, moments_and_product: MomentsAndProduct) -> np.ndarray: ...

    def squares_about(
        self, matrix: Matrix, left: np.ndarray, right: np.ndarray, factor: np.ndarray, *, across: bool
    ) -> np.ndarray: ...

    def stored_counts(self, matrix: Matrix, counted: np.ndarray | None = None) -> np.ndarray: ...

    def shift_full_columns(self, op: RowBlocks, shift: np.ndarray) -> Matrix: ...

    def longest_sums(self, matrix: Matrix) -> tuple[int, int]: ...

    def largest(self, matrix: Matrix) -> float: ...

    def scale_rows(self, matrix: Matrix, factors: np.ndarray) -> Matrix: ...

    def scale_columns(self, matrix: Matrix, factors: np.ndarray) -> Matrix: ...

    def times_power_of_two(self, matrix: Matrix, exponent: Exponent) -> Matrix: ...

    def transposed(self, matrix: Matrix) -> Matrix: ...

    def dense_rows(self, matrix: Matrix, index: slice) -> np.ndarray: ...

    def whole(self, matrix: Matrix) -> np.ndarray: ...

    def on_host(self, matrix: Matrix) -> Matrix: ...


@dataclass(frozen=True)
class CsrProducts:
    """Products with CSR rows."""

    rows: RowBlocks
    functions: CsrFunctions
    tile = 1

    @property
    def block_rows(self) -> int:
        return self.rows.shape[0]

    def matmat(self, right: Array) -> Array:
        return self.functions.matmat(self.rows, right)

    def rmatmat(self, left: Array) -> Array:
        return self.functions.rmatmat(self.rows, left)

    def normal(self, right: Array) -> Array:
        return self.functions.normal(self.rows, right)

    def approximate_normal(self, right: Array) -> Array | None:
        return None

    def normal_and_gram(self, right: Array, other: Array) -> tuple[Array, Array] | None:
        return None

    def gram(self, right: Array | None) -> Array:
        return self.functions.gram(self.rows, right)

    def moments_and_product(self, right: Array | None, *, gram: bool) -> MomentsAndProduct:
        return self.functions.moments_and_product(self.rows, right, gram=gram)

    def additions(self, *, gram: bool, transposed: bool) -> int:
        longest = self._longest
        return int(longest[0 if transposed else 1] if gram else sum(longest)) + MOST_SEGMENTS

    def product_additions(self, *, transposed: bool) -> tuple[int, int]:
        row, column = self._longest[::-1] if transposed else self._longest
        return row + MOST_SEGMENTS, column + MOST_SEGMENTS

    @property
    def _longest(self) -> tuple[int, int]:
        memo = self.rows.memo
        if "longest" not in memo:  # counts all stored entries, and every error bound asks for it
            memo["longest"] = self.functions.longest_sums(self.rows.matrix)
        row, column = memo["longest"]
        return int(row), int(column)
