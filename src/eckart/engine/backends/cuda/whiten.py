"""W with (Z W)^T Z W = I from Z^T Z, by one thread block on a GPU, faster than a round trip to the host.

S = D Z^T Z D with D = 1 / the lengths of the columns of Z. Elimination turns (S | I) into (U | L^-1), S = L U, with the
pivots p on the diagonal of U; W = D L^-T diag(p)^-1/2. Every thread keeps its entries in registers; each step shares
one row and one column.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, empty_rows
from eckart.engine.backends.cuda.arrays import can_compile, cupy, on_device_of, pointer
from eckart.engine.backends.cuda.source import source

if TYPE_CHECKING:
    import cupy as cp

LARGEST = 64
"""Maximum number of columns of Z for the registers of one thread block."""


def usable(block: Array) -> bool:
    """Whether the block is on a GPU and narrow enough, and CuPy is installed."""
    return 0 < block.shape[1] <= LARGEST and can_compile(block)


def whiten(gram: Array, facts: Array, row: int) -> Array:
    """Return W, and write statistics into a row of `facts` on the device.

    The statistics are the smallest length of a column of Z, the reciprocal norm of the inverse of the Cholesky factor
    of S (a lower bound of its smallest singular value, which the diagonal does not show), and the largest off-diagonal
    row sum of |S|. They are NaN if something is wrong.
    """
    size = int(gram.shape[0])
    result = empty_rows(size, size, gram)
    with on_device_of(gram):
        indices = (pointer(gram), pointer(result), pointer(facts) + np.uint64(24 * row))
        _kernel()((1,), (1024,), (*indices, np.int32(size)))
    return result


@lru_cache(maxsize=1)
def _kernel() -> cp.RawKernel:
    return cupy().RawKernel(source("whiten"), "whiten", options=("-std=c++17",))
