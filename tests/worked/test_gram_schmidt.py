"""Gram-Schmidt, written out."""

from __future__ import annotations

from eckart import worked


def test_the_entries_of_r_and_of_dependent_columns_are_written_out() -> None:
    text = worked.gram_schmidt("1 2 3; 0 1 1; 1 0 1").at("full").text()
    assert "r_(1,3) = √2/2 · 3 + 0 · 1 + √2/2 · 1 = 2√2" in text
    assert "r_(2,1) = √3/3 · 1 + √3/3 · 0 + (-√3/3) · 1 = 0" in text
    assert "w_2 · a_3 = 1 · 3 + 1 · 1 + (-1) · 1 = 3" in text  # column 3 depends on the others
    assert "‖w_3‖" not in text


def test_a_coefficient_1_is_not_written() -> None:
    assert "w_3 = a_3 - (8/3) w_1 - w_2" in worked.gram_schmidt("1 2 3; 2 4 6; 1 0 1").text()
