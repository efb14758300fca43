"""fold(step, segments): run a step over the segments of a matrix, add up the results in their order.

The segments depend on the matrix alone, never on the number of workers, and the partial results are added in the order
of the segments: the answer is the same bits for any number of workers.
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
    """add(...add(step(s_0), step(s_1))..., step(s_last)); steps run side by side, sums keep their order."""
    workers = min(workers or threads(), len(segments))
    if workers <= 1:
        with one_blas_thread():  # with more, BLAS adds up in another order
            return _reduce(map(step, segments), add)
    quiet = np.geterr()  # which floating-point faults to warn of is a thread's own matter

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
    """The results of several pieces of work, done side by side."""
    return fold(lambda work: [work()], works, lambda first, second: [*first, *second], workers=workers)


def both(work: Callable[[], Segment], other: Callable[[], Result]) -> tuple[Segment, Result]:
    """(work(), other()), the other on a thread of its own."""
    quiet = np.geterr()

    def there() -> Result:
        with np.errstate(**quiet):
            return other()

    future = _pool(2).submit(there)
    try:
        result = work()
    finally:
        future.exception()  # waits: nothing of ours runs on when this returns
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
