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
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

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
_SUMMED = 256
"""Products that BLAS sums in any order where blocks are not divided into tiles. Bounds count a rounding for each of
them, and dividing sums into so many takes no longer (measured for 300 to 5,000 columns of A and 8 to 40 of Q).
"""

_FEW_ROWS = 256
"""Below this many rows of a block, as when data are read in blocks, (A Q)^T A is multiplied instead of A^T (A Q), in
few calls (measured on streams of 2,000 columns and in memory, where blocks have more rows).
"""


def image_additions(columns: int) -> int:
    """Maximum number of roundings of a term of A Q in float64: within one sum, and one for each sum."""
    sizes = (_SUMMED, _TILE) if largest_unpacked_product() else (_SUMMED,)
    return max(min(columns, size) + -(-columns // size) for size in sizes)


@lru_cache(maxsize=64)
def _parts(size: int, most: int) -> tuple[slice, ...]:
    """Equal parts of at most so many columns."""
    count = max(1, -(-size // most))
    edges = [size * i // count for i in range(count + 1)]
    return tuple(slice(first, last) for first, last in itertools.pairwise(edges))


def image(block: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A Q in float64, with the roundings of `image_additions`."""
    first, *others = _parts(len(right), _SUMMED)
    found = np.asarray(block[:, first] @ right[first])
    for part in others:
        found += block[:, part] @ right[part]
    return found


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
        self._images, self._tile = dense.images, dense.ROW_TILE
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

    def image(self, block: np.ndarray) -> np.ndarray:
        """A Q, for a float64 Q."""
        whole = len(block) - len(block) % self._tile
        result = np.empty((len(block), len(self._factor)))
        self._images(np.ascontiguousarray(block[:whole]), self._factor, result)
        if whole < len(block):
            np.matmul(block[whole:].astype(np.float64), self._factor.T, out=result[whole:])
        return result[:, : self._width]


class Whole:
    """Blocks are multiplied as they are.

    In float64, sums over the columns of A are divided, because bounds count their roundings.
    """

    def __init__(self, right: np.ndarray) -> None:
        self._given = right

    @cached_property
    def _right(self) -> np.ndarray:
        return np.ascontiguousarray(self._given)

    @cached_property
    def _factor(self) -> np.ndarray:
        return np.ascontiguousarray(self._given.T)

    @cached_property
    def _stack(self) -> np.ndarray:
        """Parts of Q^T of equal width, one after the other; `_image` multiplies the last columns separately."""
        count = -(-len(self._given) // _SUMMED)
        width = len(self._given) // count
        return np.ascontiguousarray(self._factor[:, : count * width].reshape(-1, count, width).transpose(1, 0, 2))

    def normal(self, block: np.ndarray) -> np.ndarray:
        by_rows = block.strides[0] >= block.strides[1]
        if block.dtype == np.float64:
            if by_rows and 0 < len(block) < _FEW_ROWS:
                return np.asarray(self._image(block) @ block)
            found = image(block, self._right)
            return np.asarray((block.T @ found).T if by_rows else found.T @ block)
        # In float32 BLAS is fastest where the sum over the rows of a block is not over the longer stride.
        found = block @ self._factor.T
        return np.asarray(found.T @ block if by_rows else (block.T @ found).T)

    def _image(self, block: np.ndarray) -> np.ndarray:
        """(A Q)^T: BLAS is up to 12 % faster if all operands have the same layout.

        One call multiplies all parts, because a call for each takes up to 6 % of the time of the products.
        """
        count, _, width = self._stack.shape
        (down, along), used = block.strides, count * width
        parts = as_strided(block, (count, width, len(block)), (width * along, along, down), writeable=False)
        found = np.asarray(np.add.reduce(self._stack @ parts, axis=0))
        if used < len(self._given):
            found += self._factor[:, used:] @ block[:, used:].T
        return found


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
        slices = _parts(size, _TILE)
        together = max(1, product // (-(-size // len(slices)) * width))
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
