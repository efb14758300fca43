"""Encodings and encryption of the columns of a Parquet file, from its footer, after PyArrow failed to read it.

PyArrow has both only by column, and asking it for a damaged or encrypted column ends the process. The footer is a
Thrift structure in the compact protocol [1]; fields have the numbers of parquet.thrift [2]. Layout of the file: ...
footer, length of the footer (uint32), "PAR1", or "PARE" if the footer itself is encrypted.

[1] https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
[2] https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eckart.io.guard import Unreadable

if TYPE_CHECKING:
    import pyarrow as pa

_FOR_DICTIONARIES = frozenset({0, 2, 3, 4, 8})
"""PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, RLE_DICTIONARY: PyArrow can decode texts in these to dictionaries."""
_MOST_BYTES = 1 << 24
"""Longer footers are not parsed: the reason of a failure is then PyArrow's."""
_MOST_CHUNKS = 1 << 14
"""Footers of more column chunks are not parsed for their sizes, because that takes long."""
_DEEPEST = 32
_ROW_GROUPS, _ALGORITHM, _COLUMNS, _METADATA, _CRYPTO_METADATA, _ENCODINGS, _PATH, _DECODED = 4, 8, 1, 3, 8, 2, 3, 6
_SIZE_STATISTICS, _UNENCODED = 16, 1
_CODEC, _FIRST_DATA_PAGE, _DICTIONARY_PAGE, _UNPACKED_PAGE, _PACKED_PAGE = 4, 9, 11, 2, 3
_PAGE_HEADER = 1 << 10
"""Bytes read to parse the header of a page, which may contain statistics."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 3, 7, 8, 9, 10, 11, 12, 13


@contextmanager
def parquet_errors(place: str | pa.NativeFile) -> Iterator[None]:
    """If PyArrow fails inside because the file is encrypted, raise an error with the remedy."""
    try:
        yield
    except Exception as error:
        if is_encrypted(place):
            raise Unreadable(
                "the file is encrypted, and Eckart has no key. Read the file with pyarrow and its keys, then save it "
                "without encryption"
            ) from error
        raise


def is_encrypted(place: str | pa.NativeFile) -> bool:
    """Whether the footer or some columns of a file are encrypted; False if that cannot be found out."""
    content, mark = _footer(place)
    if mark == b"PARE":
        return True
    meta = _parsed(content)
    return _ALGORITHM in meta or any(_CRYPTO_METADATA in chunk for chunk in _chunks(meta))


def only_as_strings(place: str | pa.NativeFile, columns: list[str]) -> bool:
    """Whether some of these texts are in encodings that PyArrow reads as strings, but not as dictionaries."""
    found: set[int] = set()
    for chunk in _chunks(_parsed(_footer(place)[0])):
        meta = chunk.get(_METADATA)
        if not isinstance(meta, dict):
            continue
        path = meta.get(_PATH)
        if isinstance(path, list) and path and path[0] in [name.encode() for name in columns]:
            used = meta.get(_ENCODINGS)
            found |= set(used if isinstance(used, list) else ())
    return not found <= _FOR_DICTIONARIES


def decoded_sizes(place: str | pa.NativeFile, columns: list[str], groups: int, width: int) -> list[int]:
    """Bytes that these columns take in each row group once they are decoded; zeros if the footer does not state them.

    At least those of the decompressed pages.
    """
    sizes = [0] * groups
    if not columns or groups * width > _MOST_CHUNKS:
        return sizes
    found, names = _groups(_parsed(_footer(place)[0])), [name.encode() for name in columns]
    for number, chunks in enumerate(found[:groups]):
        for chunk in chunks:
            meta = chunk.get(_METADATA)
            if not isinstance(meta, dict):
                continue
            path = meta.get(_PATH)
            if isinstance(path, list) and path and path[0] in names:
                sizes[number] += _decoded_size(meta)
    return sizes


def page_sizes(place: str | pa.NativeFile, columns: list[str], group: int, width: int) -> list[int]:
    """Bytes that the dictionary and the first page of each of these columns take in a row group of `width` columns.

    Writers limit all pages alike, by bytes or by rows. Packed and unpacked bytes are counted, because both are in
    memory while a page is decompressed. Empty if the file does not tell.
    """
    if (group + 1) * width > _MOST_CHUNKS:
        return []
    wanted = _metadata_of(_groups(_parsed(_footer(place)[0])), group, {name.encode() for name in columns})
    if not isinstance(place, str):
        return [_pages_of(place, meta) for meta in wanted]
    with Path(place).open("rb") as stream:
        return [_pages_of(stream, meta) for meta in wanted]


def _metadata_of(groups: list[list[dict[int, Any]]], group: int, names: set[bytes]) -> list[dict[int, Any]]:
    """The metadata of the named column chunks of a row group."""
    metas = [chunk.get(_METADATA) for chunk in groups[group]] if group < len(groups) else []
    return [meta for meta in metas if isinstance(meta, dict) and (meta.get(_PATH) or [b""])[0] in names]


def _pages_of(stream: Any, meta: dict[int, Any]) -> int:
    fields = (_UNPACKED_PAGE, _PACKED_PAGE) if meta.get(_CODEC) else (_UNPACKED_PAGE,)
    return sum(_page_size(stream, meta.get(place), fields) for place in (_DICTIONARY_PAGE, _FIRST_DATA_PAGE))


def _page_size(stream: Any, start: object, fields: tuple[int, ...]) -> int:
    """Bytes that the header of the page at `start` states; 0 if there is none."""
    if not isinstance(start, int) or start <= 0:
        return 0
    stream.seek(start)
    header = _parsed(stream.read(_PAGE_HEADER))
    return sum(max(size, 0) for size in map(header.get, fields) if isinstance(size, int))


def _decoded_size(meta: dict[int, Any]) -> int:
    """Bytes of the pages of a column chunk, or of its texts if these take more, as those with common beginnings may.

    Texts that are read as dictionaries are not repeated in memory either.
    """
    used, statistics = meta.get(_ENCODINGS), meta.get(_SIZE_STATISTICS)
    stated = [meta.get(_DECODED)]
    if isinstance(statistics, dict) and isinstance(used, list) and not set(used) <= _FOR_DICTIONARIES:
        stated.append(statistics.get(_UNENCODED))
    return max([0, *(size for size in stated if isinstance(size, int))])


def _chunks(meta: dict[int, Any]) -> list[dict[int, Any]]:
    """The column chunks of all row groups that have the form of one."""
    return [chunk for chunks in _groups(meta) for chunk in chunks]


def _groups(meta: dict[int, Any]) -> list[list[dict[int, Any]]]:
    """The column chunks of each row group."""
    groups = meta.get(_ROW_GROUPS)
    lists = [group.get(_COLUMNS) for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    return [[chunk for chunk in chunks if isinstance(chunk, dict)] for chunks in lists if isinstance(chunks, list)]


def _footer(place: str | pa.NativeFile) -> tuple[bytes, bytes]:
    """(footer, mark at the end of the file); the footer is empty if its length is impossible."""
    if not isinstance(place, str):
        return _footer_of(place, place.size())
    with Path(place).open("rb") as stream:
        return _footer_of(stream, Path(place).stat().st_size)


def _footer_of(stream: Any, size: int) -> tuple[bytes, bytes]:
    if size < 12:
        return b"", b""
    stream.seek(size - 8)
    length, mark = struct.unpack("<I4s", stream.read(8))
    if length > min(size - 12, _MOST_BYTES):
        return b"", mark
    stream.seek(size - 8 - length)
    return stream.read(length), mark


def _parsed(content: bytes) -> dict[int, Any]:
    """The fields of the footer by number; empty if it is damaged."""
    try:
        return _Thrift(content).structure(0)
    except (ValueError, IndexError):
        return {}


class _Thrift:
    """A cursor in a structure in the compact protocol. Every element takes at least one byte, so lists are bounded."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def structure(self, depth: int) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("too many nested structures")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):  # truth values in a list take a byte
            return self._byte()
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _MAP:
            return self._map(depth)
        if kind == _STRUCT:
            return self.structure(depth)
        if kind in (_DOUBLE, _BINARY, _UUID):
            return self._bytes(self._varint() if kind == _BINARY else 8 if kind == _DOUBLE else 16)
        if kind in (4, 5, 6):
            return self._integer()
        raise ValueError(f"type {kind} is unknown")

    def _list(self, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            raise ValueError("too many nested lists")
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> None:
        """Skipped: nothing wanted is in one."""
        count = self._varint()
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._value(kinds >> 4, depth + 1)
            self._value(kinds & 15, depth + 1)

    def _integer(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            part = self._byte()
            found |= (part & 127) << shift
            if part < 128:
                return found
        raise ValueError("a number is too long")

    def _byte(self) -> int:
        found = self._content[self._place]
        self._place += 1
        return found

    def _bytes(self, count: int) -> bytes:
        found = self._content[self._place : self._place + count]
        if len(found) != count:
            raise ValueError("the footer ends early")
        self._place += count
        return found
