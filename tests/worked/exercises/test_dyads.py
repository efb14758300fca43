"""Sums of products of a column and a row, as the factors of a singular value decomposition."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises.dyads import as_factors


@pytest.mark.parametrize(("text", "expected"), [
    ("10 (1, 2)'/sqrt5 (3, 4)/5 + 2sqrt(3)*(2, 1)*(4, -3)",
     "sigma_1 = 10; u_1 = (1, 2)'/sqrt5; v_1 = (3, 4)/5; sigma_2 = 2sqrt(3); u_2 = (2, 1); v_2 = (4, -3)"),
    ("2*outer([1, 0], [0, 1]) + 1*outer([0, 1], [1, 0])",
     "sigma_1 = 2; u_1 = [1, 0]; v_1 = [0, 1]; sigma_2 = 1; u_2 = [0, 1]; v_2 = [1, 0]"),
    ("A = 2[1; 0][0 1] + 1[0; 1][1 0] = [0 2; 1 0]",
     "sigma_1 = 2; u_1 = [1; 0]; v_1 = [0 1]; sigma_2 = 1; u_2 = [0; 1]; v_2 = [1 0]; A = [0 2; 1 0]"),
])  # fmt: skip
def test_a_sum_gives_its_factors(text: str, expected: str) -> None:
    assert as_factors(text) == expected


@pytest.mark.parametrize("text", [
    "sigma = 3, 1; U = [1 0; 0 1]; V = [0 1; 1 0]", "3 (1, 2) + 2 (3, 4)", "A = 3 u1 v1^T + 2 u2 v2^T",
    "3: (1, 0), (0, 1); 2: (0, 1), (1, 0)", "2 (1, 0)(0, 1)", "2 (1, 0" * 500,
])  # fmt: skip
def test_other_texts_stay(text: str) -> None:
    assert as_factors(text) == text


@pytest.mark.parametrize(("middle", "last", "status"), [
    ("[-4 0; 0 -7]", "[1 1; 1 4]^-1", "right"), ("diag(-4, -7)", "inv([1 1; 1 4])", "right"),
    ("diag(-4, -7)", "np.linalg.inv([1 1; 1 4])", "right"), ("[-7 0; 0 -4]", "[1 1; 1 4]^-1", "almost"),
])  # fmt: skip
def test_a_product_with_an_inverse_gives_eigenvectors(middle: str, last: str, status: str) -> None:
    answer = f"A = [1 1; 1 4] * {middle} * {last}; A^4 = [-459 715; -2860 3116]"
    assert worked.exercise("diagonalize", seed=6161).check(answer).status == status


@pytest.mark.parametrize("product", [
    "[1 1; 1 4]^-1 * [-4 0; 0 -7] * [1 1; 1 4]", "[1 1; 1 4] * [-4 0; 0 -7] * [1 4; 1 1]^-1",
])  # fmt: skip
def test_the_inverse_of_another_factor_is_refused(product: str) -> None:
    with pytest.raises(InputError, match="could not be read"):
        worked.exercise("diagonalize", seed=6161).check(f"A = {product}; A^4 = [-459 715; -2860 3116]")


@pytest.mark.parametrize(("power", "status"), [("^{-1}", "right"), ("", "wrong")])
def test_a_product_in_latex(power: str, status: str) -> None:
    first = r"\begin{pmatrix}1&1\\1&4\end{pmatrix}"
    answer = (rf"A={first}\begin{{pmatrix}}-4&0\\0&-7\end{{pmatrix}}{first}{power},\quad "
              r"A^4=\begin{pmatrix}-459&715\\-2860&3116\end{pmatrix}")  # fmt: skip
    assert worked.exercise("diagonalize", seed=6161).check(answer).status == status
