"""Positions of the rows of a text too large for memory, found in one pass that refuses what no block could contain."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from eckart.errors import FileError
from eckart.io.bytes import OpenedFile
from eckart.io.roles import quoted
from eckart.io.text.cells import looks_numeric, meant_as_numbers
from eckart.io.text.delimited import refuse_stray_quote
from eckart.io.text.encoding import (
    is_decoded_in_parts,
    is_utf8,
    likely_encoding,
    line_ends,
    part_as_utf8,
    plain_lines,
    refuse_invalid,
    refuse_nul,
)
from eckart.io.text.layout import Layout
from eckart.io.text.piece_faults import page_of, text_columns
from eckart.io.text.records import MAX_RECORD, Records, last_end, refuse_long
from eckart.wording import ENCODING

_CHUNK = 1 << 22


def refuse_encoding(opened: OpenedFile, text: bytes, line: int, stated: str | None = None) -> NoReturn:
    """Refuse a text that is not UTF-8, with the command that converts it; `text` begins on line `line`."""
    kind = stated or likely_encoding(text)
    if b"\0" in text and not kind.lower().startswith("utf"):
        refuse_nul(opened.name, line + line_ends(text[: text.find(b"\0")]))
    try:
        text.decode("utf-8")
        valid = len(text)
    except UnicodeDecodeError as error:
        valid = error.start
    where = f"{opened.name}, line {line + line_ends(text[:valid])}" if valid < len(text) else opened.name
    if stated is not None and is_decoded_in_parts(stated):
        refuse_invalid(where, stated)
    command = _conversion(opened, kind)
    remedy = f"Set it with {ENCODING} (probably {kind}), or convert" if is_decoded_in_parts(kind) else "Convert"
    raise FileError(
        f"{where}: the text is not UTF-8. Files of this size are read in blocks, so Eckart does not guess their "
        f"encoding. {remedy} the file first: {command}"
        if stated is None
        else f"{where}: files of this size are read in blocks, but a text in {stated} can only be decoded as a whole. "
        f"Convert the file first: {command}"
    )


def _conversion(opened: OpenedFile, encoding: str) -> str:
    """The command that converts a text to UTF-8, for the shell."""
    path = Path(opened.path or "table.csv")
    stem = path.name.split(".")[0]
    converted = shlex.quote(str(path.with_name(f"{stem}-utf8{path.name[len(stem) :]}")))
    source = shlex.quote(str(path))
    if opened.packed:
        return f"gunzip -c {source} | iconv -f {encoding} -t UTF-8 | gzip > {converted}"
    return f"iconv -f {encoding} -t UTF-8 {source} > {converted}"


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
    stated: str | None = None
    """Encoding that the user stated, of which parts can be decoded."""

    def pieces(self, opened: OpenedFile, offset: int, line: int) -> tuple[tuple[int, ...], ...]:
        """(rows, bytes, lines) of the pieces."""
        rows, indices, lines = [0], [offset], [line]
        known, numbers = Counter[str](), Counter[str]()
        for stored in self._whole_records(opened, offset, line):
            piece = plain_lines(part_as_utf8(stored, self.stated, self.name, lines[-1]))
            piece = self.layout.without_missing(piece)
            self._check(opened, piece, lines[-1])
            count = len(Records(piece, 0, self.layout.delimiter))
            if count:
                if self.empty or self.texts:
                    self._count_left_out(piece, lines[-1], known, numbers)
                rows.append(rows[-1] + count)
                indices.append(indices[-1] + len(stored))
                lines.append(lines[-1] + line_ends(stored))
            else:
                indices[-1] += len(stored)  # nothing but blank lines
                lines[-1] += line_ends(stored)
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
                line += line_ends(text[:end])
                del rest[:end]
            if len(rest) > MAX_RECORD:
                refuse_long(self.name, line)
            wanted = max(_CHUNK, 2 * len(rest))
        if rest:
            yield bytes(rest)

    def _check(self, opened: OpenedFile, piece: bytes, line: int) -> None:
        refuse_stray_quote(piece, 0, self.layout.delimiter, self.name, line)
        if b"\0" in piece:
            where = line + piece.count(b"\n", 0, piece.find(b"\0"))
            refuse_nul(self.name, where)
        if not piece.isascii() and not is_utf8(piece):
            refuse_encoding(opened, piece, line, self.stated)

    def _count_left_out(self, piece: bytes, line: int, known: Counter[str], numbers: Counter[str]) -> None:
        """Refuse values in columns that had none, and count cells and numbers in columns of text."""
        import pyarrow.compute as pc

        layout = self.layout
        page = page_of(
            self.name, piece, line, self.columns, layout.delimiter, layout.decimal, header=layout.header is not None
        )
        table = text_columns(page, [*self.empty, *self.texts])
        for column in self.empty:
            cells, _ = looks_numeric(table.column(column), self.layout.decimal)
            if cells.null_count < len(cells):
                row = pc.index(pc.is_valid(cells), True).as_py()
                raise FileError(
                    f"{page.place(row)}: the column {quoted(column)} contains a value, but it is empty at the "
                    "beginning of the file. Eckart reads files of this size in blocks, and the beginning of the file "
                    "determines which columns it reads. Remove the column from the file."
                )
        for column in self.texts:
            cells, _ = looks_numeric(table.column(column), self.layout.decimal)
            known[column] += len(cells) - cells.null_count
            numbers[column] += meant_as_numbers(cells)
