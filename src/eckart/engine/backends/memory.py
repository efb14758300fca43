"""When GPU memory runs out: smaller blocks and a note; never a wrong answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from eckart.errors import MemoryBudgetError
from eckart.notes import Note

Result = TypeVar("Result")
_BLOCK_BYTES = 2**29
"""A block on a GPU must keep all multiprocessors busy."""
_LEAST_BLOCK_BYTES = 2**22


@dataclass
class Counter:
    """Number of passes so far and maximum size of blocks on a GPU, shared by all views of one matrix."""

    passes: int = 0
    block_bytes: int = _BLOCK_BYTES

    @property
    def frugal(self) -> bool:
        """Whether memory ran out before."""
        return self.block_bytes < _BLOCK_BYTES

    @property
    def notes(self) -> tuple[Note, ...]:
        if not self.frugal:
            return ()
        size = self.block_bytes / 2**20
        return (
            Note(
                "smaller_blocks",
                f"The GPU ran out of memory, so the computation continues with smaller blocks ({size:.3g} MiB).",
            ),
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether PyTorch or CuPy found no room on the device."""
    return type(error).__name__ == "OutOfMemoryError"


def retry_smaller(counter: Counter, work: Callable[[], Result]) -> Result:
    """The result of work on blocks, repeated with smaller ones if the device runs out of memory."""
    passes = counter.passes
    while True:
        try:
            return work()
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            said = str(error).partition("\n")[0]
        # Outside `except`, because the exception keeps all arrays of the failed attempt alive.
        free_device_memory()
        if counter.block_bytes <= _LEAST_BLOCK_BYTES:
            size = counter.block_bytes / 2**20
            raise MemoryBudgetError(
                f"The GPU does not have enough memory, even for blocks of {size:.3g} MiB ({said}). "
                "Free GPU memory, request fewer components, or keep the data in host memory and use "
                "device='cuda'."
            )
        counter.block_bytes //= 4
        counter.passes = passes


def free_device_memory() -> None:
    """Release the memory that PyTorch and CuPy cache."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    if cupy is not None:
        cupy.get_default_memory_pool().free_all_blocks()
