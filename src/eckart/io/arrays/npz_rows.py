"""Rows of .npz archives, unpacked from beginning to end: CSR matrices (scipy.sparse.save_npz) and dense arrays."""

from __future__ import annotations

import os
import weakref
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

import numpy as np

from eckart.aliases import JsonObject, Keywords
from eckart.engine.blocks.csr_check import csr_block
from eckart.engine.blocks.source import Block, Metadata
from eckart.environment import check_piece
from eckart.fingerprint import fingerprint
from eckart.io.arrays.npy import precision_notes, refuse_shape
from eckart.io.arrays.npz import array_of, format_of, header_of, matrix_key, members_of
from eckart.io.arrays.sparse import check_indices, check_pointers, check_range, shape_of, whole_numbers
from eckart.io.bytes import OpenedFile
from eckart.io.guard import reading, reads_rows
from eckart.io.rows import FileState, OfStored, WholeRows

_CHUNK = 1 << 20
_SKIP = 1 << 20
"""Number of values skipped or checked at a time."""


@dataclass
class Unpacking:
    """One member of an archive, read from beginning to end; going back means starting again."""

    path: str
    member: str
    dtype: np.dtype
    start: int
    stream: Any = None
    archive: Any = None
    place: int = 0
    close_file: Any = None

    def read(self, first: int, last: int) -> np.ndarray:
        """Numbers first..last of the member."""
        if self.stream is None or first < self.place:
            self._begin()
        while self.place < first:
            self._take(min(_SKIP, first - self.place))
        return self._take(last - first)

    def _begin(self) -> None:
        self.close()
        # Closed with this object, regardless of the order of garbage collection.
        descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self.close_file = weakref.finalize(self, os.close, descriptor)
        self.archive = zipfile.ZipFile(open(descriptor, "rb", closefd=False))  # noqa: SIM115
        self.stream = self.archive.open(self.member)
        self.stream.read(self.start)
        self.place = 0

    def _take(self, count: int) -> np.ndarray:
        numbers = np.empty(count, self.dtype)  # writable, like the arrays of every other reader
        view = memoryview(numbers.view(np.uint8).data)
        while len(view):
            got = self.stream.readinto(view[:_CHUNK])
            if not got:
                raise ValueError("a member ends early")
            view = view[got:]
        self.place += count
        return numbers

    def close(self) -> None:
        if self.archive is not None:
            self.stream.close()
            self.archive.close()
            self.close_file()
            self.stream = self.archive = None


@dataclass(frozen=True)
class NpzRows(OfStored):
    """Row pointers in memory; values and column indices on disk."""

    state: FileState
    shape: tuple[int, int]
    indptr: np.ndarray
    stored: np.dtype
    indices: np.dtype
    starts: tuple[int, int]
    """Bytes of the headers of the members `data` and `indices`."""
    metadata: Metadata = field(default_factory=Metadata)
    sparse: bool = True
    title: str = ""
    """The path in messages, as the user wrote it."""
    _readers: Keywords = field(default_factory=dict, compare=False, repr=False)

    @property
    def entries(self) -> int:
        return int(self.indptr[-1])

    def cuts(self) -> Sequence[int]:
        return ()

    def pointers(self) -> Iterator[np.ndarray]:
        for start in range(0, len(self.indptr), _SKIP):
            yield self.indptr[start : start + _SKIP]

    @reads_rows
    def read(self, start: int, stop: int) -> Block:
        self.state.check(self.metadata.name, start, stop)
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        with self._readers.setdefault("lock", Lock()):
            data = self._reader("data.npy", self.stored, self.starts[0]).read(first, last)
            indices = self._reader("indices.npy", self.indices, self.starts[1]).read(first, last)
        check_range(indices, self.shape[1], "indices", self.title, first)
        pointers = self.indptr[start : stop + 1] - first
        return csr_block(data, indices, pointers, (stop - start, self.shape[1]), self.dtype)

    def _reader(self, member: str, dtype: np.dtype, start: int) -> Unpacking:
        if member not in self._readers:
            self._readers[member] = Unpacking(self.state.path, member, dtype, start)
        found: Unpacking = self._readers[member]
        return found

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "_readers": {}}

    def fingerprint(self) -> JsonObject:
        return fingerprint([self.state], shape=list(self.shape))


