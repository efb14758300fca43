"""Positions of the records of a delimited text. A newline inside quotes does not end a record.

A byte is inside quotes if the number of quote characters before it is odd; a doubled quote toggles twice. This holds
while every opening quote begins a cell and every closing quote ends one, which `stray_quote` checks.
"""

from __future__ import annotations

from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from eckart.environment import say_bytes
from eckart.errors import FileError

NEWLINE, QUOTE = 10, 34
MAX_RECORD = 1 << 25
"""Maximum length of a record in bytes. Longer ones have an unclosed quote, or lines that do not end in a newline.
"""


def refuse_long(name: str, line: int) -> NoReturn:
    raise FileError(
        f"{name}, line {line}: the row that begins here is longer than {say_bytes(MAX_RECORD)}. A "
        "quote is not closed, or the lines do not end with a line break. Correct the file, or store "
        "wide tables as .npy."
    )


class Records:
    """The records of `data` from byte `body` on, found by whole-array operations. Blank lines are not records."""

    data: bytes
    body: int
    delimiter: str

    def __init__(self, data: bytes, body: int, delimiter: str) -> None:
        self.data, self.body, self.delimiter = data, body, delimiter
        self._bytes = np.frombuffer(data, np.uint8, offset=body) if body < len(data) else np.empty(0, np.uint8)

    @cached_property
    def _quotes(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._bytes == QUOTE) if b'"' in self.data else np.empty(0, np.intp)

    def _outside(self, byte: int) -> NDArray[np.intp]:
        indices = np.flatnonzero(self._bytes == byte)
        return indices[np.searchsorted(self._quotes, indices) % 2 == 0] if self._quotes.size else indices

    @cached_property
    def ends_outside_quotes(self) -> NDArray[np.intp]:
        """Newlines that end a record."""
        return self._outside(NEWLINE)

    @cached_property
    def bounds(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """First byte and end of each record, counted from `body`."""
        ends = np.append(self.ends_outside_quotes, self._bytes.size)
        starts = np.append(0, ends[:-1] + 1)
        kept = ends > starts
        return starts[kept], ends[kept]

    def __len__(self) -> int:
        return int(self.bounds[0].size)

    def line(self, record: int) -> int:
        """The line, counted from 1, on which a record begins."""
        return self.line_at(int(self.bounds[0][record]))

    def line_at(self, place: int) -> int:
        return self.data.count(b"\n", 0, self.body + place) + 1

    def cell_counts(self) -> NDArray[np.intp]:
        """How many cells each record has."""
        starts, ends = self.bounds
        marks = self._outside(ord(self.delimiter))
        return np.searchsorted(marks, ends) - np.searchsorted(marks, starts) + 1

    def refuse_long_record(self, name: str) -> None:
        if len(self.data) - self.body > MAX_RECORD:
            long = np.flatnonzero(self.bounds[1] - self.bounds[0] > MAX_RECORD)
            if long.size:
                refuse_long(name, self.line(int(long[0])))

    def cells(self, record: int) -> list[str]:
        starts, ends = self.bounds
        text = self.data[self.body + int(starts[record]) : self.body + int(ends[record])].decode()
        return split(text, self.delimiter)

    def stray_quote(self) -> int | None:
        """The line of a quote that does not open and close one whole cell, if there is one."""
        quotes = self._quotes
        if not quotes.size:
            return None
        allowed = np.isin(np.arange(256), [NEWLINE, QUOTE, ord(self.delimiter)])
        opens, closes = quotes[0::2], quotes[1::2]
        before = np.where(opens > 0, self._bytes[opens - 1], NEWLINE)
        after = np.where(closes + 1 < self._bytes.size, np.take(self._bytes, closes + 1, mode="clip"), NEWLINE)
        bad_open = np.flatnonzero(~allowed[before])
        bad_close = np.flatnonzero(~allowed[after])
        pairs = [int(found[0]) for found in (bad_open, bad_close) if found.size]
        if not pairs and quotes.size % 2 == 0:
            return None
        return self.line_at(int(opens[min(pairs)] if pairs else opens[-1]))


def last_end(text: bytes | bytearray) -> int:
    """The byte after the last newline that is not inside quotes; 0 if there is none.

    Search backwards from the end: an unclosed quote in a long text is found without a list of its lines.
    """
    end, odd = len(text), text.count(b'"') % 2
    while (newline := text.rfind(b"\n", 0, end)) >= 0:
        odd ^= text.count(b'"', newline, end) % 2
        if not odd:
            return newline + 1
        end, odd = text.rfind(b'"', 0, newline), 0  # the quote that opens the cell with this newline
    return 0


def split(record: str, delimiter: str) -> list[str]:
    """The cells of one record. A delimiter inside quotes does not end a cell."""
    if '"' not in record:
        return record.split(delimiter)
    cells: list[str] = []
    open_cell: list[str] = []
    quotes = 0
    for piece in record.split(delimiter):
        open_cell.append(piece)
        quotes += piece.count('"')
        if quotes % 2 == 0:
            cells.append(unquote(delimiter.join(open_cell)))
            open_cell = []
    return cells + ([unquote(delimiter.join(open_cell))] if open_cell else [])


def unquote(cell: str) -> str:
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def record_end(data: bytes, start: int) -> int:
    """The end of the record that begins at `start`: the next newline outside quotes, or the maximum length."""
    limit, end = min(len(data), start + MAX_RECORD + 1), -1
    while True:
        if end < start:  # otherwise still the next newline; searching again for every quote would take hours
            end = data.find(b"\n", start, limit)
            end = limit if end < 0 else end
        opening = data.find(b'"', start, end)
        closing = data.find(b'"', opening + 1, limit) if opening >= 0 else -1
        if opening < 0:
            return end
        if closing < 0:
            return limit
        start = closing + 1
