"""Geodesic distances: shortest paths along a graph that joins each row with its neighbours.

The graph is symmetric. If it is not connected, each pair of components is joined at its two nearest rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from eckart.arrays import Array, Floats
from eckart.engine.parallel import fold
from eckart.isomap.constants import COMPILE_PATHS_FROM, SCARCE_SOURCES, SEGMENT, SEGMENT_APART, SMALL_SEGMENT
from eckart.isomap.neighbors import Adjacency, Neighbours, edges, nearest

Result = TypeVar("Result")


@dataclass(frozen=True)
class Graph(Adjacency):
    """A symmetric graph in CSR form, with edges of lengths `weight`."""

    weight: Floats

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.first, self.index, self.weight


def join(rows: np.ndarray, others: np.ndarray, weights: np.ndarray, size: int) -> Graph:
    """The graph with these edges in both directions; of parallel edges the shortest counts."""
    start = np.concatenate([rows, others]).astype(np.int64)
    end = np.concatenate([others, rows]).astype(np.int64)
    weight = np.concatenate([weights, weights]).astype(np.float64)
    key = start * size + end
    order = np.lexsort((weight, key))
    shortest = np.append(True, np.diff(key[order]) != 0) if len(order) else np.zeros(0, dtype=bool)
    kept = order[shortest]
    counts = np.bincount(start[kept], minlength=size)
    return Graph(edges(counts), end[kept].astype(np.int32), weight[kept])


def components(graph: Graph) -> tuple[int, np.ndarray]:
    """Number of connected components, and the component of each row."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # In float64 and with 32-bit indices, as SciPy converts them otherwise; rows may be joined at distance zero.
    ones, first = np.ones(len(graph.index)), graph.first.astype(np.int32)
    matrix: csr_array[np.float64] = csr_array((ones, graph.index, first), shape=(graph.rows, graph.rows))
    # The graph is symmetric, so its strong components are its components, and no transpose is needed.
    count, labels = connected_components(matrix, directed=True, connection="strong")
    return int(count), np.asarray(labels)


def join_components(graph: Graph, points: Array, count: int, labels: np.ndarray) -> Graph:
    """The graph with one more edge for each pair of components, between their two nearest rows."""
    rows, others, weights = [], [], []
    for part in range(1, count):
        mine, before = np.flatnonzero(labels == part), np.flatnonzero(labels < part)
        found = nearest(points[before], points[mine], 1)
        order = np.lexsort((found.distance, labels[before]))
        best = order[np.append(True, np.diff(labels[before][order]) != 0)]
        rows.append(before[best])
        others.append(mine[found.index[best]])
        weights.append(found.distance[best])
    old = np.repeat(np.arange(graph.rows), np.diff(graph.first))
    return join(
        np.concatenate([old, *rows]),
        np.concatenate([graph.index, *others]),
        np.concatenate([graph.weight, *weights]),
        graph.rows,
    )


def rows_as_sources(rows: np.ndarray) -> Neighbours:
    """Sources that are rows of the graph."""
    return Neighbours(np.arange(len(rows) + 1, dtype=np.int64), rows.astype(np.int32), np.zeros(len(rows)))


def fold_distances(
    graph: Graph,
    sources: Neighbours,
    step: Callable[[np.ndarray, np.ndarray], Result],
    add: Callable[[Result, Result], Result],
) -> Result:
    """The sum of step(i, tile), where tile[j] has the distances from source i[j] to all rows, a few sources at a time.

    A source starts at its neighbours in the graph. Steps run in parallel, sums keep their order.
    """
    if graph.rows < COMPILE_PATHS_FROM:

        def small(start: int) -> Result:
            chosen = np.arange(start, min(start + SMALL_SEGMENT, sources.rows))
            return step(chosen, _with_scipy(graph, sources, chosen))

        return fold(small, range(0, sources.rows, SMALL_SEGMENT), add)
    from eckart.isomap import compiled as dijkstra

    together = sources.rows * SCARCE_SOURCES >= graph.rows
    order = _in_neighbourhoods(graph, sources) if together else np.arange(sources.rows)
    width, segment = (dijkstra.WIDTH, SEGMENT) if together else (1, SEGMENT_APART)
    seeds = (sources.first, sources.index, sources.distance)

    def run(start: int) -> Result:
        chosen = order[start : start + segment]
        tile = np.empty((len(chosen), graph.rows))
        dijkstra.distances(*graph.arrays, *seeds, chosen, width, tile)
        return step(chosen, tile)

    return fold(run, range(0, sources.rows, segment), add)


def _with_scipy(graph: Graph, sources: Neighbours, chosen: np.ndarray) -> np.ndarray:
    """Distances from some sources to all rows by SciPy's Dijkstra, without compilation."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    start, stop = int(chosen[0]), int(chosen[-1]) + 1
    begin, end = int(sources.first[start]), int(sources.first[stop])
    shape = (graph.rows, graph.rows)
    # 32-bit indices: SciPy before 1.15 takes no others.
    index, first = graph.index.astype(np.int32, copy=False), graph.first.astype(np.int32)
    matrix: csr_array[np.float64] = csr_array((graph.weight, index, first), shape=shape)
    if end - begin == stop - start and not sources.distance[begin:end].any():  # the sources are rows themselves
        return np.asarray(dijkstra(matrix, directed=True, indices=sources.index[begin:end]))
    used, place = np.unique(sources.index[begin:end], return_inverse=True)
    known = np.asarray(dijkstra(matrix, directed=True, indices=used))
    ways = known[place] + sources.distance[begin : sources.first[stop], None]
    return np.asarray(np.minimum.reduceat(ways, sources.first[start:stop] - begin, axis=0))


def through(seeds: Neighbours, known: np.ndarray, start: int, stop: int) -> np.ndarray:
    """For the sources start..stop, min over the seeds of start distance + known[t, seed], sources x t."""
    begin, end = seeds.first[start], seeds.first[stop]
    ways = known.T[seeds.index[begin:end]] + seeds.distance[begin:end, None]
    return np.asarray(np.minimum.reduceat(ways, seeds.first[start:stop] - begin, axis=0))


def each_distance(graph: Graph, sources: Neighbours, consume: Callable[[np.ndarray, np.ndarray], None]) -> None:
    """consume(i, tile) for all sources, from several threads, once for each source."""
    fold_distances(graph, sources, consume, lambda _first, _second: None)


def _in_neighbourhoods(graph: Graph, sources: Neighbours) -> np.ndarray:
    """The sources in an order that keeps close ones together; the nearest seed locates a source."""
    from eckart.isomap.compiled import neighbouring

    home = sources.index[sources.first[:-1]]
    by_home = np.argsort(home, kind="stable")
    first = edges(np.bincount(home, minlength=graph.rows))
    return np.asarray(neighbouring(*graph.arrays, first, by_home))


def spread_out(graph: Graph, count: int) -> np.ndarray:
    """`count` rows, each the farthest along the graph from all previous ones, in increasing order."""
    from eckart.isomap.compiled import spread

    return np.sort(spread(*graph.arrays, 0, count))
