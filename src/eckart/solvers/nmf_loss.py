"""The squared error of A ~ W H, entry by entry, without the cancellation of its short form: a tile at a time."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from eckart.operators.executors import fold
from eckart.solvers.nmf_problem import segments

_TILE_BYTES = 4_000_000


def squared_error(matrix: Any, left: np.ndarray, right: np.ndarray) -> float:
    """|A - W H|^2 over the known entries of a dense matrix, or over all entries of a CSR matrix."""

    def step(piece: tuple[int, int]) -> float:
        rows = matrix[piece[0] : piece[1]]
        rest = left[piece[0] : piece[1]] @ right.T
        rest -= rows if isinstance(matrix, np.ndarray) else rows.toarray()
        return float(np.nansum(np.square(rest)))

    return float(fold(step, _tiles(matrix), operator.add))


def _tiles(matrix: Any) -> list[tuple[int, int]]:
    height = max(1, _TILE_BYTES // (8 * matrix.shape[1]))
    return segments(matrix.shape[0], max(8, -(-matrix.shape[0] // height)))
