"""Numbers that a data frame stores as text, which are refused by name."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from eckart.errors import InputError
from eckart.io.padded import padded_role
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
        if text.name in declared or text.name == row_names or padded_role(text.values):
            continue
        if text is naming and all(map(str.isdecimal, text.values)):
            continue
        if example := _number_as_text(text.values):
            raise InputError(
                f"The column {quoted(text.name)} contains numbers that are stored as text, such as "
                f"{quoted(example)}. Convert it to numbers with astype(float), or leave it out."
            )
        if example := _amount_as_text(text.values):
            raise InputError(
                f"The column {quoted(text.name)} contains numbers that are stored as text, such as {quoted(example)}. "
                "Remove the signs and separators and convert the column to numbers, or leave it out."
            )
    return texts


def _number_as_text(values: Sequence[str]) -> str | None:
    """The first known value if all of them are numbers."""
    known = [value for value in values if not is_missing(value)]
    return known[0] if known and all(map(is_number, known)) else None


def _amount_as_text(values: Sequence[str]) -> str | None:
    """The first known value if all are numbers with a decimal comma, a separator, a percent or a currency sign."""
    known = [value for value in values if not is_missing(value)]
    return known[0] if known and all(map(_AMOUNT.fullmatch, known)) else None
