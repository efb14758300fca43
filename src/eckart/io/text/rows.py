"""Rows of a delimited text too large for memory: an index of record positions, then Arrow parses the requested rows.

The layout and the types of the columns are detected at the beginning of the text, as for a small one. A later cell that
does not match is refused with its line.
"""

from __future__ import annotations

import codecs
import gzip
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from eckart.aliases import JsonObject, Keywords
from eckart.engine.blocks.rounded import whole_columns
from eckart.engine.blocks.source import Metadata
from eckart.errors import FileError
from eckart.fingerprint import fingerprint
from eckart.formatting import about_columns
from eckart.io.arrow.columns import TRUTHS, matrix_of, refuse_infinite
from eckart.io.bytes import OpenedFile
from eckart.io.codes import padded_columns
from eckart.io.guard import reads_rows
from eckart.io.roles import quoted, refuse_empty
from eckart.io.rows import FileState, HeldRows, PiecedRows
from eckart.io.text.amounts import amounts, sign_in_words, signs_in
from eckart.io.text.arrow_csv import read_csv
from eckart.io.text.cells import MISSING, has_long_integer, looks_numeric, to_numbers
from eckart.io.text.delimited import EMPTY, Page, naming_columns, read_delimited
from eckart.io.text.encoding import is_decoded_in_parts, is_utf8, line_ends, names_utf8, part_as_utf8, plain_lines
from eckart.io.text.index import TextIndex, refuse_encoding
from eckart.io.text.layout import Layout, TextOptions, blank_cells, first_record, sample_records, sniff
from eckart.io.text.piece_faults import page_of, refuse_piece
from eckart.io.text.records import MAX_RECORD, Records, last_end, refuse_long
from eckart.io.text.wide import wide_block
from eckart.notes import Note

if TYPE_CHECKING:
    import pyarrow as pa

_HELD = 1 << 24
"""Texts up to this many bytes, decompressed, are read whole."""
_HEAD = 1 << 21
_MANY_COLUMNS = 1500
"""From this many columns on, cells are parsed as one column: Arrow's cost per column exceeds that per cell."""
_FEWEST = 3
"""Number of records used to detect the layout, including the names, however long they are."""
_MARK = codecs.BOM_UTF8
_OF_ALL_ROWS = frozenset({"row_names", "numbering_column", "missing_values", "empty_rows", "rounded_integers"})
"""Codes of notes that may hold for the first rows but not for all."""
_OF_LABELS = frozenset({"labels", "dates_set_aside", "amounts_set_aside"})
"""Codes of notes on columns that label the rows, which columns of a text in blocks never do."""