def npz_rows(opened: OpenedFile, path: str, memory: int | None = None) -> NpzRows | None:
    """A CSR matrix in an .npz file; None for every other content, which is read whole."""
    name = Path(path).name
    state = FileState.of(path)
    with reading(opened.name, kind=".npz archive"), opened.stream() as stream, zipfile.ZipFile(stream) as archive:
        members = members_of(archive, opened, whole=False)
        if not {"data", "indices", "indptr", "shape", "format"} <= members.keys():
            return None
        if format_of(archive, members["format"], opened.name) != "csr":
            return None
        check_piece(members["indptr"].file_size, opened.name, "the list of row pointers", memory)
        arrays = {"shape": array_of(archive, members["shape"], f"{opened.name}, array 'shape'")}
        headers = {}
        for member in ("data", "indices"):
            with archive.open(members[member]) as part:
                title = f"{opened.name}, array {member!r}"
                headers[member] = header_of(cast("BinaryIO", part), members[member], title)
        arrays["indptr"] = array_of(archive, members["indptr"], f"{opened.name}, array 'indptr'")
    shape = shape_of(arrays, opened.name)
    data, indices = headers["data"], headers["indices"]
    check_indices(indices.dtype, indices.shape, "indices", opened.name)
    indptr = whole_numbers(arrays, "indptr", opened.name)
    check_pointers(data.shape, indices.shape[0], indptr, shape[0], opened.name)
    metadata = Metadata(name, notes=precision_notes(data.dtype))
    starts = (data.start, indices.start)
    return NpzRows(state, shape, indptr, data.dtype, indices.dtype, starts, metadata, title=opened.name)


@dataclass(frozen=True)
class NpzTableRows(OfStored, WholeRows):
    """The array `key` of an archive, stored row by row; `start` is the byte of the member where its numbers begin."""

    state: FileState
    key: str
    shape: tuple[int, int]
    stored: np.dtype
    start: int
    metadata: Metadata = field(default_factory=Metadata)
    sparse: bool = False
    _readers: Keywords = field(default_factory=dict, compare=False, repr=False)

    @reads_rows
    def read(self, start: int, stop: int) -> np.ndarray:
        self.state.check(self.metadata.name, start, stop)
        columns = self.shape[1]
        with self._readers.setdefault("lock", Lock()):
            reader = self._readers.get("reader")
            if reader is None:
                reader = Unpacking(self.state.path, f"{self.key}.npy", self.stored, self.start)
                self._readers["reader"] = reader
            numbers = reader.read(start * columns, stop * columns)
        return np.asarray(numbers.reshape(-1, columns), dtype=self.dtype)

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "_readers": {}}

    def fingerprint(self) -> JsonObject:
        return fingerprint([self.state], key=self.key, shape=list(self.shape))


def npz_table_rows(opened: OpenedFile, path: str, key: str | None = None) -> NpzTableRows | None:
    """The only matrix of an archive, or the array `key`; None for sparse matrices and arrays stored by columns."""
    state = FileState.of(path)
    with reading(opened.name, kind=".npz archive"), opened.stream() as stream, zipfile.ZipFile(stream) as archive:
        members = members_of(archive, opened, whole=False)
        if key is None and {"format", "shape", "data"} <= members.keys():
            return None
        key, notes = matrix_key(archive, members, opened, key)
        title = f"{opened.name}, array {key!r}"
        with archive.open(members[key]) as part:
            header = header_of(cast("BinaryIO", part), members[key], title)
        refuse_shape(header.shape, title)
    shape = (header.shape[0], header.shape[1])
    if header.fortran and 1 not in shape:
        return None
    metadata = Metadata(Path(path).name, notes=(*notes, *precision_notes(header.dtype)))
    return NpzTableRows(state, key, shape, header.dtype, header.start, metadata)
