"""Layout of a delimited text: delimiter, decimal sign, header. Detected from the first records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, NoReturn

from eckart.errors import FileError, ParameterError
from eckart.formatting import counted
from eckart.io.text.cells import is_grouped, is_number, is_value
from eckart.io.text.header import has_header, without_single_quotes
from eckart.io.text.records import MAX_RECORD, record_end, refuse_long, split
from eckart.notes import Note
from eckart.wording import DECIMAL_COMMA, HEADER, assigned, either

SAMPLE_RECORDS, SAMPLE_BYTES = 200, 1 << 20
MOST_COLUMNS = 1 << 21
"""Each column of a text file has a name and takes a few microseconds."""
_POINTS_AND_COMMA = re.compile(rb"(?<![\d,.])[+-]?\d{1,3}(\.\d{3})+,\d+(?![\d,.])")
_GROUPS_AND_COMMA = re.compile(r"[+-]?\d{1,3}(['\u2019 \u00a0\u2009\u202f]\d{3})+,\d+", re.ASCII)
_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
_CERTAIN_COMMA = r"(\d+,(\d{1,2}|\d{4,})|0\d*,\d+|\d{4,},\d+)"
"""A number whose comma cannot separate thousands."""
_AMOUNT = re.compile(r"[$€£¥]? ?[+-]?([\d.]*\d,\d+)[ \u00a0\u202f]?([%$€£¥]|°?[^\W\d_][\w/*·^-]{0,11})?", re.ASCII)
_DECIMAL_POINT = re.compile(rb"(?<![\w,.])\d+\.(\d{1,2}|\d{4,})(?![\w,.])")
CANDIDATES = (",", ";", "\t", "|")
_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}


@dataclass(frozen=True)
class TextOptions:
    """What the user specified about a text file; None means detect it."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | int | None = None
    """Whether the first line contains column names, or the line that does."""
    row_names: str | None = "auto"
    encoding: str | None = None
    kept: frozenset[str] | None = None
    """Columns that will be kept, if the user named them."""
    ignored: frozenset[str] = frozenset()
    """Columns that will be left out or used as labels."""
    missing: tuple[str, ...] = ()
    """Texts that stand for missing values, in addition to those that all files may have."""

    def uses(self, column: str) -> bool:
        """Whether the numbers of a column will be used."""
        return column not in self.ignored and (self.kept is None or column in self.kept)

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"{assigned('decimal', self.decimal)} is not a decimal separator. Use '.' or ','.")
        mark = self.mark
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\n\r.-+' or mark.isalnum()):
            raise ParameterError(
                f"{assigned('delimiter', self.delimiter)} is not a single character. Use a delimiter such as ',' or "
                "'tab'."
            )

    @property
    def line(self) -> int:
        """The line at which the table begins, counted from 1; 0 if the user did not name it."""
        return 0 if self.header is None or isinstance(self.header, bool) else self.header

    @property
    def mark(self) -> str | None:
        return None if self.delimiter is None else _WORDS.get(self.delimiter, self.delimiter)

    def with_tabs(self, head: bytes) -> TextOptions:
        """The options for a .tsv file: separated by tabs, unless it has none or another delimiter was given."""
        return replace(self, delimiter="tab") if self.delimiter is None and b"\t" in head[:65536] else self


@dataclass(frozen=True)
class Layout:
    """`body` is the byte of the first data record; `data` differs from the file only in blanks."""

    data: bytes
    delimiter: str
    decimal: str
    """The notation of numbers, a key of `cells.NUMBER`."""
    header: list[str] | None
    body: int
    sample: list[list[str]]
    notes: list[Note] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    """Texts that stand for missing values; they are removed from `data` and `sample`."""

    def without_missing(self, text: bytes) -> bytes:
        """Records of this layout, with empty cells for missing values."""
        return blank_cells(text, self.delimiter, self.missing) if self.missing else text


