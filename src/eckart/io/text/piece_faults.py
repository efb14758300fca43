"""What is wrong with a piece of a large text, in the words for a text that is read whole: line, column and cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from eckart.errors import FileError
from eckart.io.guard import reason
from eckart.io.text.amounts import first_without_sign
from eckart.io.text.arrow_csv import read_csv
from eckart.io.text.cells import TRUTH, looks_numeric
from eckart.io.text.delimited import Page, leave_out
from eckart.io.text.layout import Layout

if TYPE_CHECKING:
    import pyarrow as pa

    from eckart.io.text.rows import DelimitedRows


def page_of(
    name: str, text: bytes, line: int, columns: Sequence[str], delimiter: str, decimal: str, *, header: bool
) -> Page:
    """A piece of a text that begins on line `line`, with the columns of the text."""
    page = Page(name, Layout(text, delimiter, decimal, list(columns) if header else None, 0, []), line)
    page.columns = list(columns)
    return page


def text_columns(page: Page, columns: Sequence[str]) -> pa.Table:
    """Cells of some columns of a piece, as text; refuses records with too many or too few cells."""
    import pyarrow as pa
    from pyarrow import csv

    text = page.layout.data
    convert = csv.ConvertOptions(include_columns=list(columns), column_types=dict.fromkeys(columns, pa.string()))
    parse = csv.ParseOptions(delimiter=page.layout.delimiter, newlines_in_values=b'"' in text)
    read = csv.ReadOptions(column_names=page.columns, block_size=min(len(text) + 1, (1 << 31) - 1))
    try:
        return read_csv(text, read, parse, convert)
    except pa.ArrowInvalid:
        page.refuse_ragged()
        raise


def refuse_piece(rows: DelimitedRows, text: bytes, line: int, error: Exception) -> NoReturn:
    """Name the first record or cell that does not match the beginning of the text."""
    page = page_of(rows.file, text, line, rows.columns, rows.delimiter, rows.decimal, header=rows.header)
    page.refuse_ragged()
    table = text_columns(page, rows.numbers)
    for column in rows.numbers:
        cells = table.column(column)
        row = None if column in rows.unused else _first_wrong(rows, column, cells)
        if row is not None:
            _refuse_cell(rows, page, row, column, cells[row].as_py())
    raise FileError(
        f"{rows.file}: the text from line {line:,} on does not have the same layout as the beginning of the file "
        f"({reason(error)}). Correct the text."
    ) from error


def _refuse_cell(rows: DelimitedRows, page: Page, row: int, column: str, cell: str) -> NoReturn:
    if column in rows.truths:
        page.refuse_other_kind(row, column, cell, "is neither true nor false")
    if column in rows.signs:
        page.refuse_sign(row, column, cell, rows.signs[column])
    page.refuse_cell(row, column, cell, leave_out(column))


def _first_wrong(rows: DelimitedRows, column: str, cells: pa.ChunkedArray) -> int | None:
    """The first row whose cell is not of the kind of its column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed, right = looks_numeric(cells, rows.decimal)
    if column in rows.signs:
        return first_without_sign(trimmed, rows.signs[column], rows.decimal)
    if column in rows.truths:
        right = pc.is_in(trimmed, value_set=pa.array(["0", "1", *TRUTH], trimmed.type))
        right = pc.or_(right, pc.is_null(trimmed))
    row = int(pc.index(pc.fill_null(right, True), False).as_py())
    return row if row >= 0 else None
