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