@dataclass(frozen=True)
class DelimitedRows(PiecedRows):
    """Pieces of a text, each of whole records: rows `edges`, bytes `indices`, first lines `lines`."""

    state: FileState
    packed: bool
    edges: tuple[int, ...]
    indices: tuple[int, ...]
    lines: tuple[int, ...]
    columns: tuple[str, ...]
    numbers: tuple[str, ...]
    delimiter: str
    decimal: str
    truths: frozenset[str] = frozenset()
    """Columns of true and false."""
    signs: Mapping[str, str] = field(default_factory=dict)
    """Columns of numbers with a currency or percent sign, and the sign."""
    whole: tuple[int, ...] = ()
    """Positions in `numbers` of columns with only integers at the beginning of the text."""
    metadata: Metadata = field(default_factory=Metadata)
    sparse: bool = False
    file: str = ""
    """The file in messages."""
    header: bool = True
    """Whether the first line has the names of the columns."""
    unused: frozenset[str] = frozenset()
    """Columns that will be left out; their cells may be anything."""
    encoding: str | None = None
    """Stated by the user; None is UTF-8."""
    missing: tuple[str, ...] = ()
    """Texts that stand for missing values, as the user stated."""
    _readers: Keywords = field(default_factory=dict, compare=False, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], len(self.numbers)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float64)

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    @reads_rows
    def read(self, start: int, stop: int) -> np.ndarray:
        self.state.check(self.metadata.name, start, stop)
        out = np.empty((stop - start, len(self.numbers)))
        for piece, rows, inside in self.overlapping(start, stop):
            out[rows] = self._numbers_of(piece, stop)[inside]
        return out

    def _numbers_of(self, piece: int, stop: int) -> np.ndarray:
        """A parsed piece, kept if rows from `stop` on are in it: the next block will need it."""
        kept = self._readers.get("parsed")
        if kept is not None and kept[0] == piece:
            found: np.ndarray = kept[1]
        else:
            found = self._piece(self._text(piece), piece)
        self._readers["parsed"] = (piece, found) if self.edges[piece + 1] > stop else None
        return found

    def _text(self, piece: int) -> bytes:
        """A piece of the text. A gzip file stays open, because going back means unpacking it from its beginning."""
        first, last = self.indices[piece], self.indices[piece + 1]
        if not self.packed:
            with Path(self.state.path).open("rb") as stream:
                stream.seek(first)
                return stream.read(last - first)
        with self._readers.setdefault("lock", Lock()):
            if self._readers.get("place") != piece:
                unpacked = self._readers.pop("stream", None) or gzip.open(self.state.path, "rb")  # noqa: SIM115
                unpacked.seek(first)
                self._readers.update(text=unpacked.read(last - first), place=piece, stream=unpacked)
            return cast("bytes", self._readers["text"])

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "_readers": {}}

    @cached_property
    def _positions(self) -> list[int]:
        """Positions of the numeric columns in a record, if there are so many that Arrow's cost per column matters."""
        if len(self.columns) < _MANY_COLUMNS or self.truths or self.signs or self.unused:
            return []
        where = {name: position for position, name in enumerate(self.columns)}
        return [where[name] for name in self.numbers]

    def _piece(self, text: bytes, piece: int) -> np.ndarray:
        text = plain_lines(part_as_utf8(text, self.encoding, self.file, self.lines[piece]))
        text = blank_cells(text, self.delimiter, self.missing) if self.missing else text
        try:
            if self._positions:
                records = Records(text, 0, self.delimiter)
                block = wide_block(records, len(self.columns), self._positions, self.decimal)
            else:
                block = self._parsed(text)
        except ValueError as error:  # Arrow's are among them
            refuse_piece(self, text, self.lines[piece], error)
        expected = self.edges[piece + 1] - self.edges[piece]
        if len(block) != expected:
            raise FileError(
                f"{self.file}: from line {self.lines[piece]:,} on, Eckart counted {expected:,} rows but read "
                f"{len(block):,}. Check the quotes and line endings of the file."
            )
        if np.isinf(block).any():
            page = page_of(
                self.file, text, self.lines[piece], self.columns, self.delimiter, self.decimal, header=self.header
            )
            refuse_infinite(block, self.numbers, page.place)
        if has_long_integer(text, self.decimal):
            self.metadata.rounded.check(block, self.whole, self.numbers)
        return np.asarray(block, dtype=np.float64)

    def _parsed(self, text: bytes) -> np.ndarray:
        import pyarrow as pa

        types = {name: pa.bool_() if name in self.truths else pa.float64() for name in self.numbers}
        types |= dict.fromkeys(self.signs, pa.string())
        try:
            table = self._table(text, types)
        except pa.ArrowInvalid:
            # Numbers padded with blanks other than spaces and tabs count as numbers in a text that is read whole.
            plain = {name: pa.string() for name in self.numbers if name not in self.truths or name in self.unused}
            cells = self._table(text, types | plain)
            return self._matrix(cells)
        return self._matrix(table)

    def _matrix(self, table: pa.Table) -> np.ndarray:
        columns = [self._numbers(name, column) for name, column in zip(table.column_names, table.columns, strict=True)]
        return matrix_of(columns, table.num_rows, self.metadata.name)

    def _table(self, text: bytes, types: dict[str, Any]) -> pa.Table:
        from pyarrow import csv

        convert = csv.ConvertOptions(
            null_values=list(MISSING),
            decimal_point=self.decimal[0],
            include_columns=list(self.numbers),
            column_types=types,
        )
        parse = csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=b'"' in text)
        read = csv.ReadOptions(column_names=list(self.columns), block_size=min(len(text) + 1, (1 << 31) - 1))
        return read_csv(text, read, parse, convert)

    def _numbers(self, name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Cells of text as numbers, by the rule for texts read whole."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_string(cells.type):
            return cells
        trimmed, numeric = looks_numeric(cells, self.decimal)
        if name in self.signs:
            found = amounts(trimmed, self.signs[name], self.decimal)
            if found is None and name in self.unused:
                return pa.nulls(len(cells), pa.float64())
            if found is None:
                raise ValueError(f"a cell of {quoted(name)} is not {sign_in_words(self.signs[name])}")
            return found
        if name in self.unused:
            return to_numbers(pc.if_else(numeric, trimmed, pa.scalar(None, trimmed.type)), self.decimal)
        wrong = pc.index(pc.fill_null(numeric, True), False).as_py()
        if wrong >= 0:
            raise ValueError(f"{quoted(cells[wrong].as_py())} is not a number")
        return to_numbers(trimmed, self.decimal)

    def fingerprint(self) -> JsonObject:
        # Includes the layout: the same bytes mean other numbers with another delimiter or decimal sign.
        layout = [self.delimiter, self.decimal, list(self.columns), list(self.numbers), *sorted(self.signs.items())]
        encoding = {} if self.encoding is None else {"encoding": self.encoding}
        missing = {"missing": list(self.missing)} if self.missing else {}
        return fingerprint([self.state], shape=list(self.shape), layout=layout, **encoding, **missing)


def text_rows(opened: OpenedFile, path: str, options: TextOptions, *, tab: bool = False) -> HeldRows | DelimitedRows:
    """Rows of a text: up to `_HELD` bytes it is read whole with all its names, otherwise it is indexed."""
    state = FileState.of(path)
    content = opened.read_small(_HELD)
    if content is None:
        return delimited_rows(opened, state, options, tab=tab)
    options = options.with_tabs(content) if tab else options
    found = read_delimited(content, opened.name, options)
    return HeldRows(found.matrix, replace(found.metadata, name=Path(path).name), state)


def _layout(head: bytes, options: TextOptions, opened: OpenedFile) -> Layout:
    """The layout of a text read in blocks."""
    if not is_decoded_in_parts(options.encoding) or not is_utf8(head):
        refuse_encoding(opened, head, 1, options.encoding)
    layout = sniff(head, replace(options, missing=()), opened.name)
    if layout.data != head:
        raise FileError(
            f"The cells of {opened.name} are separated by spaces, and Eckart cannot read such files in blocks. Save "
            "the file with tabs or commas between the cells."
        )
    return sniff(head, options, opened.name) if options.missing else layout


def _left_out(columns: Sequence[str], numbers: Sequence[str]) -> list[Note]:
    """A note on the columns that are not numbers, if there are any."""
    kept = set(numbers)
    others = list(dict.fromkeys(name for name in columns if name not in kept))
    one = "is not numeric, so it was left out: labels are not available when a file is read in blocks."
    many = "are not numeric, so they were left out: labels are not available when a file is read in blocks."
    return [Note("text_left_out", about_columns(others, one, many))] if others else []


def delimited_rows(opened: OpenedFile, state: FileState, options: TextOptions, *, tab: bool = False) -> DelimitedRows:
    """Index a text in one pass over its bytes; the layout and the column types are detected at its beginning.

    Anything later that does not match the beginning is refused, so the numbers equal those of reading it whole.
    """
    name = opened.name
    stored = _head(opened, name, options.line)
    head = plain_lines(_beginning(stored, options.encoding, name))
    options = options.with_tabs(head) if tab else options
    layout = _layout(head, options, opened)
    page = Page(name, layout)
    sample = read_delimited(head, name, replace(options, encoding=None))
    numbers = tuple(sample.metadata.column_names or ())
    roles = sample.metadata.column_roles
    empty = _with_role(EMPTY, roles)
    texts = sorted(set(page.columns) - {*numbers, *empty, *naming_columns(page, options)})
    index = TextIndex(name, layout, tuple(page.columns), empty, texts, options.encoding)
    body = _stored_bytes(stored, head[: layout.body].count(b"\n"))
    edges, indices, lines = index.pieces(opened, body, line_ends(stored[:body]) + 1)
    refuse_empty(edges[-1], len(numbers), name)
    notes = [note for note in sample.metadata.notes if note.code not in _OF_ALL_ROWS | _OF_LABELS]
    notes += _left_out(page.columns, (*numbers, *empty))
    kept = {column: roles[column] for column in numbers} if padded_columns(roles) else {}
    metadata = Metadata(Path(state.path).name, column_names=numbers, notes=tuple(notes), column_roles=kept)
    return DelimitedRows(
        state, opened.packed, edges, indices, lines, tuple(page.columns), numbers, layout.delimiter, layout.decimal,
        frozenset(_with_role(TRUTHS, roles)), signs_in(roles),
        whole_columns(sample.matrix), metadata, file=name, header=layout.header is not None,
        unused=_unused(numbers, options), encoding=options.encoding, missing=options.missing,
    )  # fmt: skip


def _with_role(wanted: str, roles: Mapping[str, str]) -> list[str]:
    return [column for column, role in roles.items() if role == wanted]


def _beginning(stored: bytes, encoding: str | None, name: str) -> bytes:
    """The beginning of a text as UTF-8, unless its encoding will be refused."""
    if encoding is None or names_utf8(encoding):
        return stored.removeprefix(_MARK)
    return part_as_utf8(stored, encoding, name, 1) if is_decoded_in_parts(encoding) else stored


def _unused(columns: Iterable[str], options: TextOptions) -> frozenset[str]:
    return frozenset(column for column in columns if not options.uses(column))


def _stored_bytes(text: bytes, lines: int) -> int:
    """Stored bytes of the first `lines` lines, including the byte order mark."""
    if not lines:
        return len(_MARK) if text.startswith(_MARK) else 0
    return next(itertools.islice(re.finditer(rb"\r\n?|\n", text), lines - 1, None)).end()


def _head(opened: OpenedFile, name: str, line: int) -> bytes:
    """The beginning of a text in whole records: as many as are needed to detect its layout."""
    head, wanted = bytearray(), _HEAD
    for piece in opened.unpacked(whole=False):
        head += piece
        if len(head) < wanted:
            continue
        end = last_end(head)
        if end > len(head) // 2 and _has_sample(bytes(head[:end]), name, line):
            return bytes(head[:end])
        if len(head) - end > MAX_RECORD:
            refuse_long(name, head.count(b"\n", 0, end) + 1)
        wanted = 2 * len(head)
    return bytes(head)


def _has_sample(head: bytes, name: str, line: int) -> bool:
    """Whether there are names and two records, which may be long."""
    text = plain_lines(head.removeprefix(_MARK))
    return len(sample_records(text, first_record(text, line), name)) >= _FEWEST
