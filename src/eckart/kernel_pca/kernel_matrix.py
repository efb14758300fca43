"""The kernel of one set of points, n x n, as tiles of its upper triangle, kept or recomputed at every pass.

K Q in one pass: tile (i, j) adds K_ij Q_j to the rows i and K_ij^T Q_i to the rows j. Products are formed in the
precision of the tiles and summed in float64, in the order of the tiles. Everything happens on the device of the points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eckart.arrays import Array, DType, Matrix, astype, device, dtype_name, is_host, is_numpy, is_sparse, namespace
from eckart.engine.parallel import fold
from eckart.kernel_pca.constants import DEVICE_TILE_SIDE
from eckart.kernel_pca.kernel_functions import Kernel, Points, chosen_rows, doubles, put
from eckart.kernel_pca.rounding import kernel_error

Pair = tuple[int, int]
Parts = tuple[int, int, Array | None, Array | None, Array]


class KernelMatrix:
    """K = k(x_i, x_j). `precision` is that of the tiles; `keep` keeps them after the first pass."""

    kernel: Kernel
    keep: bool
    size: int
    passes: int
    diagonal: Array
    precision: str
    after_pass: Callable[[int], None] | None = None
    """Called with the number of passes over the kernel after each of them."""

    def __init__(self, kernel: Kernel, data: Matrix, *, precision: str = "float32", keep: bool = True) -> None:
        self.kernel, self.keep = kernel, keep
        self.size = int(data.shape[0])
        self.passes = 0
        self.prototype: Array = np.empty(0) if is_sparse(data) else data[:0, :0]
        """Determines the library and the device of the work."""
        self._data, self._shift = data, kernel.shift(data)
        self._given: Array | None = None
        if kernel.name == "function":
            whole = kernel.points(data)
            self._given = kernel.tile(whole, whole)
        elif kernel.name == "precomputed":
            self._given = np.asarray(data) if is_numpy(self.prototype) else data
        self.diagonal = kernel.diagonal(data) if self._given is None else doubles(self._given.diagonal()) + 0.0
        self.precision = precision if self._given is None else dtype_name(self._given)
        self._points = self._prepare(self.precision)
        self._tiles: dict[Pair, Array] = {}

    def _prepare(self, precision: str) -> Points | None:
        return None if self._given is not None else self.kernel.points(self._data, self._shift, precision)

    @property
    def side(self) -> int:
        """Rows of a tile."""
        if not is_host(self.prototype):
            return DEVICE_TILE_SIDE
        return 512 if self.size <= 16_384 else 1024

    def first(self, right: Array) -> tuple[Array, Array]:
        """(K Q, K 1) in one pass, which computes the tiles."""
        product = self.matmat(with_ones(right))
        return product[:, :-1], product[:, -1]

    def error(self) -> float:
        """Bound of ||K^ - K||_2, K^ in float64."""
        return kernel_error(self.kernel, self._data, self._shift)

    def reach(self, means: Array) -> float:
        """Bound of the norm of |K| (entrywise) from K 1 / n; products with K are rounded in proportion to it."""
        xp = namespace(means)
        if self.kernel.name in ("rbf", "laplacian"):
            return self.size * float(xp.max(xp.abs(means)))  # entries of one sign: the largest row sum
        return float(xp.sum(self.diagonal)) if self.kernel.positive else self.length()

    def length(self) -> float:
        """||K||_F."""

        def step(pair: Pair) -> Parts:
            return *pair, None, None, _squares(doubles(self._tile(pair)), pair)

        return float(np.sqrt(self._total(1, step)[1]))

    def matmat(self, right: Array) -> Array:
        """K Q in the precision of the tiles."""
        factor = astype(right, self._dtype)
        return self._total(right.shape[1], lambda pair: self._multiplied(pair, self._tile(pair), factor))[0]

    def precise(self, right: Array, kept: int = 0) -> tuple[Array, float]:
        """K Q from float64 tiles, and the Frobenius norm of their difference from the tiles in use.

        The last `kept` columns are multiplied by the tiles in use instead, also in float64.
        """
        if self._given is not None or self.precision == "float64":

            def plain(pair: Pair) -> Parts:
                return self._multiplied(pair, doubles(self._tile(pair)), right)

            return self._total(right.shape[1], plain)[0], 0.0
        exact = self._prepare("float64")
        assert exact is not None

        def step(pair: Pair) -> Parts:
            tile = self._made(pair, exact)
            i, j, rows, columns, _ = self._multiplied(pair, tile, right)
            tile -= self._tile(pair)
            if kept:
                # K_in_use Q = K Q - (K - K_in_use) Q
                _, _, less, below, _ = self._multiplied(pair, tile, right[:, -kept:])
                for product, part in ((rows, less), (columns, below)):
                    if product is not None and part is not None:
                        product[:, -kept:] -= part
            return i, j, rows, columns, _squares(tile, pair)

        product, squares = self._total(right.shape[1], step)
        return product, float(np.sqrt(squares))

    def sharpen(self) -> None:
        """Use float64 tiles from now on."""
        self.precision = "float64"
        self._points, self._tiles = self._prepare("float64"), {}

    def dense(self) -> Array:
        """The whole matrix in float64, symmetric."""
        result = self._zeros(self.size)
        points = self._points if self.precision == "float64" else self._prepare("float64")
        for i, j in self._pairs():
            tile = self._made((i, j), points)
            result[i : i + self.side, j : j + self.side] = tile
            result[j : j + self.side, i : i + self.side] = tile.T
        self._count()
        return result

    def _count(self) -> None:
        self.passes += 1
        if self.after_pass is not None:
            self.after_pass(self.passes)

    def rows(self, index: Array, start: int, stop: int, out: Array | None = None) -> Array:
        """K[index, start:stop] in the precision of the tiles, in `out` if given."""
        if self._given is None:
            assert self._points is not None
            return self.kernel.tile(self._points.chosen(index), self._points.part(start, stop), out)
        if is_numpy(self._given):
            return put(self._given[index, start:stop], out)
        return put(chosen_rows(self._given[:, start:stop], index), out)

    def precise_rows(self, index: Array) -> Callable[[int, int], Array]:
        """(start, stop) -> K[index, start:stop] from float64 points."""
        if self._given is not None:
            return lambda start, stop: doubles(self.rows(index, start, stop))
        points = self._prepare("float64") if self.precision != "float64" else self._points
        assert points is not None
        chosen = points.chosen(index)
        return lambda start, stop: self.kernel.tile(chosen, points.part(start, stop))

    def block(self, index: Array) -> Array:
        """K[index, index] in float64."""
        if self._given is not None:
            if is_numpy(self._given):
                return np.asarray(self._given[np.ix_(index, index)], np.float64)
            return doubles(chosen_rows(chosen_rows(self._given, index).T, index))
        points = self.kernel.points(chosen_rows(self._data, index), self._shift)
        return self.kernel.tile(points, points)

    @property
    def _dtype(self) -> DType:
        return getattr(namespace(self.prototype), self.precision)

    def _zeros(self, width: int) -> Array:
        xp = namespace(self.prototype)
        return xp.zeros((self.size, width), dtype=xp.float64, device=device(self.prototype))

    def _pairs(self) -> list[Pair]:
        starts = range(0, self.size, self.side)
        return [(i, j) for i in starts for j in starts if j >= i]

    def _tile(self, pair: Pair) -> Array:
        found = self._tiles.get(pair)
        if found is None:
            found = astype(self._made(pair, self._points), self._dtype)
            if self.keep and self._given is None:
                self._tiles[pair] = found
        return found

    def _made(self, pair: Pair, points: Points | None) -> Array:
        i, j = pair
        if self._given is not None:
            return self._given[i : i + self.side, j : j + self.side]
        assert points is not None
        return self.kernel.tile(points.part(i, i + self.side), points.part(j, j + self.side))

    def _multiplied(self, pair: Pair, tile: Array, factor: Array) -> Parts:
        i, j = pair
        rows = tile @ factor[j : j + self.side, :]
        return i, j, rows, tile.T @ factor[i : i + self.side, :] if i != j else None, 0.0

    def _total(self, width: int, step: Callable[[Pair], Parts]) -> tuple[Array, float]:
        """The sum of the results of all tiles, in order."""

        def run(pair: Pair | None) -> Array:
            return (self._zeros(width), 0.0) if pair is None else step(pair)

        def add(total: tuple[Array, Array], parts: Parts) -> tuple[Array, Array]:
            i, j, rows, columns, squares = parts
            if rows is not None:
                total[0][i : i + self.side, :] += rows
            if columns is not None:
                total[0][j : j + self.side, :] += columns
            return total[0], total[1] + squares

        workers = None if is_numpy(self.prototype) else 1
        product, squares = fold(run, [None, *self._pairs()], add, workers=workers)
        self._count()
        return product, float(squares)


def with_ones(block: Array) -> Array:
    """The block, and a column of ones."""
    xp = namespace(block)
    ones = xp.ones((block.shape[0], 1), dtype=block.dtype, device=device(block))
    return xp.concat([block, ones], axis=1)


def _squares(tile: Array, pair: Pair) -> Array:
    """The sum of squares of a tile, doubled for an off-diagonal tile; on a device, without waiting."""
    times = 1.0 if pair[0] == pair[1] else 2.0
    if is_numpy(tile):
        return float(np.vdot(tile, tile)) * times
    return namespace(tile).sum(tile * tile) * times
