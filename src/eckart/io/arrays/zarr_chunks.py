"""Chunks and shards of a Zarr array in a local folder, checked before zarr decodes them.

Zarr decodes a whole chunk and compares its size afterwards. A damaged or hostile chunk of a few bytes may decode to
gigabytes, or have any length in a file with holes, so its sizes are computed here first, once. Zarr replaces a missing
chunk with the fill value, also inside a shard, so missing chunks are refused.
"""

from __future__ import annotations

import itertools
import math
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.errors import FileError
from eckart.files import ZARR_MARKS
from eckart.io.arrays.gaps import chunk_count, most_stored, named_array, refuse_gaps
from eckart.io.arrays.zarr_sizes import BLOCK, decoded_size

_CODECS = {
    "blosc", "bz2", "crc32", "crc32c", "gzip", "lz4", "lzma", "zlib", "zstd", "shuffle", "delta", "bytes", "endian",
    "transpose", "sharding_indexed", "vlen-utf8", "vlen-bytes",
}  # fmt: skip
_OF_FIXED_SIZE = {"blosc", "bytes", "endian", "sharding_indexed", "crc32c"}
"""With only these, the shape and dtype of a chunk determine its decoded size; strings have any size."""
_LARGEST = 16
"""Bytes of the largest number that a filter such as delta may store in place of a value."""
_TEXTS = "OT"
"""Kinds of types of strings, which have any size."""
_MISSING = 2**64 - 1


