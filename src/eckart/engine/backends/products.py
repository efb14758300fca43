"""Products with rows in memory, one pass each: the protocol for every storage, and dense rows in blocks.

Dense blocks pass through the steps of `prepare` while they are in cache. Products are formed in the precision of the
rows over a few hundred to a few thousand rows, and summed in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import blas

from eckart.arrays import Array, astype, empty_rows, is_numpy, namespace
from eckart.engine.backends.digest import COMPILE_FROM_BYTES
from eckart.engine.backends.normal import Compiled, Factor, factor_for, image, image_additions, is_worth_compiling
from eckart.engine.backends.partial import accumulate, diagonal, of_rows, pieces, weights_of
from eckart.engine.backends.tall import mirrored
from eckart.engine.operator import MomentsAndProduct, Products
from eckart.engine.parallel import each, fold
from eckart.engine.prepare import Convert
from eckart.engine.threads import is_amd, one_blas_thread

if TYPE_CHECKING:
    from eckart.engine.rows import RowBlocks

_SEGMENTS = 8
MOST_SEGMENTS = 32
GRAM_ROWS = 2048
"""Maximum number of rows that BLAS may sum in any order."""
_BLOCK_BYTES = 2**20
_BLOCK_ROWS, _CONVERTED_ROWS = 512, 128
"""Minimum number of rows of a block; fewer if it is a copy, which must stay in cache until it is multiplied."""
_PIECE_BYTES = 2**20
_SERIAL_WORK, _SHARED_WORK = 1_000_000, 4_000_000
"""Minimum number of multiplications for which rows are split into segments and shared by threads: distributing segments
takes 0.2 ms, which is half the time of this many.
"""
_ACCUMULATOR_BYTES = 2**28
_STRIP = 256
"""Rows of a large Gram matrix that one thread computes at a time."""
_LARGE = 256
"""Columns from which copying a triangle of A^T A takes longer than calling BLAS through SciPy."""
_COMPILED_COLUMNS = 1000
"""Columns from which a compiled loop is faster than BLAS in float32 on processors of AMD (.85 of the time at 1,500, 1.1
at 400); on those of Intel it is slower.
"""


class RowProducts(Products, Protocol):
    """Products with the rows A of a RowBlocks: A Q in their precision, all others in float64. None counts passes."""

    @property
    def tile(self) -> int:
        """Columns of a factor multiplied at a time: padding to a multiple of this costs nothing."""
        ...

    @property
    def block_rows(self) -> int:
        """Number of rows processed at a time."""
        ...

    def approximate_normal(self, right: Array) -> Array | None:
        """An approximation of A^T (A Q), only for initial directions.

        None if it costs as much as the product itself.
        """
        ...

    def normal_and_gram(self, right: Array, other: Array) -> tuple[Array, Array] | None:
        """A^T (A Q) and (A V)^T (A V), for V = `other`; None if that takes as long as A^T (A V)."""
        ...

    def gram(self, right: Array | None) -> Array:
        """A^T A, or (A Q)^T (A Q)."""
        ...

    def moments_and_product(self, right: Array | None, *, gram: bool) -> MomentsAndProduct:
        """u^T A, sums of squares, and A^T (A Q) or A^T A."""
        ...

    def additions(self, *, gram: bool, transposed: bool) -> int:
        """Maximum number of roundings of a term of a product: in A^T A, or in A^T (A q), which sums twice."""
        ...

    def product_additions(self, *, transposed: bool) -> tuple[int, int]:
        """The same for A q in float64, and for A^T times it."""
        ...


class DenseProducts:
    """Dense rows in host memory, of any array library."""

    tile = 1

    def __init__(self, rows: RowBlocks) -> None:
        self.rows = rows

    @property
    def _converted(self) -> bool:
        """Whether float32 rows are multiplied in float64."""
        return self.rows.precision == "float64" and self.rows.dtype == namespace(self.rows.prototype).float32

    @property
    def _compiles(self) -> bool:
        """Whether there are enough rows, stored one after the other, for loops to be worth their compilation."""
        matrix = self.rows.matrix
        if not isinstance(matrix, np.ndarray) or matrix.dtype.char not in "fd" or not matrix.dtype.isnative:
            return False
        return matrix.nbytes >= COMPILE_FROM_BYTES and matrix.flags.c_contiguous

    @property
    def _stored(self) -> RowBlocks | None:
        """The rows as they are stored, for compiled loops; None if these do not apply or do not suffice."""
        converted = all(isinstance(step, Convert) and not step.scales for step in self.rows.steps)
        return replace(self.rows, steps=()) if converted and self._compiles else None

    @property
    def block_rows(self) -> int:
        least = _CONVERTED_ROWS if self._converted else _BLOCK_ROWS
        return min(max(_BLOCK_BYTES // max(1, self._itemsize * self.rows.shape[1]), least), 8192)

    @property
    def gram_rows(self) -> int:
        """Rows per block for a Gram matrix: enough that adding the block's matrix costs little in comparison."""
        # Twice as many in float32: its errors are measured, not bounded.
        most = GRAM_ROWS if self.rows.precision == "float64" else 2 * GRAM_ROWS
        return min(max(self.block_rows, 6 * self.rows.shape[1]), most)

    @property
    def _itemsize(self) -> int:
        return 4 if self.rows.precision == "float32" else 8

    def matmat(self, right: Array) -> Array:
        factor = self._operand(right)
        result = empty_rows(self.rows.shape[0], factor.shape[1], factor, self.rows.precision)
        divided = self.by_rows and factor.dtype == np.float64

        def step(segment: tuple[int, int]) -> None:
            for start, block in self.rows.blocks(*segment):
                result[start : start + block.shape[0], :] = image(block, factor) if divided else block @ factor

        each(step, self._segments(factor.shape[1], 0), workers=self._workers(factor.shape[1]))
        return result

    def rmatmat(self, left: Array) -> Array:
        factor = self._operand(left)

        def product(start: int, block: Array) -> Array:
            return self._down(block, factor[start : start + block.shape[0], :])

        return self._sum(product, width=factor.shape[1], result_bytes=8 * self.rows.shape[1] * factor.shape[1])

    def normal(self, right: Array) -> Array:
        compiled = self._converted and is_worth_compiling(right.shape[1])
        if compiled and (stored := self._stored) is not None:
            return type(self)(stored)._sum_of_normal(Compiled(right), right.shape[1], _BLOCK_ROWS)
        return self._sum_of_normal(self._normal_operand(right), right.shape[1])

    def normal_and_gram(self, right: Array, other: Array) -> tuple[Array, Array]:
        """A^T (A Q) and (A V)^T (A V), for V = `other`."""
        width = right.shape[1] + other.shape[1]
        stored = self._stored if self._converted and is_worth_compiling(width) else None
        compiled, products = (None, self) if stored is None else (Compiled(other), type(self)(stored))
        factor = self._normal_operand(right) if stored is None else Compiled(right)
        operand, size = self._operand(other), None if stored is None else _BLOCK_ROWS

        def step(segment: tuple[int, int]) -> list[Array]:
            parts: list[Array] = []
            for _start, block in products.rows.blocks(*segment, size):
                seen = block @ operand if compiled is None else compiled.image(block)
                parts = accumulate(parts, [products._normal(block, factor), seen.T @ seen])
            return parts

        product, gram = self._fold(step, 2 * width, 8 * self.rows.shape[1] * width)
        return of_rows(product) if self.by_rows else product, gram

    def _sum_of_normal(self, factor: Array | Factor, width: int, size: int | None = None) -> Array:
        product = self._sum(
            lambda _start, block: self._normal(block, factor),
            width=2 * width,
            result_bytes=8 * self.rows.shape[1] * width,
            size=size,
        )
        return of_rows(product) if self.by_rows else product

    def approximate_normal(self, right: Array) -> Array | None:
        return None

    def gram(self, right: Array | None) -> Array:
        factor = None if right is None else self._operand(right)
        width = self.rows.shape[1] if factor is None else factor.shape[1]

        def product(_start: int, block: Array) -> Array:
            return self._cross(block) if factor is None else self.rows.backend.cross_products(block @ factor)

        found = self._sum(product, width=width, result_bytes=8 * width * width, size=self.gram_rows)
        return mirrored(found) if factor is None and self._by_triangle else found

    def moments_and_product(self, right: Array | None, *, gram: bool) -> MomentsAndProduct:
        factor = None if right is None else self._normal_operand(right)
        roots, single = self.rows.weight_roots, self.rows.precision == "float32"
        # Sums are in float64: means are subtracted from everything, and shares are relative to squares.
        size, sums_of = self.gram_rows if gram else self.block_rows, self._sums_and_squares(roots)

        def step(segment: tuple[int, int]) -> list[Array]:
            parts: list[Array] = []
            for start, block in self.rows.blocks(*segment, size):
                product = self._product(block, factor, gram=gram)
                if gram and not single:
                    parts = accumulate(parts, [self._weighted_sums(block, roots, start), product])
                    continue
                sums = sums_of(start, block)
                parts = accumulate(parts, sums if product is None else [*sums, product])
            return parts

        width = 2 + (0 if right is None else 2 * right.shape[1]) + (self.rows.shape[1] if gram else 0)
        sums, squares, *rest = self._fold(step, width, 8 * self.rows.shape[1] * width)
        weight = self._total_weight()
        if gram and not single:
            whole = self._whole(squares, gram=True)
            return MomentsAndProduct(sums, diagonal(squares), weight, whole, from_gram=True)
        return MomentsAndProduct(sums, squares, weight, self._whole(rest[0], gram=gram) if rest else None)

    def _whole(self, product: Array, *, gram: bool) -> Array:
        """A^T A of which a triangle was summed, or A^T (A Q) that may have been summed as its transpose."""
        if gram:
            return mirrored(product) if self._by_triangle else product
        return of_rows(product) if self.by_rows else product

    def _sums_and_squares(self, roots: Array | None) -> Callable[[int, Array], list[Array]]:
        """u^T A and the sums of squares of the columns in float64, as a function of a block and its first row."""
        single, stored = self.rows.precision == "float32", self._stored if roots is None else None
        if stored is not None:
            from eckart.engine.compiled.dense import add_column_moments

            def compiled(start: int, block: Array) -> list[Array]:
                sums, squares = np.zeros((2, block.shape[1]))
                add_column_moments(stored.matrix[start : start + block.shape[0]], sums, squares)
                return [sums, squares]

            return compiled
        precise = self.rows.precise()

        def in_pieces(start: int, block: Array) -> list[Array]:
            stop = start + block.shape[0]
            parts = precise.blocks(start, stop, self._piece) if single else pieces(block, start, self._piece)
            sums: list[Array] = []
            for first, piece in parts:
                sums = accumulate(sums, [self._weighted_sums(piece, roots, first), self._squares(piece)])
            return sums

        return in_pieces

    def _total_weight(self) -> float:
        roots = self.rows.weight_roots
        return float(self.rows.shape[0]) if roots is None else float(namespace(self.rows.prototype).sum(roots * roots))

    @property
    def _piece(self) -> int:
        """Rows of a block summed at a time: as many as fit into the cache of a core in float64."""
        return min(max(_PIECE_BYTES // (8 * self.rows.shape[1]), 16), self.block_rows)

    def additions(self, *, gram: bool, transposed: bool) -> int:
        """Sums of blocks are added within segments, then the sums of segments are added."""
        if transposed:
            return type(self)(replace(self.rows, matrix=self.rows.matrix.T, steps=())).additions(
                gram=gram, transposed=False
            )
        columns = self.rows.shape[1]
        size = self.gram_rows if gram else self.block_rows
        longest = self._longest_segment
        return min(size, longest) + -(-longest // size) + _SEGMENTS + (0 if gram else columns)

    def product_additions(self, *, transposed: bool) -> tuple[int, int]:
        columns = self.rows.shape[0 if transposed else 1]
        outer = self.additions(gram=False, transposed=transposed) - columns
        # A compiled loop for float32 rows sums over all columns.
        divided = self.by_rows and not self._converted
        return min(columns, image_additions(columns)) if divided else columns, outer

    @property
    def _longest_segment(self) -> int:
        """Maximum number of rows of a segment, for factors of any width, and also for fewer rows."""
        rows, columns = self.rows.shape
        if not is_numpy(self.rows.prototype):
            return rows
        # There are fewest segments if the product is a Gram matrix with its sums, or has too little work to share.
        count = max(1, min(_SEGMENTS, rows // 64, _ACCUMULATOR_BYTES // (8 * columns * (columns + 2))))
        return min(rows, max(-(-rows // count) + 1, -(-_SERIAL_WORK // columns)))

    def _product(self, block: Array, factor: Array | Factor | None, *, gram: bool) -> Array | None:
        if gram:
            return self._cross(block)
        return None if factor is None else self._normal(block, factor)

    def _normal_operand(self, right: Array) -> Array | Factor:
        """Q in the precision of the products and, for NumPy rows, in the layout that they need."""
        factor = self._operand(right)
        if not self.by_rows:
            return factor
        single = factor.dtype == np.float32 and factor.shape[0] >= _COMPILED_COLUMNS and is_amd()
        return Compiled(factor) if single and self._compiles else factor_for(factor)

    def _normal(self, block: Array, factor: Array | Factor) -> Array:
        """A^T (A Q), or its transpose for NumPy rows."""
        return factor.normal(block) if self.by_rows else self._down(block, block @ factor)

    # Sums over the rows of a block. `additions` counts their roundings.

    def _down(self, block: Array, factor: Array) -> Array:
        """A^T Y."""
        return block.T @ factor

    @property
    def _by_triangle(self) -> bool:
        """Whether blocks yield only the upper triangle of A^T A: NumPy copies it into the lower one for every block."""
        single = self.rows.precision == "float32" and self.rows.shape[1] >= _LARGE
        return is_numpy(self.rows.prototype) and (single or self._by_strips)

    @property
    def _by_strips(self) -> bool:
        """Whether A^T A is too large for a copy for each thread, so that threads share one."""
        columns = self.rows.shape[1]
        return is_numpy(self.rows.prototype) and 16 * columns * (columns + 2) > _ACCUMULATOR_BYTES

    def _cross(self, block: Array) -> Array:
        """A^T A, or its upper triangle."""
        if not self._by_triangle:
            return self.rows.backend.cross_products(block)
        if self._by_strips:
            return self._strips(block)
        given = block.astype(np.float32, copy=False)
        if given.flags.c_contiguous:
            return np.asarray(blas.ssyrk(1.0, given.T, lower=1).T)
        return np.asarray(blas.ssyrk(1.0, given, trans=1, lower=1).T)

    def _strips(self, block: np.ndarray) -> np.ndarray:
        """The upper triangle of A^T A, in strips that depend on the shape alone."""
        columns = block.shape[1]
        result = np.zeros((columns, columns), block.dtype)

        def step(start: int) -> None:
            np.matmul(block[:, start : start + _STRIP].T, block[:, start:], out=result[start : start + _STRIP, start:])

        each(step, range(0, columns, _STRIP), workers=self.rows.workers)
        return result

    def _weighted_sums(self, block: Array, roots: Array | None, start: int) -> Array:
        """u^T A."""
        return weights_of(block, roots, start) @ block

    def _squares(self, block: Array) -> Array:
        return np.einsum("ij,ij->j", block, block) if is_numpy(block) else namespace(block).sum(block * block, axis=0)

    @property
    def by_rows(self) -> bool:
        """Whether (A^T A Q)^T is formed: BLAS is a sixth faster if all operands have the same layout."""
        return is_numpy(self.rows.prototype)

    def _sum(
        self, product: Callable[[int, Array], Array], *, width: int, result_bytes: int, size: int | None = None
    ) -> Array:
        """Sum of product(start, block) over all blocks, in float64, in a fixed order."""

        def step(segment: tuple[int, int]) -> list[Array]:
            parts: list[Array] = []
            for start, block in self.rows.blocks(*segment, size):
                parts = accumulate(parts, [product(start, block)])
            return parts

        return self._fold(step, width, result_bytes)[0]

    def _fold(self, step: Callable[[tuple[int, int]], list[Array]], width: int, result_bytes: int) -> list[Array]:
        segments = self._segments(width, result_bytes)
        if 2 * result_bytes > _ACCUMULATOR_BYTES:
            with one_blas_thread():  # a Gram matrix too large for a second copy: our threads share it
                return step(segments[0])
        return fold(step, segments, accumulate, workers=self._workers(width))

    def _operand(self, factor: Array) -> Array:
        """A factor in the precision of the products."""
        return astype(factor, getattr(namespace(self.rows.prototype), self.rows.precision))

    def _segments(self, width: int, result_bytes: int) -> list[tuple[int, int]]:
        """Row ranges that depend on the shape alone."""
        rows = self.rows.shape[0]
        count = _SEGMENTS if is_numpy(self.rows.prototype) and rows * self.rows.shape[1] * width >= _SERIAL_WORK else 1
        count = max(1, min(count, rows // 64, _ACCUMULATOR_BYTES // max(result_bytes, 1)))
        if self._by_triangle and width >= self.rows.shape[1]:  # a Gram matrix: adding those of segments takes long
            count = min(count, max(1, 2 * rows // width))
        edges = np.linspace(0, rows, count + 1).astype(int).tolist()
        return list(itertools.pairwise(edges))

    def _workers(self, width: int) -> int | None:
        return 1 if self.rows.shape[0] * self.rows.shape[1] * width < _SHARED_WORK else self.rows.workers
