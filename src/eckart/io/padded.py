"""Numbers that are padded with zeros to the same number of digits, such as 007: codes, not quantities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_DIGITS = re.compile(r"\d{2,}", re.ASCII)
_ROLE = re.compile(r"analysed, although padded with zeros to (\d+) digits")
_FEWEST = 3
"""Cells that must have the same number of digits."""


def padded_role(cells: Sequence[str]) -> str:
    """The role of a column of numbers that are padded with zeros; empty for other columns.

    `cells` are the first cells of the column. Numbers without zeros in front, as in 7 and 12, are quantities.
    """
    cells = list(map(str.strip, cells))
    if not any(cell.startswith("0") for cell in cells):
        return ""
    digits = [cell for cell in cells if _DIGITS.fullmatch(cell)]
    padded = any(cell.startswith("0") for cell in digits) and len(set(map(len, digits))) == 1
    known = sum(any(map(str.isdigit, cell)) for cell in cells)
    if not padded or not _FEWEST <= len(digits) == known:
        return ""
    return f"analysed, although padded with zeros to {len(digits[0])} digits"


def padded_columns(roles: Mapping[str, str]) -> dict[str, int]:
    """Columns whose numbers are padded with zeros, and to how many digits."""
    found = {name: _ROLE.fullmatch(role) for name, role in roles.items()}
    return {name: int(match[1]) for name, match in found.items() if match}
