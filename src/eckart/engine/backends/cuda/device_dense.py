"""Dense float32 rows on a GPU: products with few columns at memory bandwidth (`skinny`).

Other dtypes and layouts, weights and many columns use the library's products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from eckart.arrays import Array, astype, namespace
from eckart.engine.backends.cuda import skinny as cuda_skinny
from eckart.engine.backends.cuda.arrays import can_compile, cupy, device_number, given_back, on_device_of, seen_by_cupy
from eckart.engine.backends.cuda.constants import BATCHED_COLUMNS, LEAST_ENTRIES, MOST_COLUMNS, PIECE_BYTES, SUMMED_ROWS
from eckart.engine.backends.partial import weights_of
from eckart.engine.backends.products import GRAM_ROWS, DenseProducts
from eckart.engine.operator import MomentsAndProduct
from eckart.engine.prepare import Convert, Shift

if TYPE_CHECKING:
    from eckart.engine.rows import RowBlocks


@dataclass(frozen=True)
class SkinnyProducts:
    """A = S - 1 shift^T, or its transpose (`transposed`), with S stored by rows, as seen by CuPy."""

    stored: Array
    shift: Array
    transposed: bool
    prototype: Array

    def matmat(self, right: Array) -> Array:
        """A Q in float32."""
        with on_device_of(self.prototype):
            forward = self._by_tiles(right, self._forth)
        return astype(forward, namespace(forward).float32)

    def rmatmat(self, left: Array) -> Array:
        """A^T Y in float64."""
        with on_device_of(self.prototype):
            return self._by_tiles(left, self._back)

    def normal(self, right: Array) -> Array:
        """A^T (A Q) in float64."""
        with on_device_of(self.prototype):
            return self._by_tiles(right, lambda tile: self._back(cuda_skinny.arrange_pieces(self._forth(tile))))

    def approximate(self, right: Array) -> Array:
        """An approximation of A^T (A Q), at a third of the work."""

        def product(tile: Array) -> Array:
            return self._back(cuda_skinny.arrange_pieces(self._forth(tile, approximate=True)), approximate=True)

        with on_device_of(self.prototype):
            return self._by_tiles(right, product)

    def moments_and_product(self, right: Array) -> MomentsAndProduct:
        """Column sums, sums of squares, the longest row and A^T (A Q); A is not transposed."""
        most = cuda_skinny.WIDTHS[-1]
        first, rest = right[:, :most], right[:, most:]
        with on_device_of(self.prototype):
            forward, squares = cuda_skinny.multiply(self.stored, self.shift, cuda_skinny.arrange(first), sums=True)
            arranged = cuda_skinny.arrange_pieces(forward)
            pieces, sums = cuda_skinny.multiply_transposed(self.stored, self.shift, arranged, sums=True)
            product = cuda_skinny.added(pieces, first.shape[1], self.prototype)
            sums, longest = (given_back(part, self.prototype) for part in (sums, cuda_skinny.longest_row(squares)))
        if rest.shape[1]:
            product = namespace(product).concat([product, self.normal(rest)], axis=1)
        return MomentsAndProduct(sums[0, :], sums[1, :], float(self.stored.shape[0]), product, longest=longest)

    def _forth(self, arranged: Array, *, approximate: bool = False) -> Array:
        """A Q in pieces."""
        return self._product(arranged, transposed=self.transposed, approximate=approximate)

    def _back(self, arranged: Array, *, approximate: bool = False) -> Array:
        """A^T Y in pieces."""
        return self._product(arranged, transposed=not self.transposed, approximate=approximate)

    def _product(self, arranged: Array, *, transposed: bool, approximate: bool) -> Array:
        product = cuda_skinny.multiply_transposed if transposed else cuda_skinny.multiply
        return product(self.stored, self.shift, arranged, approximate=approximate)[0]

    def _by_tiles(self, factor: Array, product: Callable[[Array], Array]) -> Array:
        """Apply the product to tiles of as many columns as a launch takes, and concatenate the results."""
        most = cuda_skinny.WIDTHS[-1]
        tiles = [factor[:, start : start + most] for start in range(0, factor.shape[1], most)]
        parts = [cuda_skinny.added(product(cuda_skinny.arrange(tile)), tile.shape[1], self.prototype) for tile in tiles]
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=1)


class DeviceDenseProducts(DenseProducts):
    """Dense rows on a GPU: large blocks, and Eckart's kernels where they apply."""

    @property
    def tile(self) -> int:  # type: ignore[override]
        return 1 if self.skinny(1) is None else cuda_skinny.WIDTHS[0]

    @property
    def block_rows(self) -> int:
        return max(256, self.rows.counter.block_bytes // (self._itemsize * self.rows.shape[1]))

    @property
    def gram_rows(self) -> int:
        return self.block_rows

    @property
    def _piece(self) -> int:
        """Number of rows per launch: a piece sized for a processor cache would leave a GPU idle."""
        return min(max(PIECE_BYTES // (8 * self.rows.shape[1]), SUMMED_ROWS), self.block_rows)

    # Sum a few rows at a time in float64, because the bounds count a rounding for each row of a sum.

    def additions(self, *, gram: bool, transposed: bool) -> int:
        """Number of float64 additions: those in a sum of few rows, and one for each sum, piece and block."""
        if transposed or self.rows.precision != "float64":
            return super().additions(gram=gram, transposed=transposed)
        rows, columns = self.rows.shape
        block, together = min(rows, self.block_rows), GRAM_ROWS if gram else SUMMED_ROWS
        sums = -(-block // together) + 1 + -(-block // self._piece) + -(-rows // block)
        return min(block, together) + sums + (0 if gram else columns)

    def _down(self, block: Array, factor: Array) -> Array:
        parts, rest = self._parts(block, SUMMED_ROWS)
        if parts is None:
            return super()._down(block, factor)
        others, remaining = self._parts(factor, SUMMED_ROWS)
        xp = namespace(block)
        return xp.sum(xp.matmul(xp.permute_dims(parts, (0, 2, 1)), others), axis=0) + super()._down(rest, remaining)

    def _weighted_sums(self, block: Array, roots: Array | None, start: int) -> Array:
        return self._down(block, weights_of(block, roots, start)[:, None])[:, 0]

    def _squares(self, block: Array) -> Array:
        parts, rest = self._parts(block, SUMMED_ROWS)
        if parts is None:
            return super()._squares(block)
        xp = namespace(block)
        return xp.sum(xp.sum(parts * parts, axis=1), axis=0) + super()._squares(rest)

    def _cross(self, block: Array) -> Array:
        parts, rest = self._parts(block, GRAM_ROWS)
        if parts is None:
            return super()._cross(block)
        total = super()._cross(rest)
        if block.shape[1] > BATCHED_COLUMNS:
            for index in range(parts.shape[0]):
                total = total + super()._cross(parts[index, :, :])
            return total
        xp = namespace(block)
        return total + xp.sum(xp.matmul(xp.permute_dims(parts, (0, 2, 1)), parts), axis=0)

    def _parts(self, block: Array, size: int) -> tuple[Array | None, Array]:
        """The rows in parts of `size`, and the remaining rows; None if one sum takes all rows."""
        if self.rows.precision != "float64" or block.shape[0] <= size:
            return None, block
        whole = block.shape[0] // size * size
        return namespace(block).reshape(block[:whole, :], (-1, size, block.shape[1])), block[whole:, :]

    def skinny(self, width: int) -> SkinnyProducts | None:
        """The kernels for products with a factor of this many columns; None if they do not apply."""
        if width > MOST_COLUMNS or self.rows.counter.frugal:
            return None
        memo = self.rows.memo
        if "skinny" not in memo:
            memo["skinny"] = skinny_products(self.rows)
        found: SkinnyProducts | None = memo["skinny"]
        return found

    def matmat(self, right: Array) -> Array:
        skinny = self.skinny(right.shape[1])
        return super().matmat(right) if skinny is None else skinny.matmat(right)

    def rmatmat(self, left: Array) -> Array:
        skinny = self.skinny(left.shape[1])
        return super().rmatmat(left) if skinny is None else skinny.rmatmat(left)

    def normal(self, right: Array) -> Array:
        skinny = self.skinny(right.shape[1])
        return super().normal(right) if skinny is None else skinny.normal(right)

    def approximate_normal(self, right: Array) -> Array | None:
        skinny = self.skinny(right.shape[1])
        return None if skinny is None else skinny.approximate(right)

    def moments_and_product(self, right: Array | None, *, gram: bool) -> MomentsAndProduct:
        skinny = None if gram or right is None else self.skinny(right.shape[1])
        if skinny is None or skinny.transposed:
            return super().moments_and_product(right, gram=gram)
        return skinny.moments_and_product(right)


def _is_large_and_plain(op: RowBlocks) -> bool:
    """Whether there are enough rows to gain time, dense, in float32 and not weighted."""
    plain = op.precision == "float32" and op.weight_roots is None and not op.sparse
    return plain and op.shape[0] * op.shape[1] >= LEAST_ENTRIES


def skinny_products(op: RowBlocks) -> SkinnyProducts | None:
    """The kernels for `op`, for factors of up to `MOST_COLUMNS`; None if they do not apply."""
    if not _is_large_and_plain(op) or not _suits(op.prototype):
        return None
    shift, suits = _shift_of(op)
    if not suits:
        return None
    stored = seen_by_cupy(op.matrix)
    transposed = stored.strides[1] != 4 if shift is None else shift.by_row
    stored = stored.T if transposed else stored
    if not _aligned(stored):
        return None
    return SkinnyProducts(stored, None if shift is None else seen_by_cupy(shift.numbers), transposed, op.prototype)


def _shift_of(op: RowBlocks) -> tuple[Shift | None, bool]:
    """(the single shift among the steps, whether it is the only step)."""
    rest = [s for s in op.steps if not (isinstance(s, Convert) and not s.scales)]
    if str(op.matrix.dtype).rpartition(".")[2] != "float32" or len(rest) > 1:
        return None, False
    if not rest:
        return None, True
    return (rest[0], True) if isinstance(rest[0], Shift) else (None, False)


def _aligned(stored: Array) -> bool:
    """Whether rows have no gaps between entries and start at multiples of 16 bytes."""
    return bool(
        stored.strides[1] == 4
        and stored.strides[0] % 16 == 0
        and stored.strides[0] >= 4 * stored.shape[1]
        and stored.shape[1] % 4 == 0
        and stored.data.ptr % 16 == 0
    )


def _suits(prototype: Array) -> bool:
    return can_compile(prototype) and _has_instructions(device_number(prototype))


@lru_cache(maxsize=8)
def _has_instructions(number: int) -> bool:
    """Whether the device supports the instructions that the kernels use."""
    return str(cupy().cuda.Device(number).compute_capability) == "90"
