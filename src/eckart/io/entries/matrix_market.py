"""Matrix Market (.mtx): the size line is checked against the file, and every index against the shape.

Arrow parses the entries. SciPy's reader crashes on a stray byte in the last line, so it is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from eckart.arrays import Matrix
from eckart.engine.blocks.rounded import is_rounded, rounding_notes
from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.environment import check_fits, check_whole
from eckart.errors import FileError, NotFiniteError
from eckart.formatting import counted
from eckart.io.arrays.npy import refuse_shape
from eckart.io.arrow.columns import stored_numbers
from eckart.io.bytes import OpenedFile
from eckart.io.entries.csr_file import Entries, check_rows
from eckart.io.text.arrow_csv import read_csv
from eckart.io.text.layout import align
from eckart.io.text.records import Records

if TYPE_CHECKING:
    import pyarrow as pa

_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_MOST_COMMENTS = 1 << 24
"""Maximum number of bytes before the size line."""
_DIGITS = b"0123456789+- \t\n"
_LETTERS = _DIGITS + b".eE" + b"nNaAiIfFtTyY"
"""Characters of numbers, including nan and infinity."""


@dataclass(frozen=True)
class Sizes:
    """Contents of the header; `start` is the byte after the size line."""

    rows: int
    columns: int
    entries: int
    coordinate: bool
    pattern: bool
    symmetry: str
    start: int
    whole: bool
    """Whether the values are declared as integers: readers then disagree about 1.5."""

    @property
    def words(self) -> int:
        """Numbers per line."""
        return 1 if not self.coordinate else 2 if self.pattern else 3


def read_matrix_market(opened: OpenedFile) -> MemorySource:
    """A sparse or dense Matrix Market file as a source."""
    data = opened.read().replace(b"\r\n", b"\n")
    sizes = _sizes(data, opened.name)
    check_promise(sizes, len(data), opened.name)
    if sizes.coordinate:
        check_rows(sizes.rows, opened.name)
    needed = (sizes.rows + sizes.entries * 3) * 8 if sizes.coordinate else sizes.rows * sizes.columns * 8
    check_fits(needed, opened.name, f"a matrix of {sizes.rows} x {sizes.columns}")
    check_whole(len(data) + 2 * needed, opened.name, opened.memory)
    values = parse_entries(data[sizes.start :], sizes, opened.name, data.count(b"\n", 0, sizes.start) + 1)
    refuse_count(sizes, len(values[-1]), opened.name)
    matrix = _sparse(values, sizes, opened.name) if sizes.coordinate else _dense(values[0], sizes)
    rounded = sizes.whole and not sizes.pattern and is_rounded(values[-1])
    return MemorySource(matrix, Metadata(opened.name, notes=rounding_notes([""] if rounded else [])))


def read_sizes(opened: OpenedFile) -> Sizes:
    """The contents of the header, without reading the rest."""
    head = bytearray()
    for piece in opened.unpacked(whole=False):
        head += piece
        if len(head) >= _MOST_COMMENTS or _size_line(head)[1] < len(head):
            break
    return _sizes(bytes(head), opened.name)


def _refuse_character(body: bytes, name: str, line: int) -> NoReturn:
    """Name the first character that is not part of a number."""
    place = next(i for i in range(len(body)) if body[i] not in _LETTERS)
    wrong = f"the character {chr(body[place])!r} is not part of a number"
    _refuse(name, body.count(b"\n", 0, place) + line, wrong)


def parse_entries(body: bytes, sizes: Sizes, name: str, line: int) -> list[np.ndarray]:
    """The numbers of whole lines, starting at line `line` of the file: one array per word of a line.

    Indices are counted from 0 and lie inside the matrix.
    """
    import pyarrow as pa

    if body.translate(None, _LETTERS):
        _refuse_character(body, name, line)
    if sizes.whole and body.translate(None, _DIGITS):
        _refuse_line(body, sizes, name, line)
    try:
        table = _table(body, " ", sizes)
    except pa.ArrowInvalid:
        try:
            table = _table(align(body), "\t", sizes)
        except pa.ArrowInvalid:
            _refuse_line(body, sizes, name, line)
    values = [stored_numbers(column) for column in table.columns]
    infinite = np.flatnonzero(np.isinf(values[-1])) if not sizes.pattern else np.empty(0, int)
    if infinite.size:
        where = Records(body, 0, " ").line(int(infinite[0])) + line - 1
        raise NotFiniteError(
            f"{name}, line {where}: the value is infinite, or too large for float64. Correct the value."
        )
    return _placed(values, body, sizes, name, line) if sizes.coordinate else values


def _placed(values: list[np.ndarray], body: bytes, sizes: Sizes, name: str, line: int) -> list[np.ndarray]:
    row, column = values[0], values[1]
    wrong = np.flatnonzero((row < 1) | (row > sizes.rows) | (column < 1) | (column > sizes.columns))
    if wrong.size:
        first = int(wrong[0])
        where = Records(body, 0, " ").line(first) + line - 1
        _refuse(name, where, f"the index ({row[first]}, {column[first]}) is outside {sizes.rows} x {sizes.columns}")
    return [row - 1, column - 1, np.ones(len(row)) if sizes.pattern else values[2]]


def refuse_count(sizes: Sizes, found: int, name: str) -> None:
    if found != sizes.entries:
        declared = counted(sizes.entries, "entry", "entries")
        raise FileError(f"{name} declares {declared} but contains {found:,}. Copy or export it again.")


class Triangle:
    """Checks that a symmetric matrix stores one triangle: the lower one, as in the standard, or only the upper one.

    The check comes after all entries: a file with too many of them is refused for their number.
    """

    def __init__(self, sizes: Sizes, name: str) -> None:
        self._symmetry, self._name = sizes.symmetry, name
        self._below = self._above = self._diagonal = False

    def add(self, row: np.ndarray, column: np.ndarray, value: np.ndarray) -> None:
        self._below |= bool((row > column).any())
        self._above |= bool((row < column).any())
        self._diagonal |= bool(value[row == column].any())

    def check(self) -> None:
        """Refuse the file if its entries contradict the header."""
        if self._symmetry != "general" and self._below and self._above:
            raise FileError(
                f"{self._name} is declared {self._symmetry}, so it should store only one triangle, but it has "
                "entries on both sides of the diagonal. Export it again."
            )
        if self._symmetry == "skew-symmetric" and self._diagonal:
            raise FileError(f"{self._name} is declared skew-symmetric, but its diagonal is not zero. Export it again.")


def mirrored(row: np.ndarray, column: np.ndarray, value: np.ndarray, sizes: Sizes) -> Entries:
    """The entries of the other triangle of a symmetric or skew-symmetric matrix."""
    mirror = row != column
    sign = -1.0 if sizes.symmetry == "skew-symmetric" else 1.0
    return column[mirror], row[mirror], sign * value[mirror]


def _table(body: bytes, mark: str, sizes: Sizes) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    names = ["row", "column"][: sizes.words] if sizes.coordinate else []
    types = {name: pa.int64() for name in names}
    if not sizes.pattern:
        names, types = [*names, "value"], {**types, "value": pa.float64()}
    if not body.strip():
        return pa.table({name: pa.nulls(0, types[name]) for name in names})  # `pa.array` imports pandas
    return read_csv(
        body,
        csv.ReadOptions(column_names=names),
        csv.ParseOptions(delimiter=mark, quote_char=False),
        csv.ConvertOptions(column_types=types, null_values=[]),
    )


def _refuse_line(body: bytes, sizes: Sizes, name: str, line: int) -> NoReturn:
    """Search line by line to name the one that is not an entry."""
    records = Records(body, 0, " ")
    value = "integer" if sizes.whole else "value"
    form = ["row", "column", value][: sizes.words] if sizes.coordinate else [value]
    for record in range(len(records)):
        words = " ".join(records.cells(record)).split()
        if words and (len(words) != len(form) or not all(map(_is_entry, form, words))):
            wrong = f"{' '.join(words)[:60]!r} is not of the form {' '.join(form)!r}"
            _refuse(name, records.line(record) + line - 1, wrong)
    _refuse(name, line, "the entries could not be parsed")


def _is_entry(kind: str, word: str) -> bool:
    try:
        number = float(word) if kind == "value" else int(word)
    except ValueError:
        return False
    return kind == "value" or abs(number) < 2**63


def _sparse(entries: list[np.ndarray], sizes: Sizes, name: str) -> Matrix:
    from scipy import sparse

    from eckart.io.arrays.sparse import canonical

    row, column, value = entries
    if sizes.symmetry != "general":
        triangle = Triangle(sizes, name)
        triangle.add(row, column, value)
        triangle.check()
        other = mirrored(row, column, value, sizes)
        row, column, value = (np.concatenate(pair) for pair in zip((row, column, value), other, strict=True))
    return canonical(sparse.coo_array((value, (row, column)), shape=(sizes.rows, sizes.columns)))


def _dense(values: np.ndarray, sizes: Sizes) -> np.ndarray:
    """Values are stored by columns; a symmetric matrix has its lower triangle, a skew one without the diagonal."""
    if sizes.symmetry == "general":
        return np.ascontiguousarray(values.reshape((sizes.rows, sizes.columns), order="F"))
    skew = sizes.symmetry == "skew-symmetric"
    matrix = np.zeros((sizes.rows, sizes.rows))
    column, row = np.triu_indices(sizes.rows, 1 if skew else 0)
    matrix[column, row] = -values if skew else values
    matrix[row, column] = values
    return matrix


def _refuse(name: str, line: int, what: str) -> NoReturn:
    raise FileError(f"{name}, line {line}: {what}. Export the file again, for example with scipy.io.mmwrite.")


def _banner(data: bytes, name: str) -> list[str]:
    """Layout, field and symmetry from the first line."""
    banner = data[: data.find(b"\n") if b"\n" in data[:1000] else 1000].decode("latin-1").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        _refuse(name, 1, "the first line should be '%%MatrixMarket matrix ...', so this is not a Matrix Market file")
    layout, field, symmetry = banner[2:]
    if field == "complex":
        _refuse(name, 1, "the matrix is complex, but Eckart needs real numbers; save its real part")
    if layout == "array" and field == "pattern":
        _refuse(name, 1, "the format 'array' does not allow the field 'pattern'")
    if layout not in ("coordinate", "array") or field not in _FIELDS or symmetry not in _SYMMETRIES:
        _refuse(name, 1, f"'{layout} {field} {symmetry}' is not a known kind of matrix"[:200])
    return banner[2:]


def _array_entries(rows: int, columns: int, symmetry: str) -> int:
    """Number of values that an array of this kind stores: all, or one triangle with or without the diagonal."""
    diagonal = -1 if symmetry == "skew-symmetric" else 1
    return rows * columns if symmetry == "general" else rows * (rows + diagonal) // 2


def _sizes(data: bytes, name: str) -> Sizes:
    layout, field, symmetry = _banner(data, name)
    line, start, text = _size_line(data)
    if start >= _MOST_COMMENTS:
        _refuse(name, 1, "more than 16 MB of comments precede the size line")
    coordinate = layout == "coordinate"
    rows, columns, *entries = _whole_numbers(text, 3 if coordinate else 2, name, line)
    if symmetry != "general" and rows != columns:
        _refuse(name, line, f"a {symmetry} matrix cannot have {rows} rows and {columns} columns")
    refuse_shape((rows, columns), name)
    stored = entries[0] if coordinate else _array_entries(rows, columns, symmetry)
    return Sizes(rows, columns, stored, coordinate, field == "pattern", symmetry, start, "integer" in field)


def _whole_numbers(text: str, count: int, name: str, line: int) -> list[int]:
    """The numbers of the size line."""
    words = text.split()
    if len(words) != count or not all(word.isdigit() and len(word) < 19 for word in words):
        _refuse(name, line, f"the size line is {text[:60]!r}, but it should be {count} whole numbers")
    return [int(word) for word in words]


def _size_line(data: bytes | bytearray) -> tuple[int, int, str]:
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


def check_promise(sizes: Sizes, size: int, name: str) -> None:
    """Check the number of entries: each takes at least a few bytes, so the file size bounds it."""
    shortest = 2 if not sizes.coordinate else 4 if sizes.pattern else 6
    rest = max(size - sizes.start, 0) + 1
    if sizes.entries * shortest > rest:
        raise FileError(
            f"{name} declares {counted(sizes.entries, 'entry', 'entries')}, but a file of this size has room for at "
            f"most {rest // shortest:,}. The file is truncated, or its size line is wrong. Copy the file "
            "again, or export it again."
        )
