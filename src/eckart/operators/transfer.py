"""Blocks from the memory of the host to a GPU, copied while the card works on those before.

Pageable memory crosses the bus slowly. There are two ways around it, each slower than the bus, so blocks take both,
side by side: a block is copied by several threads into a page-locked buffer and sent from there, or, where it is part
of an array in memory, its own pages are locked until it was sent.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eckart.array_api import is_sparse
from eckart.errors import InputError, require
from eckart.operators.executors import each

_BUFFERS = 3
_PIECES = 12
_PAGE = 4096
_WORTH_LOCKING = 2**24
"""Bytes; smaller blocks are copied sooner than locked."""


@dataclass
class Mover:
    """Sends blocks to `device`; what it gives may be used on the card's current stream."""

    device: str
    _slots: list[Any] = field(default_factory=list)
    _turn: int = 0
    _locked: list[tuple[Any, int]] = field(default_factory=list)
    """Pages under way: (when they have arrived, where they begin)."""

    def __post_init__(self) -> None:
        torch = require("torch", purpose="device='cuda'")
        if not torch.cuda.is_available():
            raise InputError(f"device={self.device!r} is not there: PyTorch sees no GPU on this machine.")
        self._torch = torch
        self._stream = torch.cuda.Stream(self.device)
        self._locking, self._staging = threading.Lock(), threading.Lock()
        self.like = torch.empty((0, 0), dtype=torch.float64, device=self.device)

    def load(self, block: Any) -> Any:
        """A block on the card. Runs in the threads that read; the caller's stream must `accept` it."""
        if is_sparse(block):
            return self._sparse(block)
        if _part_of_an_array(block) and self._locking.acquire(blocking=False):
            try:
                return self._from_its_place(block)
            finally:
                self._locking.release()
        with self._staging:
            return self._from_a_buffer(block)

    def _from_a_buffer(self, block: np.ndarray) -> Any:
        slot = self._slot(block)
        slot["sent"].synchronize()  # the copy that used this buffer before
        staged = slot["buffer"][: block.size].numpy().reshape(block.shape)
        edges = np.linspace(0, len(block), _PIECES + 1).astype(int).tolist()

        def step(span: tuple[int, int]) -> None:
            np.copyto(staged[span[0] : span[1]], block[span[0] : span[1]])

        each(step, list(itertools.pairwise(edges)))
        with self._torch.cuda.stream(self._stream):
            there = self._room(block)
            there.copy_(slot["buffer"][: block.size].view(block.shape), non_blocking=True)
            slot["sent"].record(self._stream)
            return there, self._sent()

    def _from_its_place(self, block: np.ndarray) -> Any:
        """Whole pages of the block are locked; its two ends, which may share theirs with others, are just copied."""
        self._unlock(everything=False)
        flat = block.reshape(-1).view(np.uint8)
        begin = -flat.ctypes.data % _PAGE
        end = begin + (flat.size - begin) // _PAGE * _PAGE
        address = flat.ctypes.data + begin
        if int(self._torch.cuda.cudart().cudaHostRegister(address, end - begin, 0)):
            self._forget_the_error()
            with self._staging:
                return self._from_a_buffer(block)
        with self._torch.cuda.stream(self._stream):
            there = self._room(block)
            bytes_there, here = there.view(-1).view(self._torch.uint8), self._torch.from_numpy(flat)
            bytes_there[begin:end].copy_(here[begin:end], non_blocking=True)
            for edge in (slice(0, begin), slice(end, flat.size)):
                bytes_there[edge].copy_(here[edge])
            event = self._sent()
        self._locked.append((event, address))
        return there, event

    def _forget_the_error(self) -> None:
        """CUDA keeps an error until it is asked for, and PyTorch would take it for its own."""
        with contextlib.suppress(RuntimeError):
            self._torch.zeros(1, device=self.device)

    def _unlock(self, *, everything: bool) -> None:
        kept = []
        for event, address in self._locked:
            if everything:
                event.synchronize()
            if everything or event.query():
                self._torch.cuda.cudart().cudaHostUnregister(address)
            else:
                kept.append((event, address))
        self._locked = kept

    def finish(self) -> None:
        """All blocks of a read were sent: no page stays locked."""
        self._unlock(everything=True)

    def _room(self, block: np.ndarray) -> Any:
        dtype = self._torch.float32 if block.dtype == np.float32 else self._torch.float64
        return self._torch.empty(block.shape, dtype=dtype, device=self.device)

    def _sent(self) -> Any:
        event = self._torch.cuda.Event()
        event.record(self._stream)
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
    loaded = mover.accept(mover.load(np.ascontiguousarray(data)))
    mover.finish()
    return loaded


def _part_of_an_array(block: np.ndarray) -> bool:
    """Whether the block is a piece of an array in memory, without gaps: not of a file, and not read for the purpose."""
    owner: Any = block
    while isinstance(getattr(owner, "base", None), np.ndarray):
        owner = owner.base
        if isinstance(owner, np.memmap):
            return False
    whole = owner is not block and block.flags.c_contiguous and block.flags.writeable
    return bool(whole and block.nbytes >= _WORTH_LOCKING and block.dtype in (np.float32, np.float64))
