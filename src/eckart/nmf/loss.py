"""Losses of A ~ W H, entry by entry and tile by tile, without the cancellation of their short forms.

u = 2^-53. An entry of W H is a sum of k non-negative products, so its relative error is (k + 1) u. The root of the
squared error is therefore off by (k + 2) u (|A| + |W H|). The divergence, a sum of non-negative terms, is off by (k +
8) u (sum of A + sum of W H), plus the rounding of the summation: at most 64 u plus u per tile, relative to the sum.
"""

from __future__ import annotations

import operator

import numpy as np

from eckart.arrays import UNIT_ROUNDOFF, Array, Matrix, astype, is_array, is_host, is_sparse, namespace
from eckart.engine.backends.cuda.arrays import given_back
from eckart.engine.parallel import fold
from eckart.nmf.constants import DEVICE_TILE_BYTES, LOSS_TILE_BYTES, POOL_FROM_LOSS
from eckart.nmf.problem import entry_segments, segments

_STORED = 1 << 20
"""Stored entries whose predictions are computed at a time."""


def exact_squares(matrix: object, left: Array, right: Array, squared_norm: float) -> tuple[float, float]:
    """(|A - W H|^2 / 2, bound of its rounding)."""
    squared = squared_error(matrix, left, right)
    root, k = squared**0.5, int(right.shape[1])
    off = (k + 2) * UNIT_ROUNDOFF * (2.0 * squared_norm**0.5 + root)
    return 0.5 * squared, off * root + 0.5 * off**2 + (64 + len(_tiles(matrix))) * UNIT_ROUNDOFF * squared


