"""Exact Euclidean neighbours of rows: the nearest few, or all within a radius.

||x - y||^2 = ||x||^2 + ||y||^2 - 2 x.y finds candidates by products of tiles (of rows less their mean); distances then
come from differences, so equal rows are at distance zero. Rows of few columns are searched in a tree instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import Floats, Integers, Matrix, is_sparse
from eckart.engine.parallel import each
from eckart.engine.threads import threads
from eckart.isomap.constants import COMPILE_PRODUCTS_FROM, EXTRA_CANDIDATES, TILE_COLUMNS, TILE_ROWS, TREE_COLUMNS


@dataclass(frozen=True)
class Adjacency:
    """Lists of rows: row i is joined to the rows index[first[i]:first[i + 1]]."""

    first: Integers
    index: Integers

    @property
    def rows(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True)
class Neighbours(Adjacency):
    """The neighbours of each row and their distances, nearest first."""

    distance: Floats

    @property
    def owner(self) -> np.ndarray:
        """The row that each entry belongs to."""
        return np.repeat(np.arange(self.rows), np.diff(self.first))

    def kept(self, mask: np.ndarray) -> Neighbours:
        """Only the entries where `mask` is true."""
        counts = np.bincount(self.owner[mask], minlength=self.rows)
        return Neighbours(edges(counts), self.index[mask], self.distance[mask])

    def without_self(self, count: int | None) -> Neighbours:
        """Drop each row from its own neighbours; keep at most `count` of the others."""
        others = self.kept(self.index != self.owner)
        if count is None:
            return others
        position = np.arange(len(others.index)) - others.first[others.owner]
        return others.kept(position < count)


def edges(counts: np.ndarray) -> np.ndarray:
    """0, c_0, c_0 + c_1, ...: the start of the entries of each row."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def nearest(queries: Matrix, points: Matrix, count: int) -> Neighbours:
    """The `count` rows of `points` nearest to each row of `queries`; ties go to the first."""
    rows = queries.shape[0]
    if not is_sparse(points) and points.shape[1] <= TREE_COLUMNS:
        distance, index = _tree(points).query(queries, k=[*range(1, count + 1)], workers=threads())
    else:
        distance, index = _nearest_by_tiles(queries, points, count)
    first = np.arange(rows + 1, dtype=np.int64) * count
    return Neighbours(first, index.ravel().astype(np.int32), distance.ravel())


def within(queries: Matrix, points: Matrix, radius: float) -> Neighbours:
    """All rows of `points` at most `radius` away from each row of `queries`."""
    if not is_sparse(points) and points.shape[1] <= TREE_COLUMNS:
        found = _tree(queries).sparse_distance_matrix(_tree(points), radius, output_type="ndarray")
        owner, index, distance = found["i"], found["j"], found["v"]
    else:
        owner, index, distance = _within_by_tiles(queries, points, radius)
    order = np.lexsort((index, distance, owner))
    counts = np.bincount(owner, minlength=queries.shape[0])
    return Neighbours(edges(counts), index[order].astype(np.int32), distance[order])


def _tree(points: np.ndarray) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(points)


def _nearest_by_tiles(queries: Matrix, points: Matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
    scan = _scan_of(queries.shape[0] * points.shape[0])
    candidates = min(points.shape[0], count + EXTRA_CANDIDATES)
    queries, points, squares = _about_the_mean(queries, points)
    distance = np.empty((queries.shape[0], count))
    index = np.empty((queries.shape[0], count), dtype=np.int64)

    def step(start: int) -> None:
        block = queries[start : start + TILE_ROWS]
        scores = np.full((block.shape[0], candidates), -np.inf)
        indices = np.full((block.shape[0], candidates), -1, dtype=np.int64)
        for column in range(0, points.shape[0], TILE_COLUMNS):
            piece = slice(column, column + TILE_COLUMNS)
            tile = _products(block, points[piece])
            tile -= squares[piece] / 2.0
            scan(tile, column, scores, indices)
        lengths = _lengths(block, points, np.repeat(np.arange(block.shape[0]), candidates), indices.ravel())
        lengths = lengths.reshape(indices.shape)
        order = np.lexsort((indices, lengths), axis=1)[:, :count]
        distance[start : start + TILE_ROWS] = np.take_along_axis(lengths, order, axis=1)
        index[start : start + TILE_ROWS] = np.take_along_axis(indices, order, axis=1)

    each(step, range(0, queries.shape[0], TILE_ROWS))
    return distance, index


def _scan_of(products: int) -> Callable[[np.ndarray, int, np.ndarray, np.ndarray], None]:
    """The loop that updates the best of each row with a tile of scores; compiled if there are many."""
    if products < COMPILE_PRODUCTS_FROM:
        return _scan_with_numpy
    from eckart.engine.compiled.top import scan

    return scan


def _scan_with_numpy(tile: np.ndarray, first: int, scores: np.ndarray, indices: np.ndarray) -> None:
    """Scores and indices of the best after the columns first, first + 1, ... of the tile; ties go to the first."""
    everything = np.concatenate([scores, tile], axis=1)
    columns = np.broadcast_to(np.arange(first, first + tile.shape[1]), tile.shape)
    order = np.argsort(-everything, axis=1, kind="stable")[:, : scores.shape[1]]
    indices[...] = np.take_along_axis(np.concatenate([indices, columns], axis=1), order, axis=1)
    scores[...] = np.take_along_axis(everything, order, axis=1)


def _within_by_tiles(queries: Matrix, points: object, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    queries, points, squares = _about_the_mean(queries, points)
    lengths = _squares(queries)
    slack = 1e-12 * (float(lengths.max(initial=0.0)) + float(squares.max(initial=0.0)))
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start in range(0, queries.shape[0], TILE_ROWS):
        block = queries[start : start + TILE_ROWS]
        squared = lengths[start : start + TILE_ROWS, None] + squares - 2.0 * _products(block, points)
        owner, index = np.nonzero(squared <= radius**2 * (1 + 1e-9) + slack)
        distance = _lengths(block, points, owner, index)
        inside = distance <= radius
        found.append((owner[inside] + start, index[inside], distance[inside]))
    owners, indices, distances = (np.concatenate(part) for part in zip(*found, strict=True))
    return owners, indices, distances


def _about_the_mean(queries: object, points: Matrix) -> tuple[Matrix, Matrix, np.ndarray]:
    """Both minus the mean of the points, which does not change distances; sparse rows are unchanged."""
    if not is_sparse(points):
        mean = points.mean(axis=0)
        same = queries is points
        points = points - mean
        queries = points if same else queries - mean
    return queries, points, _squares(points)


def _squares(points: Matrix) -> np.ndarray:
    if is_sparse(points):
        return np.asarray(points.multiply(points).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", points, points))


def _products(block: Matrix, points: Matrix) -> np.ndarray:
    product = block @ points.T
    return np.asarray(product.toarray() if is_sparse(product) else product)


def _lengths(block: Matrix, points: Matrix, rows: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """||block[rows] - points[places]||, from the differences."""
    return np.asarray(np.sqrt(_squares(block[rows] - points[indices])))
