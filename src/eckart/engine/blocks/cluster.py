"""The blocks of a matrix on a Dask cluster: each is read and multiplied where a worker is, and added up in a tree.

A block's task holds what is needed to read it again (a path and rows, or a chunk's own graph), so a worker that dies
takes nothing along. The tree has the order of the blocks: the answer does not depend on how many workers there were.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.engine.blocks.dask_rows import DaskRows, as_block
from eckart.engine.blocks.reading import Reading
from eckart.errors import ClusterError, require

if TYPE_CHECKING:
    from eckart.engine.blocks.stacked import BlockTask, StackedBlocks

_FAN_IN = 4
_TRAVELS, _TASKS = 4.0, 64
"""A task reads at least four times the bytes that it sends, as far as 64 tasks are left."""
_PATIENCE = 60.0
"""Seconds without any worker after which the work is given up."""


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask client."""

    client: Any
    patience: float = _PATIENCE

    def parts(self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]]) -> list[list[np.ndarray]]:
        """task(block) of every block, in order."""
        with self._watched():
            return [self._wait([future])[0] for future in self._submit(stack, task, spans)]

    def total(self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]]) -> list[np.ndarray]:
        """The sum of task(block) over the blocks."""
        with self._watched():
            return self._total(stack, task, spans)

    def _total(self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]]) -> list[np.ndarray]:
        level = self._submit(stack, task, spans, together=_together(stack, task, len(spans)))
        while len(level) > 1:
            groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
            level = [
                group[0] if len(group) == 1 else self.client.submit(add_parts, group, pure=False) for group in groups
            ]
        found: list[np.ndarray] = self._wait(level)[0]
        return [np.asarray(array, dtype=np.float64) for array in found]

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Dask's words for a lost scheduler in ours."""
        try:
            yield
        except (CancelledError, ConnectionError) as error:
            raise self._scheduler_lost() from error

    def _scheduler_lost(self) -> ClusterError:
        return ClusterError(
            f"The Dask scheduler was lost (client {self.client.status!r}). Start it again and repeat the call; "
            "with checkpoint=... it goes on where it stood."
        )

    def _submit(
        self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]], *, together: int = 1
    ) -> list[Any]:
        light = replace(stack, reading=Reading())
        chunked = stack.source if isinstance(stack.source, DaskRows) else None
        if chunked is not None:
            # The graph of the whole array would travel with every task: a chunk's own is enough.
            light = replace(light, source=replace(chunked, array=_Shape(chunked.array)))
        # One task that holds both, known to the scheduler: a worker that needs them again gets them again.
        shared = self.client.submit(pair, light, task, pure=False)
        if chunked is None:
            groups = [spans[i : i + together] for i in range(0, len(spans), together)]
            return [self.client.submit(run_blocks, shared, group, pure=False) for group in groups]
        futures = []
        for start, stop in spans:
            chunk = self.client.compute(chunked.chunk(start))
            futures.append(self.client.submit(run_chunk, shared, start, stop, chunk, pure=False))
        return futures

    def _wait(self, futures: list[Any]) -> list[Any]:
        """The results; an error when the cluster is gone for longer than `patience`, never a wait without end."""
        lonely: float | None = None
        pending = futures[0]
        while not pending.done():
            with contextlib.suppress(Exception):  # a task that failed is looked at below
                pending.result(timeout=1.0)
            if pending.done() or pending.status == "cancelled":
                break
            now = time.monotonic()
            alive = self.client.status == "running" and self._workers() > 0
            lonely = None if alive else (now if lonely is None else lonely)
            if lonely is not None and now - lonely > self.patience:
                raise ClusterError(
                    f"The Dask cluster has had no worker for {self.patience:.0f} seconds "
                    f"(client {self.client.status!r}). Start workers again and repeat the call; with checkpoint=... "
                    "it goes on where it stood."
                )
        if pending.status != "finished":
            raise self._explained(pending)
        return [pending.result()]

    def _workers(self) -> int:
        try:
            return len(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError, AttributeError, KeyError):
            return 0

    def _explained(self, future: Any) -> Exception:
        if future.status == "cancelled" or self.client.status != "running":
            return self._scheduler_lost()
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            return ClusterError(
                f"A block ended its worker again and again: {error}. Give workers more memory, or use smaller blocks "
                "with memory=... or smaller chunks."
            )
        return error if isinstance(error, Exception) else ClusterError(f"A task failed on the cluster: {error}")


