"""200 right and 200 wrong answers in the notations of students, over all kinds: every verdict and every reason."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises import KINDS, Exercise
from tests.worked.exercises.right_answers import RIGHT
from tests.worked.exercises.wrong_answers import WRONG


def test_there_are_two_hundred_of_each_over_all_kinds() -> None:
    assert sum(map(len, RIGHT.values())) >= 200
    assert sum(map(len, WRONG.values())) >= 200
    assert {kind for kind, _ in RIGHT} == {kind for kind, _ in WRONG} == set(KINDS)


@pytest.mark.parametrize(("kind", "difficulty"), list(RIGHT))
def test_right_answers(kind: str, difficulty: int) -> None:
    made = worked.exercise(kind, seed=2026, difficulty=difficulty)
    refused = [(answer, found) for answer in RIGHT[kind, difficulty] if (found := _verdict(made, answer))[0] != "right"]
    assert not refused


@pytest.mark.parametrize(("kind", "difficulty"), list(WRONG))
def test_wrong_answers(kind: str, difficulty: int) -> None:
    made = worked.exercise(kind, seed=2026, difficulty=difficulty)
    for answer, status, words in WRONG[kind, difficulty]:
        found, message = _verdict(made, answer)
        assert (found, words in message) == (status, True), (answer, message)


def _verdict(made: Exercise, answer: str) -> tuple[str, str]:
    try:
        verdict = made.check(answer)
    except InputError as error:
        return "refused", str(error)
    return verdict.status, verdict.message
