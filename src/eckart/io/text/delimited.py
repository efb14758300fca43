"""Delimited text: detect the layout, parse with Arrow, then classify each column.

The fast path never reads lines one by one. The text is searched for the line to name only if something is wrong.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from eckart.engine.blocks.source import MemorySource
from eckart.errors import FileError
from eckart.formatting import about_columns, counted
from eckart.io.arrow.columns import kind_of, matrix_of, number_notes, refuse_infinite, text_of, truth_roles
from eckart.io.codes import padded_role
from eckart.io.guard import reason
from eckart.io.roles import Parts, Text, assemble, check_row_names, quoted, refuse_empty, unique_names
from eckart.io.text.amounts import (
    PARENTHESES,
    amounts,
    first_without_sign,
    is_unit,
    mostly_signed,
    sign_in_words,
    sign_notes,
    sign_of,
    signed_role,
)
from eckart.io.text.arrow_csv import read_csv
from eckart.io.text.cells import (
    AMOUNT,
    DATE,
    MISSING,
    advice,
    is_missing,
    is_number,
    looks_numeric,
    meant_as_numbers,
    to_numbers,
)
from eckart.io.text.encoding import to_utf8
from eckart.io.text.layout import Layout, TextOptions, sniff
from eckart.io.text.records import Records
from eckart.notes import Note
from eckart.wording import DECIMAL_COMMA, either, header_line

if TYPE_CHECKING:
    import pyarrow as pa

WIDE = 10_000
"""With more columns than this, Arrow's cost per column outweighs its parser, and rows are read one by one."""


_UNITS = " If it contains units, remove it."
EMPTY = "left out, because it contains no values"
_DECIMALS = re.compile(r"[$€£¥(+-]*\d+\.(\d{1,2}|\d{4,})\W*", re.ASCII)
_COUNTED = 5
"""Rows that must be numbered before their numbers are names; a few numbers may count by chance."""
_TITLE_ROWS = 5
"""Text within this many rows, in a column without a name, may be a header below a title."""