class ZarrChunks:
    """The chunks of one array below `folder`; those checked once are not checked again."""

    def __init__(self, array: Any, folder: Path, file: str) -> None:
        self._array, self._file, self._store = array, file, folder
        self._folder = folder / array.path
        self._pieces = array.shards or array.chunks
        self._checked = np.zeros(chunk_count(array.shape[:1], self._pieces[:1]), bool)
        self._stamps: np.ndarray | None = None

    def check_stored(self, name: str, *, any_codec: bool = False) -> None:
        """Refuse missing chunks, and unless `any_codec`, codecs that could run code."""
        if not any_codec:
            self._check_codecs(name)
        expected = chunk_count(self._array.shape, self._pieces)
        files = (file for file in self._folder.rglob("*") if file.is_file() and not is_metadata(file))
        stored = sum(1 for _ in files)
        if stored >= expected:  # few enough to check every expected name
            self._stamps = self._stamps_of(0, self._array.shape[0])
            stored = int(np.count_nonzero(self._stamps))
        refuse_gaps(self._file, name, self._array.shape, expected, stored, "chunks")
        if self._array.shards:
            chunks, missing = self._in_shards(0, self._array.shape[0])
            refuse_gaps(self._file, name, self._array.shape, len(chunks) + missing, len(chunks), "chunks")

    def check_sizes(self, start: int, stop: int) -> None:
        """Refuse chunks of the rows start..stop that are larger than their values, stored or decoded."""
        step = self._pieces[0]
        for piece in range(start // step, -(-stop // step)):
            if self._checked[piece]:
                continue
            try:
                for file, offset, length in self._stored(piece * step, min((piece + 1) * step, self._array.shape[0])):
                    self._check_size(file, offset, length)
            except FileError:
                _ = self._array[start : piece * step]  # the first damage is reported, however many rows are read
                raise
            self._checked[piece] = True

    def texts_size(self, most: int) -> int:
        """How many bytes the texts of an array take when decoded; counting stops beyond `most`."""
        codecs, total = codecs_of(self._array), 0
        for file, start, length in self._stored(0, self._array.shape[0]):
            size = decoded_size(codecs, file, start, length, most - total)
            if length > most_stored(size):
                self._refuse(file, f"it takes {length:,} bytes, but its texts take {size:,}")
            total += size
            if total > most:
                break
        return total

    def check_unchanged(self, start: int, stop: int) -> None:
        """Refuse chunks whose files were replaced, lost or turned into pipes since `check_stored`."""
        if self._stamps is None:  # opened by a worker, which has already compared the store with the client's
            self._stamps = self._stamps_of(0, self._array.shape[0])
        now = self._stamps_of(start, stop)
        first = start // self._pieces[0] * chunk_count(self._array.shape[1:], self._pieces[1:])
        wrong = np.flatnonzero(now != self._stamps[first : first + len(now)])
        if wrong.size:
            _, file = next(itertools.islice(self._files(start, stop), int(wrong[0]), None))
            gone = "disappeared" if not now[wrong[0]] else "changed"
            raise FileError(
                f"{self._file}: the chunk {file.relative_to(self._store)} {gone} while the store was "
                "being read. Wait until the store is completely written, then run the analysis again."
            )

    def _files(self, start: int, stop: int) -> Iterator[tuple[tuple[int, ...], Path]]:
        """The places and files of the rows start..stop, chunk by chunk or shard by shard."""
        pieces = self._pieces
        rows = range(start // pieces[0], -(-stop // pieces[0]))
        others = [range(-(-size // step)) for size, step in zip(self._array.shape[1:], pieces[1:], strict=True)]
        for index in itertools.product(rows, *others):
            yield index, self._folder / self._array.metadata.encode_chunk_key(index)

    def _stored(self, start: int, stop: int) -> Iterator[tuple[Path, int, int]]:
        """File, offset and length of the chunks of the rows start..stop."""
        if self._array.shards:
            return iter(self._in_shards(start, stop)[0])
        return ((file, 0, file.stat().st_size) for _, file in self._files(start, stop))

    def _in_shards(self, start: int, stop: int) -> tuple[list[tuple[Path, int, int]], int]:
        """File, offset and length of every chunk in shards, and the number of missing chunks."""
        shards, found, missing = Shards(self._array), [], 0
        for place, file in self._files(start, stop):
            stored, gaps = shards.chunks(file, place)
            found += [(file, first, length) for first, length in stored]
            missing += gaps
        return found, missing

    def _stamps_of(self, start: int, stop: int) -> np.ndarray:
        """A number for each file, from its times, size and inode; 0 for a missing file."""
        return np.fromiter((_stamp(file) for _, file in self._files(start, stop)), np.uint64)

    def _check_codecs(self, name: str) -> None:
        """Accept only codecs that turn bytes into numbers or strings; others (such as pickle) could run code."""
        found = codecs_of(self._array)
        others = sorted(set(found) - _CODECS) or ["shards in shards"] * (found.count("sharding_indexed") > 1)
        if others:
            raise FileError(
                f"{named_array(self._file, name)}: the values are compressed with {', '.join(others)}, which "
                "Eckart cannot read. Save the array again with zstd, gzip or blosc."
            )

    def _check_size(self, file: Path, start: int, length: int) -> None:
        codecs, kind = codecs_of(self._array), np.dtype(self._array.dtype)
        numbers = math.prod(self._array.chunks)
        if "blosc" in codecs:
            size = numbers * kind.itemsize if set(codecs) <= _OF_FIXED_SIZE and kind.kind not in _TEXTS else None
            self._check_blosc(file, start, length, size)
        if kind.kind in _TEXTS:
            return
        most = numbers * max(_LARGEST, kind.itemsize)
        if length > most_stored(most):
            self._refuse(file, f"it takes {length:,} bytes, but its values take at most {most:,}")
        if decoded_size(codecs, file, start, length, most + BLOCK) > most + BLOCK:  # exact up to a block
            self._refuse(file, f"it decodes to more than {most:,} bytes")

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
            self._refuse(
                file,
                f"its header declares {stored:,} bytes ({decoded:,} after decoding), but the chunk has {length:,} "
                "bytes",
            )

    def _refuse(self, file: Path, what: str) -> None:
        chunk = file.relative_to(self._store)
        raise FileError(f"{self._file}: the chunk {chunk} is damaged: {what}. Copy the store again.")


def codecs_of(array: Any) -> list[str]:
    """The names of the filters and compressors of a Zarr array, of either version of the format."""
    meta = array.metadata
    if meta.zarr_format == 2:
        return [codec.codec_id for codec in (*(meta.filters or ()), meta.compressor) if codec is not None]
    return _names([codec.to_dict() for codec in meta.codecs])


def _names(documents: Sequence[JsonObject]) -> list[str]:
    """The names of codecs, and of those inside shards."""
    names: list[str] = []
    for document in documents:
        if isinstance(document, dict):
            names += [document["name"], *_names(document.get("configuration", {}).get("codecs", ()))]
    return names


def is_metadata(file: Path) -> bool:
    return file.name in (*ZARR_MARKS, ".zattrs", ".zmetadata")


def _stamp(file: Path) -> int:
    try:
        found = file.stat()
    except OSError:
        return 0
    if not stat.S_ISREG(found.st_mode):
        return 0
    return hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)) & 0x7FFFFFFFFFFFFFFF | 1


class Shards:
    """The layout of the shards of one array.

    A shard ends (or begins) with an index: offset and length of each of its chunks as 64-bit integers, all ones for a
    missing chunk, and a checksum [1].

    [1] https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html
    """

    def __init__(self, array: Any) -> None:
        document = next(codec.to_dict() for codec in array.metadata.codecs if hasattr(codec, "index_location"))
        options = document["configuration"]
        codecs = {codec["name"]: codec.get("configuration", {}) for codec in options["index_codecs"]}
        if others := sorted(set(codecs) - {"bytes", "crc32c"}):
            raise ValueError(f"the index of its shards is encoded with {', '.join(others)}, which Eckart cannot read")
        self._shape, self._chunks = array.shape, array.chunks
        self._per_shard = tuple(size // step for size, step in zip(array.shards, array.chunks, strict=True))
        self._entry = ">u8" if codecs["bytes"].get("endian") == "big" else "<u8"
        self._size = 16 * int(np.prod(self._per_shard))
        self._from_end = options["index_location"] == "end"
        self._checksum = 4 if "crc32c" in codecs else 0

    def chunks(self, file: Path, shard: tuple[int, ...]) -> tuple[list[tuple[int, int]], int]:
        """(offset, length) of the chunks of one shard that lie inside the array, and the number of missing ones."""
        with file.open("rb") as stream:
            if self._from_end:
                stream.seek(-self._size - self._checksum, 2)
            index = stream.read(self._size)
        inside = tuple(
            slice(-(-max(size - place * count * step, 0) // step))
            for place, count, step, size in zip(shard, self._per_shard, self._chunks, self._shape, strict=True)
        )
        entries = np.frombuffer(index, self._entry).reshape(*self._per_shard, 2)[inside].reshape(-1, 2)
        stored = [(offset, length) for offset, length in entries.tolist() if length != _MISSING]
        return stored, len(entries) - len(stored)
