"""How a memory limit is divided while data are read in blocks: the account that readers and solvers share.

    limit + LIBRARIES >= libraries + compiler + blocks + what the reader holds + what the solver holds

`memory=None` stands for the memory that is free now.
"""

from __future__ import annotations

import numpy as np

from eckart.environment import SMALL, free_memory

LIBRARIES = 150_000_000
"""Bytes beyond the limit for Python, NumPy, SciPy and the library of the file format."""
COMPILER = 130_000_000
"""Bytes of Numba and LLVM, measured; they count towards the limit. Sparse rows and large dense blocks need them."""
BLOCKS_HELD = 4
"""Number of blocks in memory at a time: the current one, those read ahead, and their products."""
_OF_BLOCKS = 8
"""All these blocks together take an eighth. Smaller blocks stay in the caches, so passes take no longer."""
_OF_READER = 4
_BLOCK_BYTES = (2**16, 2**26)


def compiler_bytes(memory: int) -> int:
    """What compiled loops take; of a small limit a quarter, because results do not depend on the limit."""
    return min(COMPILER, memory // 4)


def block_bytes(memory: int | None) -> int:
    """Size of the blocks: 64 KiB to 64 MiB."""
    allowed = free_memory() if memory is None else memory
    return int(np.clip((allowed - compiler_bytes(allowed)) // (_OF_BLOCKS * BLOCKS_HELD), *_BLOCK_BYTES))


def reader_bytes(memory: int | None) -> int:
    """What a reader may hold in addition to the blocks: rows decoded in advance, pages, buffers."""
    return max((free_memory() if memory is None else memory) // _OF_READER, SMALL // _OF_READER)


def reading_bytes(memory: int, block: int) -> int:
    """What is reserved for reading blocks of this size; nothing for data in memory (blocks of size 0)."""
    return BLOCKS_HELD * block + memory // _OF_READER if block else 0
