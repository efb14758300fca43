"""Blocks of rows from a stream, kept in memory while they are few and in a temporary .npy file otherwise.

Solvers read the rows several times and in any order, but a database or a shuffled loader could give different rows each
time. The stream is therefore read once, and its copy is decomposed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.rounded import Rounded
from eckart.engine.blocks.source import Block, MemorySource, Metadata
from eckart.environment import free_memory
from eckart.errors import FileError, InputError, MemoryBudgetError
from eckart.fingerprint import FileState
from eckart.formatting import counted
from eckart.io.rows import NpyRows, TemporaryRows
from eckart.notes import Note
from eckart.spool import VARIABLE, Spool

_NOTE = Note("spooled", "The rows came as a stream, so Eckart copied them to a temporary file during the analysis.")


@dataclass(frozen=True)
class CollectedRows(TemporaryRows[NpyRows]):
    """Rows of a stream in a temporary file, which is removed with this object."""

    def fingerprint(self) -> JsonObject:
        """A digest of the numbers, because the file differs in every run."""
        with Path(self.source.state.path).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return {"content": {"shape": list(self.shape), "sha256": digest}, "state": ""}


class Collector:
    """Collects blocks of rows in order and returns them as one source."""

    rows: int
    rounded: Rounded

    def __init__(self, name: str, memory: int | None) -> None:
        self.name = name
        self.rows, self.rounded = 0, Rounded()
        self._limit = free_memory() // 3 if memory is None else memory // 4
        self._blocks: list[Block] = []
        self._size = 0
        self._columns: int | None = None
        self._dtype: np.dtype | None = None
        self._spool: Spool | None = None
        self._file: BinaryIO | None = None

    def add(self, block: Block) -> None:
        """Rows of float32 or float64, dense or CSR; all blocks must have the same width, kind and dtype."""
        if self._columns is None:
            self._columns, self._dtype = int(block.shape[1]), np.dtype(block.dtype)
        elif block.shape[1] != self._columns:
            raise InputError(
                f"{self.name}: after row {self.rows:,}, a batch has {counted(block.shape[1], 'column')}, but the "
                f"batches before it have {self._columns}. All batches must have the same columns."
            )
        elif np.dtype(block.dtype) != self._dtype:
            raise InputError(
                f"{self.name}: after row {self.rows:,}, a batch has the dtype {block.dtype}, but the "
                f"batches before it have {self._dtype}. All batches must have the same dtype."
            )
        self.rows += int(block.shape[0])
        dense = isinstance(block, np.ndarray)
        self._size += block.nbytes if dense else block.data.nbytes + block.indices.nbytes + block.indptr.nbytes
        if self._file is not None:
            self._write(block)
            return
        self._blocks.append(block)
        if self._size > self._limit:
            self._to_disk()

    def finish(self, metadata: Metadata) -> MemorySource | CollectedRows:
        """All rows, with their metadata."""
        if not self.rows:
            raise InputError(f"{self.name} returned no rows. If the iterator was already used, create a new one.")
        if self._file is not None:
            return self._stored(metadata)
        if len(self._blocks) == 1:
            return MemorySource(self._blocks[0], metadata)
        if isinstance(self._blocks[0], np.ndarray):
            return MemorySource(np.concatenate(self._blocks), metadata)
        from scipy import sparse

        return MemorySource(sparse.vstack(self._blocks, format="csr"), metadata)

    def _to_disk(self) -> None:
        if not isinstance(self._blocks[0], np.ndarray):
            raise MemoryBudgetError(
                f"{self.name}: the sparse batches take more than {self._limit:,} bytes so far, which "
                "is the memory limit. Save them as one file with scipy.sparse.save_npz, and pass the "
                "path of this file."
            )
        self._spool = Spool()
        self._file = (self._spool.folder / "rows.npy").open("w+b")
        self._header(0)
        blocks, self._blocks = self._blocks, []
        for block in blocks:
            self._write(block)

    def _header(self, rows: int) -> None:
        """An .npy header with room for the row count to grow, so that it can be rewritten."""
        assert self._file is not None
        assert self._dtype is not None
        shape = (rows, self._columns)
        header = {"descr": self._dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def _write(self, block: Block) -> None:
        assert self._file is not None
        try:
            self._file.write(np.ascontiguousarray(block, self._dtype).data)
        except OSError as error:
            raise FileError(
                f"{self.name}: there is not enough disk space for a temporary copy of the rows "
                f"({error.strerror or error}). Set the environment variable {VARIABLE} to a folder with more free "
                f"space."
            ) from error

    def _stored(self, metadata: Metadata) -> CollectedRows:
        assert self._file is not None
        assert self._spool is not None
        start = self._start()
        self._file.seek(0)
        self._header(self.rows)
        assert self._file.tell() == start
        path = self._file.name
        self._file.close()
        metadata = replace(metadata, parsing_notes=(*metadata.parsing_notes, _NOTE))
        shape = (self.rows, int(self._columns or 0))
        rows = NpyRows(FileState.of(path), shape, np.dtype(self._dtype), start, False, metadata)
        return CollectedRows(rows, self._spool, metadata)

    def _start(self) -> int:
        assert self._file is not None
        self._file.seek(0)
        np.lib.format.read_magic(self._file)
        np.lib.format.read_array_header_1_0(self._file)
        return self._file.tell()

    def close(self) -> None:
        """Remove the copy on disk, after an error in the stream."""
        if self._file is not None:
            self._file.close()
        if self._spool is not None:
            self._spool.remove()
