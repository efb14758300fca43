"""Inverses read off a diagonalisation."""

from __future__ import annotations

import pytest
import sympy as sp

from eckart import worked
from eckart.worked.solution import Solution


def _value(solution: Solution, name: str) -> object:
    return next(one.value for step in solution.steps for one in step.numbers if one.name == name)


@pytest.mark.parametrize("text", ["13 -10; 20 -17", "2 1; 1 2", "1 2; 3 1/2", "0 -1; 1 0", "2 0 0; 0 2 0; 1 0 3"])
def test_the_inverse_is_computed_from_the_reciprocals(text: str) -> None:
    solution = worked.diagonalize(text)
    given = _value(solution, "A")
    assert isinstance(given, sp.Matrix)
    assert _value(solution, "A^{-1}") == given.inv()
    assert "A^(-1) = V D^(-1) V^" in solution.text()


def test_no_inverse_of_a_singular_matrix() -> None:
    text = worked.diagonalize("1 1; 1 1").text()
    assert "not invertible" in text
    assert "A^(-1)" not in text


def test_the_inverse_of_the_eigenvectors_is_reduced_next_to_the_identity() -> None:
    text = worked.diagonalize("2 1; 3 2").at("full").text()
    assert "When the left half is I," in " ".join(text.split())


@pytest.mark.parametrize("text", ["0 0; 0 0", "1 1; 1 1"])
def test_zero_eigenvalues_are_not_counted_as_one(text: str) -> None:
    shown = " ".join(worked.eigen(text).text().split())
    assert "0 is an eigenvalue, so the matrix is not invertible." in shown


def test_all_four_penrose_conditions_are_checked() -> None:
    a = sp.Matrix([[1, 2], [2, 4], [0, 1]])
    solution = worked.pseudo_inverse(a)
    inverse = solution["pseudo_inverse"]
    assert _value(solution, "A A^+ A") == a
    assert _value(solution, "A^+ A A^+") == inverse
    for name, product in (("A A^+", a * inverse), ("A^+ A", inverse * a)):
        assert _value(solution, name) == product == product.T
