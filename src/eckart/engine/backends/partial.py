"""Small steps of products with dense rows: adding the results of blocks, pieces of a block, weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eckart.arrays import Array, astype, is_numpy, namespace


def of_rows(transposed: np.ndarray) -> np.ndarray:
    """A tall block whose transpose is contiguous, as in the basis (`backends.tall`)."""
    return np.ascontiguousarray(transposed).T


def accumulate(total: list[Array], parts: list[Array]) -> list[Array]:
    """Add the parts to float64 totals, in place with NumPy, because the totals are our own."""
    if not total:
        return [astype(part, namespace(part).float64) for part in parts]
    if is_numpy(parts[0]):
        for sum_, part in zip(total, parts, strict=True):
            np.add(sum_, part, out=sum_)
        return total
    return [sum_ + astype(part, sum_.dtype) for sum_, part in zip(total, parts, strict=True)]


def pieces(block: Array, start: int, size: int) -> Iterator[tuple[int, Array]]:
    for first in range(0, block.shape[0], size):
        yield start + first, block[first : min(first + size, block.shape[0]), :]


def weights_of(block: Array, roots: Array | None, start: int) -> Array:
    """u for the rows of a block."""
    if roots is not None:
        return roots[start : start + block.shape[0]]
    xp = namespace(block)
    if xp is np:
        return np.ones(block.shape[0], block.dtype)
    return xp.ones(block.shape[0], dtype=block.dtype, device=block.device)


def diagonal(matrix: Array) -> Array:
    if is_numpy(matrix):
        return np.diagonal(matrix).copy()
    return namespace(matrix).reshape(matrix, (-1,))[:: matrix.shape[0] + 1]
