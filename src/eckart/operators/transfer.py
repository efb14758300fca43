"""Blocks from the memory of the host to a GPU, copied while the card works on those before.

Pageable memory crosses the bus slowly. So several threads copy pieces of a block into page-locked buffers of their own,
and send them from there, each on a stream of its own, while they fill the next.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.array_api import is_sparse
from eckart.errors import InputError, require
from eckart.threads import threads

_WORKERS = 12
_PIECE = 2**24
"""Bytes of a piece: smaller ones are spent on calls, larger ones leave threads without work."""


@lru_cache(maxsize=2)
def mover_for(device: str) -> Mover:
    """The Mover of a device: its buffers take longer to lock than a small table takes to send."""
    return Mover(device)


@dataclass
class _Lane:
    """What one thread sends through: a stream, and two page-locked buffers that take turns."""

    stream: Any
    buffers: list[Any]
    sent: list[Any]
    """An event for each buffer: its last piece has arrived."""
    turn: int = 0

    def __post_init__(self) -> None:
        for event in self.sent:
            event.record(self.stream)  # has no number before
        self.places = [buffer.data_ptr() for buffer in self.buffers]
        self.events = [event.cuda_event for event in self.sent]


class _Driver:
    """The few functions of CUDA's driver that a piece takes."""

    def __init__(self) -> None:
        library = ctypes.CDLL("nvcuda" if sys.platform == "win32" else "libcuda.so.1")
        place, count = ctypes.c_void_p, ctypes.c_size_t
        self.copy = self._function(library.cuMemcpyHtoDAsync_v2, place, place, count, place)
        self.wait = self._function(library.cuEventSynchronize, place)
        self.record = self._function(library.cuEventRecord, place, place)

    @staticmethod
    def _function(function: Any, *types: Any) -> Any:
        function.argtypes, function.restype = types, _checked
        return function


def _checked(code: int) -> None:
    if code:
        raise RuntimeError(f"CUDA error {code} while data were sent to the GPU.")


@dataclass
class Mover:
    """Sends blocks to `device`; what it gives may be used on the card's current stream."""

    device: str
    _lanes: threading.local = field(default_factory=threading.local)

    def __post_init__(self) -> None:
        torch = require("torch", purpose="device='cuda'")
        if not torch.cuda.is_available():
            raise InputError(f"device={self.device!r} is not there: PyTorch sees no GPU on this machine.")
        self._torch = torch
        self._driver = _Driver()
        self._stream = torch.cuda.Stream(self.device)
        self._workers = max(1, min(_WORKERS, threads()))
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="eckart-send")
        self.like = torch.empty((0, 0), dtype=torch.float64, device=self.device)

    @property
    def free_bytes(self) -> int:
        """Memory that is free on the card."""
        return int(self._torch.cuda.mem_get_info(self.device)[0])

    def load(self, block: Any) -> Any:
        """A block on the card. Runs in the threads that read; the caller's stream must `accept` it."""
        if is_sparse(block):
            return self._sparse(block)
        torch = self._torch
        here = np.ascontiguousarray(block).reshape(-1).view(np.uint8)
        with torch.cuda.stream(self._stream):
            dtype = torch.float32 if block.dtype == np.float32 else torch.float64
            there = torch.empty(block.shape, dtype=dtype, device=self.device)
            ready = self._record(self._stream)  # what used this memory before is done by then
        starts = iter(range(0, here.size, _PIECE))  # the next piece goes to whichever thread is free
        senders = min(self._workers, -(-here.size // _PIECE))
        sent = [self._pool.submit(self._send, here, there.data_ptr(), starts, ready) for _ in range(senders)]
        for future in sent:
            self._stream.wait_event(future.result())
        return there, self._record(self._stream)

    def _send(self, here: np.ndarray, there: int, starts: Iterator[int], ready: Any) -> Any:
        """Pieces of a block, until there are none left.

        Four calls of C a piece, which all run without Python's lock: a dozen threads share it with those who compute.
        """
        with self._torch.cuda.device(self.device):
            lane, driver = self._lane(), self._driver
            lane.stream.wait_event(ready)
            stream, source = lane.stream.cuda_stream, here.ctypes.data
            for start in starts:
                size = min(_PIECE, here.size - start)
                lane.turn ^= 1
                buffer, event = lane.places[lane.turn], lane.events[lane.turn]
                driver.wait(event)  # for the piece that it held before
                ctypes.memmove(buffer, source + start, size)
                driver.copy(there + start, buffer, size, stream)
                driver.record(event, stream)
            return self._record(lane.stream)

    def _lane(self) -> _Lane:
        lane: _Lane | None = getattr(self._lanes, "lane", None)
        if lane is None:
            torch = self._torch
            buffers = [torch.empty(_PIECE, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
            lane = _Lane(torch.cuda.Stream(self.device), buffers, [torch.cuda.Event(), torch.cuda.Event()])
            self._lanes.lane = lane
        return lane

    def _record(self, stream: Any) -> Any:
        event = self._torch.cuda.Event()
        event.record(stream)
        return event

    def accept(self, loaded: Any) -> Any:
        """What `load` gave, for the current stream."""
        if not isinstance(loaded, tuple):
            return loaded
        there, arrived = loaded
        current = self._torch.cuda.current_stream(self.device)
        current.wait_event(arrived)
        there.record_stream(current)
        return there

    def _sparse(self, block: Any) -> Any:
        cupy = require("cupy", purpose="sparse matrices on a GPU")
        from eckart.operators.device_rows import DeviceCsr

        parts = (cupy.asarray(block.data), cupy.asarray(block.indices, dtype=np.int32), cupy.asarray(block.indptr))
        return DeviceCsr(*parts, shape=(int(block.shape[0]), int(block.shape[1])), like=self.like)


def to_device(data: Any, mover: Mover) -> Any:
    """All of a host array on the card, where it takes at most half of what is free there; None where it does not."""
    size = data.data.nbytes * 2 if is_sparse(data) else data.nbytes
    if size > mover.free_bytes // 2:
        return None
    if is_sparse(data):
        cupy = require("cupy", purpose="sparse matrices on a GPU")
        from cupyx.scipy import sparse

        csr = data.tocsr()
        parts = (cupy.asarray(csr.data), cupy.asarray(csr.indices), cupy.asarray(csr.indptr))
        return sparse.csr_matrix(parts, shape=csr.shape)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    return mover.accept(mover.load(data))
