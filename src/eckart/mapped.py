"""Arrays that map a file (np.memmap, its views): copied into memory before their numbers are used.

The operating system ends a process that reads a mapped page beyond the end of its file (SIGBUS), and gives zeros for
the rest of the last page. Another process may truncate the file at any time, so no earlier check is enough. A system
call that copies such a page returns EFAULT instead of a signal. `in_memory` therefore lets the kernel copy the bytes
and compares the size of the file afterwards. Arrays that map no file are returned as they are.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from bisect import bisect_right
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from eckart.errors import FileError

Matrix = Any
"""A SciPy matrix of any format."""

LARGE = 1 << 20
"""Bytes from which it takes longer to read an array than to list the mapped files of the process."""
_SCRATCH = 1 << 22
"""Bytes of a strided part of a map that are copied whole, to take the wanted entries from."""
_NO_FILES = (b"/memfd:", b"/dev/", b"/SYSV")
"""Names of memory that is not part of a file on disk."""
_PIPED = 1 << 14
"""Bytes that an empty pipe accepts on every system."""


class _Vector(ctypes.Structure):
    """struct iovec"""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Mapping(NamedTuple):
    """The part of a mapped file that an array or a buffer uses."""

    name: str
    needed: int
    """Bytes that the file must have."""
    size: Callable[[], int]
    """Bytes of the file now."""

    def check(self) -> None:
        """Refuse the array if the file has become too short."""
        if self.needed > self.size():
            self.refuse()

    def refuse(self) -> NoReturn:
        size = min(self.size(), self.needed - 1)
        raise FileError(
            f"{self.name} was truncated after it was mapped: the array needs {self.needed:,} bytes of the file, but "
            f"the file has {size:,}. Write the file again, and map it again or pass its path."
        )


def is_mapped(array: np.ndarray) -> bool:
    """Whether the numbers of an array are in a mapped file."""
    return array.base is not None and _mapping(array) is not None


def in_memory(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy of the same layout if it maps a file; refused if the file was truncated."""
    if array.base is None:
        return array
    if isinstance(array, np.ma.MaskedArray):
        masked: np.ndarray = np.ma.MaskedArray(in_memory(array.data), mask=in_memory(np.ma.getmaskarray(array)))
        return masked
    copied = view_copier(array)
    return array if copied is None else copied(array)


