"""Very wide text: few rows, up to two million columns. The cells are parsed as one Arrow column, in row order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eckart.environment import check_fits
from eckart.errors import FileError
from eckart.io.guard import reason
from eckart.io.roles import Parts, Text
from eckart.io.text.arrow_csv import read_csv
from eckart.io.text.cells import MISSING, is_missing, is_number, looks_numeric, plain_signs, without_points
from eckart.io.text.records import Records

if TYPE_CHECKING:
    from eckart.io.text.delimited import Page


def wide_parts(page: Page, naming: list[str]) -> Parts:
    """Read the whole table.

    A sample determines which columns are numeric; a later cell that disagrees is refused by line and column.
    """
    page.refuse_ragged()
    rows, columns = len(page.records), len(page.columns)
    numeric = _numeric(page, naming)
    check_fits(rows * len(numeric) * 8, page.name, "the matrix")
    matrix = np.empty((rows, len(numeric)))
    words = sorted(set(range(columns)) - set(numeric)) if len(numeric) < columns else []
    texts: list[list[str]] = [[] for _ in words]
    for row in range(rows):
        cells = page.records.cells(row)
        for column, j in zip(texts, words, strict=True):
            column.append("" if is_missing(cells[j]) else cells[j].strip())
        wanted = cells if not words else [cells[j] for j in numeric]
        matrix[row] = _numbers(page, row, wanted, numeric)
    labels = [_label(page.columns[j], column) for j, column in zip(words, texts, strict=True)]
    return Parts(matrix, [page.columns[j] for j in numeric], sorted(labels, key=lambda text: text.name not in naming))


def _label(name: str, cells: list[str]) -> Text:
    return Text(name, tuple(cells), len(set(cells)) == len(cells) and "" not in cells)


def _numeric(page: Page, naming: list[str]) -> list[int]:
    """Columns of which at least half of the first cells are numbers."""
    import pyarrow as pa

    known, numbers = np.zeros(len(page.columns), np.int64), np.zeros(len(page.columns), np.int64)
    for row in page.layout.sample[:10]:
        cells, numeric = looks_numeric(pa.array(row, pa.string()), page.layout.decimal)
        known += cells.is_valid().to_numpy(zero_copy_only=False)
        numbers += numeric.fill_null(False).to_numpy(zero_copy_only=False)
    mostly = np.flatnonzero(2 * numbers >= known).tolist()
    return [j for j in mostly if page.columns[j] not in naming]


def _numbers(page: Page, row: int, cells: list[str], numeric: list[int]) -> np.ndarray:
    import pyarrow as pa

    try:
        return _parsed("\n".join(cell.strip() for cell in cells).encode() + b"\n", page.layout.decimal)
    except pa.ArrowInvalid as error:
        for j, cell in zip(numeric, cells, strict=True):
            if not is_number(cell, page.layout.decimal) and not is_missing(cell):
                page.refuse_cell(row, page.columns[j], cell)
        raise FileError(f"{page.place(row)} could not be parsed: {reason(error)}.") from error


def wide_block(records: Records, columns: int, numeric: Sequence[int], decimal: str) -> np.ndarray:
    """The numbers of whole records with `columns` cells each; the cells `numeric` are numbers.

    Raises ValueError for other cells: from Arrow's parser, or with the line counted from the first record.
    """
    import pyarrow as pa

    counts = records.cell_counts()
    wrong = np.flatnonzero(counts != columns)
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(f"line {records.line(row)} of the file has {counts[row]} cells instead of {columns}")
    rows, text, mark = len(records), records.data, records.delimiter.encode()
    plain = len(numeric) == columns and b'"' not in text and b"\n\n" not in text and not text.startswith(b"\n")
    try:
        numbers = _parsed(text.replace(mark, b"\n"), decimal) if plain else _trimmed(records, numeric, decimal)
    except pa.ArrowInvalid:
        numbers = _trimmed(records, numeric, decimal)
    if numbers.size != rows * len(numeric):
        raise ValueError(f"{rows * len(numeric):,} cells were counted, but {numbers.size:,} were read")
    return numbers.reshape(rows, len(numeric))


def _trimmed(records: Records, numeric: Sequence[int], decimal: str) -> np.ndarray:
    """Cells without quotes and surrounding blanks."""
    cells = map(records.cells, range(len(records)))
    return _parsed("\n".join(row[j].strip() for row in cells for j in numeric).encode() + b"\n", decimal)


def _parsed(lines: bytes, decimal: str) -> np.ndarray:
    """One number or missing value on each line."""
    import pyarrow as pa
    from pyarrow import csv

    lines = lines if lines.isascii() else plain_signs(lines.decode()).encode()
    lines = without_points(lines) if decimal == ",." else lines
    types = {"cell": pa.float64()}
    convert = csv.ConvertOptions(null_values=list(MISSING), decimal_point=decimal[0], column_types=types)
    read = csv.ReadOptions(column_names=["cell"])
    parse = csv.ParseOptions(delimiter="\x1f", quote_char=False, ignore_empty_lines=False)
    table = read_csv(lines, read, parse, convert)
    values: np.ndarray = table.column("cell").to_numpy()
    return values
