"""How large a chunk of a Zarr array becomes when it is decoded, found without keeping it.

Zarr decodes a whole chunk at a time. A chunk of equal values takes a few bytes in the file, and gigabytes in memory.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from eckart.errors import FileError

_STEP = 1 << 16
BLOCK = 1 << 17
"""Largest decoded size of a block of Zstandard."""
_DICTIONARY = 1 << 27
"""Memory for decoding LZMA; the highest preset takes 65 MB (the manual of xz)."""
_RLE, _COMPRESSED = 1, 2
"""Types of blocks (RFC 8878); those of type 0 are stored as they are."""


def decoded_size(codecs: Iterable[str], file: Path, start: int, length: int, most: int) -> int:
    """An upper limit of the decoded size of a chunk, exact up to a block; counting stops beyond `most`."""
    packed = [codec for codec in codecs if codec in _SIZES]
    if not packed:
        return length
    try:
        if len(packed) > 1:
            raise _UnknownSize
        with file.open("rb") as stream:
            stream.seek(start)
            return _SIZES[packed[0]](stream, length, most)
    except _UnknownSize as error:
        raise FileError(
            f"The values in {file.parent} are compressed with {' and '.join(packed)}, and Eckart cannot determine "
            "their size before it decodes them. Save the array again with zstd, gzip or blosc."
        ) from error


class _UnknownSize(Exception):
    """The decoded size of a chunk cannot be determined."""


def _stated(form: str) -> Callable[[IO[bytes], int, int], int]:
    """The size in a header: the codec allocates as much, and refuses chunks of another size."""

    def size(stream: IO[bytes], length: int, _most: int) -> int:
        head = stream.read(min(struct.calcsize(form), length))
        return int(struct.unpack(form, head)[0]) if len(head) == struct.calcsize(form) else 0

    return size


def _counted(decoder: Callable[[], Any]) -> Callable[[IO[bytes], int, int], int]:
    """The size of what the decoder returns, piece by piece."""

    def size(stream: IO[bytes], length: int, most: int) -> int:
        decode, total, rest = decoder(), 0, b""
        while total <= most:
            if decode.eof:  # another member may follow
                decode, rest = decoder(), decode.unused_data
            if not rest:
                rest = stream.read(min(_STEP, length))
                length -= len(rest)
            if not rest and getattr(decode, "needs_input", True):
                break
            try:
                total += len(decode.decompress(rest, _STEP))
            except (OSError, zlib.error):  # damaged: Zarr refuses it
                break
            except lzma.LZMAError as error:  # without a header, or with a dictionary of any size
                raise _UnknownSize from error
            rest = getattr(decode, "unconsumed_tail", b"")
        return total

    return size


def _zstd(stream: IO[bytes], length: int, most: int) -> int:
    """The sizes of the blocks [1]; the header of a frame need not state the size of its content.

    [1] https://datatracker.ietf.org/doc/html/rfc8878#section-3.1.1
    """
    end, total = stream.tell() + length, 0
    while total <= most and stream.tell() < end:
        magic = stream.read(5)
        if 0x50 <= magic[0] < 0x60 and magic[1:4] == b"\x2a\x4d\x18":  # a frame to be skipped
            stream.seek(int.from_bytes(magic[4:] + stream.read(3), "little"), 1)
            continue
        if magic[:4] != b"\x28\xb5\x2f\xfd" or len(magic) < 5:
            break
        total += _frame(stream, magic[4], most - total)
    return total


def _frame(stream: IO[bytes], flags: int, most: int) -> int:
    """The size of the content of one frame: as its blocks state, or as its header does if that is less."""
    single = flags >> 5 & 1
    width = (1 if single else 0, 2, 4, 8)[flags >> 6]
    stream.seek((0 if single else 1) + (0, 1, 2, 4)[flags & 3], 1)
    stated = int.from_bytes(stream.read(width), "little") + (256 if width == 2 else 0) if width else sys.maxsize
    last = size = 0
    while not last and size <= most and len(head := stream.read(3)) == 3:
        number = int.from_bytes(head, "little")
        last, kind, stored = number & 1, number >> 1 & 3, number >> 3
        size += BLOCK if kind == _COMPRESSED else stored
        stream.seek(1 if kind == _RLE else stored, 1)
    stream.seek(4 * (flags >> 2 & 1), 1)
    return min(size, stated)


_SIZES: dict[str, Callable[[IO[bytes], int, int], int]] = {
    "blosc": _stated("<4xI"),
    "lz4": _stated("<I"),
    "zstd": _zstd,
    "gzip": _counted(lambda: zlib.decompressobj(31)),
    "zlib": _counted(zlib.decompressobj),
    "bz2": _counted(bz2.BZ2Decompressor),
    "lzma": _counted(lambda: lzma.LZMADecompressor(memlimit=_DICTIONARY)),
}