class Page:
    """A text with a known layout: names of its columns, and the line of any row."""

    name: str
    layout: Layout
    named_rows: bool
    unnamed_first: bool
    columns: list[str]
    notes: list[Note]
    signs: dict[str, str]
    """Columns of numbers with a currency or percent sign, and the sign."""

    def __init__(self, name: str, layout: Layout, line: int = 1) -> None:
        self.name, self.layout, self.signs, self._line = name, layout, {}, line
        cells = len(layout.sample[0]) if layout.sample else len(layout.header or [])
        self.named_rows = _short_header(layout)
        header = layout.header or [f"column {position}" for position in range(1, cells + 1)]
        blank = [not name.strip() for name in header]
        self.unnamed_first = bool(layout.header) and not self.named_rows and blank[0] and not all(blank)
        self.columns, self.notes = unique_names(["row names", *header] if self.named_rows else header)
        self._refuse_wrong_width(cells)

    @cached_property
    def records(self) -> Records:
        return Records(self.layout.data, self.layout.body, self.layout.delimiter)

    @cached_property
    def has_decimals(self) -> bool:
        """Whether a number of the first records has a decimal point, which is not between thousands."""
        return any(_DECIMALS.fullmatch(cell.strip()) for row in self.layout.sample for cell in row)

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {column: index for index, column in enumerate(self.columns)}

    def first_cells(self, column: str) -> list[str]:
        """The cells of a column in the first records."""
        index = self._indices[column]
        return [row[index] for row in self.layout.sample if index < len(row)]

    def place(self, row: int) -> str:
        return f"{self.name}, line {self.records.line(row) + self._line - 1}"

    def _refuse_wrong_width(self, cells: int) -> None:
        if self.layout.sample and cells != len(self.columns):
            self.refuse_ragged()

    def refuse_ragged(self) -> None:
        """Name the first record with too many or too few cells, if there is one."""
        counts = self.records.cell_counts()
        wrong = np.flatnonzero(counts != len(self.columns))
        if not wrong.size:
            return
        row = int(wrong[0])
        known = "the header has" if self.layout.header else "the first line has"
        raise FileError(
            f"{self.place(row)} has {counted(int(counts[row]), 'cell')}, but {known} "
            f"{len(self.columns)}, so it is unclear which value belongs to which column. Correct the "
            f"line, or put quotes around cells that contain {_mark(self.layout)}."
            f"{self._ragged_hint(counts, row)}"
        )

    def _title_hint(self, row: int) -> str:
        """What to do if a row contains the names of the columns, below a title."""
        line = self.records.line(row) + self._line - 1
        return f" If line {line} contains the column names, use {header_line(line)}."

    def _ragged_hint(self, counts: np.ndarray, row: int) -> str:
        if row and (counts[row:] == 1).all():  # below the table
            if row + 1 == len(counts):
                return " If this line is a remark below the table, remove it."
            return " If this line and those below it are remarks on the table, remove them."
        if (counts[row:] == counts[row]).all() and len(counts) - row > 1:  # a table begins here
            return self._title_hint(row)
        if len(self.columns) == 1:
            option = either("header=N", "--header N")
            return f" If there is a title above the table, use {option}, where N is the line of the column names."
        if self.layout.delimiter == "," and counts[row] > len(self.columns):
            return f" If the comma is the decimal separator, use {DECIMAL_COMMA}."
        return ""

    def refuse_cell(self, row: int, column: str, cell: str, remedy: str = "") -> NoReturn:
        unnamed = re.fullmatch(r"column \d+", column) is not None
        may_name = row + self._line <= _TITLE_ROWS and (unnamed or (row == 0 and not re.search(r"\d", cell)))
        title = self._title_hint(row) if may_name else ""
        title += _UNITS if may_name and not unnamed else ""
        raise FileError(
            f"{self.place(row)}, column {quoted(column)}: the cell {quoted(cell)} is not a number, "
            f"although most cells of the column are numbers. {advice(cell, self.layout.decimal)}{remedy}{title}"
        )

    def refuse_other_kind(self, row: int, column: str, cell: str, what: str) -> NoReturn:
        """Refuse a cell of another kind than those at the beginning of the file."""
        raise FileError(
            f"{self.place(row)}, column {quoted(column)}: the cell {quoted(cell)} {what}, but the cells at the "
            f"beginning of the file are. Correct the cell.{leave_out(column)}"
        )

    def refuse_sign(self, row: int, column: str, cell: str, sign: str) -> NoReturn:
        """Refuse a cell without the sign, unit or separator of its column."""
        if sign == PARENTHESES:
            self.refuse_cell(row, column, cell, leave_out(column))
        self.refuse_other_kind(row, column, cell, f"is not {sign_in_words(sign)}")


def read_delimited(data: bytes, name: str, options: TextOptions) -> MemorySource:
    """The whole file as one matrix with names."""
    text, notes = to_utf8(data, options.encoding, name)
    layout = sniff(text, options, name)
    refuse_stray_quote(layout.data, layout.body, layout.delimiter, name)
    Records(layout.data, layout.body, layout.delimiter).refuse_long_record(name)
    page = Page(name, layout)
    refuse_empty(len(layout.sample), 1, name)
    check_row_names(options.row_names, page.columns, name)
    parts = _wide_parts(page, options) if len(page.columns) > WIDE else _parts(page, options)
    parts.notes[:0] = notes + layout.notes + page.notes
    parts.layout.append(Note("layout", _separated(layout, options)))
    refuse_empty(len(parts.matrix), parts.matrix.shape[1], name)
    refuse_infinite(parts.matrix, parts.column_names, page.place)
    return assemble(parts, name, options.row_names)


def refuse_stray_quote(data: bytes, body: int, delimiter: str, name: str, line: int = 1) -> None:
    """Refuse a quote that is not closed or is inside a cell; `data` begins on line `line` of the file."""
    found = Records(data, body, delimiter).stray_quote()
    if found is not None:
        raise FileError(
            f"{name}, line {found + line - 1}: a quote that opens here is not closed, or is in the "
            "middle of a cell. Close the quote, or put quotes around the whole cell and write the "
            'inner quote twice: "5"" pipe".'
        )


def leave_out(column: str) -> str:
    """How to leave out a column with an invalid cell."""
    without = either("columns=[...] with the others", f"--drop {shlex.quote(column)}")
    label = either("", f" To use it as a label, use --labels {shlex.quote(column)}.")
    return f" To leave the column out, use {without}.{label}"


