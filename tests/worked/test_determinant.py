"""Determinants of matrices that need no condensation."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize("language", ["en", "it", "es", "ru"])
@pytest.mark.parametrize(("matrix", "value"), [("5", 5), ("0", 0), ("1 2; 2 4", 0), ("0 1; 1 0", -1)])
def test_small_matrices_have_no_pivots(matrix: str, value: int, language: str) -> None:
    with worked.language(language):
        solution = worked.determinant(matrix)
        text = str(solution).lower()
    assert solution["determinant"] == value
    assert not any(word in text for word in ("pivot", "pivote", "ведущ"))
