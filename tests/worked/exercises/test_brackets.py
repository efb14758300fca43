"""Products of a column and a row, nested rows of a matrix, and rows between slashes."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.worked.exercises.brackets import with_nested_rows, with_products, with_slashes

BEST = [
    "A_1 = (2,1)^T (4,-4), error 3√10",
    "A_1 = 4 [2;1] [1 -1]; err = 9.4868",
    "A_1 = 4*np.outer([2,1],[1,-1]); 9.4868",
    "A_1 = 4 outer(c(2,1), c(1,-1)), error 3 sqrt(10)",
    r"A_1 = 4\begin{pmatrix}2\\1\end{pmatrix}\begin{pmatrix}1&-1\end{pmatrix}, \lVert A-A_1\rVert_F = 3\sqrt{10}",
    "A₁ = 4 · (2; 1)ᵀ · (1; -1), errore √90",
    "A1 = [8; -8 / 4; -4], errore 9,49",
]


@pytest.mark.parametrize("answer", BEST)
def test_the_best_approximation_as_a_product_is_right(answer: str) -> None:
    assert worked.exercise("bounds", seed=5).check(answer)


@pytest.mark.parametrize("answer", ["A_1 = (2,1)^T (4,4), error 3√10", "A1 = 4*np.outer([1,2],[1,-1]); 9.4868",
                                    "A1 = [8; -8 / -4; 4], errore 9,49"])  # fmt: skip
def test_another_product_is_wrong(answer: str) -> None:
    assert not worked.exercise("bounds", seed=5).check(answer)


def test_a_matrix_of_tuples_may_have_them_as_rows() -> None:
    made = worked.exercise("diagonalize", seed=5)
    rows = "D = diag(8; -4), V = ((1; 3); (-1; -1)), A^3 = ((-352; -864); (288; 800))"
    assert made.check(rows)
    assert made.check("D = diag(8, -4); v1 = (1, -1), v2 = (3, -1); A^3 = [-352 -864; 288 800]")
    assert not made.check("D = diag(8, -4); v1 = (1, 3), v2 = (-1, -1); A^3 = [-352 -864; 288 800]")


def test_slashes_between_rows_with_decimal_commas() -> None:
    made = worked.exercise("gram_schmidt", seed=6, difficulty=2)
    assert made.check("Q = [0; 1; 0 / 0,707; 0; -0,707 / 0,707; 0; 0,707], "
                      "R = [2,828; 1,414; -0,707 / 0; 1; -3 / 0; 0; 0,707]")  # fmt: skip


@pytest.mark.parametrize("text", ["[1 2] [3 4]", "(1, 2)^T, (3, 4)", "(1, 2)' (3, 4)'", "V = [1 2; 3 4]", "(1; 8 / 4)"])
def test_other_brackets_stay_as_they_are(text: str) -> None:
    assert (with_products(text), with_nested_rows(text), with_slashes(text)) == (text, text, text)
