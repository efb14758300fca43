"""The best n of each row of a tile of scores, kept in a heap and compiled on first use.

A row of `scores` and `indices` is a heap with the worst entry at 0: the smallest score, and the last index in a tie.
Tiles come in column order, so an equal score that comes later is the worse one.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

_STRIDE = 64


@njit(nogil=True, cache=True)
def hide(tile, first, starts, hidden, cursors):  # type: ignore[no-untyped-def]
    """tile[i, j - first] = -inf for the columns j excluded for row i: hidden[starts[i]:starts[i + 1]], increasing."""
    stop = first + tile.shape[1]
    for i in range(tile.shape[0]):
        p = cursors[i]
        while p < starts[i + 1] and hidden[p] < stop:
            tile[i, hidden[p] - first] = -np.inf
            p += 1
        cursors[i] = p


@njit(nogil=True, cache=True)
def scan(tile, first, scores, indices):  # type: ignore[no-untyped-def]
    """Insert the columns first, first + 1, ... of the tile into the heaps.

    Most strides contain none that is good enough.
    """
    width = tile.shape[1]
    for i in range(tile.shape[0]):
        row = tile[i]
        for start in range(0, width, _STRIDE):
            stop = min(start + _STRIDE, width)
            worst = scores[i, 0]
            better = 0
            for j in range(start, stop):  # counted, not searched, so that this loop can be vectorised
                better += row[j] > worst
            if better:
                for j in range(start, stop):
                    if row[j] > scores[i, 0]:
                        _replace(scores[i], indices[i], row[j], first + j)


@njit(nogil=True, cache=True)
def _replace(scores, indices, score, place):  # type: ignore[no-untyped-def]
    """Replace the worst entry of the heap. The new entry is the latest, so it goes to the top among equals."""
    n = scores.shape[0]
    hole = 0
    while 2 * hole + 1 < n:
        child = 2 * hole + 1
        other = child + 1
        if other < n and (
            scores[other] < scores[child] or (scores[other] == scores[child] and indices[other] > indices[child])
        ):
            child = other
        if scores[child] >= score:
            break
        scores[hole], indices[hole] = scores[child], indices[child]
        hole = child
    scores[hole], indices[hole] = score, place
