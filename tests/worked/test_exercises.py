"""Exercises: clean, never trivial, with a key that another route confirms."""

from __future__ import annotations

import re

import pytest
import sympy as sp

from eckart import worked
from eckart.errors import ParameterError
from eckart.worked.exercises import KINDS
from eckart.worked.exercises.exercise import failed, solve
from eckart.worked.exercises.problem import Problem
from eckart.worked.messages import LANGUAGES
from tests.worked.independent import CHECKS
from tests.worked.worth import WORTH

SPECTRAL = ("eigen", "deflation", "pca", "minor_components")


def test_every_kind_has_an_independent_route() -> None:
    assert set(CHECKS) == set(WORTH) == set(KINDS)
    assert len(KINDS) >= 20


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("difficulty", [1, 2, 3])
def test_the_key_is_right(kind: str, difficulty: int) -> None:
    made = worked.exercise(kind, seed=90_001 + difficulty, difficulty=difficulty)
    assert CHECKS[kind](made)
    assert WORTH[kind](made)


def test_one_seed_gives_every_kind_another_matrix() -> None:
    kinds = ("eigen", "power_iteration", "deflation", "diagonalize")
    given = {tuple(worked.exercise(kind, seed=5).given) for kind in kinds}
    assert len(given) == 4


@pytest.mark.parametrize("kind", ["determinant", "rank", "eigen", "select"])
def test_seeds_give_different_exercises(kind: str) -> None:
    assert len({tuple(worked.exercise(kind, seed=seed, difficulty=3).given) for seed in range(12)}) == 12


@pytest.mark.parametrize("kind", SPECTRAL)
def test_eigenvalues_are_whole(kind: str) -> None:
    values = worked.exercise(kind, seed=31, difficulty=2)["eigenvalues"]
    assert all(value.is_Integer for value in values)


def test_some_eigenproblems_are_not_symmetric() -> None:
    assert not any(worked.exercise("eigen", seed=seed).given.is_symmetric() for seed in range(4))


def test_trivial_cases_are_refused() -> None:
    identity = Problem(sp.eye(2), {"q": [1, 0]}, values={"rank": 2})
    assert failed("eigen", identity, solve("eigen", Problem(sp.eye(2))))
    full = Problem(sp.Matrix([[1, 2], [3, 5]]), {"q": [1, 0]}, values={"rank": 2})
    assert failed("query", full, solve("query", full))
    everything = Problem(sp.Matrix([[3, 1], [1, 3]]), {"share": 0.99})
    assert failed("energy", everything, solve("energy", everything))


@pytest.mark.parametrize("kind", ["rank", "cur", "missing", "query"])
def test_question_and_key(kind: str) -> None:
    made = worked.exercise(kind, seed=4)
    question = made.question()
    for form in ("text", "markdown", "latex", "html"):
        assert "Answer" not in getattr(question, form)()
        assert "Answer" in getattr(made, form)()
    assert made.solution is not None
    assert made["matrix"] == made.given


def test_sizes() -> None:
    assert worked.exercise("pca", seed=2, size=(6, 3)).given.shape == (6, 3)
    assert worked.exercise("determinant", seed=2, size=(5, 5)).given.shape == (5, 5)


@pytest.mark.parametrize(("kind", "size"), [
    ("pseudo_inverse", (3, 2)), ("bounds", (2, 3)), ("query", (4, 3)), ("select", (5, 2)), ("nmf", (2, 3)),
])  # fmt: skip
def test_small_sizes_of_the_highest_difficulty(kind: str, size: tuple[int, int]) -> None:
    """The size leaves no room for what makes other exercises difficult, such as a second component."""
    made = worked.exercise(kind, seed=6, size=size, difficulty=3)
    assert made.given.shape == size
    assert CHECKS[kind](made)
    assert WORTH[kind](made)


def test_the_same_seed_gives_the_same_exercise() -> None:
    assert worked.exercise("pca", seed=7).text() == worked.exercise("pca", seed=7).text()


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="did you mean 'eigen'"):
        worked.exercise("eigne")
    with pytest.raises(ParameterError, match="4 to 6 rows"):
        worked.exercise("pca", size=(50, 2))
    with pytest.raises(ParameterError, match="as many rows as columns"):
        worked.exercise("gram_schmidt", size=(2, 3))
    with pytest.raises(ParameterError, match="fractions"):
        worked.exercise("kernel_pca", size=(5, 3))
    with pytest.raises(ParameterError, match="square"):
        worked.exercise("eigen", size=(2, 3))
    with pytest.raises(ParameterError, match="seed"):
        worked.exercise("eigen", seed=-1)
    with pytest.raises(ParameterError, match="difficulty"):
        worked.exercise("eigen", difficulty=4)


@pytest.mark.parametrize("difficulty", [1, 2])
def test_kernel_pca_has_clean_answers(difficulty: int) -> None:
    """Fractions as eigenvalues, and the second apart from the third: otherwise its vector would not be determined."""
    for seed in range(910, 914):
        made = worked.exercise("kernel_pca", seed=seed, difficulty=difficulty)
        values = made["centred"].eigenvals(multiple=True)
        assert all(value.is_Rational for value in made["eigenvalues"])
        assert len({sp.nsimplify(value) for value in sorted(values, key=sp.N)[-3:]}) == 3


def test_isomap_unrolls_a_line() -> None:
    for seed in range(8):
        made = worked.exercise("isomap", seed=seed, difficulty=3)
        assert all(value.is_Rational for value in made["coordinates"])


@pytest.mark.parametrize("kind", ["select", "project"])
@pytest.mark.parametrize("name", list(LANGUAGES))
def test_questions_count_in_words(kind: str, name: str) -> None:
    """One column or component is not "columns (1)"."""
    with worked.language(name):
        questions = [worked.exercise(kind, seed=seed, difficulty=difficulty).steps[0].statement
                     for seed, difficulty in ((2026, 1), (2026, 2), (2026, 3))]  # fmt: skip
    assert not re.search(r"\(\d\)", " ".join(questions))
    assert "1" not in questions[0]
