"""NumPy's .npy: the header is trusted only if the file size agrees, and nothing is allocated before that check.

The matrix is read from the file if its numbers are already doubles or floats. Other numbers are converted, block by
block if they would not fit in memory.
"""

from __future__ import annotations

import math
import struct
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from eckart.engine.blocks.rounded import is_long, is_rounded, rounding_notes
from eckart.engine.blocks.source import Block, MemorySource, Metadata, OfMatrix
from eckart.environment import check_fits, free_memory, say_bytes
from eckart.errors import FileError
from eckart.formatting import counted
from eckart.io.bytes import OpenedFile
from eckart.io.guard import reason
from eckart.notes import Note

_KINDS = {
    "O": (
        "Python objects (a pickle), which could run code when loaded. Convert the array to numbers with "
        "astype(float) and save it again"
    ),
    "V": (
        "records (a structured array). Save a single field, or convert the array with "
        "numpy.lib.recfunctions.structured_to_unstructured"
    ),
    "c": "complex numbers. Save the real part, or the real and imaginary parts as separate columns",
    "M": "dates. Convert them to numbers and save the array again",
    "m": "time spans. Convert them to numbers and save the array again",
    "S": "text. Convert it to numbers with astype(float) and save the array again",
    "U": "text. Convert it to numbers with astype(float) and save the array again",
    "T": "text. Convert it to numbers with astype(float) and save the array again",
}
_STEP = 1 << 26
_BAD_HEADER = (
    ValueError,
    SyntaxError,
    TypeError,
    KeyError,
    RecursionError,
    MemoryError,
    struct.error,
    tokenize.TokenError,
)


@dataclass(frozen=True)
class Header:
    """The header of an .npy member; `start` is the byte where its numbers begin."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool
    start: int

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class ConvertingSource(OfMatrix):
    """A mapped matrix of other numbers, converted to doubles one block at a time."""

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float64)

    def blocks(self, rows_per_block: int | None = None) -> Iterator[Block]:
        step = rows_per_block or max(1, (1 << 23) // max(self.shape[1], 1))
        for start in range(0, self.shape[0], step):
            yield np.ascontiguousarray(self.matrix[start : start + step], np.float64)


def _parse_header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    formats = np.lib.format
    version = formats.read_magic(stream)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"format version {version[0]}.{version[1]} is not supported")
    return (formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0)(stream)


def read_header(stream: BinaryIO, name: str) -> Header:
    """Parse the header of an .npy stream and refuse all content except numbers."""
    try:
        shape, fortran, dtype = _parse_header(stream)
    except _BAD_HEADER as error:
        raise FileError(
            f"{name} is not a valid .npy array: {reason(error)}. Save the array again with numpy.save."
        ) from error
    if any(type(size) is not int or size < 0 for size in shape):
        raise FileError(
            f"{name} declares the shape {shape}, which is impossible. Save the array again with numpy.save."
        )
    kind = "V" if dtype.names or dtype.subdtype else dtype.kind
    if dtype.hasobject or kind not in "fiub":
        content = _KINDS["O"] if dtype.hasobject else _KINDS.get(kind, f"values of type {dtype}")
        raise FileError(f"{name} contains {content}.")
    return Header(tuple(shape), dtype, fortran, stream.tell())


def check_size(header: Header, size: int, name: str) -> None:
    """The header must account for every byte."""
    expected = header.start + header.bytes
    if size != expected:
        fault = "is truncated, or its header is wrong" if size < expected else "has extra bytes at its end"
        raise FileError(
            f"{name} {fault}: an array of shape {header.shape} and type {header.dtype} takes "
            f"{expected} bytes ({say_bytes(expected)}), but the file has {size} bytes. Copy the file "
            "again, or save the array again with numpy.save."
        )


def read_npy(opened: OpenedFile) -> MemorySource | ConvertingSource:
    """A two-dimensional .npy file as a source."""
    with opened.stream() as stream:
        header = read_header(stream, opened.name)
        check_size(header, opened.size, opened.name)
        refuse_shape(header.shape, opened.name)
    order: Any = "F" if header.fortran else "C"
    values: np.ndarray
    if opened.path is None:
        flat = np.frombuffer(opened.content or b"", header.dtype, offset=header.start)
        values = flat.reshape(header.shape, order=order)
    else:
        values = _stored(opened, header)
    return numeric_source(values, Metadata(opened.name))


def _stored(opened: OpenedFile, header: Header) -> np.ndarray:
    """The numbers, read and not mapped: truncating a mapped file would end the process."""
    check_fits(header.bytes, opened.name, "reading the whole file")
    flat = np.empty(math.prod(header.shape), header.dtype)
    view, done = memoryview(flat.view(np.uint8).data), 0
    with opened.stream() as stream:
        stream.seek(header.start)
        while done < len(view):
            got = stream.readinto(view[done : done + _STEP])  # type: ignore[attr-defined]
            if not got:
                raise FileError(f"{opened.name} was truncated while it was being read. Copy the file again.")
            done += got
    flat.flags.writeable = False
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def numeric_source(values: np.ndarray, metadata: Metadata) -> MemorySource | ConvertingSource:
    """A source of numbers: floats and doubles unchanged, other numbers as doubles."""
    if values.dtype in (np.float32, np.float64) and values.dtype.isnative:
        return MemorySource(values, metadata)
    metadata = Metadata(metadata.name, notes=(*metadata.notes, *value_notes(values)))
    if values.size * 8 > free_memory() // 4:
        return ConvertingSource(values, metadata)
    converted = values.astype(np.float64 if values.dtype.newbyteorder("=") != np.float32 else np.float32, order="C")
    return MemorySource(converted, metadata)


def value_notes(values: np.ndarray) -> tuple[Note, ...]:
    """A note if float64 rounds some of these numbers."""
    return rounding_notes([""] if is_long(values.dtype) and is_rounded(values) else []) + precision_notes(values.dtype)


def precision_notes(dtype: np.dtype) -> tuple[Note, ...]:
    """A note if numbers of this type have more digits than float64."""
    if dtype.kind != "f" or dtype.itemsize <= 8:
        return ()
    return (Note("rounded_floats", "Numbers in extended precision were rounded to float64."),)


def refuse_shape(shape: tuple[int, ...], name: str) -> None:
    """Refuse shapes other than tables with at least one row and one column."""
    if len(shape) != 2:
        remedy = "If it is one column, save it with reshape(-1, 1); if it is one row, with reshape(1, -1)"
        remedy = remedy if len(shape) == 1 else "Save it as a matrix with reshape(rows, -1)"
        raise FileError(
            f"{name} has {counted(len(shape), 'dimension')} (shape {shape}), but Eckart needs a matrix, which has "
            f"two. {remedy}."
        )
    if 0 in shape:
        raise FileError(
            f"{name} has no {'rows' if shape[0] == 0 else 'columns'} (its shape is {shape}), so there is "
            "nothing to analyse."
        )
