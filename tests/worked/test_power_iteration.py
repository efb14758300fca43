"""Power iteration where rounding errors would otherwise show."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize("matrix", ["0 1; 0 0", "sqrt(2) 2; -1 -sqrt(2)", "1/3 1/9; -1 -1/3"])
def test_a_nilpotent_matrix_stops_at_zero(matrix: str) -> None:
    solution = worked.power_iteration(matrix)
    assert solution["iterations"] == 1
    assert "A x = 0" in solution.text()


@pytest.mark.parametrize("matrix", ["0 -1; 1 0", "3 -2; 4 -1"])
def test_rounding_errors_are_not_quotients(matrix: str) -> None:
    assert "10^-1" not in worked.power_iteration(matrix).text()
