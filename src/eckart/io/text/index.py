"""Positions of the rows of a text too large for memory, found in one pass that refuses what no block could contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from eckart.errors import FileError
from eckart.io.bytes import OpenedFile
from eckart.io.roles import quoted
from eckart.io.text.arrow_csv import read_csv
from eckart.io.text.cells import looks_numeric, meant_as_numbers
from eckart.io.text.delimited import refuse_stray_quote
from eckart.io.text.encoding import is_utf8, plain_lines
from eckart.io.text.layout import Layout
from eckart.io.text.records import MAX_RECORD, Records, last_end, refuse_long

_CHUNK = 1 << 22


def refuse_encoding(name: str, where: str) -> NoReturn:
    raise FileError(
        f"{name} is not valid UTF-8 {where}. Files of this size are read in blocks and must be UTF-8. "
        "Convert the file first with: iconv -t UTF-8."
    )


@dataclass(frozen=True)
class TextIndex:
    """Positions of pieces of a few megabytes, found in one pass that also refuses what no block could be read from."""

    name: str
    layout: Layout
    columns: tuple[str, ...]
    empty: list[str]
    """Columns without a value at the beginning; they must have none later."""
    texts: list[str]
    """Columns of text at the beginning; most of their later cells must be text as well."""

    def pieces(self, opened: OpenedFile, offset: int, line: int) -> tuple[tuple[int, ...], ...]:
        """(rows, bytes, lines) of the pieces."""
        rows, indices, lines = [0], [offset], [line]
        known, numbers = Counter[str](), Counter[str]()
        for stored in self._whole_records(opened, offset, line):
            piece = plain_lines(stored)
            self._check(piece, lines[-1])
            count = len(Records(piece, 0, self.layout.delimiter))
            if count:
                if self.empty or self.texts:
                    self._count_left_out(piece, lines[-1], known, numbers)
                rows.append(rows[-1] + count)
                indices.append(indices[-1] + len(stored))
                lines.append(lines[-1] + stored.count(b"\n"))
            else:
                indices[-1] += len(stored)  # nothing but blank lines
                lines[-1] += stored.count(b"\n")
        for column in self.texts:
            if 2 * numbers[column] > known[column]:
                raise FileError(
                    f"{self.name}: the column {quoted(column)} contains text at the beginning of the "
                    f"file, but {numbers[column]:,} of its {known[column]:,} cells are numbers. "
                    "Correct the cells that contain text, or remove the column from the file."
                )
        return tuple(rows), tuple(indices), tuple(lines)

    def _whole_records(self, opened: OpenedFile, offset: int, line: int) -> Iterator[bytes]:
        """The text from `offset` on in pieces that end where a record ends."""
        rest, skip, wanted = bytearray(), offset, _CHUNK
        for chunk in opened.unpacked(whole=False):
            rest += chunk[skip:]
            skip = max(0, skip - len(chunk))
            if len(rest) < wanted:
                continue
            text = bytes(rest)
            end = last_end(text)
            if end:
                yield text[:end]
                line += text.count(b"\n", 0, end)
                del rest[:end]
            if len(rest) > MAX_RECORD:
                refuse_long(self.name, line)
            wanted = max(_CHUNK, 2 * len(rest))
        if rest:
            yield bytes(rest)

    def _check(self, piece: bytes, line: int) -> None:
        refuse_stray_quote(piece, 0, self.layout.delimiter, self.name, line)
        if b"\0" in piece:
            where = line + piece.count(b"\n", 0, piece.find(b"\0"))
            raise FileError(
                f"{self.name}, line {where}: there is a NUL byte, so the file is damaged or is not a text file."
            )
        if not piece.isascii() and not is_utf8(piece):
            refuse_encoding(self.name, f"from line {line:,} on")

    def _count_left_out(self, piece: bytes, line: int, known: Counter[str], numbers: Counter[str]) -> None:
        """Refuse values in columns that had none, and count cells and numbers in columns of text."""
        import pyarrow as pa
        from pyarrow import csv

        wanted = [*self.empty, *self.texts]
        convert = csv.ConvertOptions(include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()))
        parse = csv.ParseOptions(delimiter=self.layout.delimiter, newlines_in_values=b'"' in piece)
        read = csv.ReadOptions(column_names=list(self.columns), block_size=len(piece) + 1)
        table = read_csv(piece, read, parse, convert)
        for column in self.empty:
            cells, _ = looks_numeric(table.column(column), self.layout.decimal)
            if cells.null_count < len(cells):
                raise FileError(
                    f"{self.name}: the column {column!r} has no values at the beginning of the file, "
                    f"but it has values from line {line:,} on. Eckart reads files of this size in "
                    "blocks and needs to know the columns at the beginning. Remove the column from "
                    "the file."
                )
        for column in self.texts:
            cells, _ = looks_numeric(table.column(column), self.layout.decimal)
            known[column] += len(cells) - cells.null_count
            numbers[column] += meant_as_numbers(cells)
