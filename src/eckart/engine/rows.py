"""RowBlocks, the one concrete matrix: rows in memory, dense or CSR, multiplied block by block in one read.

Dense blocks pass through the steps of `prepare` while they are in cache. Products are formed in `precision` (the dtype
of the data, or float64) over a few hundred to a few thousand rows, and added up in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from eckart.arrays import Array, astype, from_numpy, is_host, is_numpy, is_sparse, namespace, to_numpy
from eckart.engine.backends import host_csr as sparse_rows
from eckart.engine.backends.cuda import device_rows
from eckart.engine.backends.cuda import skinny as cuda_skinny
from eckart.engine.backends.cuda.device_dense import MOST_COLUMNS, SkinnyProducts, skinny_products
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.memory import Counter, within_memory
from eckart.engine.constancy import varying_among
from eckart.engine.exponent import steps_of
from eckart.engine.operator import Survey, of_powers, to_power
from eckart.engine.parallel import each, fold
from eckart.engine.prepare import Convert, ScaleColumns, ScaleRows, ShiftColumns, Step

_SEGMENTS = 8
_MOST_SEGMENTS = 32
_GRAM_ROWS = 2048
"""Rows of a Gram matrix that BLAS adds up in an order of its own, at most."""
_BLOCK_BYTES = 2**20
_SERIAL_WORK = 1_000_000
_ACCUMULATOR_BYTES = 2**28


@dataclass(frozen=True)
class RowBlocks:
    """diag(u) (2^e A - 1 c^T), with u, e, c applied block by block; A a dense array or a CSR array."""

    matrix: Any
    precision: str = "float64"
    steps: tuple[Step, ...] = ()
    weight_roots: Array | None = None
    """u, the square roots of the row weights; None means ones."""
    workers: int | None = None
    counter: Counter = field(default_factory=Counter, compare=False)
    stored: Any = None
    """Sparse rows as they were given, where `matrix` holds weighted ones; None where it holds those."""
    given: Any = None
    """Sparse rows before they were scaled by a power of two."""

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    resident = True
    """All rows are in memory."""

    @property
    def sparse(self) -> bool:
        return is_sparse(self.matrix) or isinstance(self.matrix, DeviceCsr)

    @property
    def stored_rows(self) -> Any:
        """The functions for CSR rows: those of the host, or those of a GPU."""
        return device_rows if isinstance(self.matrix, DeviceCsr) else sparse_rows

    @property
    def entries(self) -> int:
        """Stored entries."""
        return int(self.matrix.nnz) if self.sparse else self.shape[0] * self.shape[1]

    @cached_property
    def like(self) -> Array:
        if isinstance(self.matrix, DeviceCsr):
            return self.matrix.like
        return np.empty(0) if self.sparse else self.matrix[:0, :0]

    @property
    def dtype(self) -> Any:
        xp = namespace(self.like)
        return xp.float32 if str(self.matrix.dtype).endswith("float32") else xp.float64

    @property
    def reads(self) -> int:
        return self.counter.reads

    # Views of the same data

    def precise(self) -> RowBlocks:
        """The same matrix with products formed in float64."""
        if self.precision == "float64":
            return self
        convert = [replace(s, dtype=namespace(self.like).float64) if isinstance(s, Convert) else s for s in self.steps]
        matrix = self.matrix.astype(np.float64) if self.sparse else self.matrix
        return replace(self, matrix=matrix, precision="float64", steps=tuple(convert))

    def shifted(self, shift: Array) -> RowBlocks:
        """A - 1 c^T, subtracted block by block. Sparse rows cannot be shifted and need not be (see `sparse_rows`)."""
        shift = astype(shift, getattr(namespace(self.like), self.precision))
        # Before the row weights: diag(u) (A - 1 c^T).
        convert, rest = self.steps[:1], self.steps[1:]
        return replace(self, steps=(*convert, ShiftColumns(shift), *rest))

    def weighted(self, weights: np.ndarray) -> RowBlocks:
        """diag(sqrt(w)) A, in float64: a weighted float32 entry would be rounded before it can be centred."""
        if self.precision != "float64":
            return self.precise().weighted(weights)
        roots = np.sqrt(weights)
        if self.sparse:
            matrix = self.stored_rows.scale_rows(self.matrix, roots)
            return replace(self, matrix=matrix, weight_roots=from_numpy(roots, self.like), stored=self.matrix)
        device_roots = from_numpy(roots, self.like)
        return replace(self, steps=(*self.steps, ScaleRows(device_roots)), weight_roots=device_roots)

    def unweighted(self) -> RowBlocks:
        """A as it was before `weighted`, without shifts and scales."""
        steps = tuple(s for s in self.steps if isinstance(s, Convert))
        return replace(self, matrix=self.matrix if self.stored is None else self.stored, steps=steps, weight_roots=None)

    def prepared(self, *steps: Step) -> RowBlocks:
        """The same with more steps, done after the conversion and before the weights."""
        return replace(self, steps=(*self.steps[:1], *steps, *self.steps[1:]))

    def scaled_columns(self, factors: np.ndarray) -> RowBlocks:
        """A diag(f); the pattern of sparse rows is shared."""
        if not self.sparse:
            return replace(self, steps=(*self.steps, ScaleColumns(from_numpy(factors, self.like))))
        return replace(self, matrix=self.stored_rows.scale_columns(self.matrix, factors))

    @property
    def _as_given(self) -> Any:
        """Sparse rows without weights and powers of two."""
        if self.given is not None:
            return self.given
        return self.matrix if self.stored is None else self.stored

    def largest_of_columns(self) -> np.ndarray:
        """The largest modulus in each column, as it is stored."""
        if self.sparse:
            stored = self._as_given.to_host() if isinstance(self.matrix, DeviceCsr) else self._as_given
            largest = np.zeros(self.shape[1])
            np.fmax.at(largest, stored.indices, np.abs(stored.data.astype(np.float64)))
            return largest
        if not is_numpy(self.matrix):
            xp = namespace(self.like)
            return to_numpy(xp.max(xp.abs(self.matrix), axis=0)).astype(np.float64)
        parts = (self.matrix[start : start + _GRAM_ROWS] for start in range(0, self.shape[0], _GRAM_ROWS))
        return np.asarray(np.fmax.reduce([np.fmax.reduce(np.abs(part.astype(np.float64)), axis=0) for part in parts]))

    def in_powers(self, exponents: np.ndarray) -> RowBlocks:
        """The data as they are stored times a power of two for each column, in place of the one for all."""
        if not self.sparse:
            steps = [replace(s, exponent=exponents) if isinstance(s, Convert) else s for s in self.steps]
            return replace(self, steps=tuple(steps))
        matrix = self._as_given
        matrix = matrix.astype(self.matrix.dtype) if matrix.dtype != self.matrix.dtype else matrix
        for factors in steps_of(exponents):
            matrix = self.stored_rows.scale_columns(matrix, factors)
        if self.weight_roots is None:
            return replace(self, matrix=matrix)
        weighted = self.stored_rows.scale_rows(matrix, to_numpy(self.weight_roots))
        return replace(self, matrix=weighted, stored=matrix)

    def full_columns_shifted(self, shift: np.ndarray) -> RowBlocks:
        """Sparse A - u c^T where c is zero but on full columns."""
        return replace(self, matrix=self.stored_rows.shift_full_columns(self, shift))

    def transposed(self) -> RowBlocks:
        """A^T. Its rows are the columns of A; the weights of A's rows are already in its entries."""
        matrix = self.stored_rows.transposed(self.matrix) if self.sparse else self.matrix.T
        steps = tuple(s.transposed() for s in self.steps)
        return replace(self, matrix=matrix, steps=steps, weight_roots=None, stored=None, given=None)

    def sample(self, count: int = 64) -> Array:
        """Some rows spread over the whole matrix, prepared, in float64."""
        stride = max(1, self.shape[0] // count)
        if self.sparse:
            return from_numpy(self.stored_rows.dense_rows(self.matrix, slice(0, None, stride)), self.like)
        block = self.matrix[::stride, :]
        for step in self.steps:
            block = step.apply(0, block) if isinstance(step, Convert | ShiftColumns) else block
        return astype(block, namespace(block).float64)

    def dense(self) -> np.ndarray:
        """The whole matrix, prepared, on the host in float64: for small ones."""
        self.counter.reads += 1
        if self.sparse:
            return np.asarray(self.stored_rows.whole(self.matrix))
        block = self.matrix
        for step in self.steps:
            block = step.apply(0, block)
        return np.array(to_numpy(block), dtype=np.float64, order="C")

    def constant_columns(self, candidates: np.ndarray) -> np.ndarray:
        """Those of the columns in which every entry equals the first, exactly."""
        if not candidates.size:
            return candidates
        stored = self._as_given if self.sparse else self.matrix
        return np.asarray(candidates[~varying_among(stored, candidates)])

    def additions(self, *, gram: bool, turned: bool = False) -> int:
        """Roundings that a term of a product passes through, at most: in A^T A, or in A^T (A q), which sums twice.

        The sums of blocks are added up in segments, and those of the segments in turn.
        """
        if self.sparse:
            longest = self.stored_rows.longest_sums(self.matrix)
            return int(longest[0 if turned else 1] if gram else sum(longest)) + _MOST_SEGMENTS
        base = replace(self, matrix=self.matrix.T, steps=()) if turned else replace(self, steps=())
        rows, columns = base.shape
        size = base.rows_per_gram if gram else base.rows_per_block
        return min(size, rows) + -(-rows // size) + _SEGMENTS + (0 if gram else columns)

    def rows(self, index: Any) -> Any:
        return self.matrix[index]

    def columns(self, index: Any) -> Any:
        return self.matrix[:, index]

    # Products, one read each

    @within_memory
    def matmat(self, right: Array) -> Array:
        """A Q in the precision of the products."""
        self.counter.reads += 1
        if self.sparse:
            return self.stored_rows.matmat(self, right)
        skinny = self.skinny(right.shape[1])
        if skinny is not None:
            return skinny.matmat(right)
        factor = self._operand(right)
        xp = namespace(factor)
        result = (
            np.empty((self.shape[0], factor.shape[1]), factor.dtype)
            if xp is np
            else xp.empty((self.shape[0], factor.shape[1]), dtype=factor.dtype, device=factor.device)
        )

        def step(segment: tuple[int, int]) -> None:
            for start, block in self.blocks(*segment):
                result[start : start + block.shape[0], :] = block @ factor

        each(step, self._segments(factor.shape[1], 0), workers=self._workers(factor.shape[1]))
        return result

    @within_memory
    def rmatmat(self, left: Array) -> Array:
        """A^T Y."""
        self.counter.reads += 1
        if self.sparse:
            return self.stored_rows.rmatmat(self, left)
        skinny = self.skinny(left.shape[1])
        if skinny is not None:
            return skinny.rmatmat(left)
        factor = self._operand(left)

        def product(start: int, block: Array) -> Array:
            return block.T @ factor[start : start + block.shape[0], :]

        return self._sum(product, width=factor.shape[1], result_bytes=8 * self.shape[1] * factor.shape[1])

    @within_memory
    def normal(self, right: Array) -> Array:
        """A^T (A Q)."""
        self.counter.reads += 1
        if self.sparse:
            return self.stored_rows.normal(self, right)
        skinny = self.skinny(right.shape[1])
        if skinny is not None:
            return skinny.normal(right)
        factor = self._operand(right)
        return self._sum(
            lambda _start, block: block.T @ (block @ factor),
            width=2 * factor.shape[1],
            result_bytes=8 * self.shape[1] * factor.shape[1],
        )

    @within_memory
    def rough(self, right: Array) -> Array | None:
        """About A^T (A Q), for first directions only; None where that costs as much as the thing itself."""
        skinny = self.skinny(right.shape[1])
        if skinny is None:
            return None
        self.counter.reads += 1
        return skinny.rough(right)

    @within_memory
    def gram(self, right: Array | None = None) -> Array:
        """A^T A, or (A Q)^T (A Q)."""
        self.counter.reads += 1
        if self.sparse:
            return self.stored_rows.gram(self, right)
        factor = None if right is None else self._operand(right)
        width = self.shape[1] if factor is None else factor.shape[1]

        def product(_start: int, block: Array) -> Array:
            return cross_products(block if factor is None else block @ factor)

        return self._sum(product, width=width, result_bytes=8 * width * width, size=self.rows_per_gram)

    @within_memory
    def survey(self, right: Array | None = None, *, gram: bool = False) -> Survey:
        """u^T A, sums of squares, and A^T (A Q) or A^T A, in one read."""
        self.counter.reads += 1
        if self.sparse:
            found: Survey = self.stored_rows.survey(self, right, gram=gram)
            return found
        skinny = None if gram or right is None else self.skinny(right.shape[1])
        if skinny is not None and not skinny.turned:
            return skinny.survey(right)
        factor = None if right is None else self._operand(right)
        xp = namespace(self.like)
        roots, single = self.weight_roots, self.precision == "float32"
        # Sums are taken in float64: means are subtracted from everything, and shares are relative to squares.
        precise, size = self.precise(), self.rows_per_gram if gram else self.rows_per_block

        def step(segment: tuple[int, int]) -> list[Array]:
            parts: list[Array] = []
            for start, block in precise.blocks(*segment, size):
                ones = _ones_like(block)
                sums = (ones if roots is None else roots[start : start + block.shape[0]]) @ block
                product = _product(astype(block, xp.float32) if single else block, factor, gram=gram)
                if gram and not single:
                    parts = _accumulate(parts, [sums, product])
                    continue
                squared = block * block
                new = [sums, ones @ squared, _longest_power(squared)]
                parts = _accumulate(parts, new if product is None else [*new, product])
            return parts

        width = 2 + (0 if factor is None else 2 * factor.shape[1]) + (self.shape[1] if gram else 0)
        segments = self._segments(width, 8 * self.shape[1] * width)
        sums, squares, *rest = fold(step, segments, _accumulate, workers=self._workers(width))
        weight = float(self.shape[0]) if roots is None else float(xp.sum(roots * roots))
        if gram and not single:
            return Survey(sums, _diagonal(squares), weight, squares)
        return Survey(sums, squares, weight, rest[1] if len(rest) > 1 else None, longest=of_powers(rest[0]))

    def skinny(self, width: int) -> SkinnyProducts | None:
        """Kernels of a GPU for products with a factor of so many columns; None where they do not suit."""
        return None if width > MOST_COLUMNS or self.counter.frugal else self._skinny

    @property
    def tile(self) -> int:
        """Columns of a factor that are multiplied at a time."""
        return 1 if self.skinny(1) is None else cuda_skinny.WIDTHS[0]

    @cached_property
    def _skinny(self) -> SkinnyProducts | None:
        return skinny_products(self)

    # Blocks and sums

    def blocks(self, start: int, stop: int, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """(first row, prepared block) for the rows start..stop."""
        size = self.rows_per_block if size is None else size
        for first in range(start, stop, size):
            block = self.matrix[first : min(first + size, stop), :]
            for step in self.steps:
                block = step.apply(first, block)
            yield first, block

    def _sum(
        self, product: Callable[[int, Array], Array], *, width: int, result_bytes: int, size: int | None = None
    ) -> Array:
        """Sum of product(start, block) over all blocks, in float64, in a fixed order."""

        def step(segment: tuple[int, int]) -> list[Array]:
            parts: list[Array] = []
            for start, block in self.blocks(*segment, size):
                parts = _accumulate(parts, [product(start, block)])
            return parts

        return fold(step, self._segments(width, result_bytes), _accumulate, workers=self._workers(width))[0]

    def _operand(self, factor: Array) -> Array:
        """A factor in the precision of the products."""
        return astype(factor, getattr(namespace(self.like), self.precision))

    @property
    def rows_per_gram(self) -> int:
        """Rows of a block of which a Gram matrix is made: enough of them that adding it up costs little beside."""
        if not is_host(self.like):
            return self.rows_per_block
        return min(max(self.rows_per_block, 6 * self.shape[1]), _GRAM_ROWS)

    @property
    def rows_per_block(self) -> int:
        itemsize = 4 if self.precision == "float32" else 8
        if not is_host(self.like):
            return max(256, self.counter.block_bytes // (itemsize * self.shape[1]))
        return int(np.clip(_BLOCK_BYTES // max(1, itemsize * self.shape[1]), 512, 8192))

    def _segments(self, width: int, result_bytes: int) -> list[tuple[int, int]]:
        """Row ranges that depend on the shape alone."""
        rows = self.shape[0]
        count = _SEGMENTS if is_numpy(self.like) and rows * self.shape[1] * width >= _SERIAL_WORK else 1
        count = max(1, min(count, rows // 64, _ACCUMULATOR_BYTES // max(result_bytes, 1)))
        edges = np.linspace(0, rows, count + 1).astype(int).tolist()
        return list(itertools.pairwise(edges))

    def _workers(self, width: int) -> int | None:
        return 1 if self.shape[0] * self.shape[1] * width < _SERIAL_WORK else self.workers


_HALVES = 512


def cross_products(block: Array) -> Array:
    """A^T A. On a GPU only the upper half of wide ones is formed: BLAS on the host sees the symmetry by itself."""
    columns = block.shape[1]
    if is_host(block) or columns < _HALVES:
        return block.T @ block
    xp, half = namespace(block), columns // 2
    first, second = block[:, :half], block[:, half:]
    corner = first.T @ second
    above = xp.concat([cross_products(first), corner], axis=1)
    return xp.concat([above, xp.concat([corner.T, cross_products(second)], axis=1)], axis=0)


def _product(block: Array, factor: Array | None, *, gram: bool) -> Array | None:
    if gram:
        return cross_products(block)
    return None if factor is None else block.T @ (block @ factor)


def _accumulate(total: list[Array], parts: list[Array]) -> list[Array]:
    """Add the parts to float64 totals; the totals are ours, so NumPy adds in place."""
    if not total:
        return [astype(part, namespace(part).float64) for part in parts]
    if is_numpy(parts[0]):
        for sum_, part in zip(total, parts, strict=True):
            np.add(sum_, part, out=sum_)
        return total
    return [sum_ + astype(part, sum_.dtype) for sum_, part in zip(total, parts, strict=True)]


def _longest_power(squared: Array) -> Array:
    """The largest sum of a row of a block, to be added up."""
    xp = namespace(squared)
    ones = np.ones(squared.shape[1], squared.dtype) if xp is np else xp.ones_like(squared[0, :])
    return to_power(xp.reshape(astype(xp.max(squared @ ones), xp.float64), (1,)))


def _ones_like(block: Array) -> Array:
    xp = namespace(block)
    if xp is np:
        return np.ones(block.shape[0], block.dtype)
    return xp.ones(block.shape[0], dtype=block.dtype, device=block.device)


def _diagonal(matrix: Array) -> Array:
    if is_numpy(matrix):
        return np.diagonal(matrix).copy()
    return namespace(matrix).reshape(matrix, (-1,))[:: matrix.shape[0] + 1]
