"""RowBlocks: rows in memory, dense or CSR, on any device. Views cost nothing; each product is one pass.

A view records what is done to a block of rows when it is multiplied (`prepare`). The backend of the rows multiplies
(`backends/products.py`, `backends/csr.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eckart.arrays import Array, DType, Matrix, astype, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.base import Backend, Result
from eckart.engine.backends.memory import Counter
from eckart.engine.backends.products import RowProducts
from eckart.engine.backends.select import backend_of, is_csr
from eckart.engine.constancy import differing
from eckart.engine.exponent import steps_of
from eckart.engine.operator import MomentsAndProduct
from eckart.engine.prepare import Convert, Scale, Shift, Step
from eckart.forwarding import forwarded

_ROWS = 2048


@dataclass(frozen=True)
class RowBlocks:
    """diag(u) (2^e A - 1 c^T), with u, e, c applied block by block; A a dense array or a CSR array."""

    matrix: Matrix
    precision: str = "float64"
    steps: tuple[Step, ...] = ()
    weight_roots: Array | None = None
    """u, the square roots of the row weights; None means ones."""
    workers: int | None = None
    counter: Counter = field(default_factory=Counter, compare=False)
    stored: Matrix = None
    """Sparse rows as given, if `matrix` contains weighted ones; otherwise None."""
    given: Matrix = None
    """Sparse rows before they were scaled by a power of two."""
    memo: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """Data that the backend prepared for products with these rows."""

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    resident = True
    """All rows are in memory."""
    passes: ClassVar[forwarded[int]] = forwarded("counter.passes")
    prototype: ClassVar[forwarded[Array]] = forwarded("backend.prototype")

    @cached_property
    def backend(self) -> Backend:
        return backend_of(self.matrix)

    @cached_property
    def sparse(self) -> bool:
        return is_csr(self.matrix)

    @property
    def entries(self) -> int:
        """Stored entries."""
        return int(self.matrix.nnz) if self.sparse else self.shape[0] * self.shape[1]

    @property
    def dtype(self) -> DType:
        if isinstance(self.matrix, np.ndarray):  # requested often, and dtype names are slow to build
            return np.float32 if self.matrix.dtype == np.float32 else np.float64
        xp = namespace(self.prototype)
        return xp.float32 if str(self.matrix.dtype).endswith("float32") else xp.float64

    # Views of the same data

    def precise(self) -> RowBlocks:
        """The same matrix with products formed in float64."""
        if self.precision == "float64":
            return self
        convert = [
            replace(s, dtype=namespace(self.prototype).float64) if isinstance(s, Convert) else s for s in self.steps
        ]
        matrix = self.matrix.astype(np.float64) if self.sparse else self.matrix
        return replace(self, matrix=matrix, precision="float64", steps=tuple(convert))

    def shifted(self, shift: Array) -> RowBlocks:
        """A - 1 c^T, subtracted block by block. Sparse rows cannot be shifted and need not be (see `host_csr`)."""
        shift = astype(shift, getattr(namespace(self.prototype), self.precision))
        # Before the row weights: diag(u) (A - 1 c^T).
        convert, rest = self.steps[:1], self.steps[1:]
        return replace(self, steps=(*convert, Shift(shift), *rest))

    def weighted(self, weights: np.ndarray) -> RowBlocks:
        """diag(sqrt(w)) A, in float64: a weighted float32 entry would be rounded before centring."""
        if self.precision != "float64":
            return self.precise().weighted(weights)
        roots = np.sqrt(weights)
        if self.sparse:
            matrix = self.backend.csr.scale_rows(self.matrix, roots)
            return replace(self, matrix=matrix, weight_roots=from_numpy(roots, self.prototype), stored=self.matrix)
        device_roots = from_numpy(roots, self.prototype)
        return replace(self, steps=(*self.steps, Scale(device_roots, by_row=True)), weight_roots=device_roots)

    def unweighted(self) -> RowBlocks:
        """A as before `weighted`, without shifts and scales."""
        steps = tuple(s for s in self.steps if isinstance(s, Convert))
        return replace(self, matrix=self.matrix if self.stored is None else self.stored, steps=steps, weight_roots=None)

    def prepared(self, *steps: Step) -> RowBlocks:
        """The same with further steps, after the conversion and before the weights."""
        return replace(self, steps=(*self.steps[:1], *steps, *self.steps[1:]))

    def scaled_columns(self, factors: np.ndarray) -> RowBlocks:
        """A diag(f); the pattern of sparse rows is shared."""
        if not self.sparse:
            return replace(self, steps=(*self.steps, Scale(from_numpy(factors, self.prototype))))
        return replace(self, matrix=self.backend.csr.scale_columns(self.matrix, factors))

    @property
    def _as_given(self) -> Matrix:
        """Sparse rows without weights and powers of two."""
        if self.given is not None:
            return self.given
        return self.matrix if self.stored is None else self.stored

    def largest_of_columns(self) -> np.ndarray:
        """The largest stored modulus in each column."""
        if self.sparse:
            stored = self.backend.csr.on_host(self._as_given)
            largest = np.zeros(self.shape[1])
            np.fmax.at(largest, stored.indices, np.abs(stored.data.astype(np.float64)))
            return largest
        if not is_numpy(self.matrix):
            xp = namespace(self.prototype)
            return to_numpy(xp.max(xp.abs(self.matrix), axis=0)).astype(np.float64)
        parts = (self.matrix[start : start + _ROWS] for start in range(0, self.shape[0], _ROWS))
        return np.asarray(np.fmax.reduce([np.fmax.reduce(np.abs(part.astype(np.float64)), axis=0) for part in parts]))

    def in_powers(self, exponents: np.ndarray) -> RowBlocks:
        """The stored data with a power of two for each column, instead of one for all."""
        if not self.sparse:
            steps = [replace(s, exponent=exponents) if isinstance(s, Convert) else s for s in self.steps]
            return replace(self, steps=tuple(steps))
        matrix = self._as_given
        matrix = matrix.astype(self.matrix.dtype) if matrix.dtype != self.matrix.dtype else matrix
        for factors in steps_of(exponents):
            matrix = self.backend.csr.scale_columns(matrix, factors)
        if self.weight_roots is None:
            return replace(self, matrix=matrix)
        weighted = self.backend.csr.scale_rows(matrix, to_numpy(self.weight_roots))
        return replace(self, matrix=weighted, stored=matrix)

    def full_columns_shifted(self, shift: np.ndarray) -> RowBlocks:
        """Sparse A - u c^T, where c is nonzero only on full columns."""
        return replace(self, matrix=self.backend.csr.shift_full_columns(self, shift))

    def transposed(self) -> RowBlocks:
        """A^T. Its rows are the columns of A; the weights of A's rows are already included in its entries."""
        matrix = self.backend.csr.transposed(self.matrix) if self.sparse else self.matrix.T
        steps = tuple(s.transposed() for s in self.steps)
        return replace(self, matrix=matrix, steps=steps, weight_roots=None, stored=None, given=None)

    def sample(self, count: int = 64) -> Array:
        """Some rows spread over the whole matrix, prepared, in float64."""
        stride = max(1, self.shape[0] // count)
        if self.sparse:
            return from_numpy(self.backend.csr.dense_rows(self.matrix, slice(0, None, stride)), self.prototype)
        block = self.matrix[::stride, :]
        for step in self.steps:
            if isinstance(step, Convert) or (isinstance(step, Shift) and not step.by_row):
                block = step.apply(0, block)
        return astype(block, namespace(block).float64)

    def dense(self) -> np.ndarray:
        """The whole matrix, prepared, on the host in float64, for small matrices."""
        self.counter.passes += 1
        if self.sparse:
            return np.asarray(self.backend.csr.whole(self.matrix))
        block = self.matrix
        for step in self.steps:
            block = step.apply(0, block)
        return np.array(to_numpy(block), dtype=np.float64, order="C")

    def constant_columns(self, candidates: np.ndarray) -> np.ndarray:
        """The columns in which every entry equals the first exactly."""
        if not candidates.size:
            return candidates
        stored = self._as_given if self.sparse else self.matrix
        if self.sparse:
            varying = self.backend.varying(stored, self.backend.csr.dense_rows(stored, slice(0, 1))[0])[candidates]
        else:
            varying = differing(self.backend.to_host(self.backend.take_columns(stored, candidates)))
        return np.asarray(candidates[~varying])

    def rows(self, index: object) -> Array:
        return self.matrix[index]

    def columns(self, index: object) -> Array:
        return self.matrix[:, index]

    # Products, one pass each

    def matmat(self, right: Array) -> Array:
        """A Q in the precision of the products."""
        return self._pass(lambda products: products.matmat(right))

    def rmatmat(self, left: Array) -> Array:
        """A^T Y."""
        return self._pass(lambda products: products.rmatmat(left))

    def normal(self, right: Array) -> Array:
        """A^T (A Q)."""
        return self._pass(lambda products: products.normal(right))

    def normal_and_gram(self, right: Array, other: Array) -> tuple[Array, Array] | None:
        """A^T (A Q) and (A V)^T (A V), for V = `other`; None if that takes as long as A^T (A V)."""
        found = self.backend.within_memory(self.counter, lambda: self.products.normal_and_gram(right, other))
        self.counter.passes += 0 if found is None else 1
        return found

    def gram(self, right: Array | None = None) -> Array:
        """A^T A, or (A Q)^T (A Q)."""
        return self._pass(lambda products: products.gram(right))

    def moments_and_product(self, right: Array | None = None, *, gram: bool = False) -> MomentsAndProduct:
        """u^T A, sums of squares, and A^T (A Q) or A^T A, in one pass."""
        return self._pass(lambda products: products.moments_and_product(right, gram=gram))

    def approximate(self, right: Array) -> Array | None:
        """An approximation of A^T (A Q), only for initial directions.

        None if it costs as much as the product itself.
        """
        found = self.backend.within_memory(self.counter, lambda: self.products.approximate_normal(right))
        self.counter.passes += 0 if found is None else 1
        return found

    def additions(self, *, gram: bool, transposed: bool = False) -> int:
        """Maximum number of roundings of a term of a product: in A^T A, or in A^T (A q), which sums twice."""
        return self.products.additions(gram=gram, transposed=transposed)

    def product_additions(self, *, transposed: bool = False) -> tuple[int, int]:
        """The same for A q in float64, and for A^T times it."""
        return self.products.product_additions(transposed=transposed)

    @property
    def products(self) -> RowProducts:
        return self.backend.products(self)

    def _pass(self, work: Callable[[RowProducts], Result]) -> Result:
        result = self.backend.within_memory(self.counter, lambda: work(self.products))
        self.counter.passes += 1
        return result

    # Blocks

    tile: ClassVar[forwarded[int]] = forwarded("products.tile")
    """Columns of a factor multiplied at a time."""
    rows_per_block: ClassVar[forwarded[int]] = forwarded("products.block_rows")

    def blocks(self, start: int, stop: int, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """(first row, prepared block) for the rows start..stop."""
        size = self.rows_per_block if size is None else size
        for first in range(start, stop, size):
            block = self.matrix[first : min(first + size, stop), :]
            for step in self.steps:
                block = step.apply(first, block)
            yield first, block
