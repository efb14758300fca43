"""Rows of a dense array in an .npz archive (numpy.savez), unpacked from beginning to end."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast

import numpy as np

from eckart.aliases import JsonObject, Keywords
from eckart.engine.blocks.source import Metadata
from eckart.fingerprint import fingerprint
from eckart.io.arrays.npy import precision_notes, refuse_shape
from eckart.io.arrays.npz import header_of, matrix_key, members_of
from eckart.io.arrays.npz_rows import Unpacking
from eckart.io.bytes import OpenedFile
from eckart.io.guard import reading, reads_rows
from eckart.io.rows import FileState, OfStored, WholeRows


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
