"""Rank of matrices without independent rows."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize("matrix", ["0", "0 0 0", "0; 0", "0 0; 0 0"])
def test_rows_of_a_zero_matrix_have_no_others_to_depend_on(matrix: str) -> None:
    solution = worked.rank(matrix)
    assert solution["rank"] == 0
    assert "the others" not in str(solution)
