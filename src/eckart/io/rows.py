"""Rows read on demand: a matrix larger than memory, without any algebra."""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from eckart.aliases import JsonObject
from eckart.arrays import Matrix
from eckart.engine.blocks.source import Block, DataSource, Metadata, OfMatrix, RowSource
from eckart.errors import FileError
from eckart.fingerprint import FileState as FileState
from eckart.fingerprint import fingerprint
from eckart.io.guard import reads_rows


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


class OfStored:
    """Numbers of dtype `stored`, returned as float32 or float64."""

    stored: np.dtype

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.stored.newbyteorder("=") == np.float32 else np.float64)


class WholeRows:
    """Rows with every entry stored, which can be read in any range."""

    shape: tuple[int, int]

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def cuts(self) -> Sequence[int]:
        return ()


class PiecedRows:
    """Rows in consecutive pieces: piece i has the rows from edges[i] to edges[i + 1]."""

    edges: tuple[int, ...]

    def cuts(self) -> Sequence[int]:
        return self.edges

    def overlapping(self, start: int, stop: int) -> Iterator[tuple[int, slice, slice]]:
        """Pieces with rows from start to stop: number, rows relative to `start`, and rows within the piece."""
        for piece in range(bisect_right(self.edges, start) - 1, bisect_left(self.edges, stop)):
            first, last = self.edges[piece], self.edges[piece + 1]
            begin, end = max(start, first), min(stop, last)
            yield piece, slice(begin - start, end - start), slice(begin - first, end - first)


@dataclass(frozen=True)
class NpyRows(OfStored, WholeRows):
    """An .npy file, read in blocks with buffered reads: a memory map would be paged in piece by piece."""

    state: FileState
    shape: tuple[int, int]
    stored: np.dtype
    start: int
    fortran: bool = False
    metadata: Metadata = field(default_factory=Metadata)
    sparse: bool = False

    @reads_rows
    def read(self, start: int, stop: int) -> np.ndarray:
        self.state.check(self.metadata.name, start, stop)
        block = self._columns(start, stop) if self.fortran else self._rows(start, stop)
        return np.ascontiguousarray(block, dtype=self.dtype)

    def _rows(self, start: int, stop: int) -> np.ndarray:
        columns = self.shape[1]
        block = np.empty((stop - start, columns), self.stored)
        with Path(self.state.path).open("rb", buffering=0) as stream:
            stream.seek(self.start + start * columns * self.stored.itemsize)
            self._fill(stream, block, start, stop)
        return block

    def _fill(self, stream: RawIOBase, block: np.ndarray, start: int, stop: int) -> None:
        view = memoryview(block.reshape(-1).view(np.uint8).data)
        done = 0
        while done < len(view):
            got = stream.readinto(view[done:])
            if not got:
                self.state.check(self.metadata.name, start, stop)
                raise FileError(f"{self.metadata.name} ended early, in rows {start + 1:,} to {stop:,}. Copy it again.")
            done += got

    def _columns(self, start: int, stop: int) -> np.ndarray:
        """Read column by column, one read for each column."""
        rows, size = self.shape[0], self.stored.itemsize
        block = np.empty((self.shape[1], stop - start), self.stored)
        with Path(self.state.path).open("rb", buffering=0) as stream:
            for column in range(self.shape[1]):
                stream.seek(self.start + (column * rows + start) * size)
                self._fill(stream, block[column], start, stop)
        return block.T

    def fingerprint(self) -> JsonObject:
        return fingerprint([self.state], shape=list(self.shape))


@dataclass(frozen=True)
class MemoryRows(OfMatrix):
    """A matrix in memory that is read in blocks, for runs with a checkpoint."""

    matrix: Matrix
    metadata: Metadata = field(default_factory=Metadata)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.matrix.dtype == np.float32 else np.float64)

    @property
    def entries(self) -> int:
        return int(self.matrix.nnz) if self.sparse else self.shape[0] * self.shape[1]

    def cuts(self) -> Sequence[int]:
        return ()

    def pointers(self) -> Iterator[np.ndarray]:
        yield self.matrix.indptr

    def read(self, start: int, stop: int) -> Block:
        block = self.matrix[start:stop]
        return block.astype(self.dtype, copy=False)

    def fingerprint(self) -> JsonObject:
        digest = hashlib.sha256()
        arrays = (self.matrix.data, self.matrix.indices, self.matrix.indptr) if self.sparse else (self.matrix,)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        return {"content": {"shape": list(self.shape), "sha256": digest.hexdigest()}, "state": ""}


@dataclass(frozen=True)
class HeldRows(MemoryRows):
    """A small file that was read whole and is returned in blocks, with all its names, labels and notes."""

    state: FileState | None = None

    def read(self, start: int, stop: int) -> Block:
        if self.state is not None:
            self.state.check(self.metadata.name, start, stop)
        return super().read(start, stop)
