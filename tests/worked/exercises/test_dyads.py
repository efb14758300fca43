"""Sums of products of a column and a row, as the factors of a singular value decomposition."""

from __future__ import annotations

import pytest

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
