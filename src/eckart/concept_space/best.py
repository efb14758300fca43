"""The n largest entries of each row of Q C^T, computed in tiles that fit into cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from eckart.arrays import Array, astype, namespace, to_numpy
from eckart.engine.parallel import each

Numbers: TypeAlias = Any
"""A NumPy array."""
Hidden: TypeAlias = Callable[[int, int], tuple[Numbers, Numbers]]
"""(start, stop) -> (starts, columns): columns excluded for the rows start..stop, as in CSR, in increasing order."""

_TILE_BYTES = 2**20
_WIDTH = 512
_DEVICE_SCORES = 2**26
"""Number of scores in GPU memory at a time."""
_SMALL = 2_000_000
"""Up to this many scores NumPy ranks them, so that a single query does not wait for the compiler."""


@dataclass(frozen=True)
class Best:
    """places[i], scores[i]: the best entries of row i, in order; ties go to the first. Place -1 if there are fewer."""

    indices: Numbers
    scores: Numbers


def best(queries: Numbers, candidates: Numbers, n: int, hidden: Hidden | None = None) -> Best:
    """For each row q of `queries` the n rows c of `candidates` with the largest q . c."""
    n = min(n, len(candidates))
    dtype = np.result_type(queries, candidates)
    queries = np.ascontiguousarray(queries, dtype)
    candidates = np.ascontiguousarray(candidates, dtype)
    scores = np.full((len(queries), n), -np.inf, dtype)
    indices = np.full((len(queries), n), -1, np.int64)
    height = int(np.clip(_TILE_BYTES // (dtype.itemsize * _WIDTH), 1, max(len(queries), 1)))
    small = len(queries) * len(candidates) <= _SMALL
    rank = _rank_whole if small else _rank_tiles

    def step(start: int) -> None:
        stop = min(start + height, len(queries))
        rows = slice(start, stop)
        out = None if hidden is None else hidden(start, stop)
        rank(queries[rows], candidates, out, scores[rows], indices[rows])

    if n and len(queries):
        each(step, range(0, len(queries), height), workers=1 if small else None)
    order = np.lexsort((indices, -scores), axis=1)
    indices, scores = np.take_along_axis(indices, order, 1), np.take_along_axis(scores, order, 1)
    return Best(indices, np.where(indices < 0, np.nan, scores))


def best_there(queries: Array, candidates: Array, n: int, known: Callable[[int, int], Array] | None = None) -> Best:
    """The same on the device of both, tile by tile; `known(start, stop)` marks the entries to exclude for these rows.

    Only n places and n scores per row are copied to the host.
    """
    xp, count = namespace(candidates), int(candidates.shape[0])
    n, queries = min(n, count), astype(queries, candidates.dtype)
    height = max(1, _DEVICE_SCORES // max(count, 1))
    indices, scores = [], []
    for start in range(0, int(queries.shape[0]), height):
        stop = min(start + height, int(queries.shape[0]))
        tile = queries[start:stop, :] @ candidates.T
        worst = xp.full_like(tile, -np.inf)
        tile = xp.where(xp.isnan(tile) if known is None else known(start, stop), worst, tile)
        order = xp.argsort(tile, axis=1, descending=True, stable=True)[:, :n]
        indices.append(to_numpy(order))
        scores.append(to_numpy(xp.take_along_axis(tile, order, axis=1)))
    none = np.zeros((0, n))
    found = np.concatenate(scores) if scores else none
    there = found > -np.inf
    order = np.concatenate(indices) if indices else none.astype(np.int64)
    return Best(np.where(there, order, -1), np.where(there, found, np.nan))


def _rank_tiles(
    queries: Numbers, candidates: Numbers, out: tuple[Numbers, Numbers] | None, scores: Numbers, indices: Numbers
) -> None:
    """Multiply and search each tile of scores while it is in cache."""
    from eckart.engine.compiled.top import hide, scan

    height = len(queries)
    width = max(_WIDTH, _TILE_BYTES // (queries.dtype.itemsize * height))
    buffer = np.empty(height * min(width, len(candidates)), queries.dtype)
    cursors = None if out is None else out[0][:-1].copy()
    for first in range(0, len(candidates), width):
        part = candidates[first : first + width]
        tile = buffer[: height * len(part)].reshape(height, len(part))
        np.matmul(queries, part.T, out=tile)
        if out is not None:
            hide(tile, first, *out, cursors)
        scan(tile, first, scores, indices)


def _rank_whole(
    queries: Numbers, candidates: Numbers, out: tuple[Numbers, Numbers] | None, scores: Numbers, indices: Numbers
) -> None:
    """The same for few scores: sort all of them."""
    n = scores.shape[1]
    whole = queries @ candidates.T
    if out is not None:
        whole[np.repeat(np.arange(len(whole)), np.diff(out[0])), out[1]] = -np.inf
    indices[:] = np.argsort(-whole, axis=1, kind="stable")[:, :n]
    scores[:] = np.take_along_axis(whole, indices, 1)
    indices[~(scores > -np.inf)] = -1
