"""Rank of matrices without independent rows."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize("matrix", ["0", "0 0 0", "0; 0", "0 0; 0 0"])
def test_rows_of_a_zero_matrix_have_no_others_to_depend_on(matrix: str) -> None:
    solution = worked.rank(matrix)
    assert solution["rank"] == 0
    assert "the other rows" not in str(solution)


def test_reduced_matrices_have_their_own_names() -> None:
    """A is the given matrix; what row operations make of it is A_1, A_2, ..."""
    shown = [one for step in worked.rank("0 1; 2 4; 4 9") for one in step.numbers]
    assert [one.name for one in shown[:3]] == ["A", "A_1", "A_2"]
    assert shown[0].value.tolist() == [[0, 1], [2, 4], [4, 9]]


def test_a_zero_matrix_says_its_rank_in_one_sentence() -> None:
    assert "Every row is zero, so the rank is 0." in worked.rank("0 0; 0 0").text()
