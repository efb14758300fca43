"""Blocks from the memory of the host to a GPU, copied while the card works on those before.

Pageable memory crosses the bus slowly. So several threads copy pieces of a block into page-locked buffers, which are
sent from there one after the other, and come back to be filled again when they have arrived.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.array_api import is_sparse
from eckart.errors import InputError, require
from eckart.threads import threads

_WORKERS = 10
_PIECE = 2**23
"""Bytes of a piece: smaller ones are spent on calls, larger ones leave threads without work."""
_BUFFERS = 32
"""So many that the bus has always some to send while all threads fill others."""


@lru_cache(maxsize=2)
def mover_for(device: str) -> Mover:
    """The Mover of a device: its buffers take longer to lock than a small table takes to send."""
    return Mover(device)


class _Driver:
    """The few functions of CUDA's driver that a piece takes; C, so that Python's lock is free meanwhile."""

    def __init__(self) -> None:
        library = ctypes.CDLL("nvcuda" if sys.platform == "win32" else "libcuda.so.1")
        place, count = ctypes.c_void_p, ctypes.c_size_t
        self.copy = self._function(library.cuMemcpyHtoDAsync_v2, place, place, count, place)
        self.wait = self._function(library.cuEventSynchronize, place)
        self.record = self._function(library.cuEventRecord, place, place)
        self.enter = self._function(library.cuCtxSetCurrent, place)
        self._current = self._function(library.cuCtxGetCurrent, ctypes.POINTER(place))

    def context(self) -> int | None:
        """What `enter` takes to work in another thread where this one works."""
        found = ctypes.c_void_p()
        self._current(ctypes.byref(found))
        return found.value

    @staticmethod
    def _function(function: Any, *types: Any) -> Any:
        function.argtypes, function.restype = types, _checked
        return function


def _checked(code: int) -> None:
    if code:
        raise RuntimeError(f"CUDA error {code} while data were sent to the GPU.")


class _Buffer:
    """Page-locked memory for one piece, and the event of its arrival."""

    def __init__(self, torch: Any, stream: Any) -> None:
        self._memory = torch.empty(_PIECE, dtype=torch.uint8, pin_memory=True)
        self._arrived = torch.cuda.Event(blocking=True)  # who waits for it sleeps
        self._arrived.record(stream)  # it has no number before
        self.place, self.event = self._memory.data_ptr(), self._arrived.cuda_event


class Mover:
    """Sends blocks to `device`; what it gives may be used on the card's current stream."""

    def __init__(self, device: str) -> None:
        torch = require("torch", purpose="device='cuda'")
        if not torch.cuda.is_available():
            raise InputError(f"device={device!r} is not there: PyTorch sees no GPU on this machine.")
        self.device, self._torch, self._driver = device, torch, _Driver()
        self.like = torch.empty((0, 0), dtype=torch.float64, device=device)
        self._stream = torch.cuda.Stream(device)
        self._workers = max(1, min(_WORKERS, threads()))
        self._lock = threading.Lock()
        """One thread at a time talks to the driver: they would only wait for each other there, and not asleep."""
        self._sent: deque[_Buffer] = deque()
        """The buffers, in the order in which they were sent."""
        self._made = 0
        with torch.cuda.device(device):
            self._pool = ThreadPoolExecutor(
                self._workers, "eckart-send", initializer=self._driver.enter, initargs=(self._driver.context(),)
            )

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
        starts = iter(range(0, here.size, _PIECE))  # the next piece goes to whichever thread is free
        senders = min(self._workers, -(-here.size // _PIECE))
        for sent in [self._pool.submit(self._send, here, there.data_ptr(), starts) for _ in range(senders)]:
            sent.result()
        arrived = torch.cuda.Event()
        arrived.record(self._stream)
        return there, arrived

    def _send(self, here: np.ndarray, there: int, starts: Iterator[int]) -> None:
        """Pieces of a block, until there are none left."""
        driver, source, stream = self._driver, here.ctypes.data, self._stream.cuda_stream
        for start in starts:
            size = min(_PIECE, here.size - start)
            with self._lock:
                buffer = self._buffer()
            ctypes.memmove(buffer.place, source + start, size)
            with self._lock:
                driver.copy(there + start, buffer.place, size, stream)
                driver.record(buffer.event, stream)
                self._sent.append(buffer)

    def _buffer(self) -> _Buffer:
        """One that may be filled: the one sent first, once it has arrived."""
        if self._made < _BUFFERS:
            self._made += 1
            return _Buffer(self._torch, self._stream)
        buffer = self._sent.popleft()
        self._driver.wait(buffer.event)
        return buffer

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
