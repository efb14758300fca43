"""Numbers that a data frame stores as text, which are refused by name."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from eckart.errors import InputError
from eckart.io.codes import padded_role
from eckart.io.roles import Text, quoted
from eckart.io.text.cells import is_missing, is_number

_AMOUNT = re.compile(r"[-+]?[$€£¥]? ?[-+]?(\d{1,3}(?:[.,' ]\d{3})+|\d+)(?:[.,]\d+)? ?[%$€£¥]?")
"""A number as people write it: 1,234.5 or 1.234,5 or 12 % or $ 3.20."""


def without_numbers(texts: list[Text], declared: Container[str], row_names: str | None) -> list[Text]:
    """Refuse numbers stored as text, unless they are declared as categories, padded with zeros, or number the rows.

    Zeros in front, as in 007, are the reason to store codes as text.
    """
    naming = next((text for text in texts if text.unique), None)
    for text in texts:
        if text.name in declared or text.name == row_names or _are_codes(text, naming=text is naming):
            continue
        known = [value for value in text.values if not is_missing(value)]
        if known and (remedy := _remedy(known)):
            raise InputError(
                f"The column {quoted(text.name)} contains numbers that are stored as text, such as {quoted(known[0])}. "
                f"{remedy}, or leave it out."
            )
    return texts


def _are_codes(text: Text, *, naming: bool) -> bool:
    """Whether the numbers of a column are padded with zeros, or number the rows."""
    return bool(padded_role(text.values)) or (naming and all(map(str.isdecimal, text.values)))


def _remedy(known: Sequence[str]) -> str | None:
    """How to convert a column if all of its known values are numbers; otherwise None."""
    if all(map(is_number, known)):
        return "Convert it to numbers with astype(float)"
    if all(map(_AMOUNT.fullmatch, known)):
        return "Remove the signs and separators and convert the column to numbers"
    return None
