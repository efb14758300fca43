"""GPU work that is repeated on arrays of the same shapes, recorded once and then sent as one launch.

A step of many small launches takes the host longer than the GPU. The recording has its own arrays. Inputs are copied
into them and results out of them, so it is meant for small arrays.
"""

from __future__ import annotations

from collections.abc import Callable

from eckart.arrays import Array, empty_rows, namespace
from eckart.engine.backends.cuda.arrays import cupy, on_device_of
from eckart.engine.backends.written import library
from eckart.errors import require

_AS_THEY_COME = 2
"""Calls before recording starts, so that kernels are compiled and tables allocated."""
_RELAXED = 2
"""CUDA's code for a capture that does not restrict other threads."""


class Recorded:
    """work(*arrays, number) with all arrays on one GPU, and the number in an array of one.

    It never reads on the host.
    """

    def __init__(self, work: Callable[..., tuple[Array, ...]], *, worth: bool) -> None:
        self._work, self._worth = work, worth
        self._calls = 0
        self._number: Array | None = None
        self._launch: Callable[[], None] | None = None
        self._given: tuple[Array, ...] = ()
        self._made: tuple[Array, ...] = ()
        self._kept: object = None

    def __call__(self, *arrays: Array, number: float) -> tuple[Array, ...]:
        self._calls += 1
        if self._number is None:
            self._number = empty_rows(1, 1, arrays[0])
        self._number[...] = number
        if self._launch is None and self._worth and self._calls > _AS_THEY_COME:
            self._record(arrays)
        if self._launch is None or not _alike(arrays, self._given):
            return self._work(*arrays, self._number)
        for place, array in zip(self._given, arrays, strict=True):
            place[...] = array
        self._launch()
        return tuple(_copy(array) for array in self._made)

    def _record(self, arrays: tuple[Array, ...]) -> None:
        given = tuple(_copy(array) for array in arrays)
        record = _record_torch if library(given[0]) == "torch" else _record_cupy
        try:
            self._launch, self._made, self._kept = record(lambda: self._work(*given, self._number), given[0])
            self._given = given
        except (RuntimeError, MemoryError):
            # Not every driver can record everything; in that case the work is launched directly.
            self._worth = False


def _record_torch(
    work: Callable[[], tuple[Array, ...]], prototype: Array
) -> tuple[Callable[[], None], tuple[Array, ...], object]:
    """(launch, results, objects to keep alive), by PyTorch, which has separate memory for recordings."""
    torch = require("torch")
    side, current = torch.cuda.Stream(prototype.device), torch.cuda.current_stream(prototype.device)
    side.wait_stream(current)
    pool, graph = cupy().cuda.MemoryPool(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(side), on_device_of(prototype), cupy().cuda.using_allocator(pool.malloc):
        work()  # allocate CuPy's memory now, because nothing can be allocated during the recording
        graph.capture_begin(capture_error_mode="relaxed")
        try:
            made = work()
        finally:
            graph.capture_end()
    current.wait_stream(side)
    return graph.replay, made, (pool, graph)


def _record_cupy(
    work: Callable[[], tuple[Array, ...]], prototype: Array
) -> tuple[Callable[[], None], tuple[Array, ...], object]:
    """The same by CuPy."""
    side, current = cupy().cuda.Stream(non_blocking=True), cupy().cuda.get_current_stream()
    side.wait_event(current.record())
    pool = cupy().cuda.MemoryPool()
    with prototype.device, side, cupy().cuda.using_allocator(pool.malloc):
        work()
        side.begin_capture(_RELAXED)
        try:
            made = work()
        finally:
            graph = side.end_capture()
    current.wait_event(side.record())
    return lambda: graph.launch(cupy().cuda.get_current_stream()), made, (pool, graph)


def _copy(array: Array) -> Array:
    return namespace(array).asarray(array, copy=True)


def _alike(arrays: tuple[Array, ...], given: tuple[Array, ...]) -> bool:
    return all(a.shape == b.shape and a.dtype == b.dtype for a, b in zip(arrays, given, strict=True))
