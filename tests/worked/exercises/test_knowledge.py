"""What counts as known in an answer: the values of the question and of the worked solution, within rounding."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from eckart import worked
from eckart.worked.exercises.arithmetic import Grid, Typed, literal
from eckart.worked.exercises.knowledge import Knowledge


def _knowledge(kind: str, difficulty: int) -> Knowledge:
    made = worked.exercise(kind, seed=7100 + difficulty, difficulty=difficulty)
    return Knowledge(made.given, made.arguments, made.solution, made.targets)


def _vector(*numbers: float) -> Grid:
    return Grid((tuple(literal(str(abs(x))) if x >= 0 else Typed(-literal(str(-x)).value) for x in numbers),))


def test_iterates_are_known_at_every_scale() -> None:
    known = _knowledge("power_iteration", 1)
    vector = np.array([[1, 12], [12, 11]]) @ np.array([1, 12])
    assert known.has(_vector(*vector))
    assert not known.has(_vector(vector[0], vector[1] + 1))


@pytest.mark.parametrize(("number", "expected"), [("108", True), ("0.715", True), ("0.72", True), ("0.74", False)])
def test_numbers_are_known_within_rounding(number: str, expected: bool) -> None:
    assert _knowledge("energy", 2).has(literal(number)) is expected


def test_the_share_of_the_question_is_known() -> None:
    known = _knowledge("energy", 2)
    assert known.has_share(Typed(Decimal("0.7")))
    assert not known.has_share(Typed(Decimal("0.8")))
