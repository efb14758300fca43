"""Eigenvalues of very different size, compared with exact isolation of roots."""

from __future__ import annotations

import numpy as np

from eckart import worked


def test_roots_of_very_different_size() -> None:
    table = np.array([[123456789, 2, 3], [4, 5, 6], [7, 8, 1 / 7]])
    values = [float(value) for value in worked.svd("123456789 2 3; 4 5 6; 7 8 1/7")["singular_values"]]
    assert np.allclose(values, np.linalg.svd(table, compute_uv=False), rtol=1e-6)


def test_one_name_for_one_eigenvalue() -> None:
    """Cardano's roots in their own order are t_0, t_1, t_2; λ_1, λ_2, ... are sorted by modulus everywhere."""
    lines = worked.eigen("1 2 3; 4 5 6; 7 8 10").at("full").text().splitlines()
    assert len({line for line in lines if line.startswith("    λ_2 ≈")}) == 1
    assert any(line.startswith("    t_1 - b / 3 ≈ 0.198247") for line in lines)


def test_a_factored_polynomial_is_printed_once() -> None:
    lines = worked.eigen("0 1; 0 0").text().splitlines()
    assert lines.count("    p(λ) = λ^2") == 1


def test_a_solution_has_simple_numbers_with_either_sign() -> None:
    shown = worked.eigen("11 8 -2; 8 5 10; -2 10 2").text()
    assert all(f"x_{i} = {x}" in shown for i, x in enumerate(("(2, 2, 1)", "(2, -1, -2)", "(-1, 2, -2)"), 1))
    assert worked.diagonalize("8 -3 2; 10 -5 2; -10 6 -1")["V"].tolist() == [[1, 1, -1], [1, 2, -1], [-1, -2, 2]]


def test_a_solution_with_roots_has_no_common_factor() -> None:
    assert "x_1 = (4, 3 + √33)" in worked.eigen("1 2; 3 4").text()
    shown = worked.isomap("0 2; 2 2; 4 1; 2 1", 1).text()
    assert "x_1 = (1, -4 + √(37 + 16√5) - 2√5, -1, 4 - √(37 + 16√5) + 2√5)" in shown
    assert "x_4 = (1, -1, 1, -1)" in shown
