"""The record batches listed in the footer of an Arrow file: their rows, and their size after decompression.

PyArrow gives the number of rows of a batch only with the batch itself, which it decodes whole if it is compressed. The
metadata contain both, and every compressed buffer begins with its size. The metadata are FlatBuffers [1]: a table
begins with the distance to its vtable, which lists the positions of its fields. Layout of the file: ... batches,
footer, length of the footer (int32), "ARROW1" [2].

[1] https://flatbuffers.dev/internals/
[2] https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_BLOCK = 24
"""Bytes of a Block: offset (int64), length of the metadata (int32, padded to 8), length of the body (int64)."""


class Bytes(Protocol):
    """Anything that slices into bytes: bytes, or a file that reads on demand."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: slice, /) -> bytes: ...


_DICTIONARIES, _BATCHES = 2, 3
"""Fields of the footer."""
_DICTIONARY_HEADER, _BATCH_HEADER = b"\x02", b"\x03"
"""Kinds of messages."""


class Span(NamedTuple):
    """Bytes of a file."""

    start: int
    stop: int
    body: int = 0
    """Bytes of the buffers that follow, if it is the metadata of a message."""


@dataclass(frozen=True)
class BatchHead:
    rows: int
    packed: bool
    size: int
    """Bytes of all columns in the file."""


def batch_heads(file: Bytes) -> list[BatchHead]:
    """One for each record batch of an Arrow file, from its footer."""
    return [_head(file, span) for span in _blocks(file, _BATCHES)]


def metadata_spans(file: Bytes) -> list[Span]:
    """The parts of an Arrow file without values: beginning, metadata of dictionaries and batches, and footer."""
    return [Span(0, 8), *_blocks(file, _DICTIONARIES), *_blocks(file, _BATCHES), Span(_footer(file), len(file))]


def _footer(file: Bytes) -> int:
    return len(file) - 10 - _integer(file, len(file) - 10, "<i")


def _blocks(file: Bytes, field: int) -> list[Span]:
    """The metadata of the dictionaries or batches that the footer lists."""
    place = _Table.at_root(file, _footer(file)).vector(field)
    count = _integer(file, place, "<I") if place else 0
    found = []
    for block in range(place + 4, place + 4 + _BLOCK * count, _BLOCK):
        start, size = _integer(file, block, "<q"), _integer(file, block + 8, "<i")
        if not 0 <= start <= start + size <= len(file):
            raise ValueError("a record batch lies outside the file")
        found.append(Span(start, start + size, _integer(file, block + 16, "<q")))
    return found


def decoded_sizes(file: Bytes) -> list[int]:
    """Bytes of the decompressed buffers of each record batch."""
    return [_decoded_size(file, span) for span in _blocks(file, _BATCHES)]


def dictionary_size(file: Bytes) -> int:
    """Bytes of the decompressed buffers of all dictionaries."""
    return sum(_decoded_size(file, span, dictionary=True) for span in _blocks(file, _DICTIONARIES))


def message_size(metadata: Bytes, body: Bytes) -> int:
    """Bytes of the decompressed buffers of a message of a stream; 0 if it has none."""
    message = _Table.at_root(metadata, 0)
    kind = message.field(1)
    header = metadata[kind : kind + 1] if kind else b""
    if header not in (_DICTIONARY_HEADER, _BATCH_HEADER):
        return 0
    return _buffers_size(_batch(message, dictionary=header == _DICTIONARY_HEADER), body, 0)


def _decoded_size(file: Bytes, span: Span, *, dictionary: bool = False) -> int:
    return _buffers_size(_batch(_message(file, span.start), dictionary=dictionary), file, span.stop)


def _buffers_size(batch: _Table, body: Bytes, start: int) -> int:
    """Bytes of the buffers of a batch; a compressed buffer begins with its size, or with -1 if it is stored."""
    place = batch.vector(2)
    count, size = _integer(batch.file, place, "<I") if place else 0, 0
    packed = bool(batch.field(3))
    for buffer in range(place + 4, place + 4 + 16 * count, 16):
        offset, length = _integer(batch.file, buffer, "<q"), _integer(batch.file, buffer + 8, "<q")
        stated = _integer(body, start + offset, "<q") if packed and length >= 8 else length
        size += max(stated if stated >= 0 else length, 0)
    return size


def _message(file: Bytes, place: int) -> _Table:
    marked = _integer(file, place, "<I") == 0xFFFFFFFF  # files before version 0.15 have no mark
    return _Table.at_root(file, place + (8 if marked else 4))


def _batch(message: _Table, *, dictionary: bool = False) -> _Table:
    """The record batch of a message; that of a dictionary is inside its header."""
    batch = _Table(message.file, message.follow(2))
    return _Table(batch.file, batch.follow(1)) if dictionary else batch


def _head(file: Bytes, span: Span) -> BatchHead:
    batch = _batch(_message(file, span.start))
    rows = batch.field(0)
    return BatchHead(_integer(file, rows, "<q") if rows else 0, bool(batch.field(3)), span.body)


@dataclass(frozen=True)
class _Table:
    file: Bytes
    place: int

    @staticmethod
    def at_root(file: Bytes, start: int) -> _Table:
        return _Table(file, start + _integer(file, start, "<I"))

    def field(self, index: int) -> int:
        """The position of a field, or 0 if it is absent."""
        vtable = self.place - _integer(self.file, self.place, "<i")
        entry = 4 + 2 * index
        size = _integer(self.file, vtable, "<H")
        offset = _integer(self.file, vtable + entry, "<H") if entry < size else 0
        return self.place + offset if offset else 0

    def follow(self, index: int) -> int:
        place = self.field(index)
        if not place:
            raise ValueError("a record batch has no header")
        return place + _integer(self.file, place, "<I")

    def vector(self, index: int) -> int:
        place = self.field(index)
        return place + _integer(self.file, place, "<I") if place else 0


def _integer(file: Bytes, place: int, form: str) -> int:
    if place < 0:
        raise ValueError("an offset points before the beginning of the file")
    content = file[place : place + struct.calcsize(form)]
    if len(content) != struct.calcsize(form):
        raise ValueError("an offset points past the end of the file")
    return int(struct.unpack(form, content)[0])
