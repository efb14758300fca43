"""Rows of a delimited text too large for memory: an index of where records begin, then Arrow parses what is asked for.

The layout and the kinds of the columns are found in the beginning of the text, as for a small one; a cell further down
that does not fit is refused with its line.
"""

from __future__ import annotations

import bisect
import gzip
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from eckart.engine.blocks.source import About
from eckart.errors import FileError, NotFiniteError
from eckart.fingerprint import fingerprint
from eckart.io.arrow.columns import matrix_of
from eckart.io.bytes import GZIP_MAGIC, reason
from eckart.io.rows import FileState
from eckart.io.text.cells import MISSING
from eckart.io.text.delimited import Page, read_delimited
from eckart.io.text.layout import TextOptions, sniff
from eckart.io.text.records import Records

_HEAD = 1 << 20
_CHUNK = 1 << 22


@dataclass(frozen=True)
class DelimitedRows:
    """Pieces of a text, each of whole records: rows `edges`, bytes `places`, first lines `lines`."""

    state: FileState
    packed: bool
    edges: tuple[int, ...]
    places: tuple[int, ...]
    lines: tuple[int, ...]
    columns: tuple[str, ...]
    numbers: tuple[str, ...]
    delimiter: str
    decimal: str
    about: About = field(default_factory=About)
    sparse: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], len(self.numbers)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def cuts(self) -> Sequence[int]:
        return self.edges

    def read(self, start: int, stop: int) -> np.ndarray:
        self.state.check(self.about.name, start, stop)
        first = bisect.bisect_right(self.edges, start) - 1
        last = bisect.bisect_left(self.edges, stop)
        with _opened(self.state.path, packed=self.packed) as stream:
            stream.seek(self.places[first])
            blocks = [self._piece(stream.read(self.places[i + 1] - self.places[i]), i) for i in range(first, last)]
        whole = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return whole[start - self.edges[first] : stop - self.edges[first]]

    def _piece(self, text: bytes, piece: int) -> np.ndarray:
        import pyarrow as pa
        from pyarrow import csv

        convert = csv.ConvertOptions(
            null_values=list(MISSING),
            decimal_point=self.decimal,
            include_columns=list(self.numbers),
            column_types=dict.fromkeys(self.numbers, pa.float64()),
        )
        parse = csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=b'"' in text)
        read = csv.ReadOptions(column_names=list(self.columns), block_size=min(len(text) + 1, (1 << 31) - 1))
        try:
            table = csv.read_csv(pa.BufferReader(text), read_options=read, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid as error:
            raise FileError(
                f"{self.about.name}: the text from line {self.lines[piece]:,} on does not fit what its beginning looks "
                f"like ({reason(error)}). Correct it, or keep only columns of numbers."
            ) from error
        expected = self.edges[piece + 1] - self.edges[piece]
        if table.num_rows != expected:
            raise FileError(
                f"{self.about.name}: {expected:,} rows were counted from line {self.lines[piece]:,} on, and "
                f"{table.num_rows:,} were read. Check its quotes and its line ends."
            )
        block = matrix_of(table.columns, table.num_rows, self.about.name)
        if np.isinf(block).any():
            row, column = np.argwhere(np.isinf(block))[0]
            raise NotFiniteError(
                f"{self.about.name}, row {self.edges[piece] + int(row)}, column {self.numbers[int(column)]!r}: the "
                "value is infinite, or too large for a double. Correct it."
            )
        return np.asarray(block, dtype=np.float64)

    def fingerprint(self) -> dict[str, Any]:
        # The layout belongs to it: the same bytes mean other numbers with another delimiter or decimal mark.
        layout = [self.delimiter, self.decimal, list(self.columns), list(self.numbers)]
        return fingerprint([self.state], shape=list(self.shape), layout=layout)


def delimited_rows(path: str, options: TextOptions | None = None) -> DelimitedRows:
    """Index a text: one pass over its bytes, nothing parsed but its beginning."""
    name = Path(path).name
    options = options or TextOptions(None, None, None, "auto", None)
    with Path(path).open("rb") as stream:
        packed = stream.read(2) == GZIP_MAGIC
    with _opened(path, packed=packed) as stream:
        head = stream.read(_HEAD)
    if len(head) == _HEAD:
        head = head[: _last_end(head, ",")] or head
    head = head.removeprefix(b"\xef\xbb\xbf")
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name} is not UTF-8, and only UTF-8 texts are read in blocks. Convert it: iconv -t UTF-8."
        ) from error
    layout = sniff(head, options, name)
    if layout.data != head:
        raise FileError(f"{name} is separated by blanks, which is read whole only. Write it with tabs or commas.")
    page = Page(name, layout)
    begun = read_delimited(head, name, options)
    numbers = tuple(begun.about.column_names or ())
    with _opened(path, packed=packed) as stream:
        offset = layout.body + (3 if stream.read(3) == b"\xef\xbb\xbf" else 0)
    edges, places, lines = _index(path, packed, offset, layout.delimiter, head[: layout.body].count(b"\n") + 1)
    others = [column for column in page.columns if column not in numbers]
    notes = [note for note in begun.about.notes if "row" not in note]
    if others:
        notes.append(f"Left out, because the text is read in blocks: {', '.join(map(repr, others[:5]))}.")
    about = About(name, column_names=numbers, notes=tuple(notes))
    columns = tuple(page.columns)
    return DelimitedRows(
        FileState.of(path), packed, edges, places, lines, columns, numbers, layout.delimiter, layout.decimal, about
    )


def _index(path: str, packed: bool, offset: int, delimiter: str, line: int) -> tuple[tuple[int, ...], ...]:
    """(rows, bytes, lines) where pieces of a few megabytes begin."""
    rows, places, lines = [0], [offset], [line]
    for piece in _whole_records(path, packed, offset, delimiter):
        count = len(Records(piece, 0, delimiter))
        if count:
            rows.append(rows[-1] + count)
            places.append(places[-1] + len(piece))
            lines.append(lines[-1] + piece.count(b"\n"))
        else:
            places[-1] += len(piece)  # nothing but blank lines
            lines[-1] += piece.count(b"\n")
    return tuple(rows), tuple(places), tuple(lines)


def _whole_records(path: str, packed: bool, offset: int, delimiter: str) -> Iterator[bytes]:
    """The text from `offset` on in pieces that end where a record ends."""
    with _opened(path, packed=packed) as stream:
        stream.seek(offset)
        rest = b""
        for chunk in itertools.chain(iter(lambda: stream.read(_CHUNK), b""), (None,)):
            text = rest + (chunk or b"")
            if chunk is None:
                if text:
                    yield text
                return
            end = _last_end(text, delimiter)
            rest = text[end:]
            if end:
                yield text[:end]


def _last_end(text: bytes, delimiter: str) -> int:
    """The byte after the last newline that is not inside quotes; 0 if there is none."""
    if b'"' not in text:
        return text.rfind(b"\n") + 1
    ends = Records(text, 0, delimiter)._outside(10)
    return int(ends[-1]) + 1 if ends.size else 0


def _opened(path: str, *, packed: bool) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else Path(path).open("rb")