def _mark(layout: Layout) -> str:
    """The delimiter in words; blanks were replaced by tabs."""
    return {"\t": "tabs or spaces", " ": "blanks"}.get(layout.delimiter, repr(layout.delimiter))


def _separated(layout: Layout, options: TextOptions) -> str:
    tried = "" if options.delimiter else " (detected automatically)"
    return f"Cells are separated by {_mark(layout)}{tried}."


def naming_columns(page: Page, options: TextOptions) -> list[str]:
    """Columns that name the rows whatever they contain: the requested one, and a first one without a name."""
    first = page.columns[:1] if page.named_rows or page.unnamed_first else []
    return first if options.row_names in (None, "auto") else [options.row_names, *first]


def _short_header(layout: Layout) -> bool:
    """R omits the name above the row names: every record has one cell more, a text or a number.

    Texts may repeat, as in files whose rows were copied or joined. Numbers must be distinct, and must count the rows
    unless all are in quotes, as R and pandas write them.
    """
    records = _longer_records(layout)
    if records is None:
        return False
    starts = records.bounds[0]
    quotes = np.frombuffer(layout.data, np.uint8)[layout.body + starts] == ord('"')
    firsts = [row[0] for row in layout.sample]
    if not any(is_number(cell, layout.decimal) or is_missing(cell) for cell in firsts):
        return True
    return _count_rows(firsts) or (len(set(firsts)) == len(firsts) and bool(quotes.all()))


def _longer_records(layout: Layout) -> Records | None:
    """All records, if each has one cell more than the header."""
    if not layout.header or not layout.sample or len(layout.sample[0]) != len(layout.header) + 1:
        return None
    records = Records(layout.data, layout.body, layout.delimiter)
    return None if (records.cell_counts() != len(layout.header) + 1).any() else records


def _count_rows(cells: list[str]) -> bool:
    """Whether the cells count the rows from 0 or 1."""
    numbered = any(cells == [str(start + place) for place in range(len(cells))] for start in (0, 1))
    return numbered and len(cells) >= _COUNTED


def _wide_parts(page: Page, options: TextOptions) -> Parts:
    from eckart.io.text.wide import wide_parts

    return wide_parts(page, naming_columns(page, options))


def _parts(page: Page, options: TextOptions) -> Parts:
    naming = naming_columns(page, options)
    table = _parse(page, naming)
    names, numbers, texts, empty = [], [], [], []
    for name in page.columns:
        column = table.column(name)
        kind = kind_of(column.type)
        if kind == "text" and name not in naming:
            column, kind = _resolved(page, name, column, used=options.uses(name))
        if kind in ("number", "truth"):
            names.append(name)
            numbers.append(column)
        elif kind == "empty":
            empty.append(name)
        else:
            texts.append(_text(name, column, kind))
    refuse_empty(table.num_rows, len(numbers), page.name)
    matrix = matrix_of(numbers, table.num_rows, page.name)
    notes = number_notes(names, numbers, matrix)
    column_roles = truth_roles(names, numbers) | dict.fromkeys(empty, EMPTY)
    column_roles |= {name: role for name in names if (role := padded_role(page.first_cells(name)))}
    column_roles |= {name: signed_role(sign) for name, sign in page.signs.items()}
    notes += sign_notes(page.signs)
    if empty:
        notes.append(
            Note(
                "empty_columns",
                about_columns(
                    empty, "contains no values, so it was left out.", "contain no values, so they were left out."
                ),
            )
        )
    texts.sort(key=lambda text: text.name not in naming)
    return Parts(matrix, names, texts, notes, order=list(page.columns), column_roles=column_roles)


def _text(name: str, column: pa.ChunkedArray, kind: str) -> Text:
    """A text column; invalid numbers that the caller leaves out never name the rows."""
    if kind == "unused":
        return replace(text_of(name, column), names_rows=False)
    return text_of(name, column, kind)