def _notes(decimal: str, comments: int, *, given: bool) -> list[Note]:
    """Findings on the text: a decimal comma, comments before the table."""
    points = ", and points separate thousands" if decimal == ",." else ""
    comma = decimal != "." and (points or not given)
    notes = [Note("decimal_comma", f"Numbers are written with a decimal comma{points}.")] if comma else []
    if comments:
        skipped = f"Skipped {counted(comments, 'comment line')} before the table (starting with '#')."
        notes.append(Note("comments_skipped", skipped))
    return notes


def sniff(data: bytes, options: TextOptions, name: str) -> Layout:
    """The layout of a text, and the text itself with empty cells for missing values."""
    found = replace(_sniffed(data, options, name), missing=options.missing)
    if not found.missing:
        return found
    body = found.without_missing(found.data[found.body :])
    sample = [["" if cell.strip() in found.missing else cell for cell in row] for row in found.sample]
    return replace(found, data=found.data[: found.body] + body, sample=sample)


def _sniffed(data: bytes, options: TextOptions, name: str) -> Layout:
    start, mark, comments = _preamble(data, options.line)
    records = sample_records(data, start, name)
    if not records:
        _refuse_no_rows(name, options.line)
    delimiter = options.mark or mark or best_delimiter(records, options.decimal)
    _refuse_absent(options, records, name)
    if delimiter == " ":
        data, delimiter = align(data), "\t"
        start, _, comments = _preamble(data, options.line)
        records = sample_records(data, start, name)
    rows = _rows(records, delimiter, name)
    given = options.decimal is not None
    decimal = _with_points(options.decimal or _decimal(rows, delimiter, data, name), rows, data, given=given)
    notes = _notes(decimal, len(comments), given=given)
    if _is_header(rows, decimal, options.header):
        body = min(record_end(data, start) + 1, len(data))
        names = without_single_quotes(rows[0])
        return Layout(data, delimiter, decimal, names, body, rows[1:], notes + _doubt(rows[0], decimal))
    header = _comment_header(comments, len(rows[0]), delimiter)
    if (header, options.header) == (None, None):
        notes.append(
            Note("no_header", "The first line contains data and not column names, so the columns are numbered.")
        )
    return Layout(data, delimiter, decimal, header, start, rows, notes)


def _rows(records: list[str], delimiter: str, name: str) -> list[list[str]]:
    rows = [split(record, delimiter) for record in records]
    if (cells := max(map(len, rows))) > MOST_COLUMNS:
        raise FileError(
            f"{name} has {cells:,} columns, but a text file can have at most {MOST_COLUMNS:,}. Store "
            "such a wide table as .npy."
        )
    return rows


def sample_records(data: bytes, start: int, name: str) -> list[str]:
    """The first records, as text."""
    records: list[str] = []
    stop = start + SAMPLE_BYTES
    while start < len(data) and len(records) < SAMPLE_RECORDS and (start < stop or len(records) < 3):
        end = record_end(data, start)
        if end - start > MAX_RECORD:
            refuse_long(name, data.count(b"\n", 0, start) + 1)
        if end > start:
            records.append(data[start:end].decode("utf-8", "replace"))
        start = end + 1
    return records


def _candidates(records: list[str], decimal: str | None) -> list[str]:
    """The possible delimiters: a decimal comma is not one of them, unless cells are quoted."""
    comma_is_decimal = decimal == "," and '"' not in "".join(records)
    return [mark for mark in CANDIDATES if mark != "," or not comma_is_decimal]


def best_delimiter(records: list[str], decimal: str | None = None) -> str:
    """The candidate for which records have equally many cells, most of them numbers."""
    fits = {mark: _fit(records, mark) for mark in _candidates(records, decimal)}
    best = max(fits, key=lambda mark: (fits[mark].score, fits[mark].cells))
    found = fits[best]
    if found.score > 0 and (best != "," or found.numbers == 1 or " " not in records[-1]):
        return best
    aligned = _fit(align("\n".join(records).encode()).decode().split("\n"), "\t")
    if found.score > 0 and not _is_decimal_comma(found, aligned):
        return best
    return " " if aligned.is_likely else next(iter(fits))


