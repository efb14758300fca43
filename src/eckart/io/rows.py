"""Rows read on demand: a matrix larger than memory, without any algebra."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from eckart.aliases import JsonObject, Keywords
from eckart.engine.blocks.rounded import is_long
from eckart.engine.blocks.source import Block, MemoryRows, Metadata, OfSource, RowSource
from eckart.errors import FileError
from eckart.fingerprint import FileState as FileState
from eckart.fingerprint import fingerprint
from eckart.io.guard import reads_rows
from eckart.spool import Spool

Rows = TypeVar("Rows", bound=RowSource)


class OfStored:
    """Numbers of dtype `stored`, returned as float32 or float64."""

    stored: np.dtype
    shape: tuple[int, int]

    @property
    def integers(self) -> Sequence[int]:
        """Positions of columns whose numbers float64 may round."""
        return range(self.shape[1]) if is_long(self.stored) else ()

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
                raise FileError(
                    f"{self.metadata.name} ended while Eckart read rows {start + 1:,} to {stop:,}, so the "
                    "file is truncated. Copy the file again."
                )
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
class HeldRows(MemoryRows):
    """A small file that was read whole and is returned in blocks, with all its names, labels and notes."""

    state: FileState | None = None

    def read(self, start: int, stop: int) -> Block:
        if self.state is not None:
            self.state.check(self.metadata.name, start, stop)
        return super().read(start, stop)


@dataclass(frozen=True)
class TemporaryRows(OfSource, Generic[Rows]):
    """Reads rows from a file in a spool folder; the folder belongs to the process that made it."""

    source: Rows
    spool: Spool | None
    metadata: Metadata

    def read(self, start: int, stop: int) -> Block:
        return self.source.read(start, stop)

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "spool": None}
