"""HDF5 files and Zarr stores: only the named file is read, and missing chunks are an error, not zeros.

An HDF5 file can point outside itself (external links, external storage, virtual datasets), and the chunks of a Zarr
store can be symbolic links. All of these are refused. HDF5 and Zarr replace missing chunks with a fill value. Here they
are an error, so the declared shape never exceeds what is stored.
"""

from __future__ import annotations

import itertools
import math
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from eckart.errors import FileError, require
from eckart.files import ZARR_MARKS
from eckart.io.arrays.hdf5_chunks import Chunks
from eckart.io.arrays.zarr_shards import Shards
from eckart.io.arrays.zarr_texts import decoded_size
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
            expected = _chunk_count(array.shape, array.chunks)
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
    """A Zarr store in a local folder."""

    path: Path
    name: str
    _stamps: dict[str, np.ndarray]
    """For each array, a stamp of every chunk file that detects replaced files. Zarr reads a lost chunk as zeros."""

    def __init__(self, path: str) -> None:
        self._stamps = {}
        zarr = require("zarr", extra="zarr", purpose="Zarr stores")
        self.path = Path(path)
        self.name = self.path.name
        for file in self._files(self.path):
            kind = file.lstat().st_mode
            if not any(test(kind) for test in (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)):
                inner = file.relative_to(self.path)  # opening it would block
                raise FileError(
                    f"{self.name}: {inner} is a pipe or a device, not a regular file. Copy the Zarr store again."
                )
            if stat.S_ISLNK(kind):
                refuse_link(file, self.path, "store")
        self.root = zarr.open(zarr.storage.LocalStore(self.path, read_only=True), mode="r")

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
        self._check_codecs(array, name)
        pieces = array.shards or array.chunks
        expected = _chunk_count(array.shape, pieces)
        folder = self.path / array.path
        stored = sum(1 for file in self._files(folder) if file.is_file() and not _is_metadata(file))
        if stored >= expected:  # few enough to check every expected name
            self._stamps[array.path] = self._stamps_of(array, 0, array.shape[0])
            stored = int(np.count_nonzero(self._stamps[array.path]))
        refuse_gaps(self.name, name, array.shape, expected, stored, "chunks")
        chunks = self._chunks_of_shards(array, name) if array.shards else self._chunks_of_files(array)
        if "blosc" in _codecs(array):
            fixed = set(_codecs(array)) <= _OF_FIXED_SIZE
            size = math.prod(array.chunks) * array.dtype.itemsize if fixed else None
            for file, start, length in chunks:
                self._check_blosc(file, start, length, size)

    def texts_size(self, array: Any, most: int) -> int:
        """How many bytes the texts of an array take when decoded; counting stops beyond `most`."""
        chunks = self._chunks_of_shards(array, "") if array.shards else self._chunks_of_files(array)
        total = 0
        for file, start, length in chunks:
            total += decoded_size(_codecs(array), file, start, length, most - total)
            if total > most:
                break
        return total

    def _chunks_of_files(self, array: Any) -> Iterator[tuple[Path, int, int]]:
        """File, offset and length of every chunk that has a file of its own."""
        return ((file, 0, file.stat().st_size) for _, file in self._chunk_files(array, 0, array.shape[0]))

    def _chunks_of_shards(self, array: Any, name: str) -> list[tuple[Path, int, int]]:
        """File, offset and length of every chunk; refuses missing ones."""
        shards, found, missing = Shards(array), [], 0
        for place, file in self._chunk_files(array, 0, array.shape[0]):
            stored, gaps = shards.chunks(file, place)
            found += [(file, start, length) for start, length in stored]
            missing += gaps
        refuse_gaps(self.name, name, array.shape, len(found) + missing, len(found), "chunks")
        return found

    def check_chunks(self, array: Any, start: int, stop: int) -> None:
        """Zarr compares the size of every decoded chunk; the headers of Blosc chunks are checked by `check`."""

    def check_unchanged(self, array: Any, start: int, stop: int) -> None:
        if array.path not in self._stamps:  # opened by a worker, which has already compared the store with the client's
            self._stamps[array.path] = self._stamps_of(array, 0, array.shape[0])
        known, now = self._stamps[array.path], self._stamps_of(array, start, stop)
        pieces = array.shards or array.chunks
        first = start // pieces[0] * _chunk_count(array.shape[1:], pieces[1:])
        wrong = np.flatnonzero(now != known[first : first + len(now)])
        if wrong.size:
            _, file = next(itertools.islice(self._chunk_files(array, start, stop), int(wrong[0]), None))
            gone = "disappeared" if not now[wrong[0]] else "changed"
            raise FileError(
                f"{self.name}: the chunk {file.relative_to(self.path)} {gone} while the store was "
                "being read. Wait until the store is completely written, then run the analysis again."
            )

    def _chunk_files(self, array: Any, start: int, stop: int) -> Iterator[tuple[tuple[int, ...], Path]]:
        """The places and files of the rows start..stop, chunk by chunk or shard by shard."""
        folder, pieces = self.path / array.path, array.shards or array.chunks
        rows = range(start // pieces[0], -(-stop // pieces[0]))
        others = [range(-(-size // step)) for size, step in zip(array.shape[1:], pieces[1:], strict=True)]
        for index in itertools.product(rows, *others):
            yield index, folder / array.metadata.encode_chunk_key(index)

    def _stamps_of(self, array: Any, start: int, stop: int) -> np.ndarray:
        """A number for each file, from its times, size and inode; 0 for a missing file."""
        return np.fromiter((_stamp(file) for _, file in self._chunk_files(array, start, stop)), np.uint64)

    def _check_codecs(self, array: object, name: str) -> None:
        """Accept only codecs that turn bytes into numbers or strings; others (such as pickle) could run code."""
        others = set(_codecs(array)) - _CODECS
        if others:
            raise FileError(
                f"{named_array(self.name, name)}: the values are compressed with {', '.join(sorted(others))}, which "
                "Eckart cannot read. Save the array again with zstd, gzip or blosc."
            )

    def _check_blosc(self, file: Path, start: int, length: int, size: int | None) -> None:
        """Check the lengths in the header of a chunk: Blosc trusts them and would read past the end of a truncated one.

        Header: 4 bytes of versions and flags, then the decoded, block and stored sizes as 32-bit integers [1].

        [1] https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst
        """
        with file.open("rb") as stream:
            stream.seek(start)
            header = stream.read(16)
        decoded, _, stored = struct.unpack("<III", header[4:]) if len(header) == 16 else (0, 0, 0)
        if stored != length or (size is not None and decoded != size):
            raise FileError(
                f"{self.name}: the chunk {file.relative_to(self.path)} is damaged: its header "
                f"declares {stored:,} bytes ({decoded:,} after decoding), but the chunk has {length:,} "
                "bytes. Copy the store again."
            )


_CODECS = {
    "blosc", "bz2", "crc32", "crc32c", "gzip", "lz4", "lzma", "zlib", "zstd", "shuffle", "delta", "bytes", "endian",
    "transpose", "sharding_indexed", "vlen-utf8", "vlen-bytes",
}  # fmt: skip


_OF_FIXED_SIZE = {"blosc", "bytes", "endian", "sharding_indexed", "crc32c"}
"""With only these, the shape and dtype of a chunk determine its decoded size; strings have any size."""


def _codecs(array: Any) -> list[str]:
    """The names of the filters and compressors of a Zarr array, of either version of the format."""
    meta = array.metadata
    if meta.zarr_format == 2:
        return [codec.codec_id for codec in (*(meta.filters or ()), meta.compressor) if codec is not None]
    names: list[str] = []
    for codec in meta.codecs:
        document = codec.to_dict()
        inner = document.get("configuration", {}).get("codecs", ()) if isinstance(document, dict) else ()
        names += [document["name"], *(part["name"] for part in inner)]
    return names


def _is_node(folder: Path) -> bool:
    return any((folder / mark).is_file() for mark in ZARR_MARKS)


def _is_metadata(file: Path) -> bool:
    return file.name in (*ZARR_MARKS, ".zattrs", ".zmetadata")


def _chunk_count(shape: tuple[int, ...], chunks: tuple[int, ...]) -> int:
    return math.prod(-(-size // max(step, 1)) for size, step in zip(shape, chunks, strict=True))


def _stamp(file: Path) -> int:
    try:
        found = file.stat()
    except OSError:
        return 0
    if not stat.S_ISREG(found.st_mode):
        return 0
    return hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)) & 0x7FFFFFFFFFFFFFFF | 1


def check_inside(parts: Sequence[str], what: str) -> None:
    """Refuse a key with parts that lead out of a Zarr store."""
    if any(part in (".", "..") for part in parts):
        raise FileError(f"{what} is outside the store. Use the path of an array inside the store.")


def named_array(file: str, name: str) -> str:
    """An array in words; the root of a Zarr store has no name."""
    return f"{file}, array {name!r}" if name else file


def refuse_gaps(file: str, name: str, shape: Any, expected: int, stored: int, unit: str) -> None:
    if stored < expected:
        raise FileError(
            f"{named_array(file, name)}: the shape {tuple(shape)} needs {expected:,} {unit}, but the "
            f"file contains only {stored:,}. The missing {unit} would be replaced with a fill value. Copy the file "
            "again, or write it completely (in Zarr, with write_empty_chunks=True)."
        )


def open_container(path: str, kind: str) -> Container:
    """The container at a path; it closes when nothing refers to it."""
    return Hdf5(path) if kind == "hdf5" else Zarr(path)


@lru_cache(maxsize=4)
def kept_container(state: FileState, kind: str) -> Container:
    """The container of a file in the state `state`, kept open because opening reads its whole directory.

    Used by the workers of a cluster, which receive a source with every block.
    """
    return open_container(state.path, kind)
