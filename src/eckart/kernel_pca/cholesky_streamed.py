"""K ~ F^T F by randomly pivoted Cholesky for points read in blocks, without storing F.

F = L^-1 k(pivots, x) with L L^T = K[pivots, pivots], so the columns of F of a block are computed whenever it is read. A
round is one pass: it computes the remaining diagonal and draws the next proposals with their points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from eckart.arrays import Array, Matrix
from eckart.kernel_pca.constants import FEWEST_PROPOSALS, STREAMED_PROPOSALS

Tile = Callable[[Matrix, Matrix], np.ndarray]
"""k(x, y) for all rows x of the first and y of the second."""
Blocks = Callable[[], Iterable[tuple[int, Matrix]]]
"""One pass: (first row, rows) of each block."""


@dataclass
class Pivots:
    """Chosen points, their indices, and the Cholesky factor of the kernel between them."""

    tile: Tile
    join: Callable[[list[Matrix]], Matrix]
    points: Array = None
    indices: tuple[int, ...] = ()
    triangle: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def features(self, rows: Array) -> np.ndarray:
        """F for some points: rank x points."""
        if self.points is None:
            return np.zeros((0, rows.shape[0]))
        return self.solved(self.tile(self.points, rows))

    def solved(self, kernel: np.ndarray) -> np.ndarray:
        """F from k(pivots, x)."""
        return np.asarray(linalg.solve_triangular(self.triangle, kernel, lower=True))

    def accept(self, indices: np.ndarray, rows: Array, rng: np.random.Generator, room: int) -> int:
        """Accept proposals by rejection sampling: each with the share of its diagonal that earlier ones left."""
        known = self.features(rows)
        block = self.tile(rows, rows) - known.T @ known
        before = np.diagonal(block).copy()
        floor = 1e-12 * float(before.max(initial=0.0))
        chosen: list[int] = []
        for j, draw in enumerate(rng.uniform(size=len(indices))):
            fresh = int(indices[j]) not in self.indices and int(indices[j]) not in {int(indices[i]) for i in chosen}
            if len(chosen) < room and fresh and before[j] > floor and block[j, j] > max(draw * before[j], floor):
                column = block[:, j] / np.sqrt(block[j, j])
                block = block - np.outer(column, column)
                chosen.append(j)
        if chosen:
            self._extend(indices[chosen], rows[chosen])
        return len(chosen)

    def _extend(self, indices: np.ndarray, rows: object) -> None:
        self.points = rows if self.points is None else self.join([self.points, rows])
        self.indices = (*self.indices, *(int(place) for place in indices))
        kernel = self.tile(self.points, self.points)
        kernel[np.diag_indices_from(kernel)] += 8 * np.finfo(np.float64).eps * float(np.trace(kernel))
        self.triangle = np.linalg.cholesky(kernel)


@dataclass(frozen=True)
class Round:
    """Result of one pass: the remaining trace, and proposals drawn in proportion to the remaining diagonal."""

    trace: float
    left: float
    lowest: float
    indices: np.ndarray
    rows: Array


def _left_of_diagonal(pivots: Pivots, diagonal: np.ndarray, first: int, rows: Matrix) -> np.ndarray:
    """The diagonal of K that the pivots leave for the rows from `first` on; zero for the pivots themselves."""
    features = pivots.features(rows)
    left: np.ndarray = diagonal - np.einsum("ij,ij->j", features, features)
    left[[place - first for place in pivots.indices if first <= place < first + rows.shape[0]]] = 0.0
    return left


def read_round(
    pivots: Pivots, blocks: Blocks, diagonal: Callable[[Matrix], np.ndarray], count: int, rng: np.random.Generator
) -> Round:
    """One pass. A row of a new block replaces a proposal with the block's share of the diagonal so far."""
    trace = left = lowest = 0.0
    indices = np.full(count, -1)
    kept: dict[int, Matrix] = {}
    for first, rows in blocks():
        whole = diagonal(rows)
        rest = _left_of_diagonal(pivots, whole, first, rows)
        lowest = min(lowest, float(rest.min(initial=0.0)), float(whole.min(initial=0.0)))
        np.maximum(rest, 0.0, out=rest)
        trace, here = trace + float(whole.sum()), float(rest.sum())
        left += here
        replaced = np.flatnonzero(rng.uniform(size=count) * left < here)
        if here > 0.0 and replaced.size:
            drawn = np.searchsorted(np.cumsum(rest), rng.uniform(0.0, here, replaced.size), side="right")
            drawn = np.minimum(drawn, rows.shape[0] - 1)
            indices[replaced] = first + drawn
            kept |= {first + place: rows[[place]] for place in np.unique(drawn).tolist()}
            kept = {place: kept[place] for place in set(indices[indices >= 0].tolist())}
    found = indices[indices >= 0]
    return Round(trace, left, lowest, found, pivots.join([kept[int(p)] for p in found]) if found.size else None)


def streamed_cholesky(
    pivots: Pivots, blocks: Blocks, diagonal: Callable[[Matrix], np.ndarray], *, error: float, least: int, most: int,
    rng: np.random.Generator,
) -> Iterator[Round]:  # fmt: skip
    """Rounds until at most `error` of the trace is left or `most` pivots are chosen; the last ends the search."""
    while True:
        rank = len(pivots.indices)
        count = min(STREAMED_PROPOSALS, max(FEWEST_PROPOSALS, rank))
        found = read_round(pivots, blocks, diagonal, count, rng)
        yield found
        nothing = 64 * float(np.finfo(np.float64).eps) * found.trace
        enough = rank >= most or found.left <= (nothing if rank < least else max(nothing, error * found.trace))
        if enough or found.rows is None or not pivots.accept(found.indices, found.rows, rng, most - rank):
            return
