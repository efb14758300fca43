"""Blocks from the memory of the host to a GPU, copied while the card works on those before.

Pageable memory crosses the bus slowly. So several threads copy pieces of a block into page-locked buffers of their own,
and send them from there, each on a stream of its own, while they fill the next.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from eckart.arrays import Array, Matrix, is_sparse
from eckart.engine.threads import threads
from eckart.errors import InputError, MemoryBudgetError, require

_WORKERS = 12
_PIECE = 2**22
"""Bytes of a piece: smaller ones are spent on calls; larger ones are no longer in cache when the bus reads them."""
_BUFFERS = 2
_BLOCK_BYTES = 2**29
_BLOCKS = 16
"""A card has room for at least this many: four on their way, and what the one at work is turned into."""


@lru_cache(maxsize=2)
def transfer_for(device: str) -> DeviceTransfer:
    """The DeviceTransfer of a device: its buffers take longer to lock than a small table takes to send."""
    return DeviceTransfer(device)


@dataclass
class _Lane:
    """What one thread sends through: a stream, and page-locked buffers that take turns."""

    stream: Any
    memory: Any
    arrived: list[Any]
    """An event per buffer: its last piece has arrived."""
    turn: int = 0

    def __post_init__(self) -> None:
        for event in self.arrived:
            event.record(self.stream)  # an event has no handle before it is recorded
        self.buffers = self.memory.data_ptr() + _PIECE * np.arange(len(self.arrived))
        self.events = np.array([event.cuda_event for event in self.arrived])


class DeviceTransfer:
    """Sends blocks to `device`; what it gives may be used on the card's current stream."""

    depth: int
    threads: int
    device: str
    prototype: Array

    depth, threads = 4, 2

    def __init__(self, device: str) -> None:
        torch = require("torch", purpose="device='cuda'")
        if not torch.cuda.is_available():
            raise InputError(f"device={device!r} is not available: PyTorch finds no GPU on this machine.")
        self.device, self._torch = device, torch
        self.prototype = torch.empty((0, 0), dtype=torch.float64, device=device)
        self._stream = torch.cuda.Stream(device)
        self._workers = max(1, min(_WORKERS, threads()))
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="eckart-send")
        self._lanes = threading.local()

    @property
    def free_bytes(self) -> int:
        """Memory that is free on the card."""
        return int(self._torch.cuda.mem_get_info(self.device)[0])

    def load(self, block: Matrix) -> Matrix:
        """A block on the card. Runs in the threads that read; the caller's stream must `accept` it."""
        if is_sparse(block):
            return self._sparse(block)
        torch = self._torch
        here = np.ascontiguousarray(block)
        with torch.cuda.stream(self._stream):
            dtype = torch.float32 if block.dtype == np.float32 else torch.float64
            there = torch.empty(block.shape, dtype=dtype, device=self.device)
            ready = self._recorded(self._stream)  # what used this memory before is done by then
        senders = max(1, min(self._workers, here.nbytes // _PIECE))
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
                here.ctypes.data, there.data_ptr(), here.nbytes, _PIECE, first, step, lane.buffers, lane.events,
                lane.turn, lane.stream.cuda_stream,
            )  # fmt: skip
            if code:
                raise RuntimeError(f"CUDA error {code} while data were sent to the GPU.")
            return self._recorded(lane.stream)

    def _lane(self) -> _Lane:
        lane: _Lane | None = getattr(self._lanes, "lane", None)
        if lane is None:
            torch = self._torch
            memory = torch.empty(_PIECE * _BUFFERS, dtype=torch.uint8, pin_memory=True)
            events = [torch.cuda.Event() for _ in range(_BUFFERS)]
            lane = self._lanes.lane = _Lane(torch.cuda.Stream(self.device), memory, events)
        return lane

    def _recorded(self, stream: Any) -> Any:
        event = self._torch.cuda.Event()
        event.record(stream)
        return event

    def accept(self, loaded: Matrix) -> Matrix:
        """What `load` gave, for the current stream."""
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
        """How large a block may be, so that all blocks under way and what is made of them fit."""
        return min(_BLOCK_BYTES, self.free_bytes // _BLOCKS)

    def whole(self, data: Array) -> Array:
        """All of a host array on the card; None where it takes more than half of what is free there."""
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
        """Say that a table does not fit, where it is needed as a whole."""
        raise MemoryBudgetError(
            f"The table of {shape[0]:,} x {shape[1]:,} would take more than half of the {self.free_bytes / 1e9:.3g} GB "
            "that are free on the GPU, but this method needs the whole table there. Leave device= out to compute on "
            "the host, or use 'pca' or 'svd', which copy such a table to the GPU in blocks."
        )
