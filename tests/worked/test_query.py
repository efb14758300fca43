"""Suggestions of a query."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize(("matrix", "words"), [
    ("1 1 0; 2 2 0; 0 0 3", "suggest column 2."),
    ("1 1 1; 2 2 2; 0 0 0", "suggest columns 2, 3."),
    ("1 0 0; 0 2 0; 0 0 3", "nothing to suggest"),
])  # fmt: skip
def test_a_suggestion_says_that_its_numbers_are_columns(matrix: str, words: str) -> None:
    assert words in " ".join(worked.query(matrix, "4 0 0").text().split())
