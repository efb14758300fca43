"""Bytes of a text file as UTF-8 with plain newlines."""

from __future__ import annotations

import codecs
import importlib
import re
from typing import NoReturn

from eckart.errors import FileError, ParameterError
from eckart.notes import Note
from eckart.wording import ENCODING

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF16 = Note("utf16", "The text is encoded as UTF-16.")
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"PAR1": "a Parquet file; rename it so that it ends in .parquet",
    b"ARROW1": "an Arrow file; rename it so that it ends in .arrow",
    b"\x93NUMPY": "a NumPy array; rename it so that it ends in .npy",
    b"\x89HDF": "an HDF5 file; rename it so that it ends in .h5",
    b"%PDF": "a PDF document; export the table as CSV",
    b"\x89PNG": "a picture; export the table as CSV",
    b"version https://git-lfs": "a pointer of Git LFS; download the file with 'git lfs pull'",
    b'{"': "a JSON document; read it with pandas.read_json and save the table as CSV",
    b'[{"': "a JSON document; read it with pandas.read_json and save the table as CSV",
}
_WEB_PAGE = re.compile(rb"\s*<(!doctype html|html)", re.IGNORECASE)
_HIGH, _HIGH_PAIR = re.compile(rb"[\x80-\xff]"), re.compile(rb"[\x80-\xff](?=[\x80-\xff])")


def to_utf8(data: bytes, encoding: str | None, name: str) -> tuple[bytes, list[Note]]:
    """The text as UTF-8 bytes with newline line ends, and notes on the conversion."""
    for magic, kind in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise FileError(f"{name} is not a text file: its first bytes are those of {kind}.")
    if _WEB_PAGE.match(data):
        raise FileError(
            f"{name} is a web page and not a table. If you downloaded it, the address led to a page about the file, or "
            "to a login. Download the file itself."
        )
    decoded, notes = _decoded(data, encoding, name)
    text = plain_lines(decoded)
    place = text.find(b"\0")
    if place >= 0:
        refuse_nul(name, text.count(b"\n", 0, place) + 1)
    return text, notes


def refuse_invalid(where: str, encoding: str) -> NoReturn:
    """Refuse a text that does not have the encoding that the user stated."""
    raise FileError(
        f"{where}: the text is not valid {encoding}. Set the right encoding with {ENCODING}, or "
        "convert the file to UTF-8."
    )


def refuse_nul(name: str, line: int) -> NoReturn:
    raise FileError(
        f"{name}, line {line}: there is a NUL byte, so the file is damaged or is not a text file. Export it again as "
        "CSV."
    )


def line_ends(text: bytes) -> int:
    """Number of line ends of any kind."""
    return text.count(b"\n") + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def plain_lines(text: bytes) -> bytes:
    """Lines ending in a newline, blank lines stripped, and nothing after the last (no DOS end-of-file mark)."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\n " in text or text.startswith(b" "):  # a piece of a text may begin with a blank line
        text = re.sub(rb"(^|\n) +(?=\n)", rb"\1", text)
    return text.rstrip(b"\n \x1a")


def _decoded(data: bytes, encoding: str | None, name: str) -> tuple[bytes, list[Note]]:
    if encoding is not None:
        return _recoded(data, encoding, name), []
    for mark, kind in _MARKS:
        if data.startswith(mark):
            return _recoded(data[len(mark) :], kind, name), [_UTF16] if kind != "utf-8" else []
    if bare := _bare_utf16(data):
        return _recoded(data, bare, name), [_UTF16]
    if data.isascii():
        return data, []
    try:
        data.decode("utf-8")
        return data, []
    except UnicodeDecodeError as error:
        note = _encoding_note(data, data.count(b"\n", 0, error.start) + 1)
        try:
            return _recoded(data, "cp1252", name), [note]
        except FileError:
            return _recoded(data, "latin-1", name), [note]


def _encoding_note(data: bytes, line: int) -> Note:
    """A note on text that is not UTF-8. Western languages rarely have two letters outside ASCII in a row."""
    if 2 * len(_HIGH_PAIR.findall(data)) <= len(_HIGH.findall(data)):
        return Note(
            "latin1",
            f"The text is not valid UTF-8 (line {line}), so it was read as Latin-1. If accented "
            f"letters look wrong, set the encoding with {ENCODING}.",
        )
    return Note(
        "unknown_encoding",
        f"The text is not valid UTF-8 (line {line}), and it seems to have words in Cyrillic, Greek, Arabic or another "
        "script, whose encoding Eckart cannot detect. It was read as Latin-1, so names and labels look wrong. Set the "
        f"encoding with {ENCODING}, such as cp1251 for Cyrillic or gb18030 for Chinese.",
    )


def likely_encoding(data: bytes) -> str:
    """The encoding of a text that is not UTF-8, by the rules for a text that is read whole."""
    for mark, kind in _MARKS:
        if data.startswith(mark) and kind != "utf-8":
            return "utf-16"
    if bare := _bare_utf16(data[: len(data) // 2 * 2]):
        return bare
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "iso-8859-1"
    return "windows-1252"


def _bare_utf16(data: bytes) -> str | None:
    """UTF-16 without a byte order mark: every other byte of plain text is zero."""
    head = data[:1000]
    if len(head) < 4 or len(data) % 2:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    most = 0.8 * (len(head) // 2)
    if odd >= most and even == 0:
        return "utf-16-le"
    return "utf-16-be" if even >= most and odd == 0 else None


def _recoded(data: bytes, encoding: str, name: str, line: int = 1) -> bytes:
    try:
        text = data.decode(encoding)
    except LookupError as error:
        raise _unsupported(encoding) from error
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        refuse_invalid(f"{name}, line {line}", encoding)
    return text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")


def _unsupported(encoding: str) -> ParameterError:
    return ParameterError(
        f"The encoding {encoding!r} is not supported. Use an encoding such as 'utf-8', 'utf-16' or 'latin-1'."
    )


def part_as_utf8(text: bytes, encoding: str | None, name: str, line: int) -> bytes:
    """A part of a text, which begins on line `line`, as UTF-8; see `is_decoded_in_parts`."""
    return text if encoding is None or names_utf8(encoding) else _recoded(text, encoding, name, line)


def is_decoded_in_parts(encoding: str | None) -> bool:
    """Whether parts of a text can be decoded: the encoding is UTF-8, ASCII, or extends ASCII by one byte per character.

    Line ends, quotes and delimiters are then the same bytes as in UTF-8.
    """
    if encoding is None or names_utf8(encoding):
        return True
    try:
        name = codecs.lookup(encoding).name
    except LookupError as error:
        raise _unsupported(encoding) from error
    try:
        module = importlib.import_module("encodings." + name.replace("-", "_"))
    except ImportError:
        return False
    plain = bytes(range(128)).decode("ascii")
    return name == "ascii" or bool(getattr(module, "decoding_table", "")[:128] == plain)


def names_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8, under any of its names; a byte order mark is skipped in any case."""
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        return False


def is_utf8(text: bytes) -> bool:
    if b"\0" in text:  # valid UTF-8, but typical of UTF-16
        return False
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
