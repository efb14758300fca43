"""The kernel of one set of points, n x n, as tiles of its upper triangle: kept, or made again at every read.

K Q in one read: tile (i, j) gives K_ij Q_j to the rows i and K_ij^T Q_i to the rows j. Products are formed in the
precision of the tiles and added up in float64, in the order of the tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eckart.operators.executors import fold
from eckart.operators.kernel import Kernel, Points

Pair = tuple[int, int]
Parts = tuple[int, int, np.ndarray, np.ndarray | None, float]

_NOTHING = np.zeros((1, 1))


class KernelMatrix:
    """K = k(x_i, x_j). `precision` is that of the tiles; `keep` keeps them after the first read."""

    def __init__(self, kernel: Kernel, data: Any, *, precision: str = "float32", keep: bool = True) -> None:
        self.kernel, self.keep = kernel, keep
        self.size = int(data.shape[0])
        self.reads = 0
        self._data, self._shift = data, kernel.shift(data)
        self._given: np.ndarray | None = None
        if kernel.name == "function":
            whole = kernel.points(data)
            self._given = kernel.tile(whole, whole)
        elif kernel.name == "precomputed":
            self._given = np.asarray(data)
        self.diagonal = kernel.diagonal(data) if self._given is None else self._given.diagonal().astype(np.float64)
        self.precision = precision if self._given is None else str(self._given.dtype)
        self._points = self._prepare(self.precision)
        self._tiles: dict[Pair, np.ndarray] = {}

    def _prepare(self, precision: str) -> Points | None:
        return None if self._given is not None else self.kernel.points(self._data, self._shift, precision)

    @property
    def side(self) -> int:
        """Rows of a tile."""
        return 512 if self.size <= 16_384 else 1024

    def first(self, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(K Q, K 1) in one read, which makes the tiles."""
        product = self.matmat(np.hstack([right, np.ones((self.size, 1))]))
        return product[:, :-1], product[:, -1]

    def length(self) -> float:
        """||K||_F."""

        def step(pair: Pair) -> Parts:
            tile = self._tile(pair).astype(np.float64, copy=False)
            return *pair, _NOTHING, None, float(np.vdot(tile, tile)) * (1.0 if pair[0] == pair[1] else 2.0)

        return float(np.sqrt(self._total(1, step)[1]))

    def matmat(self, right: np.ndarray) -> np.ndarray:
        """K Q in the precision of the tiles."""
        factor = right.astype(self.precision)
        return self._total(right.shape[1], lambda pair: self._multiplied(pair, self._tile(pair), factor))[0]

    def precise(self, right: np.ndarray) -> tuple[np.ndarray, float]:
        """K Q from tiles made in float64, and the Frobenius norm of what the tiles in use differ from them."""
        if self._given is not None or self.precision == "float64":
            return self._total(right.shape[1], lambda pair: self._multiplied(pair, self._tile(pair), right))[0], 0.0
        exact = self._prepare("float64")
        assert exact is not None

        def step(pair: Pair) -> Parts:
            tile = self._made(pair, exact)
            i, j, rows, columns, _ = self._multiplied(pair, tile, right)
            tile -= self._tile(pair)
            return i, j, rows, columns, float(np.vdot(tile, tile)) * (1.0 if i == j else 2.0)

        product, squares = self._total(right.shape[1], step)
        return product, float(np.sqrt(squares))

    def sharpen(self) -> None:
        """From here on tiles in float64."""
        self.precision = "float64"
        self._points, self._tiles = self._prepare("float64"), {}

    def dense(self) -> np.ndarray:
        """The whole matrix in float64, symmetric."""
        result = np.empty((self.size, self.size))
        points = self._prepare("float64")
        for i, j in self._pairs():
            tile = self._made((i, j), points)
            result[i : i + self.side, j : j + self.side] = tile
            result[j : j + self.side, i : i + self.side] = tile.T
        self.reads += 1
        return result

    def rows(self, index: np.ndarray, start: int, stop: int) -> np.ndarray:
        """K[index, start:stop], in the precision of the tiles."""
        if self._given is not None:
            return np.asarray(self._given[index, start:stop])
        assert self._points is not None
        return self.kernel.tile(self._points.chosen(index), self._points.part(start, stop))

    def block(self, index: np.ndarray) -> np.ndarray:
        """K[index, index] in float64."""
        if self._given is not None:
            return np.asarray(self._given[np.ix_(index, index)], np.float64)
        points = self.kernel.points(self._data[index], self._shift)
        return self.kernel.tile(points, points)

    def _pairs(self) -> list[Pair]:
        starts = range(0, self.size, self.side)
        return [(i, j) for i in starts for j in starts if j >= i]

    def _tile(self, pair: Pair) -> np.ndarray:
        found = self._tiles.get(pair)
        if found is None:
            found = self._made(pair, self._points).astype(self.precision, copy=False)
            if self.keep and self._given is None:
                self._tiles[pair] = found
        return found

    def _made(self, pair: Pair, points: Points | None) -> np.ndarray:
        i, j = pair
        if self._given is not None:
            return self._given[i : i + self.side, j : j + self.side]
        assert points is not None
        return self.kernel.tile(points.part(i, i + self.side), points.part(j, j + self.side))

    def _multiplied(self, pair: Pair, tile: np.ndarray, factor: np.ndarray) -> Parts:
        i, j = pair
        rows = tile @ factor[j : j + self.side]
        return i, j, rows, tile.T @ factor[i : i + self.side] if i != j else None, 0.0

    def _total(self, width: int, step: Callable[[Pair], Parts]) -> tuple[np.ndarray, float]:
        """The parts of all tiles added up, in their order."""

        def run(pair: Pair | None) -> Any:
            return (np.zeros((self.size, width)), 0.0) if pair is None else step(pair)

        def add(total: tuple[np.ndarray, float], parts: Parts) -> tuple[np.ndarray, float]:
            i, j, rows, columns, squares = parts
            total[0][i : i + self.side] += rows
            if columns is not None:
                total[0][j : j + self.side] += columns
            return total[0], total[1] + squares

        self.reads += 1
        result: tuple[np.ndarray, float] = fold(run, [None, *self._pairs()], add)
        return result
