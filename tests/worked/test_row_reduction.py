"""Row reduction against floating point: the same form, and operations that lead to it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from eckart import worked
from eckart.worked.row_reduction import reduced

TWO, THREE = sp.sqrt(2), sp.sqrt(3)


@pytest.mark.parametrize("given", [
    sp.Matrix([[TWO, THREE], [TWO * THREE, 3]]),
    sp.Matrix([[1, TWO, THREE], [TWO, 2, TWO * THREE], [0, 1 + TWO, 1 - THREE]]),
    sp.Matrix([[0, sp.sqrt(5 + TWO)], [TWO, 1]]),
    sp.Matrix([[0, 0, 2], [0, 3, 1], [0, 0, 5]]),
    sp.Matrix([[sp.I, 1], [-1, sp.I]]),
])  # fmt: skip
def test_the_form_has_the_same_rows(given: sp.Matrix) -> None:
    steps, form, pivots = reduced(given)
    numbers, first = np.array(sp.N(form).tolist(), dtype=complex), np.array(sp.N(given).tolist(), dtype=complex)
    assert np.linalg.matrix_rank(first) == len(pivots)
    assert np.linalg.matrix_rank(np.vstack([first, numbers])) == len(pivots)
    assert np.allclose(numbers[: len(pivots), pivots], np.eye(len(pivots)))
    assert np.allclose(numbers[len(pivots) :], 0)
    assert steps[-1].matrix == form


def test_nested_roots_are_reduced_in_seconds() -> None:
    """Four points whose distances have three different roots; SymPy's radsimp does not come to an end here."""
    text = worked.isomap("2 -1 0 0; -1 2 -1 0; 0 -1 2 -1; 0 0 -1 2").at("full").text()
    assert "R_2 ← R_2" in text


@pytest.mark.parametrize(("matrix", "line"), [
    ("2 1; 1 5", "x_1 + (3/2 - √13/2) x_2 = 0"),
    ("2 1; 1 5", "-(3/2 + √13/2) x_1 + x_2 = 0"),
    ("0 1; -1 0", "-i x_1 + x_2 = 0"),
])  # fmt: skip
def test_systems_have_the_signs_of_the_matrix(matrix: str, line: str) -> None:
    assert line in worked.eigen(matrix).at("full").text()


@pytest.mark.parametrize("matrix", ["0 1; -1 0", "1 1; -3 1", "1 -2 0; 2 1 0; 0 1 3", "0 1 0; 0 0 1; 1 0 0"])
def test_complex_eigenvectors_are_written_out(matrix: str) -> None:
    """The system, its reduction to fewer pivots than unknowns, and a length with moduli."""
    solution = worked.eigen(matrix).at("full")
    text = " ".join(solution.text().split())
    complex_values = [value for value in solution["eigenvalues"] if not value.is_real]
    assert text.count("complex number of modulus 1") == len(complex_values) == 2
    assert "|^2" in text
    given = sp.Matrix([[int(x) for x in row.split()] for row in matrix.split(";")])
    for value in complex_values:
        shifted = (given - value * sp.eye(given.rows)).applyfunc(sp.expand)
        assert len(reduced(shifted)[2]) == given.rows - 1
