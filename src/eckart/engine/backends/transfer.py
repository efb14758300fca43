"""How blocks that were read get to where they are worked on: `Stay` leaves them in the memory of the host."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eckart.arrays import Array, Matrix


class Transfer(Protocol):
    """Takes blocks to another place while those before are worked on."""

    prototype: Array
    """An empty array on that device."""
    depth: int
    """Blocks in flight at a time."""
    threads: int
    """Threads that read and send them."""

    def load(self, block: Matrix) -> Matrix:
        """Begin to take a block over; runs in the threads that read."""
        ...

    def accept(self, loaded: Matrix) -> Matrix:
        """What `load` gave, ready to be worked on."""
        ...


class Stay:
    """Blocks are worked on where they were read."""

    prototype: Array = np.empty((0, 0))
    depth: int
    threads: int
    depth, threads = 2, 1

    def load(self, block: Matrix) -> Matrix:
        return block

    def accept(self, loaded: Matrix) -> Matrix:
        return loaded
