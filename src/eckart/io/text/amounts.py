"""Columns of numbers that all have the same currency or percent sign: "$1,234.50", "1.234,50 €", "12 %", "($5.00)".

A column with more than one sign stays text: its numbers are not comparable. "12 %" is read as 12. Numbers in
parentheses are negative, as in accounting; then other numbers of the column may have no sign, and any may have
thousands separators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.formatting import about_columns, quoted
from eckart.io.text.cells import AMOUNT, MINUS, looks_numeric, to_numbers
from eckart.notes import Note

if TYPE_CHECKING:
    import pyarrow as pa

SIGNS = "$€£¥%"
PARENTHESES = "()"
"""The "sign" of a column of plain numbers with some in parentheses."""
_ENCLOSED = r"^\((.*)\)$"
_BLANK = "[ \u00a0\u202f]"
_GROUPS = {
    ".": rf"^([+{MINUS}-]?\d{{1,3}}(,\d{{3}})+(\.\d+)?)$",
    ",": rf"^([+{MINUS}-]?\d{{1,3}}(\.\d{{3}})+(,\d+)?)$",
}
"""Digits in groups of three, by the decimal sign."""
_SIGNED = "analysed as numbers, without the symbol "
_ACCOUNTING = "analysed as numbers; parentheses mean negative"


def sign_of(trimmed: pa.ChunkedArray) -> str | None:
    """The sign that all cells have which are not missing; None if there is no such sign."""
    import pyarrow.compute as pc

    known = len(trimmed) - trimmed.null_count
    for sign in SIGNS:
        if known and pc.sum(pc.match_substring(trimmed, sign)).as_py() == known:
            return sign
    enclosed = pc.match_substring_regex(trimmed, _ENCLOSED)
    if not pc.any(enclosed).as_py() or (pc.all(enclosed).as_py() and _is_counting(trimmed)):
        return None
    return PARENTHESES


def mostly_signed(trimmed: pa.ChunkedArray, numeric: pa.ChunkedArray) -> bool:
    """Whether most cells are numbers with one sign and the others are not numbers: cells to correct, not a label."""
    import pyarrow.compute as pc

    known = len(trimmed) - trimmed.null_count
    signed = pc.match_substring_regex(trimmed, AMOUNT)
    numbers = pc.sum(pc.or_(signed, numeric)).as_py() or 0
    counts = [pc.sum(pc.and_(signed, pc.match_substring(trimmed, sign))).as_py() or 0 for sign in SIGNS]
    return bool(max(counts) == numbers < known < 2 * numbers)


def _is_counting(trimmed: pa.ChunkedArray) -> bool:
    """Whether the cells are (1), (2), (3), ...: labels, not negative numbers."""
    return all(cell == f"({place})" for place, cell in enumerate(trimmed.drop_null().to_pylist(), 1))


def amounts(trimmed: pa.ChunkedArray, sign: str, decimal: str) -> pa.ChunkedArray | None:
    """The cells as numbers without their sign; None if one of them is not a number with this sign."""
    import pyarrow.compute as pc

    if sign != PARENTHESES and pc.all(pc.match_substring(trimmed, sign)).as_py() is False:
        return None
    point = decimal[0]
    plain = pc.replace_substring_regex(trimmed, _ENCLOSED, r"-\1")
    if sign != PARENTHESES:
        plain = pc.replace_substring_regex(
            plain, f"^([+{MINUS}-]?)[{sign}]{_BLANK}?|{_BLANK}?[{sign}]$", r"\1", max_replacements=1
        )
    grouped = pc.match_substring_regex(plain, _GROUPS[point])
    plain = pc.if_else(grouped, pc.replace_substring(plain, "," if point == "." else ".", ""), plain)
    cells, numeric = looks_numeric(plain, point)
    changed = cells.null_count != trimmed.null_count or pc.all(numeric).as_py() is False
    return None if changed else to_numbers(cells, point)


def signed_role(sign: str) -> str:
    """Treatment of a column, in words."""
    return _ACCOUNTING if sign == PARENTHESES else _SIGNED + sign


def signs_in(column_roles: dict[str, str]) -> dict[str, str]:
    """Column -> its sign, from the treatment of the columns."""
    signed = {name: role.removeprefix(_SIGNED) for name, role in column_roles.items() if role.startswith(_SIGNED)}
    return signed | {name: PARENTHESES for name, role in column_roles.items() if role == _ACCOUNTING}


def sign_notes(signs: dict[str, str]) -> list[Note]:
    """Notes on the columns that were read without their sign, and on negative numbers in parentheses."""
    shown = [f"{quoted(name)} ({sign})" for name, sign in signs.items() if sign != PARENTHESES]
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    notes = [Note("signs_removed", f"Read as numbers, without the symbol: {', '.join(shown[:8])}{more}.")]
    enclosed = [name for name, sign in signs.items() if sign == PARENTHESES]
    accounting = Note(
        "accounting_negatives",
        about_columns(
            enclosed,
            "contains numbers in parentheses, which were read as negative numbers.",
            "contain numbers in parentheses, which were read as negative numbers.",
        ),
    )
    return (notes if shown else []) + ([accounting] if enclosed else [])
