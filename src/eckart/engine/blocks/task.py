"""The task for one block of rows and the view of the block: values that can be sent to a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eckart.arrays import Array, astype, from_numpy, is_numpy, namespace
from eckart.engine.backends.select import backend_of, is_csr
from eckart.engine.blocks.checkpoint import key_of
from eckart.engine.measured import measured_rows
from eckart.engine.operator import MomentsAndProduct, to_power
from eckart.engine.prepare import Scale
from eckart.engine.rows import RowBlocks


@dataclass(frozen=True)
class View:
    """A method of RowBlocks and its argument: how to view a block after reading it."""

    method: str
    argument: Any = None
    by_row: bool = False

    def apply(self, block: RowBlocks, start: int, stop: int) -> RowBlocks:
        view = getattr(block, self.method)
        if self.argument is None:
            seen: RowBlocks = view()
            return seen
        argument = self.argument[start:stop] if self.by_row else self.argument
        if self.method == "shifted":
            argument = from_numpy(argument, block.prototype)
        return view(argument)  # type: ignore[no-any-return]


class BlockTask(Protocol):
    """The task for one block: arrays that sum over the blocks, or one array with a row for each row."""

    def __call__(self, block: RowBlocks, start: int, stop: int) -> list[np.ndarray]: ...

    @property
    def key(self) -> str:
        """What distinguishes it from another task."""
        ...


def _as_parts(found: MomentsAndProduct) -> list[np.ndarray]:
    longest = np.full(1, np.inf) if found.longest is None else to_power(found.longest)
    parts = [found.sums, found.squares, np.array([found.weight]), longest]
    return [*parts, *(part for part in (found.product, found.stored) if part is not None)]


@dataclass(frozen=True)
class Task:
    """The task for one block as a value that can be sent; its results sum over the blocks."""

    kind: str
    factor: np.ndarray | None = None
    by_row: bool = False
    gram: bool = False
    reference: np.ndarray | None = None
    """The first row, for comparisons in the first pass."""

    def __call__(self, block: RowBlocks, start: int, stop: int) -> list[np.ndarray]:
        factor = self.factor[start:stop] if self.by_row and self.factor is not None else self.factor
        if factor is not None:
            factor = from_numpy(factor, block.prototype)
        if self.kind == "moments_and_product":
            return _as_parts(block.moments_and_product(factor, gram=self.gram))
        if self.kind == "gram":
            return [block.gram(factor)]
        if self.kind == "measured":
            assert factor is not None
            return [measured_rows(block, factor)]
        return [getattr(block, self.kind)(factor)]

    @property
    def key(self) -> str:
        return key_of(f"{self.kind} {self.gram}", self.factor)


def add_parts(total: list[np.ndarray], part: list[np.ndarray], _start: int) -> list[np.ndarray]:
    """The results of one more block, added to those of earlier blocks, in float64."""
    if not total:
        return [np.array(a, np.float64) if is_numpy(a) else astype(a, namespace(a).float64) for a in part]
    if not all(is_numpy(array) for array in (*total, *part)):
        return [sum_ + astype(array, sum_.dtype) for sum_, array in zip(total, part, strict=True)]
    for sum_, array in zip(total, part, strict=True):
        np.add(sum_, array, out=sum_)
    return total


def counted_only(matrix: object, weights: np.ndarray | None, start: int, stop: int) -> Array:
    """The rows start..stop, with zeros for rows of weight 0, which could overflow when scaled."""
    counted = None if weights is None else weights[start:stop] > 0.0
    if counted is None or counted.all():
        return matrix
    if is_csr(matrix):
        return backend_of(matrix).csr.scale_rows(matrix, counted)
    return Scale(from_numpy(counted, matrix), by_row=True).apply(0, matrix)
