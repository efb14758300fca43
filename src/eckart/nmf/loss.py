"""The squared error of A ~ W H, entry by entry, without the cancellation of its short form: a tile at a time."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from eckart.arrays import Array, astype, is_array, is_host, namespace
from eckart.engine.backends.cuda.arrays import given_back
from eckart.engine.parallel import fold
from eckart.nmf.problem import segments

_TILE_BYTES = 4_000_000
_DEVICE_TILE_BYTES = 2**28


def squared_error(matrix: Any, left: Array, right: Array) -> float:
    """|A - W H|^2 over the known entries of a dense matrix, or over all entries of a CSR matrix."""
    if not isinstance(left, np.ndarray):
        return _elsewhere(matrix, left, right)

    def step(piece: tuple[int, int]) -> float:
        rows = matrix[piece[0] : piece[1]]
        rest = left[piece[0] : piece[1]] @ right.T
        rest -= rows if isinstance(matrix, np.ndarray) else rows.toarray()
        return float(np.nansum(np.square(rest)))

    return float(fold(step, _tiles(matrix), operator.add))


def _elsewhere(matrix: Any, left: Array, right: Array) -> float:
    """The same in other libraries, a tile after the other; CSR rows have `dense`."""
    xp = namespace(left)
    left, right = (astype(factor, xp.float64) for factor in (left, right))
    total = 0.0
    for start, stop in _tiles(matrix, _TILE_BYTES if is_host(left) else _DEVICE_TILE_BYTES):
        rows = matrix[start:stop, :] if is_array(matrix) else given_back(matrix.dense(start, stop), left)
        rest = astype(rows, xp.float64) - left[start:stop, :] @ right.T
        total += float(xp.sum(xp.where(xp.isnan(rest), 0.0, rest * rest)))
    return total


def _tiles(matrix: Any, tile_bytes: int = _TILE_BYTES) -> list[tuple[int, int]]:
    height = max(1, tile_bytes // (8 * matrix.shape[1]))
    return segments(matrix.shape[0], max(8, -(-matrix.shape[0] // height)))
