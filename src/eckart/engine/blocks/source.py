"""Sources turn bytes into blocks of rows with names. They know files and formats, but no algebra."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.rounded import Rounded, is_long
from eckart.forwarding import forwarded
from eckart.mapped import in_memory, is_mapped
from eckart.notes import Note

Block = Any
"""Consecutive rows: a 2-D floating NumPy array, or a scipy.sparse CSR array."""
_HASHED = 1 << 24
"""Bytes of a matrix that are hashed at a time."""
DataSource = Any
"""A `Source`, a `RowSource`, or an array that needs no source."""


class Described(Protocol):
    """What is known of a table before its rows are read."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64: the dtype of the rows as they are read."""
        ...

    @property
    def sparse(self) -> bool: ...

    @property
    def metadata(self) -> Metadata: ...


@runtime_checkable
class Source(Described, Protocol):
    """What an operator needs from a file."""

    def blocks(self, rows_per_block: int | None = None) -> Iterator[Block]:
        """All rows in order, once; may be called again for another pass."""
        ...


@runtime_checkable
class RowSource(Described, Protocol):
    """A table on disk (or elsewhere) whose rows can be read repeatedly, in any order and from any process.

    It is a small value that can be pickled: a path and the contents of its header. Files are opened when rows are read.
    """

    @property
    def entries(self) -> int:
        """Number of stored entries: rows x columns, or the non-zero ones."""
        ...

    def read(self, start: int, stop: int) -> Block:
        """The rows start..stop: a 2-D array of `dtype`, or a CSR array."""
        ...

    def cuts(self) -> Sequence[int]:
        """Rows at which reading can start cheaply (row groups, chunks); empty if any row will do."""
        ...

    def fingerprint(self) -> JsonObject:
        """{"content": what must agree to resume a run, "state": what touching or copying a file changes}."""
        ...


@dataclass(frozen=True)
class Metadata:
    """What is known about the data in addition to the numbers."""

    name: str = "data"
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Text columns set aside, by name; one entry per row."""
    notes: tuple[Note, ...] = ()
    """Decisions made while reading, in sentences for the user."""
    parsing_notes: tuple[Note, ...] = ()
    """Findings on the layout and the roles of columns, as plain text; `notes` contains the important ones."""
    column_roles: dict[str, str] = field(default_factory=dict)
    """Treatment of each column of the file, in order; empty if the file has no named columns."""
    roles: dict[str, str] = field(default_factory=dict)
    """Roles of columns that are neither analysed nor labels: "row names", "identifier", "code", "weights"."""
    rounded: Rounded = field(default_factory=Rounded, compare=False, repr=False)
    """Columns in which reading has found integers that float64 rounds; copies with other names share it."""

    @property
    def all_notes(self) -> tuple[Note, ...]:
        """`notes` and those on single values that were found as rows were read."""
        return (*self.notes, *self.rounded.notes(self.column_names))


def stack_blocks(pieces: Sequence[Block]) -> Block:
    """Consecutive rows in one array; a single piece unchanged."""
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    from scipy import sparse

    return sparse.vstack(pieces, format="csr")


class OfSource:
    """An object with its rows in `source`."""

    source: RowSource

    dtype: ClassVar[forwarded[np.dtype]] = forwarded("source.dtype")
    sparse: ClassVar[forwarded[bool]] = forwarded("source.sparse")

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape

    @property
    def entries(self) -> int:
        return self.source.entries

    def cuts(self) -> Sequence[int]:
        return self.source.cuts()


@dataclass(frozen=True)
class OfMatrix:
    """An object with its rows in `matrix`."""

    matrix: Block
    metadata: Metadata = field(default_factory=Metadata)

    @property
    def sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)


@dataclass(frozen=True)
class MemorySource(OfMatrix):
    """A matrix in memory as a source."""

    @property
    def dtype(self) -> np.dtype:
        dtype: np.dtype = np.dtype(self.matrix.dtype)
        return dtype

    def blocks(self, rows_per_block: int | None = None) -> Iterator[Block]:
        rows = self.shape[0]
        step = rows if rows_per_block is None else rows_per_block
        for start in range(0, rows, max(step, 1)):
            yield self.matrix[start : start + step]


def mapped_rows(data: np.ndarray) -> MemoryRows | None:
    """The rows of a matrix of numbers in a mapped file; None for other arrays."""
    is_matrix = data.ndim == 2 and data.dtype.kind in "fiub" and not isinstance(data, np.matrix | np.ma.MaskedArray)
    return MemoryRows(data, Metadata("X")) if is_matrix and is_mapped(data) else None


@dataclass(frozen=True)
class MemoryRows(OfMatrix):
    """A matrix in memory or in a mapped file that is read in blocks, for runs with a checkpoint and large maps."""

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
        if self.sparse or not is_mapped(block):
            return block.astype(self.dtype, copy=False)
        block = in_memory(block)
        found = block.astype(self.dtype, copy=False)
        if is_long(block.dtype):
            self.metadata.rounded.check(found, range(self.shape[1]), self.metadata.column_names)
        return found

    def fingerprint(self) -> JsonObject:
        digest = hashlib.sha256()
        arrays = (self.matrix.data, self.matrix.indices, self.matrix.indptr) if self.sparse else (self.matrix,)
        for array in arrays:
            step = max(1, _HASHED // max(array[:1].nbytes, 1))
            for start in range(0, len(array), step):
                digest.update(np.ascontiguousarray(in_memory(array[start : start + step])).data)
        return {"content": {"shape": list(self.shape), "sha256": digest.hexdigest()}, "state": ""}
