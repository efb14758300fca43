"""Number of threads, and which library may use them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

_lock = Lock()
_users = 0
_count = 1
_before: list[int] = []  # the setting is global: the first to enter sets it, the last to leave restores it


def threads() -> int:
    """Number of threads: as many as BLAS uses, so that one setting (OMP_NUM_THREADS, threadpoolctl) controls all."""
    if _users:
        return _count  # BLAS is limited to one thread so that ours can run
    counts = [get() for get, _ in _libraries()]
    return max(1, min(counts) if counts else available_cores())


def available_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


class one_blas_thread:
    """Limit BLAS to one thread, while our own threads run and for problems too small for two.

    On a busy machine, BLAS threads that wait for each other cost more than they save. NumPy and SciPy each have their
    own BLAS, whose idle threads would compete, so both are limited. Each library is called directly: threadpoolctl's
    limits take four times as long, which matters in a fit of a tenth of a millisecond.
    """

    def __enter__(self) -> None:
        global _users, _count, _before  # noqa: PLW0603
        with _lock:
            if _users == 0:
                libraries = _libraries()
                _before = [get() for get, _ in libraries]
                _count = max(1, min(_before) if _before else available_cores())
                for (_get, set_), count in zip(libraries, _before, strict=True):
                    if count != 1:
                        set_(1)
            _users += 1

    def __exit__(self, *_: object) -> None:
        global _users  # noqa: PLW0603
        with _lock:
            _users -= 1
            if _users:
                return
            for (_get, set_), count in zip(_libraries(), _before, strict=True):
                if count != 1:
                    set_(count)


@lru_cache(maxsize=1)
def _libraries() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """(get, set) the number of threads of each BLAS library of this process."""
    return [_calls(library) for library in _controllers()]


@lru_cache(maxsize=1)
def largest_unpacked_product() -> int:
    """Largest m n k for which BLAS multiplies m x k and k x n matrices without copying them first; 0 if it always does.

    OpenBLAS decides by this number where it has AVX-512 kernels (kernel/x86_64/*gemm_small_kernel_permit_skylakex.c).
    """
    return _UNPACKED if any(getattr(b, "architecture", None) in _AVX512 for b in _controllers()) else 0


_UNPACKED = 1_000_000
_AVX512 = ("SkylakeX", "Cooperlake", "SapphireRapids")


@lru_cache(maxsize=1)
def is_amd() -> bool:
    """Whether the processor is one of AMD: which way of multiplying is fastest depends on it."""
    try:
        with Path("/proc/cpuinfo").open() as file:
            described = file.read(4096)
    except OSError:
        described = platform.processor()
    return "AuthenticAMD" in described


@lru_cache(maxsize=1)
def _controllers() -> list[Any]:
    """threadpoolctl's handle of each BLAS library of this process."""
    # Created after NumPy and SciPy have loaded their BLAS; finding libraries takes milliseconds, hence the cache.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


def _calls(library: Any) -> tuple[Callable[[], int], Callable[[int], None]]:
    """OpenBLAS's functions, if threadpoolctl exposes them: it looks them up by name on every call."""
    if library.internal_api == "openblas" and library.threading_layer == "pthreads":
        find: Callable[[str], Any] = getattr(library, "_get_symbol", lambda _name: None)
        get, set_ = find("openblas_get_num_threads"), find("openblas_set_num_threads")
        if get is not None and set_ is not None:
            return get, set_
    return library.get_num_threads, library.set_num_threads