def find_cluster(executor: Any, *, wanted: bool) -> Cluster | None:
    """The cluster of `executor` ("dask" or a Client); of the active client, when the data are Dask's (`wanted`)."""
    if executor is None and not wanted:
        return None
    distributed = require("distributed", extra="dask", purpose="Dask clusters")
    if isinstance(executor, distributed.Client):
        return Cluster(executor)
    if executor not in (None, "dask"):
        raise ClusterError(f"executor={executor!r} is not known: give 'dask' or a dask.distributed Client.")
    try:
        return Cluster(distributed.get_client())
    except ValueError as error:
        if executor is None:
            return None
        raise ClusterError(
            "executor='dask' needs a running cluster, and none is started silently. Make one first, for example "
            "client = dask.distributed.Client('tcp://scheduler:8786') or Client(LocalCluster())."
        ) from error


@dataclass(frozen=True)
class _Shape:
    """What remains of a Dask array when its graph stays at home."""

    shape: tuple[int, int]
    dtype: Any

    def __init__(self, array: Any) -> None:
        object.__setattr__(self, "shape", tuple(int(size) for size in array.shape))
        object.__setattr__(self, "dtype", array.dtype)


def pair(stack: StackedBlocks, task: BlockTask) -> tuple[StackedBlocks, BlockTask]:
    return stack, task


def _together(stack: StackedBlocks, task: BlockTask, blocks: int) -> int:
    """Blocks that a worker adds up before anything travels: more where a sum is large beside a block.

    From the shape alone, so that the answer has the same bits on any number of workers; at least 64 tasks are left.
    """
    columns = stack.shape[1]
    factor = getattr(task, "factor", None)
    width = columns if getattr(task, "gram", False) or factor is None else factor.shape[1]
    block = max(stack.entries * stack.dtype.itemsize / max(blocks, 1), 1.0)
    return int(np.clip(np.ceil(_TRAVELS * 8.0 * columns * width / block), 1, max(1, blocks // _TASKS)))


def run_blocks(shared: tuple[StackedBlocks, BlockTask], spans: list[tuple[int, int]]) -> list[np.ndarray]:
    """On a worker: read the rows of each block and do the task; the sum, in their order, where there are several."""
    stack, task = _here(shared)
    first, *rest = spans
    total = stack.part(task, *first, stack.source.read(*first))
    for span in rest:
        total = add_parts([total, stack.part(task, *span, stack.source.read(*span))])
    return total


def run_chunk(shared: tuple[StackedBlocks, BlockTask], start: int, stop: int, chunk: Any) -> list[np.ndarray]:
    """On a worker: the same with a chunk that another task made."""
    stack, task = _here(shared)
    return stack.part(task, start, stop, as_block(chunk, stack.source.dtype))


def _here(shared: tuple[StackedBlocks, BlockTask]) -> tuple[StackedBlocks, BlockTask]:
    """With as many threads as this worker was given: its neighbours on the machine have theirs."""
    stack, task = shared
    worker = require("distributed", extra="dask", purpose="Dask clusters").get_worker()
    return replace(stack, workers=worker.state.nthreads), task


def add_parts(parts: list[list[np.ndarray]]) -> list[np.ndarray]:
    """On a worker: the sum of some parts, in their order."""
    total = [np.array(array, dtype=np.float64) for array in parts[0]]
    for part in parts[1:]:
        for sum_, array in zip(total, part, strict=True):
            np.add(sum_, array, out=sum_)
    return total
