"""How the blocks of a matrix are read: passes so far, progress reports, checkpoints."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from eckart.engine.backends.memory import Counter
from eckart.engine.backends.transfer import Stay, Transfer
from eckart.engine.blocks.checkpoint import Journal
from eckart.engine.blocks.digests import RepeatedBlocks
from eckart.log import logger

Item = TypeVar("Item")
Loaded = TypeVar("Loaded")


@dataclass(frozen=True)
class Progress:
    """Progress of a long computation, which is passed to `callback` after every block.

    Attributes
    ----------
    current_pass : int
        Current pass over the data, counted from 1.
    passes : int
        Expected number of passes.
    block : int
        Blocks completed in this pass.
    blocks : int
        Blocks per pass.
    seconds : float
        Time since the start.
    rows_per_second : float
        Average number of rows processed per second.
    seconds_left : float
        Estimated time left.
    explained : tuple of float or None
        Certified lower and upper bounds on the explained share so far. None before the first convergence check.

    See Also
    --------
    decompose : Calls `callback` with it.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> seen = []
    >>> d = ek.decompose(np.random.default_rng(0).normal(size=(200, 5)), k=2, stream=True, callback=seen.append)
    >>> seen[-1].current_pass, seen[-1].block == seen[-1].blocks
    (1, True)
    """

    current_pass: int
    passes: int
    block: int
    blocks: int
    seconds: float
    rows_per_second: float
    seconds_left: float
    explained: tuple[float, float] | None = None


ProgressCallback = Callable[[Progress], None]


def in_memory(callback: ProgressCallback, rows: int, expected: int) -> Callable[[int], None]:
    """A function of the number of passes done that reports each of them as one block, for data in memory."""
    began = time.monotonic()

    def report(done: int) -> None:
        seconds, passes = max(time.monotonic() - began, 1e-9), max(expected, done)
        callback(Progress(done, passes, 1, 1, seconds, done * rows / seconds, (passes - done) * seconds / done))

    return report


@dataclass
class Reading:
    """Shared by all views of one matrix."""

    journal: Journal | None = None
    transfer: Transfer = field(default_factory=Stay)
    """Copies blocks to the device that processes them."""
    cluster: Any = None
    """Cluster that processes the blocks (`cluster.Cluster`); None for this process."""
    repeated: RepeatedBlocks = field(default_factory=RepeatedBlocks)
    """What earlier passes have read from data that may change."""
    counter: Counter = field(default_factory=Counter)
    """Counts passes and limits block sizes on a device."""
    callback: ProgressCallback | None = None
    expected: int = 1
    passes: int = 0
    explained: tuple[float, float] | None = None
    digest: tuple[int, int] | None = None
    """Digest sums of all numbers (`eckart.engine.digest`), once the first pass is complete."""
    varying: np.ndarray | None = None
    """Columns in which some entry differs from the first, known at the same time."""
    stored: np.ndarray | None = None
    """Stored entries of each column of weighted sparse rows, known at the same time; rows of weight 0 do not count."""
    _began: float = field(default_factory=time.monotonic)
    _blocks_done: int = 0

    def tell(self, block: int, blocks: int, rows: int) -> None:
        """Report block `block` of `blocks` of the current pass; the matrix has `rows` rows."""
        self._blocks_done += 1
        if block == blocks and logger.isEnabledFor(logging.DEBUG):
            logger.debug("Pass %d of about %d: %d blocks.", self.passes, max(self.expected, self.passes), blocks)
        if self.callback is None:
            return
        seconds = max(time.monotonic() - self._began, 1e-9)
        rate = self._blocks_done / seconds
        left = (blocks - block) + max(self.expected - self.passes, 0) * blocks
        self.callback(
            Progress(
                current_pass=self.passes,
                passes=max(self.expected, self.passes),
                block=block,
                blocks=blocks,
                seconds=seconds,
                rows_per_second=rate * rows / blocks,
                seconds_left=left / rate,
                explained=self.explained,
            )
        )

    def note(self, _step: int, lower: float, upper: float) -> None:
        self.explained = (lower, upper)
        logger.debug("After pass %d: %.6f to %.6f explained (certified).", self.passes, lower, upper)


def ahead(
    load: Callable[[Item], Loaded], items: Sequence[Item], depth: int = 2, threads: int = 1
) -> Iterator[tuple[Item, Loaded]]:
    """(item, load(item)) in order, loaded by separate threads while the caller processes earlier ones."""
    if len(items) <= 1:
        for item in items:
            yield item, load(item)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="eckart-read")
    pending: deque[tuple[Item, Future[Loaded]]] = deque()
    waiting = iter(items)
    try:
        for item in waiting:
            pending.append((item, pool.submit(load, item)))
            if len(pending) >= depth:
                break
        while pending:
            item, future = pending.popleft()
            loaded = future.result()
            for later in waiting:
                pending.append((later, pool.submit(load, later)))
                break
            yield item, loaded
            del loaded
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
