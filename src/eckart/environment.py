"""Free memory, and whether the declared content of a file would fit."""

from __future__ import annotations

import os
from pathlib import Path

from eckart.errors import FileError, MemoryBudgetError
from eckart.wording import MEMORY

SMALL = 64 * 1024 * 1024
"""Expanding to this many bytes is harmless whatever the ratio."""

MAX_EXPANSION = 100.0
"""A compressed file may grow by this factor before it counts as a decompression bomb."""


def say_bytes(count: float) -> str:
    """A byte count in words: 1536 -> '1.5 kB'."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.0f} byte{'s' * (count != 1)}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} PB"


def free_memory() -> int:
    """Bytes that can be allocated now, within the limits of the container and of the process."""
    limits = (_system_memory(), _group_memory(), _process_memory())
    return min(limit for limit in limits if limit is not None)


def _system_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 4 * 1024**3


def _group_memory() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())
        return max(limit - int((folder / "memory.current").read_text()), 0)
    except (OSError, ValueError):
        return None


def _process_memory() -> int | None:
    """What is left of the address space of this process, if it is limited (ulimit -v)."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return limit
    return max(limit - pages * resource.getpagesize(), 0)


_SMALLER = f"Raise the limit with {MEMORY}, or save the file in smaller chunks."


def check_fits(needed: int, name: str, what: str) -> None:
    """Refuse in advance an allocation that cannot succeed."""
    free = free_memory()
    if needed > free:
        raise MemoryBudgetError(
            f"{name}: {what} needs {say_bytes(needed)}, but only {say_bytes(free)} of memory is free. "
            "Use a machine with more memory, keep fewer columns, or save the data as .npy, which "
            "Eckart reads in blocks."
        )


def check_piece(
    needed: int, name: str, what: str, memory: int | None, *, share: int = 2, remedy: str = _SMALLER
) -> None:
    """Refuse a file whose smallest readable piece takes more than half (or all) of the allowed memory."""
    allowed = free_memory() if memory is None else memory
    if needed > max(allowed // share, SMALL):
        limit = "the memory limit is" if share == 1 else "it may take at most half of the memory limit of"
        raise MemoryBudgetError(
            f"{name}: {what} takes {say_bytes(needed)} and cannot be read in smaller parts, but {limit} "
            f"{say_bytes(allowed)}. {remedy}"
        )


def check_whole(needed: int, name: str, memory: int | None) -> None:
    """Refuse a file that can only be read whole and takes more than the allowed memory; None allows all free memory.

    `needed` is the peak during reading, which may be several times the size of the file.
    """
    if memory is not None and needed > max(memory, SMALL):
        raise MemoryBudgetError(
            f"{name} can only be read as a whole, which takes about {say_bytes(needed)}, but the "
            f"memory limit is {say_bytes(memory)}. Raise the limit with {MEMORY}, or convert the file "
            "with 'eckart convert' on a machine with more memory."
        )


def check_expansion(expanded: int, stored: int, name: str, max_expansion: float, *, whole: bool = True) -> None:
    """Refuse a file that expands beyond all proportion to its size or, if `whole`, beyond free memory."""
    if expanded > max(SMALL, max_expansion * stored):
        raise FileError(
            f"{name} expands from {say_bytes(stored)} to {say_bytes(expanded)} or more, which is over "
            f"the limit of {max_expansion:g} times its size. Eckart refuses such files because they "
            "can exhaust memory. If you trust the file, decompress it first."
        )
    if whole:
        check_fits(expanded, name, "decompressing the file")
