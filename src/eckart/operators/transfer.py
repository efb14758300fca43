"""Blocks from the memory of the host to a GPU, copied while the card works on those before.

Pageable memory crosses the bus slowly, so a block is first copied into page-locked buffers by several threads, then
sent on a stream of its own. Three buffers: one is filled, one is on its way, one is being read by the card.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eckart.array_api import is_sparse
from eckart.errors import InputError, require
from eckart.operators.executors import each

_BUFFERS = 3
_PIECES = 32


@dataclass
class Mover:
    """Sends blocks to `device`; what it gives may be used on the card's current stream."""

    device: str
    _slots: list[Any] = field(default_factory=list)
    _turn: int = 0

    def __post_init__(self) -> None:
        torch = require("torch", purpose="device='cuda'")
        if not torch.cuda.is_available():
            raise InputError(f"device={self.device!r} is not there: PyTorch sees no GPU on this machine.")
        self._torch = torch
        self._stream = torch.cuda.Stream(self.device)
        self.like = torch.empty((0, 0), dtype=torch.float64, device=self.device)

    def load(self, block: Any) -> Any:
        """A block on the card. Runs in the thread that reads; the caller's stream must `accept` it."""
        if is_sparse(block):
            return self._sparse(block)
        torch, slot = self._torch, self._slot(block)
        slot["sent"].synchronize()  # the copy that used this buffer before
        staged = slot["buffer"][: block.size].numpy().reshape(block.shape)
        edges = np.linspace(0, len(block), _PIECES + 1).astype(int).tolist()

        def step(span: tuple[int, int]) -> None:
            np.copyto(staged[span[0] : span[1]], block[span[0] : span[1]])

        each(step, list(itertools.pairwise(edges)))
        with torch.cuda.stream(self._stream):
            there = torch.empty(block.shape, dtype=slot["buffer"].dtype, device=self.device)
            there.copy_(slot["buffer"][: block.size].view(block.shape), non_blocking=True)
            slot["sent"].record(self._stream)
            arrived = torch.cuda.Event()
            arrived.record(self._stream)
        return there, arrived

    def accept(self, loaded: Any) -> Any:
        """What `load` gave, for the current stream."""
        if not isinstance(loaded, tuple):
            return loaded
        there, arrived = loaded
        current = self._torch.cuda.current_stream(self.device)
        current.wait_event(arrived)
        there.record_stream(current)
        return there

    def _slot(self, block: np.ndarray) -> dict[str, Any]:
        torch = self._torch
        dtype = torch.float32 if block.dtype == np.float32 else torch.float64
        if not self._slots or self._slots[0]["buffer"].numel() < block.size or self._slots[0]["buffer"].dtype != dtype:
            self._slots = [
                {"buffer": torch.empty(block.size, dtype=dtype, pin_memory=True), "sent": torch.cuda.Event()}
                for _ in range(_BUFFERS)
            ]
        self._turn = (self._turn + 1) % _BUFFERS
        slot: dict[str, Any] = self._slots[self._turn]
        return slot

    def _sparse(self, block: Any) -> Any:
        cupy = require("cupy", purpose="sparse matrices on a GPU")
        from eckart.operators.device_rows import DeviceCsr

        parts = (cupy.asarray(block.data), cupy.asarray(block.indices, dtype=np.int32), cupy.asarray(block.indptr))
        return DeviceCsr(*parts, shape=(int(block.shape[0]), int(block.shape[1])), like=self.like)


def to_device(data: Any, mover: Mover) -> Any:
    """All of a host array on the card, where it takes at most half of what is free there; None where it does not."""
    torch, device = mover._torch, mover.device
    size = data.data.nbytes * 2 if is_sparse(data) else data.nbytes
    free, _ = torch.cuda.mem_get_info(device)
    if size > free // 2:
        return None
    if is_sparse(data):
        cupy = require("cupy", purpose="sparse matrices on a GPU")
        from cupyx.scipy import sparse

        csr = data.tocsr()
        parts = (cupy.asarray(csr.data), cupy.asarray(csr.indices), cupy.asarray(csr.indptr))
        return sparse.csr_matrix(parts, shape=csr.shape)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    there, arrived = mover.load(np.ascontiguousarray(data))
    return mover.accept((there, arrived))
