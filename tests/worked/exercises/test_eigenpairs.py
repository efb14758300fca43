"""Eigenvalues next to their vectors, without brackets."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize(("kind", "seed", "difficulty", "answer", "right"), [
    ("power_iteration", 11, 2, "8, -0.5547, 0.8321", True), ("power_iteration", 11, 2, "8, 0.5547, 0.8321", False),
    ("minor_components", 12, 2, "280 0.8944 0.4472", True), ("minor_components", 12, 2, "280 0.4472 0.8944", False),
    ("eigen", 14, 1, "-6 0.4472 -0.8944\n-3 0.5547 -0.8321", True),
])  # fmt: skip
def test_a_number_and_a_vector_on_one_line(kind: str, seed: int, difficulty: int, answer: str, right: bool) -> None:
    assert bool(worked.exercise(kind, seed=seed, difficulty=difficulty).check(answer)) == right