def stored_squares(matrix: Matrix, left: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """(|A - W H|^2 / 2, bound of its rounding) of a CSR matrix: |WH|^2 plus (x - wh)^2 - (wh)^2 over stored entries."""
    whole = float(np.sum((left.T @ left) * (right.T @ right)))

    def step(piece: tuple[int, int]) -> np.ndarray:
        values, fitted = _stored(matrix, left, right, piece)
        rest = values - fitted
        return np.array([rest @ rest, fitted @ fitted])

    pieces = _stored_tiles(matrix, right.shape[1])
    inside, covered = fold(step, pieces, operator.add)
    k = int(right.shape[1])
    rounding = (2 * k + 72 + len(pieces) + sum(matrix.shape)) * UNIT_ROUNDOFF * (inside + 4.0 * whole)
    return 0.5 * float(inside + max(whole - covered, 0.0)), float(rounding)


def _stored(
    matrix: Matrix, left: np.ndarray, right: np.ndarray, piece: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """(stored entries of some rows, those of W H) of a CSR matrix."""
    rows = matrix[piece[0] : piece[1]]
    owner = np.repeat(np.arange(piece[0], piece[1]), np.diff(rows.indptr))
    return rows.data.astype(np.float64), np.einsum("ij,ij->i", left[owner], right[rows.indices])


def exact_divergence(matrix: Matrix, left: np.ndarray, right: np.ndarray, floor: float) -> tuple[float, float]:
    """(sum of x log(x / wh) - x + wh, bound of its rounding) of a dense or CSR matrix; wh is at least `floor`."""
    whole = float(left.sum(axis=0) @ right.sum(axis=0))

    def step(piece: tuple[int, int]) -> np.ndarray:
        if isinstance(matrix, np.ndarray):
            values = matrix[piece[0] : piece[1]].astype(np.float64).ravel()
            fitted = (left[piece[0] : piece[1]] @ right.T).ravel()
        else:
            values, fitted = _stored(matrix, left, right, piece)
        some = values > 0
        x, y = values[some], np.maximum(fitted[some], floor)
        inside = x * np.log(x / y) + (y - x)
        return np.array(
            [inside.sum(), fitted[~some].sum(), fitted[some].sum(), x.sum(), np.abs(y - fitted[some]).sum()]
        )

    pieces = _tiles(matrix) if isinstance(matrix, np.ndarray) else _stored_tiles(matrix, right.shape[1])
    inside, outside, covered, data, lifted = fold(step, pieces, operator.add)
    k = int(right.shape[1])
    if not isinstance(matrix, np.ndarray):
        outside = max(whole - covered, 0.0)  # the stored ones among all entries of W H
    rounding = (k + 72 + len(pieces) + sum(matrix.shape)) * UNIT_ROUNDOFF * (2.0 * data + 2.0 * whole + lifted)
    return max(float(inside + outside), 0.0), float(rounding)


def squared_error(matrix: Array, left: Array, right: Array) -> float:
    """|A - W H|^2 over the known entries of a dense matrix, or over all entries of a CSR matrix."""
    if not isinstance(left, np.ndarray):
        return _elsewhere(matrix, left, right)

    def step(piece: tuple[int, int]) -> float:
        rows = matrix[piece[0] : piece[1]]
        rest = left[piece[0] : piece[1]] @ right.T
        rest -= rows if isinstance(matrix, np.ndarray) else rows.toarray()
        return float(np.nansum(np.square(rest)))

    return float(fold(step, _tiles(matrix), operator.add))


def predicted_squares(matrix: Matrix, left: Array, right: Array) -> float:
    """Sum of (W H)^2 over unknown entries: NaN in dense data, and not stored in CSR data."""
    xp = namespace(left)
    left, right = (astype(factor, xp.float64) for factor in (left, right))
    if is_sparse(matrix):
        entries = matrix.tocoo()
        stored = sum(
            float(np.square(np.einsum("ij,ij->i", left[entries.row[some]], right[entries.col[some]])).sum())
            for some in (slice(start, start + _STORED) for start in range(0, entries.nnz, _STORED))
        )
        return max(float(((left.T @ left) * (right.T @ right)).sum()) - stored, 0.0)
    total = 0.0
    for start, stop in _tiles(matrix, LOSS_TILE_BYTES if is_host(left) else DEVICE_TILE_BYTES):
        rows = matrix[start:stop, :] if is_array(matrix) else given_back(matrix.dense(start, stop), left)
        unknown = xp.isnan(rows) if is_array(matrix) else rows == 0
        total += float(xp.sum(xp.where(unknown, (left[start:stop, :] @ right.T) ** 2, 0.0)))
    return total


def _elsewhere(matrix: Array, left: Array, right: Array) -> float:
    """The same in other libraries, tile by tile; CSR rows have `dense`."""
    xp = namespace(left)
    left, right = (astype(factor, xp.float64) for factor in (left, right))
    total = 0.0
    for start, stop in _tiles(matrix, LOSS_TILE_BYTES if is_host(left) else DEVICE_TILE_BYTES):
        rows = matrix[start:stop, :] if is_array(matrix) else given_back(matrix.dense(start, stop), left)
        rest = astype(rows, xp.float64) - left[start:stop, :] @ right.T
        total += float(xp.sum(xp.where(xp.isnan(rest), 0.0, rest * rest)))
    return total


def _tiles(matrix: Array, tile_bytes: int = LOSS_TILE_BYTES) -> list[tuple[int, int]]:
    height = max(1, tile_bytes // (8 * matrix.shape[1]))
    least = 8 if matrix.shape[0] * matrix.shape[1] >= POOL_FROM_LOSS else 1
    return segments(matrix.shape[0], max(least, -(-matrix.shape[0] // height)))


def _stored_tiles(matrix: Matrix, k: int) -> list[tuple[int, int]]:
    """Rows of a CSR matrix in pieces whose gathered factors, entries x k, are tiles."""
    least = 8 if int(matrix.nnz) * k >= POOL_FROM_LOSS else 1
    return entry_segments(matrix, max(least, -(-int(matrix.nnz) * 8 * k // LOSS_TILE_BYTES)))
