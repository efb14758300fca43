"""fold(step, segments): run a step over the segments of a matrix and sum the results in order.

The segments depend only on the matrix, never on the number of workers, and partial results are added in the order of
the segments. The result therefore has the same bits for any number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

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
    quiet = np.geterr()  # each thread has its own settings for floating-point warnings

    def there(segment: Segment) -> Result:
        with np.errstate(**quiet):
            return step(segment)

    with one_blas_thread():
        # No `with` around the shared pool: it outlives the call.
        return _reduce(_pool(workers).map(there, segments), add)


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


def _reduce(results: Iterator[Result] | map[Result], add: Callable[[Result, Result], Result]) -> Result:
    iterator = iter(results)
    total = next(iterator)
    for result in iterator:
        total = add(total, result)
    return total


@lru_cache(maxsize=4)
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="eckart")


if hasattr(os, "register_at_fork"):
    # A forked child has none of its parent's threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
