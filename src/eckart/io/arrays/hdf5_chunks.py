"""Chunks of an HDF5 file, checked before libhdf5 decodes them.

libhdf5 trusts that a chunk decodes to its declared size. If it decodes to less, the library returns the memory after
it: other numbers each time, or a crash. The decoded length of every chunk is therefore computed here first, once.
Filters for which this is not possible are refused.
"""

from __future__ import annotations

import itertools
import math
import zlib
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from eckart.errors import FileError
from eckart.io.arrays.gaps import most_stored

_DEFLATE, _SHUFFLE, _FLETCHER32, _NBIT, _SCALE_OFFSET, _LZF = 1, 2, 3, 5, 6, 32000
_WHOLE = (_NBIT, _SCALE_OFFSET)
"""Filters that fill the whole chunk or fail."""
_PARAMETERS = 64
"""Bytes that such a filter may add (scale-offset: 21), so that what other filters decode to is not exact."""
_FILTERS = (_DEFLATE, _SHUFFLE, _FLETCHER32, *_WHOLE, _LZF)
_STRING, _COMPOUND, _VLEN, _ARRAY = 3, 6, 9, 10
"""Classes of HDF5 types (H5T_class_t)."""
_INTERPRETED = 1 << 12
"""Bytes of LZF up to which loading the compiled loop would take longer."""


class Chunks:
    """The chunks of one dataset; those checked once are not checked again."""

    def __init__(self, array: Any, file: str, name: str) -> None:
        self._array, self._file, self._name = array, file, name
        properties = array.id.get_create_plist()
        found = [properties.get_filter(i) for i in range(properties.get_nfilters())]
        self._filters = [int(code) for code, *_ in found]
        address = array.file.id.get_create_plist().get_sizes()[0]
        self._chunk_bytes = math.prod(array.chunks) * stored_size(array.id.get_type(), address)
        for code, *_, title in found:
            if code not in _FILTERS:
                raise FileError(
                    f"{file}: {name!r} is compressed with the HDF5 filter "
                    f"{title.decode(errors='replace') or code}. If such data are damaged, the HDF5 "
                    "library returns random numbers, so Eckart does not read them. Compress the data "
                    "with gzip instead: h5repack -f GZIP=4 old.h5 new.h5"
                )
        self._grid = tuple(-(-size // step) for size, step in zip(array.shape, array.chunks, strict=True))
        self._sizes, self._skipped = np.zeros(self._grid, np.int64), np.zeros(self._grid, np.uint32)
        self._checked = np.zeros(self._grid[0], bool)
        self._read_index()

    def _read_index(self) -> None:
        """Sizes of all chunks in the file, and which filters were not applied to them, as bits."""
        steps, limit = self._array.chunks, self._array.file.id.get_filesize()
        outside: list[tuple[int, ...]] = []  # an exception in the callback would be lost

        def add(info: Any) -> None:
            place = tuple(first // step for first, step in zip(info.chunk_offset, steps, strict=True))
            if any(i >= size for i, size in zip(place, self._grid, strict=True)):
                return  # the dataset shrank
            self._sizes[place], self._skipped[place] = info.size, info.filter_mask
            if info.byte_offset is None or info.byte_offset + info.size > limit:
                outside.append(info.chunk_offset)

        self._array.id.chunk_iter(add)
        if outside:
            self._refuse(outside[0], "it lies outside the file")

    def check(self, start: int, stop: int) -> None:
        """Refuse damaged chunks of the rows start..stop."""
        rows = self._array.chunks[0]
        for first in range(start // rows, -(-stop // rows)):
            if not self._checked[first]:
                for rest in itertools.product(*map(range, self._grid[1:])):
                    self._check_chunk((first, *rest))
                self._checked[first] = True

    def _check_chunk(self, place: tuple[int, ...]) -> None:
        offset = tuple(i * step for i, step in zip(place, self._array.chunks, strict=True))
        length, skipped = int(self._sizes[place]), int(self._skipped[place])
        if length > most_stored(self._chunk_bytes):
            self._refuse(offset, f"it takes {length:,} bytes, but its values take {self._chunk_bytes:,}")
        applied = [code for i, code in enumerate(self._filters) if not skipped >> i & 1]
        if {_DEFLATE, _LZF} & set(applied):
            length = self._decoded_length(self._array.id.read_direct_chunk(offset)[1], applied)
        elif _FLETCHER32 in applied:
            length -= 4
        whole = set(_WHOLE) & set(applied)
        if length > self._chunk_bytes + _PARAMETERS if whole else length != self._chunk_bytes:
            self._refuse(offset, f"it does not decode to {self._chunk_bytes:,} bytes")

    def _decoded_length(self, content: bytes, applied: list[int]) -> int:
        """Bytes of a chunk after all filters, which are undone in reverse order."""
        for code in reversed(applied):
            if code == _FLETCHER32:
                content = content[:-4]  # libhdf5 compares the checksum
            elif code == _DEFLATE:
                # more bytes than expected show that there are too many
                content = zlib.decompressobj().decompress(content, self._chunk_bytes + _PARAMETERS + 5)
            elif code == _LZF:
                before = applied[: applied.index(_LZF)]
                return -1 if _DEFLATE in before else lzf_length(content) - 4 * before.count(_FLETCHER32)
        return len(content)

    def _refuse(self, offset: tuple[int, ...], what: str) -> NoReturn:
        place = ", ".join(map(str, offset))
        raise FileError(
            f"{self._file}, array {self._name!r}: the chunk at ({place}) is damaged: {what}. Copy the file again."
        )


def stored_size(kind: Any, address: int) -> int:
    """Bytes that a value of an HDF5 type takes in a file whose addresses have `address` bytes.

    Text and lists of variable length lie in a heap. The array stores their length, and the address and the index of
    their heap (4, `address` and 4 bytes) [1]; in memory, a text is a pointer.

    [1] https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html, "Variable-length datatypes"
    """
    code, size = kind.get_class(), int(kind.get_size())
    if code == _VLEN or (code == _STRING and kind.is_variable_str()):
        return 8 + address
    if code == _ARRAY:
        return int(np.prod(kind.get_array_dims())) * stored_size(kind.get_super(), address)
    if code == _COMPOUND:
        members = [kind.get_member_type(i) for i in range(kind.get_nmembers())]
        return size + sum(stored_size(member, address) - int(member.get_size()) for member in members)
    return size


def lzf_length(content: bytes) -> int:
    """Number of bytes that LZF data decode to; -1 if they end inside a run.

    A control byte c < 32 precedes c + 1 bytes to copy. Otherwise c >> 5 is the length of an earlier run less 2, to
    which the next byte is added if it is 7; one more byte completes its distance [1].

    [1] http://oldhome.schmorp.de/marc/liblzf.html
    """
    values = np.frombuffer(content, np.uint8)
    return int((_lzf_length if len(content) <= _INTERPRETED else _compiled())(values))


def _lzf_length(values: np.ndarray) -> int:
    place, length, end = 0, 0, len(values)
    while place < end:
        control = int(values[place])
        if control < 32:
            place += control + 2
            length += control + 1
        elif control >> 5 < 7:
            place += 2
            length += (control >> 5) + 2
        else:
            length += 9 + (int(values[place + 1]) if place + 1 < end else 0)
            place += 3
    return length if place == end else -1


@lru_cache(maxsize=1)
def _compiled() -> Any:
    from eckart.engine.compiled.waiting import njit

    return njit(nogil=True, cache=True)(_lzf_length)
