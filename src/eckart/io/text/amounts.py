"""Columns of numbers that all have the same sign or unit: "$1,234.50", "1.234,50 €", "12 %", "($5.00)", "171.5 cm".

A column with more than one sign stays text: its numbers are not comparable. "12 %" is read as 12. Numbers in
parentheses are negative, as in accounting; then other numbers of the column may have no sign, and any may have
thousands separators. Plain numbers may have thousands separators too, unless these may be decimal signs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from eckart.formatting import about_columns, quoted
from eckart.io.text.cells import AMOUNT, MINUS, is_missing, looks_numeric, texts, to_numbers
from eckart.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

SIGNS = "$€£¥%"
PARENTHESES = "()"
"""The "sign" of a column of plain numbers with some in parentheses."""
SEPARATORS = ",'\u2019 \u00a0\u2009\u202f"
"""The "sign" of a column of plain numbers with thousands separators."""
_UNIT = re.compile(r"[^\d(]?\d[\d.,]*([ \u00a0\u202f]?)((?![eEdD][+-]?\d+$)(?:°|°?[^\W\d_][\w/*·^-]{0,11}))")
"""A number and a unit, such as cm, °C, mmol/L or m/s2; not an exponent."""
_FEWEST = 3
"""Cells that must have the same unit."""
_LETTERS = frozenset("mgshdltkxyKVWJNLM")
_CAPITALS = ("KM", "KG", "CM", "MM", "ML", "KB", "MB", "GB", "TB", "MW", "GW", "HP", "MHZ", "GHZ", "EUR", "USD", "GBP",
             "CHF", "JPY", "CNY", "INR", "BRL", "PLN", "SEK", "NOK", "DKK")  # fmt: skip
"""Units of one letter, and in capitals, that may directly follow a whole number; 12A, 2XL and 44196X are codes."""
_ZERO_FIRST = re.compile(r"\D?0\d")
_RANKS = ("st", "nd", "rd", "th")
_CLOCK = re.compile(r"(0?[1-9]|1[0-2]) ?[ap]m", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENCLOSED = r"^\((.*)\)$"
_BLANK = "[ \u00a0\u202f]"
_GROUPS = {
    ".": rf"^([+{MINUS}-]?\d{{1,3}}(,\d{{3}})+(\.\d+)?)$",
    ",": rf"^([+{MINUS}-]?\d{{1,3}}(\.\d{{3}})+(,\d+)?)$",
}
"""Digits in groups of three, by the decimal sign."""
_SEPARATED = "analysed as numbers; thousands are separated by "
_SIGNED = "analysed as numbers, without the symbol "
_ACCOUNTING = "analysed as numbers; parentheses mean negative"


def sign_of(first: Sequence[str], decimal: str, *, decimals: bool) -> str | None:
    """The sign, unit or separator of a column; None if its first cells, where not missing, have no common one.

    Only the first records decide, so that texts read in blocks have the same numbers; the caller refuses later cells
    that do not match. A comma separates thousands if no cell allows another reading, or if other numbers of the text
    have `decimals`.
    """
    known = [cell.strip() for cell in first if not is_missing(cell)]
    if not known:
        return None
    if (sign := _common_sign(known)) is not None:
        return sign
    enclosed = [re.match(_ENCLOSED, cell) for cell in known]
    if any(enclosed):
        return None if all(enclosed) and _is_counting(known) else PARENTHESES
    return _separator(known, decimal[0], decimals=decimals) or _unit(known)


def _common_sign(known: list[str]) -> str | None:
    """The symbol that all cells contain."""
    return next((sign for sign in SIGNS if all(sign in cell for cell in known)), None)


def _unit(known: list[str]) -> str | None:
    """The unit behind all numbers of the first records.

    Numbers that begin with a zero, such as 007A, are identifiers, and days of a month (12 Jan), times (12 pm) and ranks
    (5th) labels.
    """
    found = [match for match in map(_UNIT.fullmatch, known) if match]
    units = {match[2] for match in found}
    if not _FEWEST <= len(found) == len(known) or len(units) != 1 or any(map(_ZERO_FIRST.match, known)):
        return None
    unit = units.pop()
    return None if _are_codes(unit, found) or _is_label(unit, known) else unit


def _are_codes(unit: str, found: list[re.Match[str]]) -> bool:
    """Whether the numbers are all whole, and their letters directly behind them suggest codes."""
    return _may_be_code(unit) and not any(match[1] or re.search(r"[.,]", match[0]) for match in found)


def _is_label(unit: str, known: list[str]) -> bool:
    """Whether the numbers with this unit are ranks, days of a month or times of day."""
    return unit.lower() in _RANKS or unit[:3].lower() in _MONTHS or all(map(_CLOCK.fullmatch, known))


def _may_be_code(unit: str) -> bool:
    """Whether whole numbers with these letters behind them, without a blank, are more likely codes than quantities."""
    if len(unit) == 1:
        return unit not in _LETTERS and unit != "°"
    return unit.isalpha() and unit.isupper() and unit not in _CAPITALS


def _separator(known: list[str], point: str, *, decimals: bool) -> str | None:
    """The thousands separator of a column, unless it may be a decimal sign: 1,234 alone can be either."""
    import pyarrow as pa

    separator = _first_separator(known, point)
    if separator is None or _without_groups(pa.chunked_array([texts(known)]), separator, point) is None:
        return None
    certain = any(re.search(f"{separator}.*[{separator}{point}]", cell) for cell in known)
    return separator if separator != "," or decimals or certain else None


def _first_separator(known: list[str], point: str) -> str | None:
    """The first of the possible thousands separators that a cell contains."""
    return next((mark for mark in SEPARATORS if mark != point and any(mark in cell for cell in known)), None)


def _without_groups(trimmed: pa.ChunkedArray, separator: str, point: str) -> pa.ChunkedArray | None:
    """The cells without thousands separators; None if one has other groups of digits, or more than three without."""
    import pyarrow.compute as pc

    form = rf"^[+{MINUS}-]?([1-9]\d{{0,2}}({separator}\d{{3}})+|\d{{1,3}})([{point}]\d*)?$"
    if pc.all(pc.match_substring_regex(trimmed, form)).as_py() is False:
        return None
    return pc.replace_substring(trimmed, separator, "")


def mostly_signed(trimmed: pa.ChunkedArray, numeric: pa.ChunkedArray) -> bool:
    """Whether most cells are numbers with one sign and the others are not numbers: cells to correct, not a label."""
    import pyarrow.compute as pc

    known = len(trimmed) - trimmed.null_count
    signed = pc.match_substring_regex(trimmed, AMOUNT)
    numbers = pc.sum(pc.or_(signed, numeric)).as_py() or 0
    counts = [pc.sum(pc.and_(signed, pc.match_substring(trimmed, sign))).as_py() or 0 for sign in SIGNS]
    return bool(max(counts) == numbers < known < 2 * numbers)


def _is_counting(known: list[str]) -> bool:
    """Whether the cells are (1), (2), (3), ...: labels, not negative numbers."""
    return all(cell == f"({place})" for place, cell in enumerate(known, 1))


def amounts(trimmed: pa.ChunkedArray, sign: str, decimal: str) -> pa.ChunkedArray | None:
    """The cells as numbers without their sign; None if one of them is not a number with this sign."""
    import pyarrow.compute as pc

    point = decimal[0]
    plain = _without_groups(trimmed, sign, point) if sign in SEPARATORS else _without_sign(trimmed, sign)
    if plain is None:
        return None
    grouped = pc.match_substring_regex(plain, _GROUPS[point])
    plain = pc.if_else(grouped, pc.replace_substring(plain, "," if point == "." else ".", ""), plain)
    cells, numeric = looks_numeric(plain, point)
    changed = cells.null_count != trimmed.null_count or pc.all(numeric).as_py() is False
    return None if changed else to_numbers(cells, point)


def first_without_sign(trimmed: pa.ChunkedArray, sign: str, decimal: str) -> int | None:
    """By bisection: whether some cells are numbers with a sign is decided for all of them at once."""
    if amounts(trimmed, sign, decimal) is not None:
        return None
    first, last = 0, len(trimmed)
    while last - first > 1:
        middle = (first + last) // 2
        if amounts(trimmed.slice(first, middle - first), sign, decimal) is None:
            last = middle
        else:
            first = middle
    return first


def _without_sign(trimmed: pa.ChunkedArray, sign: str) -> pa.ChunkedArray | None:
    """The cells without their sign or unit, with a minus for parentheses; None if a cell lacks the sign."""
    import pyarrow.compute as pc

    if is_unit(sign):
        plain = pc.replace_substring_regex(trimmed, f"{_BLANK}?{re.escape(sign)}$", "")
        return plain if pc.all(pc.ends_with(trimmed, sign)).as_py() is not False else None
    plain = pc.replace_substring_regex(trimmed, _ENCLOSED, r"-\1")
    if sign == PARENTHESES:
        return plain
    if pc.all(pc.match_substring(trimmed, sign)).as_py() is False:
        return None
    form = f"^([+{MINUS}-]?)[{sign}]{_BLANK}?|{_BLANK}?[{sign}]$"
    return pc.replace_substring_regex(plain, form, r"\1", max_replacements=1)


def is_unit(sign: str) -> bool:
    return sign != PARENTHESES and sign not in SIGNS + SEPARATORS


def sign_in_words(sign: str) -> str:
    """What a cell of a column with this sign should be."""
    return (
        f"a number with thousands separated by {sign!r}" if sign in SEPARATORS else f"a number with the symbol {sign!r}"
    )


def signed_role(sign: str) -> str:
    """Treatment of a column, in words."""
    if sign in SEPARATORS:
        return f"{_SEPARATED}'{sign}'"
    return _ACCOUNTING if sign == PARENTHESES else _SIGNED + sign


def signs_in(column_roles: dict[str, str]) -> dict[str, str]:
    """Column -> its sign, from the treatment of the columns."""
    signs = {}
    for name, role in column_roles.items():
        if role.startswith(_SIGNED):
            signs[name] = role.removeprefix(_SIGNED)
        elif role.startswith(_SEPARATED):
            signs[name] = role.removeprefix(_SEPARATED)[1:-1]
        elif role == _ACCOUNTING:
            signs[name] = PARENTHESES
    return signs


def _symbol_notes(signs: dict[str, str]) -> list[Note]:
    """A note on signs and units, if there are any."""
    signed = {name: sign for name, sign in signs.items() if sign != PARENTHESES and sign not in SEPARATORS}
    shown = [f"{quoted(name)} ({sign})" for name, sign in signed.items()]
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    text = f"Read as numbers, without the symbol: {', '.join(shown[:8])}{more}."
    return [Note("signs_removed", text)] if shown else []


def sign_notes(signs: dict[str, str]) -> list[Note]:
    """Notes on the columns that were read without sign, unit or separators, and on negative numbers in parentheses."""
    notes = _symbol_notes(signs)
    for code, wanted, what in (
        ("thousands_separators", SEPARATORS, "numbers with thousands separators, which were removed."),
        ("accounting_negatives", PARENTHESES, "numbers in parentheses, which were read as negative numbers."),
    ):
        if names := [name for name, sign in signs.items() if sign in wanted]:
            notes.append(Note(code, about_columns(names, f"contains {what}", f"contain {what}")))
    return notes
