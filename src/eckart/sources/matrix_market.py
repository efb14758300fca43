"""Matrix Market (.mtx): SciPy parses it, after the size line has been compared with the size of the file."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from eckart.errors import FileError
from eckart.sources.array_files import refuse_shape
from eckart.sources.base import About, MemorySource
from eckart.sources.limits import check_fits
from eckart.sources.opening import Opened

_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass(frozen=True)
class Sizes:
    """What the header promises; `start` is the byte after the size line."""

    rows: int
    columns: int
    entries: int
    coordinate: bool
    pattern: bool
    start: int


def read_matrix_market(opened: Opened) -> MemorySource:
    """A sparse or dense Matrix Market file as a source."""
    from scipy import io as scipy_io

    from eckart.sources.sparse_files import canonical

    data = opened.read()
    sizes = _sizes(data, opened.name)
    _check_promise(sizes, len(data), opened.name)
    try:
        matrix = scipy_io.mmread(io.BytesIO(data))
    except (ValueError, OverflowError, TypeError, MemoryError, OSError) as error:
        raise FileError(f"{opened.name} is a broken Matrix Market file: {error}. Write it again.") from error
    if isinstance(matrix, np.ndarray):
        return MemorySource(np.ascontiguousarray(matrix, np.float64), About(opened.name))
    return MemorySource(canonical(matrix), About(opened.name))


def _refuse(name: str, line: int, what: str) -> NoReturn:
    raise FileError(f"{name}, line {line}: {what}. Write the file again, for example with scipy.io.mmwrite.")


def _sizes(data: bytes, name: str) -> Sizes:
    banner = data[: data.find(b"\n") if b"\n" in data[:1000] else 1000].decode("latin-1").lower().split()
    if len(banner) != 5 or banner[0] != "%%matrixmarket" or banner[1] != "matrix":
        _refuse(name, 1, "the first line should be '%%MatrixMarket matrix ...', so this is no Matrix Market file")
    layout, field, symmetry = banner[2:]
    if field == "complex":
        _refuse(name, 1, "the matrix is complex, and only real numbers can be used; save its real part")
    if layout not in ("coordinate", "array") or field not in _FIELDS or symmetry not in _SYMMETRIES:
        _refuse(name, 1, f"the kind '{layout} {field} {symmetry}' is not known"[:200])
    line, start, text = _size_line(data)
    words = text.split()
    coordinate = layout == "coordinate"
    if len(words) != (3 if coordinate else 2) or not all(word.isdigit() and len(word) < 19 for word in words):
        _refuse(name, line, f"the size line is {text[:60]!r} and should be {3 if coordinate else 2} whole numbers")
    rows, columns, *entries = map(int, words)
    if symmetry != "general" and rows != columns:
        _refuse(name, line, f"a {symmetry} matrix cannot have {rows} rows and {columns} columns")
    refuse_shape((rows, columns), name)
    stored = entries[0] if coordinate else rows * columns if symmetry == "general" else rows * (rows - 1) // 2
    return Sizes(rows, columns, stored, coordinate, field == "pattern", start)


def _size_line(data: bytes) -> tuple[int, int, str]:
    """The first line that is neither banner, comment nor blank."""
    line, start = 1, data.find(b"\n") + 1
    while 0 < start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        text = data[start:end].decode("latin-1").strip()
        line += 1
        if text and not text.startswith("%"):
            return line, end + 1, text
        start = end + 1
    return line + 1, len(data), ""


def _check_promise(sizes: Sizes, size: int, name: str) -> None:
    """Each entry takes a few bytes at least, so the file size bounds what may be believed."""
    shortest = 2 if not sizes.coordinate else 4 if sizes.pattern else 6
    rest = max(size - sizes.start, 0) + 1
    if sizes.entries * shortest > rest:
        raise FileError(
            f"{name} promises {sizes.entries} entries and has room for {rest // shortest} at most: it is cut off, or "
            "its size line is wrong. Copy it again, or write it again."
        )
    needed = (sizes.rows + sizes.entries * 3) * 8 if sizes.coordinate else sizes.rows * sizes.columns * 8
    check_fits(needed, name, f"a matrix of {sizes.rows} x {sizes.columns}")
