"""Numbers stored as text: refused by name in a data frame, labels with a note in a file."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from eckart.errors import InputError
from eckart.io.codes import padded_role
from eckart.io.roles import Text, quoted
from eckart.io.text.cells import is_missing, is_number

_AMOUNT = re.compile(r"[-+]?[$€£¥]? ?[-+]?(\d{1,3}(?:[.,' ]\d{3})+|\d+)(?:[.,]\d+)? ?[%$€£¥]?")
"""A number as people write it: 1,234.5 or 1.234,5 or 12 % or $ 3.20."""


def without_numbers(texts: list[Text], declared: Container[str], row_names: str | None) -> list[Text]:
    """Refuse numbers stored as text."""
    for text, example, remedy in _stored_as_text(texts, declared, row_names):
        raise InputError(
            f"The column {quoted(text.name)} contains numbers that are stored as text, such as {quoted(example)}. "
            f"{remedy}, or leave it out."
        )
    return texts


def as_labels(texts: list[Text], declared: Container[str], row_names: str | None) -> list[Text]:
    """Numbers stored as text as labels that do not name the rows; a file cannot be read without the column."""
    found = {text.name for text, *_ in _stored_as_text(texts, declared, row_names)}
    return [replace(text, names_rows=False, kind="digits") if text.name in found else text for text in texts]


def _stored_as_text(
    texts: list[Text], declared: Container[str], row_names: str | None
) -> Iterator[tuple[Text, str, str]]:
    """Columns of numbers stored as text, an example, and a remedy.

    Columns declared as categories and those that number the rows are meant as text. So are codes padded with zeros:
    zeros in front, as in 007, are the reason to store numbers as text.
    """
    naming = next((text for text in texts if text.unique), None)
    for text in texts:
        if text.name in declared or text.name == row_names or _are_codes(text, naming=text is naming):
            continue
        known = [value for value in text.values if not is_missing(value)]
        if remedy := _remedy(known):
            yield text, known[0], remedy


def _are_codes(text: Text, *, naming: bool) -> bool:
    """Whether the numbers of a column are padded with zeros, or number the rows."""
    return bool(padded_role(text.values)) or (naming and all(map(str.isdecimal, text.values)))


def _remedy(known: Sequence[str]) -> str | None:
    """How to convert a column if all of its known values are numbers; otherwise None."""
    if not known:
        return None
    if all(map(is_number, known)):
        return "Convert it to numbers with astype(float)"
    if all(map(_AMOUNT.fullmatch, known)):
        return "Remove the signs and separators and convert the column to numbers"
    return None
