"""Rows that are read when they are asked for: what a matrix larger than memory is, before any algebra."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import Any

import numpy as np

from eckart.engine.blocks.source import About, Block, RowSource
from eckart.errors import FileError
from eckart.fingerprint import FileState as FileState
from eckart.fingerprint import fingerprint
from eckart.io.guard import reads_rows


def edges_for(source: RowSource, block_bytes: int) -> tuple[int, ...]:
    """Row edges of blocks of about `block_bytes`, at the cuts of the source where it has some."""
    rows = source.shape[0]
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


def rows_per_block(source: RowSource, block_bytes: int) -> int:
    rows, columns = source.shape
    itemsize = np.dtype(source.dtype).itemsize
    row_bytes = source.entries / max(rows, 1) * (itemsize + 4) + 8 if source.sparse else columns * itemsize
    return max(1, min(rows, int(block_bytes / max(row_bytes, 1))))


@dataclass(frozen=True)
class NpyRows:
    """An .npy file, read by blocks with plain buffered reads: a map of the file would be paged in piece by piece."""

    state: FileState
    shape: tuple[int, int]
    stored: np.dtype[Any]
    start: int
    fortran: bool = False
    about: About = field(default_factory=About)
    sparse: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.stored.newbyteorder("=") == np.float32 else np.float64)

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def cuts(self) -> Sequence[int]:
        return ()

    @reads_rows
    def read(self, start: int, stop: int) -> np.ndarray:
        self.state.check(self.about.name, start, stop)
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
                self.state.check(self.about.name, start, stop)
                raise FileError(f"{self.about.name} ended early, in rows {start:,} to {stop:,}. Copy it again.")
            done += got

    def _columns(self, start: int, stop: int) -> np.ndarray:
        """Column by column, from where each is stored: one read for each column."""
        rows, size = self.shape[0], self.stored.itemsize
        block = np.empty((self.shape[1], stop - start), self.stored)
        with Path(self.state.path).open("rb", buffering=0) as stream:
            for column in range(self.shape[1]):
                stream.seek(self.start + (column * rows + start) * size)
                self._fill(stream, block[column], start, stop)
        return block.T

    def fingerprint(self) -> dict[str, Any]:
        return fingerprint([self.state], shape=list(self.shape))


@dataclass(frozen=True)
class MemoryRows:
    """A matrix in memory, read in blocks all the same: for a run that keeps a journal."""

    matrix: Any
    about: About = field(default_factory=About)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.matrix.dtype == np.float32 else np.float64)

    @property
    def sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    @property
    def entries(self) -> int:
        return int(self.matrix.nnz) if self.sparse else self.shape[0] * self.shape[1]

    def cuts(self) -> Sequence[int]:
        return ()

    def read(self, start: int, stop: int) -> Block:
        block = self.matrix[start:stop]
        return block.astype(self.dtype, copy=False)

    def fingerprint(self) -> dict[str, Any]:
        digest = hashlib.sha256()
        arrays = (self.matrix.data, self.matrix.indices, self.matrix.indptr) if self.sparse else (self.matrix,)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        return {"content": {"shape": list(self.shape), "sha256": digest.hexdigest()}, "state": ""}


@dataclass(frozen=True)
class HeldRows(MemoryRows):
    """A small file that was read whole, given out in blocks; with all its names, labels and notes."""

    state: FileState | None = None

    def read(self, start: int, stop: int) -> Block:
        if self.state is not None:
            self.state.check(self.about.name, start, stop)
        return super().read(start, stop)
