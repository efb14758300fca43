"""Transfer of blocks to the device that processes them: `Stay` leaves them in host memory."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eckart.arrays import Array, Matrix


class Transfer(Protocol):
    """Copies blocks to another device while earlier ones are processed."""

    prototype: Array
    """An empty array on that device."""
    depth: int
    """Blocks in flight at a time."""
    threads: int
    """Threads that read and send them."""

    def load(self, block: Matrix) -> Matrix:
        """Start copying a block; runs in the reading threads."""
        ...

    def accept(self, loaded: Matrix) -> Matrix:
        """The result of `load`, ready to use."""
        ...


class Stay:
    """Blocks are processed where they were read."""

    prototype: Array = np.empty((0, 0))
    depth: int
    threads: int
    depth, threads = 2, 1

    def load(self, block: Matrix) -> Matrix:
        return block

    def accept(self, loaded: Matrix) -> Matrix:
        return loaded
