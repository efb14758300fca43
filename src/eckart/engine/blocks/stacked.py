"""StackedBlocks: a matrix of many row blocks that are read in turn and never all in memory.

A = (A_1; A_2; ...): A^T A Q = sum of A_i^T A_i Q. Each A_i is a RowBlocks while it is in memory, so `rows.py` computes
every product. Here they are only summed, in the order of the blocks, in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from eckart.arrays import Array, Matrix, is_sparse, namespace, to_numpy
from eckart.engine.backends.host_csr import as_csr
from eckart.engine.backends.memory import Counter
from eckart.engine.backends.products import MOST_SEGMENTS
from eckart.engine.backends.select import backend_of, is_csr
from eckart.engine.blocks.checkpoint import key_of
from eckart.engine.blocks.csr_check import check_sparse
from eckart.engine.blocks.digests import sums_of
from eckart.engine.blocks.reading import Reading, ahead
from eckart.engine.blocks.source import OfSource, RowSource, stack_blocks
from eckart.engine.blocks.task import BlockTask, Task, View, add_parts, counted_only
from eckart.engine.digest import from_limbs, limbs
from eckart.engine.exponent import Exponent
from eckart.engine.operator import MomentsAndProduct, of_powers
from eckart.engine.prepare import Convert
from eckart.engine.rows import RowBlocks
from eckart.engine.transformed import Transposed
from eckart.errors import MemoryBudgetError
from eckart.forwarding import forwarded
from eckart.wording import assigned

_JOURNALLED = 2**28
"""Row products of up to this many bytes are checkpointed; longer ones are recomputed."""


@dataclass(frozen=True)
class StackedBlocks(OfSource):
    """The rows of a source between `edges`, seen through `views`."""

    source: RowSource
    edges: tuple[int, ...]
    precision: str
    exponent: Exponent = 0
    views: tuple[View, ...] = ()
    weights: np.ndarray | None = None
    workers: int | None = None
    """Threads for the products of a block; None means all."""
    reading: Reading = field(default_factory=Reading, compare=False)

    resident = False
    passes: ClassVar[forwarded[int]] = forwarded("reading.passes")
    counter: ClassVar[forwarded[Counter]] = forwarded("reading.counter")

    @property
    def prototype(self) -> Array:
        return np.empty((0, 0))

    @property
    def weight_roots(self) -> np.ndarray | None:
        return None if self.weights is None else np.sqrt(self.weights)

    # Views

    def _seen(self, method: str, argument: object = None, *, by_row: bool = False) -> StackedBlocks:
        return replace(self, views=(*self.views, View(method, argument, by_row)))

    def precise(self) -> StackedBlocks:
        return self if self.precision == "float64" else replace(self._seen("precise"), precision="float64")

    def shifted(self, shift: np.ndarray) -> StackedBlocks:
        return self._seen("shifted", shift)

    def weighted(self, weights: np.ndarray) -> StackedBlocks:
        return replace(self._seen("weighted", weights, by_row=True), weights=weights, precision="float64")

    def scaled_columns(self, factors: np.ndarray) -> StackedBlocks:
        return self._seen("scaled_columns", factors)

    def largest_of_columns(self) -> np.ndarray:
        """The largest stored modulus in each column, over rows with nonzero weight, in one pass."""
        largest: list[np.ndarray] = []

        def take(_total: list[np.ndarray], part: list[np.ndarray], _start: int) -> list[np.ndarray]:
            largest.append(to_numpy(part[0]))
            return _total

        self._each(self._begin(), Task("largest"), take)
        return np.asarray(np.fmax.reduce(largest))

    def in_powers(self, exponents: np.ndarray) -> StackedBlocks:
        """The stored data with a power of two for each column, instead of one for all."""
        return replace(self, exponent=exponents)

    def full_columns_shifted(self, shift: np.ndarray) -> StackedBlocks:
        return self._seen("full_columns_shifted", shift)

    def transposed(self) -> Transposed:
        """A^T; a product with A A^T takes two passes."""
        return Transposed(self)

    # Rows

    def rows(self, index: Array) -> Matrix:
        """Some rows as stored: each block is read once."""
        wanted = np.arange(self.shape[0])[index]
        order = np.argsort(wanted, kind="stable")
        pieces = [
            block[wanted[order[first:last]] - start] for start, block, first, last in self._blocks_with(wanted[order])
        ]
        whole = stack_blocks(pieces)
        return whole[np.argsort(order, kind="stable")]

    def _blocks_with(self, rows: np.ndarray) -> Iterator[tuple[int, Matrix, int, int]]:
        for start, stop in itertools.pairwise(self.edges):
            first, last = np.searchsorted(rows, (start, stop))
            if last > first:
                yield start, self.source.read(start, stop), int(first), int(last)

    def columns(self, index: object) -> Matrix:
        """Some columns as stored, in one pass."""
        self.reading.passes += 1
        return stack_blocks([block[:, index] for _, block in self.read_all()])

    def _sampled_spans(self, most: int) -> list[tuple[int, int]]:
        """The beginnings of the first and the last block, if they have rows of nonzero weight.

        Otherwise one such row.
        """
        spans = sorted((a, min(b, a + most)) for a, b in {self.edges[:2], self.edges[-2:]})
        if self.weights is None:
            return spans
        first = int(np.argmax(self.weights > 0.0))
        return [span for span in spans if self.weights[slice(*span)].any()] or [(first, first + 1)]

    def sample(self, count: int = 64) -> np.ndarray:
        """Some rows of nonzero weight from the first and last block, prepared except for their weights, in float64."""
        spans = self._sampled_spans(max(count, 4096))
        plain = replace(self, views=tuple(view for view in self.views if not view.by_row), weights=None)
        found = [self._counted(self.source.read(*span), *span) for span in spans]
        blocks = (plain._block(rows, 0, rows.shape[0]) for rows in found)
        return np.concatenate([block.sample(max(2, count // len(spans))) for block in blocks])

    def blocks(self, start: int, stop: int, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """(first row, prepared block) for the rows start..stop."""
        for first, block in self._block(self.source.read(start, stop), start, stop).blocks(0, stop - start, size):
            yield start + first, block

    def pieces(self) -> Iterator[tuple[int, RowBlocks]]:
        """(first row, block as seen), in order: one pass."""
        self.reading.passes += 1
        for (start, stop), block in self.read_all():
            yield start, self._block(block, start, stop)

    def dense(self) -> np.ndarray:
        raise MemoryBudgetError(
            f"{assigned('solver', 'direct')} needs the whole matrix in memory, but this matrix ({self.shape[0]:,} "
            f"x {self.shape[1]:,}) is read in blocks. Use {assigned('solver', 'auto')}."
        )

    # Products, one read each

    def matmat(self, right: Array) -> np.ndarray:
        """The whole A Q: rows x b."""
        return self.rows_of(Task("matmat", np.ascontiguousarray(right)), right.shape[1])

    def measured(self, packed: np.ndarray) -> np.ndarray:
        """B Q and, as one more column, the squared norms of the rows of B (see `measured`): rows x (b + 1)."""
        return self.rows_of(Task("measured", np.ascontiguousarray(packed)), packed.shape[1] - 1)

    def rows_of(self, task: BlockTask, width: int) -> np.ndarray:
        """One result per row, in one pass."""
        result = np.empty((self.shape[0], width), self.precision)
        keep = result.nbytes <= _JOURNALLED
        number = self._begin()
        known = self._known(number, task) if keep else None
        if known is not None:
            return known[0]

        def put(_total: list[np.ndarray], part: list[np.ndarray], start: int) -> list[np.ndarray]:
            result[start : start + part[0].shape[0]] = to_numpy(part[0])
            return _total

        self._each(number, task, put)
        self._finish(number, task, [result] if keep else None)
        return result

    def rmatmat(self, left: Array) -> Array:
        return self._sum(Task("rmatmat", np.ascontiguousarray(left), by_row=True))[0]

    def normal(self, right: Array) -> Array:
        return self._sum(Task("normal", np.ascontiguousarray(right)))[0]

    def gram(self, right: Array | None = None) -> Array:
        return self._sum(Task("gram", None if right is None else np.ascontiguousarray(right)))[0]

    def moments_and_product(self, right: Array | None = None, *, gram: bool = False) -> MomentsAndProduct:
        factor = None if right is None else np.ascontiguousarray(right)
        task = Task("moments_and_product", factor, gram=gram, reference=self._first_row())
        sums, squares, weight, longest, *rest = self._sum(task, stay=gram)
        self.reading.digest = from_limbs(to_numpy(rest.pop()))
        self.reading.varying = to_numpy(rest.pop()) > 0.0
        if self._counts_stored:
            self.reading.stored = to_numpy(rest.pop())
        sums, squares, weight, longest = (to_numpy(array) for array in (sums, squares, weight, longest))
        product = rest.pop(0) if gram or right is not None else None
        return MomentsAndProduct(
            sums, squares, float(weight[0]), product, to_numpy(rest[0]) if rest else None, of_powers(longest), gram
        )

    # Reading

    def total(self, task: BlockTask) -> list[np.ndarray]:
        """The sum of the results of `task` over the blocks: one pass."""
        return self._sum(task)

    def _sum(self, task: BlockTask, *, stay: bool = False) -> list[Array]:
        """The sum of the results of all blocks; with `stay`, on the device of the blocks."""
        number = self._begin()
        known = self._known(number, task)
        if known is not None:
            return known
        total = self._each(number, task, add_parts)
        if not stay or self.reading.journal is not None:
            total = [to_numpy(array) for array in total]
        self._finish(number, task, total)
        return total

    def _each(self, number: int, task: BlockTask, combine: Callable[..., list[np.ndarray]]) -> list[np.ndarray]:
        """Fold the results of all blocks, in order, starting where the journal ended."""
        spans = list(itertools.pairwise(self.edges))
        if self.reading.cluster is not None:
            return self._on_cluster(task, spans, combine)
        journal = self.reading.journal if combine is add_parts else None  # only sums can be resumed
        key = "" if journal is None else self._key(task)
        done, total = (0, []) if journal is None else journal.partial(number, key)
        place = self.reading.transfer
        blocks = ahead(
            lambda span: place.load(self._read(span)), spans[done:], depth=place.depth, threads=place.threads
        )
        try:
            for (start, stop), loaded in blocks:
                total = combine(total, self.part(task, start, stop, place.accept(loaded)), start)
                done += 1
                if journal is not None and done < len(spans):
                    journal.advance(number, key, done, list(map(to_numpy, total)))
                try:
                    self.reading.tell(done, len(spans), self.shape[0])
                except KeyboardInterrupt:  # reported between blocks, when the sums are complete
                    if journal is not None:
                        journal.keep(number, key, done, list(map(to_numpy, total)))
                    raise
        finally:
            blocks.close()  # type: ignore[attr-defined]
        return total

    def _read(self, span: tuple[int, int]) -> Matrix:
        block = self.source.read(*span)
        if self.reading.journal is not None:
            self.reading.journal.digests.take(*span, block)
        if self.reading.repeated.are_compared(self.source):
            self.reading.repeated.confirm(*span, sums_of(block))
        return block

    def _key(self, task: BlockTask) -> str:
        """Identity of the computation of a pass: the task and the views, which depend on samples of the data."""
        methods = " ".join(view.method for view in self.views)
        arguments = [view.argument for view in self.views if not view.by_row]  # weights are part of the run identity
        return key_of(f"{task.key} {methods}", np.asarray(self.exponent), *arguments)

    def _on_cluster(
        self, task: BlockTask, spans: list[tuple[int, int]], combine: Callable[..., list[np.ndarray]]
    ) -> list[np.ndarray]:
        cluster = self.reading.cluster
        if combine is add_parts:
            total: list[np.ndarray] = cluster.total(self, task, spans)
        else:
            total = []
            for (start, _), part in zip(spans, cluster.parts(self, task, spans), strict=True):
                total = combine(total, part, start)
        self.reading.tell(len(spans), len(spans), self.shape[0])
        return total

    def part(self, task: BlockTask, start: int, stop: int, matrix: object) -> list[np.ndarray]:
        """The result of the task for rows start..stop, which were just read."""
        if isinstance(task, Task) and task.kind == "largest":
            counted = self._counted(matrix, start, stop)
            return [np.zeros(self.shape[1]) if counted is None else RowBlocks(counted).largest_of_columns()]
        parts = task(self._block(matrix, start, stop), start, stop)
        if not isinstance(task, Task) or task.kind != "moments_and_product":
            return parts
        # The first pass over the data also digests and compares the numbers as stored.
        if self._counts_stored:
            assert self.weights is not None
            backend = backend_of(matrix).csr
            parts.append(backend.stored_counts(matrix, self.weights[start:stop] > 0.0))
        return [*parts, self._varying(task, matrix, start, stop), limbs(matrix, start)]

    @property
    def _counts_stored(self) -> bool:
        return self.sparse and self.weights is not None

    def _varying(self, task: Task, matrix: object, start: int, stop: int) -> np.ndarray:
        """1 for columns in which some entry differs from the first row; rows of weight 0 do not count."""
        assert task.reference is not None
        counted = self._counted(matrix, start, stop)
        if counted is None:
            return np.zeros(self.shape[1])
        return np.asarray(backend_of(counted).varying(counted, task.reference), np.float64)

    def _counted(self, matrix: object, start: int, stop: int) -> Matrix:
        """Mask of the rows start..stop with nonzero weight; None if there are no weights."""
        counted = None if self.weights is None else np.flatnonzero(self.weights[start:stop] > 0.0)
        if counted is None or counted.size == stop - start:
            return matrix
        return backend_of(matrix).take_rows(matrix, counted) if counted.size else None

    def _first_row(self) -> np.ndarray:
        """The first row of nonzero weight, as stored."""
        first = 0 if self.weights is None else int(np.argmax(self.weights > 0.0))
        row = self.source.read(first, first + 1)
        return np.asarray((row.toarray() if self.sparse else row)[0])

    def constant_columns(self, candidates: np.ndarray) -> np.ndarray:
        """The columns in which every entry equals the first exactly; known after the first pass."""
        if not candidates.size:
            return candidates
        assert self.reading.varying is not None
        return np.asarray(candidates[~self.reading.varying[candidates]])

    def additions(self, *, gram: bool, transposed: bool = False) -> int:
        """Maximum number of roundings of a term of a product: those in a block, and one for each block."""
        rows = int(np.diff(self.edges).max())
        count, columns = len(self.edges) - 1, self.shape[1]
        if self.sparse:
            return rows + columns + MOST_SEGMENTS + count
        block = RowBlocks(np.broadcast_to(np.empty(1, self.dtype), (rows, columns)), precision=self.precision)
        return block.additions(gram=gram and not transposed) + count

    def raw_digest(self) -> tuple[int, int]:
        """The digest sums of the stored rows: from the first pass, or from a separate one."""
        if self.reading.digest is None:
            self.moments_and_product()
        assert self.reading.digest is not None
        return self.reading.digest

    def _begin(self) -> int:
        self.reading.passes += 1
        return self.reading.passes

    def _known(self, number: int, task: BlockTask) -> list[np.ndarray] | None:
        journal = self.reading.journal
        return None if journal is None else journal.result(number, self._key(task))

    def _finish(self, number: int, task: BlockTask, result: list[np.ndarray] | None) -> None:
        if self.reading.journal is not None and result is not None:
            self.reading.journal.finish(number, self._key(task), result)

    def read_all(self) -> Iterator[tuple[tuple[int, int], Matrix]]:
        return ahead(lambda span: self.source.read(*span), list(itertools.pairwise(self.edges)))

    def _block(self, matrix: object, start: int, stop: int) -> RowBlocks:
        """Rows start..stop as a matrix in memory."""
        scaled = np.any(self.exponent)
        # Weighted float32 entries may need powers of two that float32 does not have.
        precision = self.precision if scaled else str(self.source.dtype)
        if is_sparse(matrix):
            check_sparse(matrix)  # compiled loops use its indices
            matrix = as_csr(matrix)
        if scaled:
            matrix = counted_only(matrix, self.weights, start, stop)
        if is_csr(matrix):
            if scaled:
                given: Matrix = matrix
                given = given if precision == str(self.source.dtype) else given.astype(precision)
                matrix = backend_of(given).csr.times_power_of_two(given, self.exponent)
            block = RowBlocks(matrix, precision=precision, workers=self.workers)
        else:
            steps = (Convert(getattr(namespace(matrix), precision), self.exponent),)
            block = RowBlocks(matrix, precision=precision, steps=steps, workers=self.workers)
        block = replace(block, counter=self.reading.counter)
        for view in self.views:
            block = view.apply(block, start, stop)
        return block
