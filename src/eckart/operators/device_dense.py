"""Dense float32 rows on a GPU: products with few columns by kernels that are as fast as reading (`cuda_skinny`).

What does not suit them (other types and layouts, weights, many columns) takes the way of every other array.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from eckart.array_api import Array, is_host
from eckart.operators.base import Survey
from eckart.operators.device_arrays import given_back, on_device_of, seen_by_cupy
from eckart.operators.prepare import Convert, ShiftColumns, ShiftRows

if TYPE_CHECKING:
    from eckart.operators.row_blocks import RowBlocks

_LEAST_ENTRIES = 2**20
_MOST_COLUMNS = 128
"""Columns of a factor up to which our kernels are faster than the library's products."""


@dataclass(frozen=True)
class SkinnyProducts:
    """A = S - 1 shift^T, or its transpose (`turned`), S stored by rows in CuPy's eyes."""

    stored: Any
    shift: Any
    turned: bool
    like: Array

    def matmat(self, right: Array) -> Array:
        """A Q in float32."""
        with on_device_of(self.like):
            return given_back(self._product(seen_by_cupy(right), transposed=self.turned), self.like)

    def rmatmat(self, left: Array) -> Array:
        """A^T Y in float64."""
        with on_device_of(self.like):
            product = self._product(seen_by_cupy(left), transposed=not self.turned)
            return given_back(product.astype("float64", copy=False), self.like)

    def normal(self, right: Array) -> Array:
        """A^T (A Q) in float64."""
        with on_device_of(self.like):
            image = self._product(seen_by_cupy(right), transposed=self.turned)
            product = self._product(image, transposed=not self.turned)
            return given_back(product.astype("float64", copy=False), self.like)

    def survey(self, right: Array) -> Survey:
        """Column sums, sums of squares and A^T (A Q); A is not turned."""
        from eckart.kernels import cuda_skinny

        with on_device_of(self.like):
            factor = _padded(seen_by_cupy(right))
            image = cuda_skinny.multiply(self.stored, self.shift, factor)
            product, sums = cuda_skinny.multiply_transposed(self.stored, self.shift, image, sums=True)
            parts = [given_back(part, self.like) for part in (sums[0], sums[1], product[:, : right.shape[1]])]
        return Survey(parts[0], parts[1], float(self.stored.shape[0]), parts[2])

    def _product(self, factor: Any, *, transposed: bool) -> Any:
        from eckart.kernels import cuda_skinny

        pieces = []
        for start in range(0, factor.shape[1], cuda_skinny.WIDEST):
            tile = factor[:, start : start + cuda_skinny.WIDEST]
            padded = _padded(tile)
            if transposed:
                product = cuda_skinny.multiply_transposed(self.stored, self.shift, padded)[0]
            else:
                product = cuda_skinny.multiply(self.stored, self.shift, padded)
            pieces.append(product[:, : tile.shape[1]])
        if len(pieces) == 1:
            return pieces[0]
        import cupy

        return cupy.concatenate(pieces, axis=1)


def skinny_products(op: RowBlocks, width: int) -> SkinnyProducts | None:
    """Our kernels for `op` with a factor of `width` columns; None where they do not suit."""
    matrix = op.matrix
    if is_host(op.like) or op.precision != "float32" or width > _MOST_COLUMNS or op.weight_roots is not None:
        return None
    if op.shape[0] * op.shape[1] < _LEAST_ENTRIES or not _cupy_is_here():
        return None
    shift, suits = _shift_of(op)
    if not suits:
        return None
    stored = seen_by_cupy(matrix)
    turned = stored.strides[1] != 4 or isinstance(shift, ShiftRows)
    stored = stored.T if turned else stored
    if not _aligned(stored) or (shift is not None and isinstance(shift, ShiftRows) != turned):
        return None
    return SkinnyProducts(stored, None if shift is None else seen_by_cupy(shift.shift), turned, op.like)


def _shift_of(op: RowBlocks) -> tuple[ShiftColumns | ShiftRows | None, bool]:
    """(the one shift among the steps, whether there is nothing else)."""
    rest = [s for s in op.steps if not (isinstance(s, Convert) and not s.exponent)]
    if str(op.matrix.dtype).rpartition(".")[2] != "float32" or len(rest) > 1:
        return None, False
    if not rest:
        return None, True
    return (rest[0], True) if isinstance(rest[0], ShiftColumns | ShiftRows) else (None, False)


def _aligned(stored: Any) -> bool:
    """Rows without gaps between their entries, each on a boundary of 16 bytes."""
    return bool(
        stored.strides[1] == 4
        and stored.strides[0] % 16 == 0
        and stored.strides[0] >= 4 * stored.shape[1]
        and stored.shape[1] % 4 == 0
        and stored.data.ptr % 16 == 0
    )


def _padded(factor: Any) -> Any:
    """The factor in float32, with columns of zeros up to a multiple of eight."""
    import cupy

    width = int(factor.shape[1])
    wide = -(-width // 8) * 8
    if wide == width:
        return cupy.ascontiguousarray(factor, dtype=cupy.float32)
    result = cupy.zeros((factor.shape[0], wide), cupy.float32)
    result[:, :width] = factor
    return result


@lru_cache(maxsize=1)
def _cupy_is_here() -> bool:
    return importlib.util.find_spec("cupy") is not None