def _parse(page: Page, naming: list[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    layout = page.layout
    longest = max((sum(map(len, row)) + len(row) for row in layout.sample), default=0)
    forced = {name: pa.string() for name in page.columns if name in naming}
    parse = csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=b'"' in layout.data)
    for block in (max(1 << 20, 8 * longest), len(layout.data) - layout.body + 1):
        read = csv.ReadOptions(column_names=page.columns, block_size=min(block, (1 << 31) - 1))
        convert = csv.ConvertOptions(
            null_values=list(MISSING), strings_can_be_null=True, decimal_point=layout.decimal[0], column_types=forced
        )
        try:
            table = read_csv(layout.data, read, parse, convert, layout.body)
            integers = _possibly_hexadecimal(table, page)
            if not integers:
                return table
            convert.column_types = forced | dict.fromkeys(integers, pa.string())
            return read_csv(layout.data, read, parse, convert, layout.body)
        except pa.ArrowInvalid as error:
            page.refuse_ragged()
            fault = reason(error)
    raise FileError(f"{page.name} could not be parsed: {fault}. Check the quotes and line endings of the file.")


def _possibly_hexadecimal(table: pa.Table, page: Page) -> list[str]:
    """Columns of integers that must be read as text: Arrow reads 0x1F as 31, but it is an identifier."""
    import pyarrow as pa

    body = page.layout.body
    if page.layout.data.find(b"0x", body) < 0 and page.layout.data.find(b"0X", body) < 0:
        return []
    return [field.name for field in table.schema if pa.types.is_integer(field.type)]


def _resolved(page: Page, name: str, cells: pa.ChunkedArray, *, used: bool) -> tuple[pa.ChunkedArray, str]:
    """Decide whether a text column is numbers or text. Numbers with an invalid cell are refused if they are used."""
    import pyarrow.compute as pc

    trimmed, numeric = looks_numeric(cells, page.layout.decimal)
    known = len(trimmed) - trimmed.null_count
    numbers = pc.sum(numeric).as_py() or 0
    if known == 0:
        return trimmed, "empty"
    if numbers == known:
        return to_numbers(trimmed, page.layout.decimal), "number"
    sign = _sign_of(page, name, trimmed)
    if sign is not None and (found := _signed(page, name, cells, trimmed, sign, used=used)) is not None:
        return found
    if 2 * meant_as_numbers(trimmed) <= known:
        if not mostly_signed(trimmed, numeric):
            return trimmed, _kind_of_text(trimmed, known)
        numeric = pc.match_substring_regex(trimmed, AMOUNT)
    if used:
        row = pc.index(pc.fill_null(numeric, True), False).as_py()
        page.refuse_cell(row, name, cells[row].as_py(), leave_out(name))
    return trimmed, "unused"


def _signed(
    page: Page, name: str, cells: pa.ChunkedArray, trimmed: pa.ChunkedArray, sign: str, *, used: bool
) -> tuple[pa.ChunkedArray, str] | None:
    """A column whose first cells have a sign, without it; None if the column may be text.

    A later cell without the sign is refused if the column is used. Without a unit, the first cells must agree as well.
    """
    decimal = page.layout.decimal
    if (plain := amounts(trimmed, sign, decimal)) is not None:
        page.signs[name] = sign
        return plain, "number"
    wrong = first_without_sign(trimmed, sign, decimal)
    if wrong is None or not (is_unit(sign) or wrong >= len(page.layout.sample)):
        return None
    if used:
        page.refuse_sign(wrong, name, cells[wrong].as_py(), sign)
    return trimmed, "unused"


def _sign_of(page: Page, name: str, trimmed: pa.ChunkedArray) -> str | None:
    """The sign, unit or separator of a column; a first column such as "10 min", "20 min" names the rows instead."""
    first = page.first_cells(name)
    if all(map(is_missing, first)):
        first = trimmed.drop_null().slice(0, len(first)).to_pylist()
    sign = sign_of(first, page.layout.decimal, decimals=page.has_decimals)
    names_rows = name == page.columns[0] and len(set(first)) == len(first)
    return None if sign is not None and is_unit(sign) and names_rows else sign


def _kind_of_text(cells: pa.ChunkedArray, known: int) -> str:
    """ "date" if all known cells are dates, "amount" if most are numbers with a sign such as %, otherwise "text"."""
    import pyarrow.compute as pc

    signed, dates = (pc.sum(pc.match_substring_regex(cells, form)).as_py() or 0 for form in (AMOUNT, DATE))
    if dates == known:
        return "date"
    return "amount" if 2 * signed > known else "text"
