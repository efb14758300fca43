"""Row edges of the blocks in which a source is read, by their size in memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from eckart.engine.blocks.source import DataSource, RowSource


def edges_for(source: RowSource, block_bytes: int) -> tuple[int, ...]:
    """Row edges of blocks of about `block_bytes`, at the cuts of the source if it has any."""
    rows = source.shape[0]
    if source.sparse and isinstance(source, HasPointers):
        return _edges_by_entries(source, block_bytes)
    size = rows_per_block(source, block_bytes)
    cuts = sorted({0, rows, *(int(cut) for cut in source.cuts() if 0 < cut < rows)})
    if len(cuts) == 2:
        return (*range(0, rows, size), rows)
    edges = [0]
    for first, last in itertools.pairwise(cuts):
        if last - edges[-1] <= size:
            continue  # together with the one before it still fits
        if first > edges[-1]:
            edges.append(first)
        edges += range(first + size, last, size)
    return (*edges, rows)


@runtime_checkable
class HasPointers(Protocol):
    """Sparse rows that know how many entries each of them has."""

    def pointers(self) -> Iterator[np.ndarray]:
        """indptr in consecutive pieces: the number of entries before each row, and of all at the end."""
        ...


def _edges_by_entries(source: HasPointers, block_bytes: int) -> tuple[int, ...]:
    """Blocks of at most `block_bytes`, or of one row, because rows may have very different lengths."""
    edges, limit, rows = [0], block_bytes, 0
    for first, before in _bytes_before(source):
        rows = first + len(before) - 1
        while (fitting := int(np.searchsorted(before, limit, side="right"))) < len(before):
            edge = max(first + max(fitting, 1) - 1, edges[-1] + 1)
            edges.append(edge)
            limit = int(before[edge - first]) + block_bytes
    return (*(edge for edge in edges if edge < rows), rows)


def _bytes_before(source: DataSource) -> Iterator[tuple[int, np.ndarray]]:
    """(first row, memory of all rows before each row), in pieces that share a row."""
    size, first, last = np.dtype(source.dtype).itemsize + 4, 0, np.zeros(0, np.int64)
    for piece in source.pointers():
        # Clipped: damaged pointers are refused when their rows are read.
        pointers = np.concatenate([last, np.clip(piece, 0, source.entries).astype(np.int64, copy=False)])
        yield first, pointers * size + 8 * np.arange(first, first + len(pointers))
        first, last = first + len(pointers) - 1, pointers[-1:]


def largest_block(source: RowSource, edges: Sequence[int]) -> int:
    """Bytes of the largest block in memory."""
    if source.sparse and isinstance(source, HasPointers):
        at = np.asarray(edges)
        sizes = [np.zeros(1, np.int64)]
        for first, before in _bytes_before(source):
            here = at[(at > first) & (at < first + len(before))]
            sizes.append(before[here - first])
        return int(np.diff(np.concatenate(sizes)).max(initial=0)) + 1
    itemsize = np.dtype(source.dtype).itemsize + (4 if source.sparse else 0)
    row_entries = max(source.entries / max(source.shape[0], 1), 1.0)
    return int(int(np.diff(edges).max()) * row_entries * itemsize) + 1


def rows_per_block(source: RowSource, block_bytes: int) -> int:
    rows, columns = source.shape
    itemsize = np.dtype(source.dtype).itemsize
    row_bytes = source.entries / max(rows, 1) * (itemsize + 4) + 8 if source.sparse else columns * itemsize
    return max(1, min(rows, int(block_bytes / max(row_bytes, 1))))
