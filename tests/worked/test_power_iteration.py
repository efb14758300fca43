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


@pytest.mark.parametrize(("matrix", "alternates"), [("-3 1; 1 -3", True), ("-3 -1; -1 -3", True), ("3 1; 1 3", False)])
def test_a_start_that_is_an_eigenvector_may_change_sign(matrix: str, alternates: bool) -> None:
    """The distance to the previous vector is 2 at every step, and yet the direction is found."""
    text = " ".join(worked.power_iteration(matrix).text().split())
    assert ("is negative, so the vector changes sign at every step" in text) is alternates


def test_the_italian_rule_says_when_to_stop() -> None:
    with worked.language("it"):
        text = " ".join(worked.power_iteration("2 1; 1 3").text().split())
    assert "fermarsi quando la direzione cambia al più di 10^-6" in text
