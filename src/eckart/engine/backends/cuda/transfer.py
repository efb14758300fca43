"""Blocks copied from host memory to a GPU while it works on earlier ones.

Pageable memory crosses the bus slowly. Several threads therefore copy pieces of a block into their own page-locked
buffers and send them from there, each on its own stream, while they fill the next.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from eckart.arrays import Array, Matrix, is_sparse
from eckart.engine.backends.cuda.constants import BLOCK_BYTES, BUFFERS, COPIED_PIECE, COPYING_THREADS, LEAST_BLOCKS
from eckart.engine.threads import threads
from eckart.errors import InputError, MemoryBudgetError, require


@lru_cache(maxsize=2)
def transfer_for(device: str) -> DeviceTransfer:
    """The DeviceTransfer of a device.

    It is cached, because locking its buffers takes longer than sending a small table.
    """
    return DeviceTransfer(device)


@dataclass
class _Lane:
    """One sending thread's stream and page-locked buffers, which take turns."""

    stream: Any
    memory: Any
    arrived: list[Any]
    """One event per buffer: its last piece has arrived."""
    turn: int = 0

    def __post_init__(self) -> None:
        for event in self.arrived:
            event.record(self.stream)  # an event has no handle before it is recorded
        self.buffers = self.memory.data_ptr() + COPIED_PIECE * np.arange(len(self.arrived))
        self.events = np.array([event.cuda_event for event in self.arrived])


class DeviceTransfer:
    """Sends blocks to `device`; results may be used on the GPU's current stream."""

    depth: int
    threads: int
    device: str
    prototype: Array

    depth, threads = 4, 2

    def __init__(self, device: str) -> None:
        torch = require("torch", purpose="device='cuda'")
        if not torch.cuda.is_available():
            raise InputError(
                f"device={device!r} is not available, because PyTorch does not find a GPU on this machine."
            )
        self.device, self._torch = device, torch
        self.prototype = torch.empty((0, 0), dtype=torch.float64, device=device)
        self._stream = torch.cuda.Stream(device)
        self._workers = max(1, min(COPYING_THREADS, threads()))
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="eckart-send")
        self._lanes = threading.local()

    @property
    def free_bytes(self) -> int:
        """Free memory on the GPU."""
        return int(self._torch.cuda.mem_get_info(self.device)[0])

    def load(self, block: Matrix) -> Matrix:
        """Copy a block to the GPU. Runs in the reading threads; the caller's stream must `accept` the result."""
        if is_sparse(block):
            return self._sparse(block)
        torch = self._torch
        here = np.ascontiguousarray(block)
        with torch.cuda.stream(self._stream):
            dtype = torch.float32 if block.dtype == np.float32 else torch.float64
            there = torch.empty(block.shape, dtype=dtype, device=self.device)
            ready = self._recorded(self._stream)  # by then, earlier uses of this memory are complete
        senders = max(1, min(self._workers, here.nbytes // COPIED_PIECE))
        sent = [self._pool.submit(self._send, here, there, ready, first, senders) for first in range(senders)]
        for future in sent:
            self._stream.wait_event(future.result())
        return there, self._recorded(self._stream)

    def _send(self, here: np.ndarray, there: Array, ready: Any, first: int, step: int) -> Any:
        """Every `step`-th piece of a block."""
        from eckart.engine.backends.cuda.sending import send

        with self._torch.cuda.device(self.device):
            lane = self._lane()
            lane.stream.wait_event(ready)
            code, lane.turn = send(
                here.ctypes.data, there.data_ptr(), here.nbytes, COPIED_PIECE, first, step, lane.buffers, lane.events,
                lane.turn, lane.stream.cuda_stream,
            )  # fmt: skip
            if code:
                raise RuntimeError(f"CUDA error {code} while data were copied to the GPU.")
            return self._recorded(lane.stream)

    def _lane(self) -> _Lane:
        lane: _Lane | None = getattr(self._lanes, "lane", None)
        if lane is None:
            torch = self._torch
            memory = torch.empty(COPIED_PIECE * BUFFERS, dtype=torch.uint8, pin_memory=True)
            events = [torch.cuda.Event() for _ in range(BUFFERS)]
            lane = self._lanes.lane = _Lane(torch.cuda.Stream(self.device), memory, events)
        return lane

    def _recorded(self, stream: Any) -> Any:
        event = self._torch.cuda.Event()
        event.record(stream)
        return event

    def accept(self, loaded: Matrix) -> Matrix:
        """Make the result of `load` available to the current stream."""
        if not isinstance(loaded, tuple):
            return loaded
        there, arrived = loaded
        current = self._torch.cuda.current_stream(self.device)
        current.wait_event(arrived)
        there.record_stream(current)
        return there

    def _sparse(self, block: Matrix) -> Matrix:
        cupy = require("cupy", purpose="sparse matrices on a GPU")
        from eckart.engine.backends.cuda.device_rows import DeviceCsr

        parts = (cupy.asarray(block.data), cupy.asarray(block.indices), cupy.asarray(block.indptr))
        return DeviceCsr(*parts, shape=(int(block.shape[0]), int(block.shape[1])), prototype=self.prototype)

    @property
    def block_bytes(self) -> int:
        """Maximum block size, such that all blocks in flight and their products fit."""
        return min(BLOCK_BYTES, self.free_bytes // LEAST_BLOCKS)

    def whole(self, data: Array) -> Array:
        """A whole host array on the GPU; None if it takes more than half of the free memory."""
        size = data.data.nbytes * 2 if is_sparse(data) else data.nbytes
        if size > self.free_bytes // 2:
            return None
        if is_sparse(data):
            cupy = require("cupy", purpose="sparse matrices on a GPU")
            from cupyx.scipy import sparse

            csr = data.tocsr()
            parts = (cupy.asarray(csr.data), cupy.asarray(csr.indices), cupy.asarray(csr.indptr))
            return sparse.csr_matrix(parts, shape=csr.shape)
        if data.dtype not in (np.float32, np.float64):
            data = data.astype(np.float64)
        return self.accept(self.load(data))

    def refuse(self, shape: tuple[int, int]) -> NoReturn:
        """Raise an error: the whole table is needed but does not fit."""
        raise MemoryBudgetError(
            f"This method needs the whole table on the GPU, but a table of {shape[0]:,} x {shape[1]:,} "
            f"takes more than half of the free GPU memory ({self.free_bytes / 1000000000.0:.3g} GB). "
            "Leave out device= to compute on the CPU, or use 'pca' or 'svd', which copy large tables "
            "to the GPU in blocks."
        )
