"""Readings of answers whose spaces have several meanings."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize(("answer", "right"), [
    ("-4 4\n8 -8\n2 sqrt 10", True), ("-4 4 / 8 -8; 2 sqrt 10", True), ("-4 4\n8 -8\n3 sqrt 10", False),
    ("-4 4\n8 -8\n2 + sqrt 10", False),
])  # fmt: skip
def test_a_number_and_a_root_on_their_own_line_are_multiplied(answer: str, right: bool) -> None:
    assert bool(worked.exercise("bounds", seed=12).check(answer)) == right


@pytest.mark.parametrize(("edges", "right"), [
    ("P1-P3, P2-P3, P2-P4", True), ("x_1-x_3, x_2--x_3, x_2-x_4", True), ("P1-P3, P2-P3, P3-P4", False),
])  # fmt: skip
def test_edges_between_named_points(edges: str, right: bool) -> None:
    answer = f"{edges}; D = [0 6 4 7; 6 0 2 1; 4 2 0 3; 7 1 3 0]; y1 = 4.25, y2 = -1.75, y3 = 0.25, y4 = -2.75"
    assert bool(worked.exercise("isomap", seed=6311).check(answer)) is right
