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
