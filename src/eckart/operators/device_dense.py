"""Dense float32 rows on a GPU: products with few columns by kernels that are as fast as reading (`cuda_skinny`).

What does not suit them (other types and layouts, weights, many columns) takes the way of every other array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from eckart.array_api import Array, is_host, namespace
from eckart.kernels import cuda_skinny
from eckart.kernels.device_arrays import can_compile, cupy, device_number, given_back, on_device_of, seen_by_cupy
from eckart.operators.base import Survey
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
            image = self._by_tiles(right, lambda tile: cuda_skinny.added(self._forth(tile)).astype("float32"))
            return given_back(image, self.like)

    def rmatmat(self, left: Array) -> Array:
        """A^T Y in float64."""
        with on_device_of(self.like):
            return given_back(self._by_tiles(left, lambda tile: cuda_skinny.added(self._back(tile))), self.like)

    def normal(self, right: Array) -> Array:
        """A^T (A Q) in float64."""
        with on_device_of(self.like):
            product = self._by_tiles(right, lambda tile: cuda_skinny.added(self._back(self._forth(tile))))
            return given_back(product, self.like)

    def rough(self, right: Array) -> Array:
        """About A^T (A Q), at a third of the work."""
        with on_device_of(self.like):
            product = self._by_tiles(right, lambda tile: cuda_skinny.added(self._back(self._forth(tile, True), True)))
            return given_back(product, self.like)

    def survey(self, right: Array) -> Survey:
        """Column sums, sums of squares and A^T (A Q); A is not turned."""
        width = right.shape[1]
        with on_device_of(self.like):
            first, rest = right[:, : cuda_skinny.WIDTHS[-1]], right[:, cuda_skinny.WIDTHS[-1] :]
            image = cuda_skinny.arrange(self._forth(_padded(seen_by_cupy(first))))
            pieces, sums = cuda_skinny.multiply_transposed(self.stored, self.shift, image, sums=True)
            longest = cuda_skinny.longest_row(self.stored, self.shift)
            parts = [given_back(part, self.like) for part in (sums[0], sums[1], cuda_skinny.added(pieces), longest)]
        product = parts[2][:, : min(width, cuda_skinny.WIDTHS[-1])]
        if rest.shape[1]:
            product = namespace(product).concat([product, self.normal(rest)], axis=1)
        return Survey(parts[0], parts[1], float(self.stored.shape[0]), product, longest=parts[3])

    def _forth(self, factor: Any, rough: bool = False) -> Any:
        return self._product(factor, transposed=self.turned, rough=rough)

    def _back(self, factor: Any, rough: bool = False) -> Any:
        return self._product(factor, transposed=not self.turned, rough=rough)

    def _product(self, factor: Any, *, transposed: bool, rough: bool) -> Any:
        """S Q or S^T Y in pieces; the factor may come in pieces as well."""
        arranged = cuda_skinny.arrange(factor)
        if transposed:
            return cuda_skinny.multiply_transposed(self.stored, self.shift, arranged, rough=rough)[0]
        return cuda_skinny.multiply(self.stored, self.shift, arranged, rough=rough)

    def _by_tiles(self, factor: Array, product: Callable[[Any], Any]) -> Any:
        """product(tile) for as many columns as a launch takes, side by side."""
        seen, most = seen_by_cupy(factor), cuda_skinny.WIDTHS[-1]
        tiles = [seen[:, start : start + most] for start in range(0, seen.shape[1], most)]
        pieces = [product(_padded(tile))[:, : tile.shape[1]] for tile in tiles]
        return pieces[0] if len(pieces) == 1 else cupy().concatenate(pieces, axis=1)


def skinny_products(op: RowBlocks, width: int) -> SkinnyProducts | None:
    """Our kernels for `op` with a factor of `width` columns; None where they do not suit."""
    matrix = op.matrix
    if is_host(op.like) or op.precision != "float32" or width > _MOST_COLUMNS or op.weight_roots is not None:
        return None
    if op.counter.frugal or op.shape[0] * op.shape[1] < _LEAST_ENTRIES or not _suits(op.like):
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
    """The factor in float32, with columns of zeros up to the width of a launch."""
    width = int(factor.shape[1])
    wide = next(w for w in cuda_skinny.WIDTHS if w >= width)
    if wide == width:
        return cupy().ascontiguousarray(factor, dtype="float32")
    result = cupy().zeros((factor.shape[0], wide), "float32")
    result[:, :width] = factor
    return result


def _suits(like: Array) -> bool:
    return can_compile(like) and _has_instructions(device_number(like))


@lru_cache(maxsize=8)
def _has_instructions(number: int) -> bool:
    """Whether device `number` has the instructions that the kernels are written in."""
    return str(cupy().cuda.Device(number).compute_capability) == "90"
