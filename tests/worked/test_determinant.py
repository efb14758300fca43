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


def test_a_swap_does_not_change_the_matrix_of_the_step_before() -> None:
    """The pivot of the condensed matrix is 0; the step that condenses shows it before the swap."""
    solution = worked.determinant("5 0 -1 4; 1 0 0 1; 4 0 -2 4; 2 -2 -3 1")
    _, condense, swap, *_ = solution.steps
    assert condense.numbers[0].value.tolist() == [[0, 1, 1], [0, -6, 4], [-10, -13, -3]]
    assert swap.numbers[0].name == "B'"
    assert swap.numbers[0].value.tolist() == [[-10, -13, -3], [0, -6, 4], [0, 1, 1]]
    assert solution["determinant"] == -4


def test_the_last_determinant_and_its_division_are_written_out() -> None:
    text = worked.determinant("0 2 1; 3 0 -1; 1 4 0").at("full").text()
    assert "det(B) = 6 · 1 - 3 · 12" in text
    assert "det(A) = -(-30) / 3 = 10" in text
    assert "Products with a factor 0 are left out." in text
    assert "left out" not in worked.determinant("1 2 3; 4 5 6; 7 8 10").at("full").text()


@pytest.mark.parametrize(("matrix", "line"), [
    ("1/2 1 4; -2 -3 -1; 4 2 -2", "det(A) = 14 / (1/2) = 28"),
    ("3sqrt(3) 1.8 -4; -2 -3 -1; 4 2 -2", "det(A) = (216 - 696√3/5) / (3√3) = -232/5 + 24√3"),
])  # fmt: skip
def test_a_divisor_that_is_not_a_whole_number_is_in_parentheses(matrix: str, line: str) -> None:
    assert line in worked.determinant(matrix).at("full").text()