def view_copier(array: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    """A function that copies the array or views of it into memory; None if the array maps no file."""
    mapping = None if array.base is None else _mapping(array)
    if mapping is None:
        return None

    def copied(view: np.ndarray) -> np.ndarray:
        mapping.check()
        copy = np.empty_like(view, subok=not isinstance(view, np.memmap))
        _copy(np.asarray(view), np.asarray(copy), mapping)
        mapping.check()
        return copy

    return copied


def any_in_memory(data: Any) -> Any:
    """An array or a SciPy matrix whose numbers are in memory; other objects unchanged."""
    if isinstance(data, np.ndarray):
        return in_memory(data)
    return sparse_in_memory(data) if hasattr(data, "nnz") and hasattr(data, "format") else data


def sparse_in_memory(matrix: Matrix) -> Matrix:
    """A SciPy matrix whose arrays are in memory: the matrix itself, or a copy if one of them maps a file."""
    if not is_mapped_sparse(matrix):
        return matrix
    found = copy(matrix)
    for name in _parts(matrix):
        part = getattr(matrix, name)
        setattr(found, name, tuple(map(in_memory, part)) if isinstance(part, tuple) else in_memory(part))
    return found


def is_mapped_sparse(matrix: Matrix) -> bool:
    """Whether an array of a SciPy matrix maps a file."""
    parts = [getattr(matrix, name) for name in _parts(matrix)]
    arrays = [array for part in parts for array in (part if isinstance(part, tuple) else (part,))]
    return any(isinstance(array, np.ndarray) and is_mapped(array) for array in arrays)


def _parts(matrix: Matrix) -> list[str]:
    """The attributes with the arrays of a SciPy matrix."""
    return [name for name in ("data", "indices", "indptr", "offsets", "coords") if hasattr(matrix, name)]


def process_maps() -> list[bytes]:
    """The memory of the process by address, as Linux lists it; other systems have no such list."""
    maps = Path("/proc/self/maps")
    return maps.read_bytes().splitlines() if maps.exists() else []


def bytes_in_memory(address: int, size: int, maps: list[bytes]) -> np.ndarray | None:
    """A copy of memory of an unknown owner if it is part of a mapped file; None if it is not."""
    mapping = _listed(maps, address, address + size) if size else None
    if mapping is None:
        return None
    mapping.check()
    found = np.empty(size, np.uint8)
    _copy_bytes(found.ctypes.data, address, size, mapping)
    mapping.check()
    return found


def _mapping(array: np.ndarray) -> Mapping | None:
    """The file that an array maps; None for arrays in memory."""
    base: object = array
    offset, name = 0, "The mapped file"
    while isinstance(base, np.ndarray | memoryview):
        if isinstance(base, np.memmap) and base.offset is not None:  # copies of a map are np.memmap as well
            offset = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY
            name = name if base.filename is None else str(base.filename)
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if base is None or not array.size:
        return None
    start, end = span(array)
    if not isinstance(base, mmap.mmap):
        return _listed(process_maps(), start, end) if end - start >= LARGE and _may_map(base) else None
    try:
        base.size()
    except (OSError, ValueError):  # memory without a file
        return None
    # The size is that of the file that is mapped, even if another one has its name by now.
    return Mapping(name, offset + end - np.frombuffer(base, np.uint8).ctypes.data, base.size)


def _may_map(owner: object) -> bool:
    """Whether an object may own a mapped file: those of Arrow, and tensors that PyTorch cannot resize."""
    module, name = type(owner).__module__.partition(".")[0], type(owner).__name__
    return (
        module == "pyarrow"
        or name == "PySeries"
        or (module == "torch" and not cast("Any", owner).untyped_storage().resizable())
    )


def _listed(maps: list[bytes], start: int, end: int) -> Mapping | None:
    """The mapped file with these addresses."""
    place = bisect_right(maps, start, key=lambda line: int(line[: line.index(b"-")], 16)) - 1
    fields = maps[place].split(maxsplit=5) if place >= 0 else []
    if len(fields) < 6 or not fields[5].startswith(b"/") or fields[5].startswith(_NO_FILES):
        return None
    first, last = (int(address, 16) for address in fields[0].split(b"-"))
    if start >= last:
        return None
    name, needed = os.fsdecode(fields[5]), int(fields[2], 16) + min(end, last) - first
    # The list does not tell the size of a file that was removed.
    return Mapping(name, needed, lambda: os.stat(name).st_size if Path(name).is_file() else needed)  # noqa: PTH116


def span(array: np.ndarray) -> tuple[int, int]:
    """The addresses of the first byte of an array and behind its last one."""
    steps = [(size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)]
    start = int(array.ctypes.data)
    return start + sum(min(step, 0) for step in steps), start + sum(max(step, 0) for step in steps) + array.itemsize


def _copy(array: np.ndarray, target: np.ndarray, mapping: Mapping) -> None:
    """Copy the array: contiguous memory directly, otherwise pieces through scratch memory."""
    start, end = span(array)
    contiguous = array.flags.c_contiguous and target.flags.c_contiguous
    if contiguous or (array.flags.f_contiguous and target.flags.f_contiguous):
        _copy_bytes(target.ctypes.data, start, end - start, mapping)
    elif end - start <= _SCRATCH:
        scratch = np.empty(end - start, np.uint8)
        _copy_bytes(scratch.ctypes.data, start, end - start, mapping)
        first = int(array.ctypes.data) - start  # of an axis that runs backwards, the last in memory
        target[...] = np.ndarray(array.shape, array.dtype, scratch.data, first, array.strides)
    else:
        axis = max(range(array.ndim), key=lambda axis: (array.shape[axis] - 1) * abs(array.strides[axis]))
        half = array.shape[axis] // 2
        for part in (slice(half), slice(half, None)):
            index = (slice(None),) * axis + (part,)
            _copy(array[index], target[index], mapping)


def _copy_bytes(target: int, source: int, size: int, mapping: Mapping) -> None:
    """Let the kernel copy memory, which fails for pages behind the end of the file."""
    read, done = _reader(), 0
    while done < size:
        got = read(target + done, source + done, size - done)
        if got <= 0:
            mapping.refuse()
        done += got


@lru_cache(maxsize=1)
def _reader() -> Callable[[int, int, int], int]:
    """A function that copies `size` bytes at most from one address to another and returns their number, or 0 or -1."""
    if sys.platform.startswith("linux"):
        try:
            call = ctypes.CDLL(None).process_vm_readv
        except (OSError, AttributeError):  # pragma: no cover - a C library without it
            return _through_pipe
        call.restype = ctypes.c_ssize_t
        vector, count = ctypes.POINTER(_Vector), ctypes.c_ulong
        call.argtypes = [ctypes.c_int, vector, count, vector, count, count]

        def read(target: int, source: int, size: int) -> int:
            return int(call(os.getpid(), _Vector(target, size), 1, _Vector(source, size), 1, 0))

        probe, seen = np.ones(1, np.uint8), np.zeros(1, np.uint8)
        if read(seen.ctypes.data, probe.ctypes.data, 1) == 1:  # a sandbox may forbid the call
            return read
    return _plainly if sys.platform == "win32" else _through_pipe


def _through_pipe(target: int, source: int, size: int) -> int:
    """The same with calls of every POSIX system."""
    size = min(size, _PIPED)
    ends = os.pipe()
    try:
        written = os.write(ends[1], (ctypes.c_char * size).from_address(source))
        return os.readv(ends[0], [(ctypes.c_char * written).from_address(target)])
    except OSError:
        return -1
    finally:
        for end in ends:
            os.close(end)


def _plainly(target: int, source: int, size: int) -> int:
    """Windows does not truncate a mapped file."""
    ctypes.memmove(target, source, size)
    return size
