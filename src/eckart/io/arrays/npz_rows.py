"""Rows of a CSR matrix saved by scipy.sparse.save_npz, unpacked from its beginning to its end."""

from __future__ import annotations

import os
import weakref
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

import numpy as np

from eckart.engine.blocks.source import About, Block
from eckart.errors import FileError
from eckart.fingerprint import fingerprint
from eckart.io.arrays.npy import read_header
from eckart.io.bytes import reason
from eckart.io.rows import FileState

_SKIP = 1 << 22


@dataclass
class Unpacking:
    """One member of an archive, read from its beginning to its end; going back means beginning anew."""

    path: str
    member: str
    dtype: np.dtype[Any]
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
        return np.frombuffer(self._take(last - first), self.dtype)

    def _begin(self) -> None:
        self.close()
        # Closed with this object, in whatever order a cycle of garbage is collected.
        descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self.close_file = weakref.finalize(self, os.close, descriptor)
        self.archive = zipfile.ZipFile(open(descriptor, "rb", closefd=False))  # noqa: SIM115
        self.stream = self.archive.open(self.member)
        self.stream.read(self.start)
        self.place = 0

    def _take(self, count: int) -> bytes:
        size = count * self.dtype.itemsize
        content: bytes = self.stream.read(size)
        if len(content) != size:
            raise ValueError("a member ends early")
        self.place += count
        return content

    def close(self) -> None:
        if self.archive is not None:
            self.stream.close()
            self.archive.close()
            self.close_file()
            self.stream = self.archive = None


@dataclass(frozen=True)
class NpzRows:
    """Row pointers in memory; values and column indices on disk."""

    state: FileState
    shape: tuple[int, int]
    indptr: np.ndarray
    stored: np.dtype[Any]
    indices: np.dtype[Any]
    starts: tuple[int, int]
    """Bytes of the headers of the members `data` and `indices`."""
    about: About = field(default_factory=About)
    sparse: bool = True
    _readers: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.stored.newbyteorder("=") == np.float32 else np.float64)

    @property
    def entries(self) -> int:
        return int(self.indptr[-1])

    def cuts(self) -> Sequence[int]:
        return ()

    def read(self, start: int, stop: int) -> Block:
        from scipy import sparse

        self.state.check(self.about.name, start, stop)
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        try:
            with self._readers.setdefault("lock", Lock()):
                data = self._reader("data.npy", self.stored, self.starts[0]).read(first, last)
                indices = self._reader("indices.npy", self.indices, self.starts[1]).read(first, last)
        except (OSError, ValueError, zipfile.BadZipFile, KeyError) as error:
            raise FileError(
                f"{self.about.name}: rows {start:,} to {stop:,} cannot be read ({reason(error)}). Copy the file again."
            ) from error
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < self.shape[1]:
            raise FileError(f"{self.about.name}: a column index in rows {start:,} to {stop:,} is out of range.")
        pointers = self.indptr[start : stop + 1] - first
        shape = (stop - start, self.shape[1])
        return sparse.csr_array((data.astype(self.dtype), indices.astype(np.int32), pointers), shape=shape)

    def _reader(self, member: str, dtype: np.dtype[Any], start: int) -> Unpacking:
        if member not in self._readers:
            self._readers[member] = Unpacking(self.state.path, member, dtype, start)
        found: Unpacking = self._readers[member]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_readers": {}}

    def fingerprint(self) -> dict[str, Any]:
        return fingerprint([self.state], shape=list(self.shape))


def npz_rows(path: str) -> NpzRows | None:
    """A CSR matrix in an .npz file; None for every other content, which is read whole."""
    name = Path(path).name
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
            if not {"data.npy", "indices.npy", "indptr.npy", "shape.npy", "format.npy"} <= members:
                return None
            if b"csr" not in archive.read("format.npy"):
                return None
            headers = {}
            for member in ("data.npy", "indices.npy"):
                with archive.open(member) as stream:
                    headers[member] = read_header(cast("BinaryIO", stream), f"{name}, {member}")
            arrays = {}
            for member in ("indptr.npy", "shape.npy"):
                with archive.open(member) as stream:
                    arrays[member] = np.lib.format.read_array(stream, allow_pickle=False)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise FileError(
            f"{name} is a broken .npz archive ({reason(error)}). Copy it again, or write it again."
        ) from error
    indptr = arrays["indptr.npy"].astype(np.int64)
    shape = tuple(int(size) for size in arrays["shape.npy"])
    data, indices = headers["data.npy"], headers["indices.npy"]
    if len(shape) != 2 or len(indptr) != shape[0] + 1 or np.any(np.diff(indptr) < 0):
        raise FileError(f"{name} is not a sound CSR matrix: its row pointers do not fit its shape {shape}.")
    if int(indptr[-1]) != data.shape[0] or data.shape != indices.shape:
        raise FileError(f"{name} is not a sound CSR matrix: {data.shape[0]} values for {int(indptr[-1])} places.")
    both = (shape[0], shape[1])
    return NpzRows(
        FileState.of(path), both, indptr, data.dtype, indices.dtype, (data.start, indices.start), About(name)
    )
