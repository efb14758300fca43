"""Chains of inequalities as lists of numbers."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises.inequalities import chains_as_lists


@pytest.mark.parametrize("answer", [
    "8√3 > 4√6 > 3√2, k = 2", "3√2 < 4√6 ≤ 8√3; k = 2", "13,86 > 9,80 > 4,24; k = 2",
    r"$8\sqrt{3} > 4\sqrt{6} > 3\sqrt{2}$, $k = 2$", "k = 2, since 62.7% < 75% < 94.1%; σ = √192, √96, √18",
])  # fmt: skip
def test_true_chains_are_read(answer: str) -> None:
    assert worked.exercise("energy", seed=13, difficulty=2).check(answer)


def test_numbers_of_a_chain_are_checked() -> None:
    made = worked.exercise("energy", seed=13, difficulty=2)
    assert made.check("8√3 > 4√6 > 2√2, k = 2").message == "Right: k. sigma: 2 of 3 numbers are right."
    with pytest.raises(InputError, match="'<' was not expected"):
        made.check("8√3 < 4√6 < 3√2, k = 2")


@pytest.mark.parametrize("text", ["3 < 2 < 1", "1 < 3 > 2", "85.7 % >= 85 %", "0.857 > 0.85", "x > 3 > 2", "k -> 3",
                                  "2 > sqrt"])  # fmt: skip
def test_other_texts_stay(text: str) -> None:
    assert chains_as_lists(text) == text
