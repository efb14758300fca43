"""How many threads, and who may use them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

_lock = Lock()
_users = 0
_count = 1
_limit: Any = None  # the setting is one for the whole process: first in sets it, last out takes it back


def threads() -> int:
    """Threads to use: what BLAS would use, so that one setting (OMP_NUM_THREADS, threadpoolctl) rules all."""
    if _users:
        return _count  # BLAS is held at one thread so that ours can run
    counts = [info["num_threads"] for info in _controller().info() if info["user_api"] == "blas"]
    return max(1, min(counts, default=available_cores()))


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread: while our own threads run, and for problems too small to be worth two.

    On a busy machine, BLAS threads that wait for each other cost more than they bring.
    """
    global _users, _count, _limit  # noqa: PLW0603
    with _lock:
        if _users == 0:
            _count = threads()
        _users += 1
        if _users == 1:
            _limit = _controller().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()


@lru_cache(maxsize=1)
def _controller() -> Any:
    # Made after NumPy and SciPy have loaded their BLAS; looking for libraries costs milliseconds, hence the cache.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
