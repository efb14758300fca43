"""One cell of a text file: a number, a missing value, or text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from eckart.wording import DECIMAL_COMMA, either

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "-", ".")
"""Notations of missing values in files."""

TRUTH = ("true", "True", "TRUE", "false", "False", "FALSE")

MINUS = "\u2212\u2013"
"""The minus sign of typesetting, and the en dash that word processors put in its place."""
_SIGN = f"[+{MINUS}-]"

_INFINITE = r"(?i:inf(inity)?)"
NUMBER = {
    ".": rf"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|{_INFINITE})$",
    ",": rf"^[+-]?((\d+,?\d*|,\d+)([eE][+-]?\d+)?|{_INFINITE})$",
    ",.": rf"^[+-]?((\d+,?\d*|\d{{1,3}}(\.\d{{3}})+(,\d*)?|,\d+)([eE][+-]?\d+)?|{_INFINITE})$",
}
"""A number, by notation: decimal point, decimal comma, decimal comma with points between thousands (1.234,56).

The pattern is valid in Python's and in Arrow's regular expressions."""

_IN_GROUPS = r"\d{1,3}([,.'\x{2019} \x{00a0}\x{2009}\x{202f}]\d{3})+([.,]\d+)?|\d{1,2}(,\d{2})+,\d{3}(\.\d+)?"
"""Digits in groups of three (1,234 or 1'234.5), or in India (1,23,456)."""
GROUPED = rf"^{_SIGN}?({_IN_GROUPS}|\d+,\d+|\d+\.?\d*[dD][+-]?\d+)$"
"""Digits in groups, with a comma (1,5), or with Fortran's exponent (1.5D3)."""

AMOUNT = rf"^\(?{_SIGN}?([$€£¥] ?{_SIGN}?\d[\d.,]*|\d[\d.,]* ?[%$€£¥])\)?$"
"""A number with a currency or a percent sign; in parentheses if it is negative."""

ACCOUNTING = r"^\((\d{1,3}([,.]\d{3})+([.,]\d+)?|\d*[.,]\d+)\)$"
"""A negative number in parentheses: (1.5) or (1,234). (3) may also be a label."""

DATE = r"^\d{1,2}[./]\d{1,2}[./]\d{2}(\d{2})?([ T]\d{1,2}:\d{2}(:\d{2})?)?$"
"""A date that is not in ISO format: 31.12.2024 or 12/31/24, perhaps with a time."""

_IN_PYTHON = {r"\x{00a0}": "\u00a0", r"\x{2009}": "\u2009", r"\x{2019}": "\u2019", r"\x{202f}": "\u202f"}


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of Arrow in Python: only ASCII digits are digits."""
    for arrow, python in _IN_PYTHON.items():
        pattern = pattern.replace(arrow, python)
    return re.compile(pattern, re.ASCII)


_GROUPED = _compiled(GROUPED)
_THOUSANDS = _compiled(rf"^{_SIGN}?({_IN_GROUPS})$")
_POINTS = re.compile(rb"^[+-]?\d{1,3}(\.\d{3})+(,\d*)?([eE][+-]?\d+)?$", re.MULTILINE)
_NUMBER = {sign: _compiled(pattern) for sign, pattern in NUMBER.items()}
_SIGNS = re.compile(f"(?m)^[{MINUS}](?=[0-9.,iI])|(?<=[0-9.,][eE])[{MINUS}](?=[0-9])")


_LONG = {sign: re.compile(rb"(?<![\d%seE])\d{16,}(?![\d%seE])" % (2 * (sign.encode(),))) for sign in (".", ",")}


def has_long_integer(text: bytes, decimal: str) -> bool:
    """Whether a text contains an integer that float64 may round."""
    return _LONG[decimal[0]].search(text) is not None


def plain_signs(lines: str) -> str:
    """Lines with one number each, with the minus signs of typesetting replaced by hyphens."""
    return lines if lines.isascii() else _SIGNS.sub("-", lines)


def is_number(cell: str, decimal: str = ".") -> bool:
    return _NUMBER[decimal].match(plain_signs(cell.strip())) is not None


def without_points(lines: bytes) -> bytes:
    """Remove the points between thousands from lines with one number each; other lines stay as they are."""
    return _POINTS.sub(lambda found: found[0].replace(b".", b""), lines)


def is_missing(cell: str) -> bool:
    return cell.strip() in MISSING


def is_value(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number or a truth value, and so not a plausible column name."""
    return is_number(cell, decimal) or cell.strip() in TRUTH


def is_word(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is neither a value nor missing, nor a number in an unsupported notation."""
    return not (is_value(cell, decimal) or is_missing(cell) or is_grouped(cell))


def is_grouped(cell: str) -> bool:
    return _GROUPED.match(cell.strip()) is not None or is_accounting(cell)


def is_accounting(cell: str) -> bool:
    return re.match(ACCOUNTING, cell.strip()) is not None


def _without_separators(cell: str, decimal: str) -> str:
    by_comma = decimal == "." and is_number(cell, ",.")
    otherwise = f", or use {DECIMAL_COMMA} if the comma is the decimal separator" if by_comma else ""
    return f"It looks like a number with thousands separators. Write the numbers without these separators{otherwise}."


_CORRECTIONS: tuple[tuple[Callable[[str], object], str], ...] = (
    (re.compile(r"\(\d[\d.,]*\)").fullmatch, "Write negative numbers with a minus sign instead of parentheses."),
    (is_grouped, "Write the exponent with E instead of D."),
    (re.compile(AMOUNT).match, "Write the number without a symbol or unit."),
)
"""Forms of numbers that are not read, and how to write them."""


def advice(cell: str, decimal: str) -> str:
    """The likely error in a cell that should be a number, and what to do."""
    cell = cell.strip()
    if _THOUSANDS.match(cell) and not is_number(cell, "."):
        return _without_separators(cell, decimal)
    if is_number(cell, ",." if decimal == "." else "."):
        if decimal == ".":
            return f"It looks like a number with a decimal comma. Use {DECIMAL_COMMA}."
        return (
            "The other numbers in the file have a decimal comma, but this number has a point. If the "
            f"point separates thousands, use {DECIMAL_COMMA} or remove it; otherwise write a comma."
        )
    for is_form, correction in _CORRECTIONS:
        if is_form(cell):
            return correction
    return (
        "Correct the cell. If it stands for a missing value, leave it empty or use "
        f"{either(f'missing_values=[{cell!r}]', f'--missing-values {shlex.quote(cell)}')}."
    )


def texts(values: Sequence[str]) -> pa.StringArray:
    """An Arrow array; `pa.array` and `pa.scalar` would import pandas: 50 MB, and a fifth of the time of a command."""
    import pyarrow as pa

    parts = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(pa.string(), len(parts), buffers)


def looks_numeric(cells: object, decimal: str) -> tuple[pa.BooleanArray, pa.BooleanArray]:
    """Trimmed cells with missing ones null, and which of them are numbers (Arrow arrays).

    Numbers have a hyphen for a minus sign, however they were written.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(cells)
    missing = pc.is_in(trimmed, value_set=texts(MISSING).cast(trimmed.type))
    trimmed = pc.if_else(missing, pa.nulls(1, trimmed.type)[0], trimmed)
    numeric = pc.match_substring_regex(trimmed, NUMBER[decimal])
    if not pc.any(pc.match_substring_regex(trimmed, f"[{MINUS}]")).as_py():
        return trimmed, numeric
    plain = pc.replace_substring_regex(trimmed, f"^[{MINUS}]", "-")
    plain = pc.replace_substring_regex(plain, f"([eE])[{MINUS}]", r"\1-")
    numeric = pc.match_substring_regex(plain, NUMBER[decimal])
    return pc.if_else(numeric, plain, trimmed), numeric


def meant_as_numbers(trimmed: object) -> int:
    """Number of cells that are numbers in some notation, supported or not (1,234 or 1.5D3)."""
    import pyarrow.compute as pc

    meant = [pc.match_substring_regex(trimmed, pattern) for pattern in (*NUMBER.values(), GROUPED, ACCOUNTING)]
    return int(pc.sum(reduce(pc.or_, meant)).as_py() or 0)


def to_numbers(cells: object, decimal: str) -> pa.ChunkedArray:
    """Arrow text cells, all of them numbers, as float64."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ungrouped = pc.replace_substring(cells, ".", "") if decimal == ",." else cells
    plain = cells if decimal == "." else pc.replace_substring(ungrouped, ",", ".")
    return pc.cast(pc.replace_substring_regex(plain, r"^\+", ""), pa.float64())
