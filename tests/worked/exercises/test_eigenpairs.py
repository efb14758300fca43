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


@pytest.mark.parametrize(("first", "second", "status"), [(4, 3, "right"), (3, 4, "almost")])
@pytest.mark.parametrize("form", [
    "{{{{{}, {{-1,1,1}}/Sqrt[3]}}, {{{}, {{-1,2,1}}/Sqrt[6]}}, {{-1, {{-1,2,0}}/Sqrt[5]}}}}",
    "[({}, [-0.5774, 0.5774, 0.5774]), ({}, [-0.4082, 0.8165, 0.4082]), (-1, [0.4472, -0.8944, 0])]",
])  # fmt: skip
def test_a_list_of_pairs(form: str, first: int, second: int, status: str) -> None:
    verdict = worked.exercise("deflation", seed=6153, difficulty=3).check(form.format(first, second))
    assert verdict.status == status, verdict.message
