"""Arrays that map a file (np.memmap, its views): refused if the file has become shorter than the array.

The operating system ends a process that reads a mapped page beyond the end of its file (SIGBUS), and gives zeros for
the rest of the last page. Neither can be caught, so the size of the file is compared before the array is read. A file
that is truncated during a pass is not noticed in time; Eckart itself therefore never maps the files it opens.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from eckart.errors import FileError


def check_mapped(array: np.ndarray) -> None:
    """Refuse an array that maps more of a file than the file contains."""
    if array.base is not None:
        _check_base(array)


def _check_base(array: np.ndarray) -> None:
    base: object = array
    start, name = 0, "The mapped file"
    while isinstance(base, np.ndarray | memoryview):
        if isinstance(base, np.memmap) and base.offset is not None:  # copies of a map are np.memmap as well
            start, name = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY, _name(base)
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if not isinstance(base, mmap.mmap) or not array.size:
        return
    try:
        size = base.size()  # of the file that is mapped, even if another one has its name by now
    except (OSError, ValueError):  # memory without a file
        return
    _refuse_short(name, start + _end(array) - np.frombuffer(base, np.uint8).ctypes.data, size)


def check_ranges(ranges: Iterable[tuple[int, int]]) -> None:
    """The same for memory from the first address to the second, whose owner does not tell that it maps a file.

    Linux lists the mapped files of the process; other systems have no such list.
    """
    maps = Path("/proc/self/maps")
    lines = maps.read_bytes().splitlines() if maps.exists() else []
    files = [_mapping(line) for line in lines if b" /" in line]
    for start, end in ranges:
        for first, last, offset, path in files:
            if first <= start < last and Path(path).is_file():
                _refuse_short(path, offset + min(end, last) - first, os.stat(path).st_size)  # noqa: PTH116


def _mapping(line: bytes) -> tuple[int, int, int, str]:
    """(first address, last address, offset in the file, file) of a line of /proc/self/maps."""
    addresses, _, offset, _, _, path = line.split(maxsplit=5)
    first, last = addresses.split(b"-")
    return int(first, 16), int(last, 16), int(offset, 16), os.fsdecode(path)


def _refuse_short(name: str, needed: int, size: int) -> None:
    if needed > size:
        raise FileError(
            f"{name} was truncated after it was mapped: the array needs {needed:,} bytes of the file, but the file "
            f"has {size:,}. Write the file again and map it again, or pass its path, which is also safe if the file "
            "shrinks while it is read."
        )


def _name(array: np.memmap) -> str:
    return "The mapped file" if array.filename is None else str(array.filename)


def span(array: np.ndarray) -> tuple[int, int]:
    """The addresses of the first byte of an array and behind its last one."""
    return int(array.ctypes.data), _end(array)


def _end(array: np.ndarray) -> int:
    """The address behind the last byte of the array."""
    steps = (max((size - 1) * stride, 0) for size, stride in zip(array.shape, array.strides, strict=True))
    return int(array.ctypes.data + sum(steps) + array.itemsize)
