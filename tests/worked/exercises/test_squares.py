"""Roots where squares are asked for: next to the squares, or called a norm."""

from __future__ import annotations

import pytest

from eckart import worked

SCORES = "Z = [-13/√6 5/√2; -21/√6 -7/√2]"
PRODUCT = "CUR = [-1 -1 2; -2/3 -1 0; 2 3 0]"
ANOTHER_VALUE = "In one equation, the left-hand side is correct, but the right-hand side has a different value."


@pytest.mark.parametrize(("distances", "message"), [
    ("d = (4/√3, 4√3), d² = (16/3, 48)", "Right."),
    ("d1 = 4/√3, d1² = 16/3; d2 = 6.93, d2² = 48", "Right."),
    ("d = (3/√3, 4√3), d² = (16/3, 48)", ANOTHER_VALUE),
    ("d = (4/√3, 4√3), d² = (16/3, 47)", "Right: Z'. d: One entry is wrong: 2."),
    ("d = (4/√3, 4√3)", "Right: Z'. d: These are the square roots of the right numbers."),
])  # fmt: skip
def test_roots_next_to_squares(distances: str, message: str) -> None:
    assert worked.exercise("project", seed=13, difficulty=3).check(f"{distances}, {SCORES}").message == message


@pytest.mark.parametrize(("error", "right"), [
    ("‖A - CUR‖_F = 1/3", True), ("‖A - CUR‖ ≈ 0.333", True), ("‖A - CUR‖_F = 1/3, ‖A - CUR‖_F² = 1/9", True),
    ("‖A - CUR‖_F = 1/9", False), ("‖A - CUR‖_F² = 1/3", False), ("error = 1/3", False),
    ("‖A - CUR‖_F = 1/3, ‖A - CUR‖_F² = 1/3", False), ("‖A - CUR‖_F = 1/4, ‖A - CUR‖_F² = 1/9", False),
    ("‖A - CUR‖_2 = 1/3", False),
])  # fmt: skip
def test_a_norm_is_the_root_of_the_error(error: str, right: bool) -> None:
    assert bool(worked.exercise("cur", seed=13).check(f"{PRODUCT}, {error}")) == right
