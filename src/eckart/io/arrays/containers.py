"""HDF5 files and Zarr stores: only the named file is read, and missing chunks are an error, not zeros.

An HDF5 file can point outside itself (external links, external storage, virtual datasets), and the chunks of a Zarr
store can be symbolic links. All of these are refused. HDF5 and Zarr replace missing chunks with a fill value. Here they
are an error, so the declared shape never exceeds what is stored.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from eckart.environment import SMALL, say_bytes
from eckart.errors import FileError, require
from eckart.files import ZARR_MARKS
from eckart.io.arrays.gaps import chunk_count, refuse_gaps
from eckart.io.arrays.hdf5_chunks import Chunks
from eckart.io.arrays.zarr_chunks import ZarrChunks, is_metadata
from eckart.io.bytes import refuse_link
from eckart.io.rows import FileState

_MOST_LINKS = 16


class Container(Protocol):
    """A tree of groups and arrays in a file or folder."""

    root: Any

    def names(self, group: object) -> list[str]: ...

    def get(self, group: Any, path: str) -> Any:
        """The array or group at `path`, or None."""
        ...

    def check(self, array: Any, name: str) -> None:
        """Refuse an array that is not stored completely in this container."""
        ...

    def check_chunks(self, array: Any, start: int, stop: int) -> None:
        """Refuse an array whose chunks of the rows start..stop cannot be decoded; called before reading them."""
        ...

    def check_unchanged(self, array: Any, start: int, stop: int) -> None:
        """Refuse an array whose rows start..stop have changed since `check`; called before and after reading them.

        Before, because opening a pipe in place of a chunk would block.
        """
        ...


class Hdf5:
    """An HDF5 file; links are checked before they are followed."""

    name: str
    _chunks: dict[str, Chunks]

    def __init__(self, path: str, root: Any = None) -> None:
        self._chunks = {}
        self.h5py = require("h5py", extra="hdf5", purpose="HDF5 and AnnData files")
        self.root = self.h5py.File(path, "r") if root is None else root
        self.name = Path(path).name

    @classmethod
    def of(cls, member: Any) -> Hdf5:
        """The file that an open dataset or group belongs to, which may be open for writing or in memory."""
        file = member.file
        return cls(str(file.filename) if Path(str(file.filename)).exists() else "HDF5 file in memory", file)

    def names(self, group: Any) -> list[str]:
        return [str(name) for name in group]

    def get(self, group: Any, path: str, depth: int = 0) -> Any:
        found = self.root if path.startswith("/") else group
        for part in path.split("/"):
            if part in ("", "."):
                continue
            found = self._member(found, part, depth) if isinstance(found, self.h5py.Group) else None
            if found is None:
                return None
        return found

    def _member(self, group: Any, part: str, depth: int) -> Any:
        links, key = group.id.links, part.encode()
        if not links.exists(key):
            return None
        kind = links.get_info(key).type
        if kind == self.h5py.h5l.TYPE_HARD:
            return group[part]
        if kind != self.h5py.h5l.TYPE_SOFT:
            raise FileError(
                f"{self.name}: {group.name.rstrip('/')}/{part} is a link to another file, but Eckart "
                f"does not follow links between files. Copy the data into {self.name}, for example "
                "with h5repack or h5copy."
            )
        if depth == _MOST_LINKS:
            raise FileError(
                f"{self.name}: {part!r} is a link that leads back to itself. Write the file again without this link."
            )
        return self.get(group, links.get_val(key).decode(), depth + 1)

    def check(self, array: Any, name: str) -> None:
        if array.is_virtual or array.external:
            kind = "a virtual dataset" if array.is_virtual else "a dataset with external storage"
            raise FileError(
                f"{self.name}: {name!r} is {kind}, so its values are in other files, which Eckart "
                "does not read. Copy the values into one file, for example with h5repack."
            )
        if array.shape is None:
            raise FileError(
                f"{self.name}: the array {name!r} is empty. Write the file again with the values of the array."
            )
        if array.chunks:
            expected = chunk_count(array.shape, array.chunks)
            refuse_gaps(self.name, name, array.shape, expected, array.id.get_num_chunks(), "chunks")
            self._chunks[array.name] = Chunks(array, self.name, name)
        else:
            size = math.prod(array.shape) * array.id.get_type().get_size()
            refuse_gaps(self.name, name, array.shape, size, array.id.get_storage_size(), "bytes")

    def check_chunks(self, array: Any, start: int, stop: int) -> None:
        if array.chunks:
            if array.name not in self._chunks:  # opened by a worker
                self._chunks[array.name] = Chunks(array, self.name, array.name)
            self._chunks[array.name].check(start, stop)

    def check_unchanged(self, array: Any, start: int, stop: int) -> None:
        """The reader compares the state of the single file."""


class Zarr:
    """A Zarr store in a local folder, or one array of it that the caller has opened."""

    path: Path
    name: str
    _chunks: dict[str, ZarrChunks]

    def __init__(self, path: str | Path, opened: Any = None) -> None:
        self._chunks = {}
        self._trusted = opened is not None
        zarr = require("zarr", extra="zarr", purpose="Zarr stores")
        self.path = Path(path)
        self.name = self.path.name
        self._check_files(self.path / opened.path if opened is not None else self.path)
        self.root = opened
        if opened is None:
            self.root = zarr.open(zarr.storage.LocalStore(self.path, read_only=True), mode="r")

    @classmethod
    def of(cls, array: Any) -> Zarr | None:
        """The store that an open array belongs to, if it is a folder."""
        zarr = require("zarr", extra="zarr", purpose="Zarr stores")
        local = isinstance(array.store, zarr.storage.LocalStore)
        return cls(array.store.root, array) if local else None

    def _check_files(self, folder: Path) -> None:
        for file in self._files(folder):
            kind = file.lstat().st_mode
            if not any(test(kind) for test in (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)):
                inner = file.relative_to(self.path)  # opening it would block
                raise FileError(
                    f"{self.name}: {inner} is a pipe or a device, not a regular file. Copy the Zarr store again."
                )
            if stat.S_ISLNK(kind):
                refuse_link(file, self.path, "store")
            if is_metadata(file) and file.lstat().st_size > SMALL:
                inner, size = file.relative_to(self.path), say_bytes(file.lstat().st_size)
                raise FileError(
                    f"{self.name}: the metadata in {inner} have {size}, but Eckart reads at most {say_bytes(SMALL)}. "
                    "Write the Zarr store again with fewer attributes."
                )

    def _files(self, folder: Path) -> Iterator[Path]:
        for place, folders, files in os.walk(folder):
            yield from (Path(place) / name for name in (*folders, *files))

    def names(self, group: Any) -> list[str]:
        # Listed from the folder: zarr would open every member and report damaged ones with its own errors.
        folder = self.path / group.path
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and _is_node(entry))

    def get(self, group: Any, path: str) -> Any:
        parts = [part for part in path.split("/") if part]
        if not parts:
            return group
        check_inside(parts, f"{self.name}: the key {path!r}")
        return group.get("/".join(parts)) if hasattr(group, "get") else None  # a store may be a single array

    def check(self, array: Any, name: str) -> None:
        self._chunks_of(array).check_stored(name, any_codec=self._trusted)

    def texts_size(self, array: Any, most: int) -> int:
        """How many bytes the texts of an array take when decoded; counting stops beyond `most`."""
        return self._chunks_of(array).texts_size(most)

    def check_chunks(self, array: Any, start: int, stop: int) -> None:
        self._chunks_of(array).check_sizes(start, stop)

    def check_unchanged(self, array: Any, start: int, stop: int) -> None:
        self._chunks_of(array).check_unchanged(start, stop)

    def _chunks_of(self, array: Any) -> ZarrChunks:
        if array.path not in self._chunks:
            self._chunks[array.path] = ZarrChunks(array, self.path, self.name)
        return self._chunks[array.path]


def _is_node(folder: Path) -> bool:
    return any((folder / mark).is_file() for mark in ZARR_MARKS)


def check_inside(parts: Sequence[str], what: str) -> None:
    """Refuse a key with parts that lead out of a Zarr store."""
    if any(part in (".", "..") for part in parts):
        raise FileError(f"{what} is outside the store. Use the path of an array inside the store.")


def open_container(path: str, kind: str) -> Container:
    """The container at a path; it closes when nothing refers to it."""
    return Hdf5(path) if kind == "hdf5" else Zarr(path)


@lru_cache(maxsize=4)
def kept_container(state: FileState, kind: str) -> Container:
    """The container of a file in the state `state`, kept open because opening reads its whole directory.

    Used by the workers of a cluster, which receive a source with every block.
    """
    return open_container(state.path, kind)