class Fit(NamedTuple):
    """How well a delimiter splits: cells per record, share of records with as many, share of numbers."""

    cells: int = 0
    share: float = 0.0
    numbers: float = 0.0
    header: bool = True

    @property
    def is_likely(self) -> bool:
        return self.share > 0.9 and self.numbers > 0

    @property
    def score(self) -> float:
        return (1.0 if self.header else 0.5) * self.share * (0.5 + self.numbers)


def _is_decimal_comma(between_commas: Fit, between_blanks: Fit) -> bool:
    """Whether the commas of a text are decimal signs and blanks separate the cells.

    "1,5 2,5" has three cells between commas, and two numbers between blanks. Names above "x 1,5" have no comma.
    """
    if between_blanks.share < 1:
        return False
    shorter_names = not between_commas.header and between_blanks.header and between_blanks.numbers > 0
    return between_commas.numbers < between_blanks.numbers == 1 or shorter_names


def _fit(records: list[str], mark: str) -> Fit:
    rows = [split(record, mark) for record in records]
    body = rows[1:] or rows
    cells, count = Counter(len(row) for row in body).most_common(1)[0]
    if cells < 2 or len(rows[0]) < cells - 1:
        return Fit()
    numbers = _share_of_numbers(body, "." if mark == "," else ",.")
    return Fit(cells, count / len(body), numbers, len(rows[0]) == cells)


def _share_of_numbers(rows: list[list[str]], decimal: str) -> float:
    flat = [cell for row in rows[:50] for cell in row[:1000]]
    return sum(is_value(cell, ".") or is_number(cell, decimal) for cell in flat) / len(flat)


def _refuse_absent(options: TextOptions, records: list[str], name: str) -> None:
    """Refuse a given delimiter that does not occur, if another one splits all records into equally many cells."""
    if options.mark is None or any(options.mark in record for record in records):
        return
    other = best_delimiter(records, options.decimal)
    if other in records[0] and other != options.mark and len({len(split(record, other)) for record in records}) == 1:
        raise ParameterError(
            f"{name} does not contain the delimiter {options.mark!r}. Its cells seem to be separated by {other!r}."
        )


def align(data: bytes) -> bytes:
    """Replace runs of blanks outside quotes with one tab; the number of lines stays the same."""
    pieces = data.split(b'"')
    pieces[0::2] = [re.sub(rb"[ \t]+", b"\t", re.sub(rb"[ \t]*\n[ \t]*", b"\n", piece)) for piece in pieces[0::2]]
    return b'"'.join(pieces).strip(b"\t ")


def _decimal(rows: list[list[str]], delimiter: str, data: bytes, name: str) -> str:
    """The comma is the decimal sign if some cell allows no other reading; 1,234 alone is refused, not guessed."""
    if delimiter == ",":
        return "."
    cells = _with_comma(rows)
    commas = [cell for cell in cells if is_number(cell, ",")]
    if _needs_decimal_comma(cells, commas):
        return ","
    if not commas and _amounts_have_commas(rows):
        return ","
    if not commas or sum(map(is_grouped, cells)) > len(commas):
        return "."
    if re.search(rf"(?<![\d,.]){_CERTAIN_COMMA}(?![\d,.])".encode(), data):
        return ","
    raise FileError(
        f"{name}: the comma in {commas[0]!r} could separate thousands or decimals, and no other cell "
        f"shows which. If it is the decimal separator, use {DECIMAL_COMMA}. Otherwise, write the "
        "numbers without thousands separators."
    )


def _with_comma(rows: list[list[str]]) -> list[str]:
    return [cell.strip() for cell in chain.from_iterable(rows) if "," in cell]


def _needs_decimal_comma(cells: list[str], commas: list[str]) -> bool:
    """Whether a cell can only be read with a decimal comma: it also has groups, or no group of three digits."""
    if any(_POINTS_AND_COMMA.fullmatch(cell.encode()) or _GROUPS_AND_COMMA.fullmatch(cell) for cell in cells):
        return True
    return not all(map(re.compile(r"[+-]?[1-9]\d{0,2},\d{3}").fullmatch, commas))


