"""Operators in words between operands: combinations of rows, and vectors divided by a root."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError

# A = [1 1 4; 4 -6 -2; -5 5 -2], so that r3 = -r1 - r2
BASIS = "rank 2; basis rows 1, 2; "


@pytest.mark.parametrize(("answer", "right"), [
    ("row 3 = -1 times row 1 - 1 times row 2", True),
    ("the third row is minus the first minus the second", True),
    ("la terza riga è -1 volte la prima meno 1 volte la seconda", True),
    ("la tercera es -1 veces la primera menos 1 veces la segunda", True),
    ("третья строка равна минус первая минус вторая", True),
    ("third row: -r1 - r2", True),
    ("r3: -r1 - r2", True),
    ("the third row is the first minus the second", False),
    ("la terza riga è -1 volte la prima più 1 volte la seconda", False),
    ("third row: -r1 + r2", False),
])  # fmt: skip
def test_combinations_of_rows(answer: str, right: bool) -> None:
    assert bool(worked.exercise("rank", seed=301).check(BASIS + answer)) is right


@pytest.mark.parametrize(("first", "second", "right"), [
    ("(3, 1) divided by √10", "(1, 1) over √2", True),
    ("(3, 1) diviso √10", "(1, 1) fratto √2", True),
    ("(3, 1) dividido por √10", "(1, 1) entre √2", True),
    ("(3, 1) делить на √10", "(1, 1) делить на √2", True),
    ("1/√10 times (3, 1)", "1/√2 por (1, 1)", True),
    ("(3, 1) divided by √2", "(1, 1) over √2", False),
    ("(3, 1)", "(1, 1) over √2", False),
])  # fmt: skip
def test_vectors_divided_by_a_root(first: str, second: str, right: bool) -> None:
    assert bool(worked.exercise("eigen", seed=307).check(f"λ1 = 9: {first}; λ2 = -7: {second}")) is right


@pytest.mark.parametrize("answer", ["rank over 2", "rank 2 times; rows 1, 2; [1 0; 0 1; -1 -1]"])
def test_words_without_two_operands_still_change_the_meaning(answer: str) -> None:
    with pytest.raises(InputError, match="only direct answers"):
        worked.exercise("rank", seed=301).check(answer)
