"""(A^T (A Q))^T for blocks of NumPy rows, with operands laid out and divided so that BLAS multiplies them fastest.

BLAS copies large operands into an order of its own before it multiplies. For a factor of 8 to 32 columns the copy takes
nearly as long as the product. Where OpenBLAS has kernels for AVX-512, it multiplies small matrices as they are. There,
blocks are divided into tiles that are small enough. Measured as processor times on AMD EPYC (Zen 4), that takes .6 of
the time for 8 columns, .75 for 16, and .9 for 24. For many rows of many float32 columns, compiled loops are faster. On
Intel Xeon (Emerald Rapids), tiles of float32 rows take .8 of the time for 8 columns, but 1.2 to 1.5 of it for 16 to 32,
and the compiled loop in float32 takes 1.5 to 2.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eckart.engine.threads import is_amd, largest_unpacked_product

_WIDEST, _WIDEST_ELSEWHERE = 32, 8
"""Columns of Q, at most: for more, the copies take less time than the calls for tiles. The second is for float32 rows
on processors that are not AMD's.
"""
_COMPILED = (40, 16)
"""Columns of Q up to which the compiled loop for float32 rows and float64 Q is faster than a float64 copy and BLAS with
kernels for AVX-512: on processors of AMD and on others, for which compilers prefer shorter vectors.
"""
_TILE = 512
"""Columns of a tile, at most. Fewer columns need more calls, and with fewer rows more results are added."""


class Factor(Protocol):
    """Q, ready for products with blocks of rows."""

    def normal(self, block: np.ndarray) -> np.ndarray:
        """(A^T (A Q))^T."""
        ...


def factor_for(right: np.ndarray) -> Factor:
    """Q in the layout that is fastest for its width."""
    size, width = right.shape
    product = largest_unpacked_product()
    widest = _WIDEST if right.dtype == np.float64 or is_amd() else _WIDEST_ELSEWHERE
    return Tiled.of(right, product) if product and 0 < width <= widest and size else Whole(right)


def is_worth_compiling(width: int) -> bool:
    """Whether the compiled loop multiplies float32 rows faster by this many float64 columns than BLAS does."""
    return not largest_unpacked_product() or width <= _COMPILED[0 if is_amd() else 1]


class Compiled:
    """Float32 blocks as they are, multiplied by compiled loops in the precision of Q, and summed in float64."""

    def __init__(self, right: np.ndarray) -> None:
        from eckart.engine.compiled import dense

        self._add = dense.add_normal_single if right.dtype == np.float32 else dense.add_normal
        self._tile = dense.ROW_TILE
        size, self._width = right.shape
        self._factor = np.zeros((-(-self._width // dense.TILE) * dense.TILE, size), right.dtype)
        self._factor[: self._width] = right.T

    def normal(self, block: np.ndarray) -> np.ndarray:
        whole = len(block) - len(block) % self._tile
        total, part = np.zeros(self._factor.shape), np.empty_like(self._factor)
        self._add(np.ascontiguousarray(block[:whole]), self._factor, part, total)
        if whole < len(block):
            rest = block[whole:].astype(np.float64)
            total += (self._factor @ rest.T) @ rest
        return total[: self._width]


class Whole:
    """Blocks are multiplied as they are, from Q^T: BLAS is a sixth faster if all operands have the same layout."""

    def __init__(self, right: np.ndarray) -> None:
        self._factor = np.ascontiguousarray(right.T)

    def normal(self, block: np.ndarray) -> np.ndarray:
        if block.dtype == np.float64:
            return np.asarray((self._factor @ block.T) @ block)
        # In float32 BLAS is fastest where the sum over the rows of a block is not over the longer stride.
        image = block @ self._factor.T
        return np.asarray(image.T @ block if block.strides[0] >= block.strides[1] else (block.T @ image).T)


@dataclass(frozen=True)
class Tiled:
    """Blocks are divided into tiles, whose sums over rows are added in float64."""

    size: int
    width: int
    together: int
    """Rows of a tile."""
    parts: tuple[tuple[slice, np.ndarray], ...]
    """Columns of A in a tile, and these rows of Q."""

    @classmethod
    def of(cls, right: np.ndarray, product: int) -> Tiled:
        """`product`: the largest m n k that BLAS multiplies without copies."""
        size, width = right.shape
        count = -(-size // _TILE)
        edges = [size * i // count for i in range(count + 1)]
        slices = [slice(first, last) for first, last in itertools.pairwise(edges)]
        together = max(1, product // (-(-size // count) * width))
        return cls(size, width, together, tuple((part, np.ascontiguousarray(right[part])) for part in slices))

    def normal(self, block: np.ndarray) -> np.ndarray:
        count = block.shape[0]
        rows = -(-count // -(-count // self.together))  # as few tiles as possible, of equal size
        total = np.zeros((self.width, self.size))
        result = np.empty((self.width, -(-self.size // len(self.parts))), block.dtype)
        for start in range(0, count, rows):
            tile = block[start : start + rows]
            image = tile[:, self.parts[0][0]] @ self.parts[0][1]
            for columns, factor in self.parts[1:]:
                image += tile[:, columns] @ factor
            for columns, factor in self.parts:
                product = result[:, : len(factor)]
                np.matmul(image.T, tile[:, columns], out=product)
                total[:, columns] += product
        return total