def _amounts_have_commas(rows: list[list[str]]) -> bool:
    """Whether numbers with a sign or unit have decimal commas (12,50 €), and no number has a decimal point."""
    cells = [cell.strip() for cell in chain.from_iterable(rows)]
    if any("." in cell and is_number(cell) for cell in cells):
        return False
    amounts = [found[1].replace(".", "") for cell in cells if (found := _AMOUNT.fullmatch(cell))]
    return any(re.fullmatch(_CERTAIN_COMMA, amount) for amount in amounts)


def _with_points(decimal: str, rows: list[list[str]], data: bytes, *, given: bool) -> str:
    """The notation with points between thousands, if some number shows it (1.234,56) and none has another point.

    1.234 shows it if the user gave the decimal comma, and 1.234.567 always does.
    """
    if decimal == "." or _DECIMAL_POINT.search(data):
        return decimal
    points = [cell for cell in map(str.strip, chain.from_iterable(rows)) if _POINTS.fullmatch(cell)]
    shown = any(given or cell.count(".") > 1 for cell in points)
    return ",." if shown or _POINTS_AND_COMMA.search(data) else decimal


def _is_header(rows: list[list[str]], decimal: str, given: bool | int | None) -> bool:
    return has_header(rows, decimal) if given is None else bool(given)


def _doubt(header: list[str], decimal: str) -> list[Note]:
    if any(is_number(cell, decimal) for cell in header):
        return [
            Note(
                "doubtful_header",
                "The first line was read as column names, although some of these names are numbers. "
                f"If the first line is data, use {HEADER}.",
            )
        ]
    return []


def first_record(data: bytes, line: int = 0) -> int:
    """The byte where the table begins, after blank lines and comments, and not before line `line`."""
    return _preamble(data, line)[0]


def _preamble(data: bytes, line: int = 0) -> tuple[int, str | None, list[str]]:
    """Start of the table, the delimiter announced by a spreadsheet, and the comment lines before the table."""
    start, mark, comments = 0, None, []
    if found := re.match(rb"\s*sep=(.)\n", data):
        start, mark = found.end(), found.group(1).decode("latin-1")
    start = max(start, _start_of(data, line))
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        text = data[start:end].decode("utf-8", "replace")
        if text.startswith("#"):
            comments.append(text)
        elif text:
            break
        start = end + 1
    return min(start, len(data)), mark, comments


def _start_of(data: bytes, line: int) -> int:
    """The byte where a line begins; the end of the text if it has fewer lines."""
    start = 0
    for _ in range(line - 1):
        start = data.find(b"\n", start) + 1
        if not start:
            return len(data)
    return start


def _refuse_no_rows(name: str, line: int) -> NoReturn:
    if line:
        raise FileError(
            f"{name} has no table that begins on line {line}. {either('header', '--header')} counts lines from 1, "
            "including blank lines."
        )
    raise FileError(f"{name} has no rows: it contains only blank lines and comments.")


def blank_cells(text: bytes, delimiter: str, cells: Sequence[str]) -> bytes:
    """A text whose cells with one of these contents, in quotes or not, are empty. Other quoted cells stay."""
    wanted = b"|".join(re.escape(cell.encode()) for cell in sorted(cells, key=len, reverse=True))
    blank, mark = b" *" if delimiter == "\t" else rb"[ \t]*", re.escape(delimiter.encode())
    start, end = rb"(?<![^%s\n])" % mark, rb"(?=%s|\n|\Z)" % mark
    plain = rb"%s%s(?:%s)%s%s" % (start, blank, wanted, blank, end)
    if b'"' not in text:
        return re.sub(plain, b"", text)
    quoted = rb'%s"(?:%s)"%s' % (start, wanted, end)
    return re.sub(rb'%s|("(?:[^"]|"")*")|%s' % (quoted, plain), lambda found: found[1] or b"", text)


def _comment_header(comments: list[str], cells: int, delimiter: str) -> list[str] | None:
    if not comments:
        return None
    names = [cell.strip() for cell in split(comments[-1].lstrip("#").strip(" \t"), delimiter)]
    return names if len(names) == cells and not any(is_number(cell) for cell in names) else None
