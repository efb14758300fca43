"""Chunks or bytes that an array of an HDF5 file or a Zarr store should have, and those that are stored."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eckart.errors import FileError


def named_array(file: str, name: str) -> str:
    """An array in words; the root of a Zarr store has no name."""
    return f"{file}, array {name!r}" if name else file


def chunk_count(shape: Sequence[int], chunks: Sequence[int]) -> int:
    return math.prod(-(-size // max(step, 1)) for size, step in zip(shape, chunks, strict=True))


def refuse_gaps(file: str, name: str, shape: Sequence[int], expected: int, stored: int, unit: str) -> None:
    if stored < expected:
        raise FileError(
            f"{named_array(file, name)}: the shape {tuple(shape)} needs {expected:,} {unit}, but the "
            f"file contains only {stored:,}. The missing {unit} would be replaced with a fill value. Copy the file "
            "again, or write it completely (in Zarr, with write_empty_chunks=True)."
        )


def most_stored(size: int) -> int:
    """Bytes that `size` bytes may take in a file. No compressor makes its input longer by an eighth and 64 kB [1].

    A chunk that takes more is damaged, and reading it may exhaust memory: a file with holes has any length.

    [1] The worst is bzip2, with 1 % and 600 bytes (https://sourceware.org/bzip2/manual/manual.html, section 3.3.1).
    """
    return size + size // 8 + (1 << 16)
