"""Arrays that map a file (np.memmap, its views): refused if the file has become shorter than the array.

The operating system ends a process that reads a mapped page beyond the end of its file (SIGBUS), and gives zeros for
the rest of the last page. Neither can be caught, so the size of the file is compared before the array is read. A file
that is truncated during a pass is not noticed in time; Eckart itself therefore never maps the files it opens.
"""

from __future__ import annotations

import mmap

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
        if isinstance(base, np.memmap):
            start, name = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY, _name(base)
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if not isinstance(base, mmap.mmap) or not array.size:
        return
    try:
        size = base.size()  # of the file that is mapped, even if another one has its name by now
    except (OSError, ValueError):  # memory without a file
        return
    needed = start + _end(array) - np.frombuffer(base, np.uint8).ctypes.data
    if needed > size:
        raise FileError(
            f"{name} was truncated after it was mapped: the array needs {needed:,} bytes of the file, but the file "
            f"has {size:,}. Write the file again and map it again, or pass its path, which is also safe if the file "
            "shrinks while it is read."
        )


def _name(array: np.memmap) -> str:
    return "The mapped file" if array.filename is None else str(array.filename)


def _end(array: np.ndarray) -> int:
    """The address behind the last byte of the array."""
    steps = (max((size - 1) * stride, 0) for size, stride in zip(array.shape, array.strides, strict=True))
    return int(array.ctypes.data + sum(steps) + array.itemsize)
