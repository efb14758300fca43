"""fold(step, segments): run a step over the segments of a matrix and sum the results in order.

The segments depend only on the matrix, never on the number of workers, and partial results are added in the order of
the segments. The result therefore has the same bits for any number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from eckart.engine.threads import one_blas_thread, threads

Segment = TypeVar("Segment")
Result = TypeVar("Result")


def fold(
    step: Callable[[Segment], Result],
    segments: Sequence[Segment],
    add: Callable[[Result, Result], Result],
    *,
    workers: int | None = None,
) -> Result:
    """add(...add(step(s_0), step(s_1))..., step(s_last)); steps run in parallel, sums keep their order."""
    workers = min(workers or threads(), len(segments))
    if workers <= 1:
        with one_blas_thread():  # with more threads, BLAS sums in another order
            return _reduce(map(step, segments), add)
    work = _Work(step, segments, add)
    quiet = np.geterr()  # each thread has its own settings for floating-point warnings

    def there() -> None:
        with np.errstate(**quiet):
            work.take()

    with one_blas_thread():
        # No `with` around the shared pool: it outlives the call.
        helpers = [_pool(workers).submit(there) for _ in range(workers - 1)]
        try:
            work.take()
        finally:
            work.stop()
            # A helper that has not started by now is not waited for.
            failures = [None if helper.cancel() else helper.exception() for helper in helpers]
        for failure in failures:
            if failure is not None:
                raise failure
        return work.total()


class _Work(Generic[Segment, Result]):
    """Segments that several threads, the calling one among them, take one after the other, and the sum of the results.

    The caller works too, so that two threads need one wake-up instead of two, and a thread that starts late costs
    nothing.
    """

    def __init__(
        self,
        step: Callable[[Segment], Result],
        segments: Sequence[Segment],
        add: Callable[[Result, Result], Result],
    ) -> None:
        self._step, self._segments, self._add = step, segments, add
        self._next, self._stopped = 0, False
        self._taking, self._adding = Lock(), Lock()
        self._found: dict[int, Result] = {}
        self._sum: list[Result] = []
        self._added = 0

    def take(self) -> None:
        """Run the step on segments that no other thread has taken, until there are none."""
        try:
            while (place := self._take()) is not None:
                self._found[place] = self._step(self._segments[place])
                # The thread that adds takes the results of the others along; what it misses is added at the end.
                if self._adding.acquire(blocking=False):
                    try:
                        self._add_up()
                    finally:
                        self._adding.release()
        except BaseException:
            self.stop()
            raise

    def _take(self) -> int | None:
        with self._taking:
            if self._stopped or self._next == len(self._segments):
                return None
            self._next += 1
            return self._next - 1

    def stop(self) -> None:
        """Let no thread take another segment."""
        self._stopped = True

    def _add_up(self) -> None:
        """Add the results that follow those added so far: always in the order of the segments."""
        while self._added in self._found:
            result = self._found.pop(self._added)
            self._sum = [self._add(self._sum[0], result) if self._sum else result]
            self._added += 1

    def total(self) -> Result:
        """The sum, after all threads have finished."""
        self._add_up()
        return self._sum[0]


def each(step: Callable[[Segment], None], segments: Sequence[Segment], *, workers: int | None = None) -> None:
    """Run a step that writes its own part of a result over all segments."""
    fold(step, segments, lambda _first, _second: None, workers=workers)


def together(*works: Callable[[], Any], workers: int | None = None) -> list[Any]:
    """The results of several tasks run in parallel."""
    return fold(lambda work: [work()], works, lambda first, second: [*first, *second], workers=workers)


def both(work: Callable[[], Segment], other: Callable[[], Result]) -> tuple[Segment, Result]:
    """(work(), other()), with the second on another thread."""
    quiet = np.geterr()

    def there() -> Result:
        with np.errstate(**quiet):
            return other()

    future = _pool(2).submit(there)
    try:
        result = work()
    finally:
        future.exception()  # waits, so that no thread of ours runs on after the return
    return result, future.result()


def _reduce(results: Iterator[Result], add: Callable[[Result, Result], Result]) -> Result:
    total = next(results)
    for result in results:
        total = add(total, result)
    return total


@lru_cache(maxsize=4)
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="eckart")


if hasattr(os, "register_at_fork"):
    # A forked child has none of its parent's threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
