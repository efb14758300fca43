"""Tables that cannot be filled."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError


@pytest.mark.parametrize(("table", "words"), [
    ("1 2 ?", "Column 3 has no known entry"),
    ("1; ?", "Row 2 has no known entry"),
    ("1 2; ? ?; 3 4", "Row 2 has no known entry"),
])  # fmt: skip
def test_nothing_known_is_said_first(table: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        worked.missing(table)
