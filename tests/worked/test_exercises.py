"""Exercises: clean, never twice, never degenerate unless asked."""

from __future__ import annotations

import pytest
import sympy as sp

from eckart import worked
from eckart.errors import ParameterError
from eckart.worked.choices import Choices
from eckart.worked.exercises import KINDS, _problem

SPECTRAL = ("eigen", "deflation", "diagonalize", "pca", "minor_components", "kernel_pca", "svd")


def sizes(task: str) -> list[tuple[int, int]]:
    kind = KINDS[task]
    rows = range(kind.rows[0], kind.rows[1] + 1)
    if kind.columns is None:
        return [(n, n) for n in rows]
    return [(n, p) for n in rows for p in range(kind.columns[0], kind.columns[1] + 1)]


def simple(value: sp.Expr) -> bool:
    """A whole number, or one root of a whole number times a fraction."""
    return bool((value**2).is_Rational)


@pytest.mark.parametrize("task", list(KINDS))
def test_no_two_seeds_give_the_same(task: str) -> None:
    for rows, columns in sizes(task)[:3]:
        seen = {tuple(_problem(task, seed, rows, columns, False)[0]) for seed in range(200)}
        assert len(seen) == 200


@pytest.mark.parametrize("task", ["eigen", "determinant", "pca", "rank"])
def test_nor_do_many_seeds(task: str) -> None:
    rows, columns = KINDS[task].usual
    seeds = [*range(900), *range(10**6, 10**6 + 100)]
    assert len({tuple(_problem(task, seed, rows, columns, False)[0]) for seed in seeds}) == 1000


@pytest.mark.parametrize("task", SPECTRAL)
def test_eigenvalues_are_clean_and_different(task: str) -> None:
    for size in sizes(task)[:4]:
        for seed in range(6):
            made = worked.exercise(task, seed=seed, size=size)
            if task == "svd":
                values = list(made["singular_values"])
                assert len(values) == size[1]
                assert all(simple(value) for value in values)
            elif task == "diagonalize":
                values = list(made["D"].diagonal())
            else:
                values = list(made["eigenvalues"])
            if task != "svd":
                assert all(value.is_Integer for value in values)
            assert len(set(values)) == len(values)
            assert 0 not in values


def test_axes_are_simple_roots() -> None:
    for seed in range(20):
        made = worked.exercise("pca", seed=seed, size=(4, 2))
        assert all(simple(entry) for entry in made["axes"])
        assert all(simple(entry) for entry in made["scores"])


def test_determinants_are_small() -> None:
    for seed in range(30):
        value = worked.exercise("determinant", seed=seed)["determinant"]
        assert value != 0
        assert abs(value) <= 27


def test_ranks_are_one_less_than_full() -> None:
    for size in sizes("rank"):
        assert worked.exercise("rank", seed=11, size=size)["rank"] == max(1, min(size) - 1)


@pytest.mark.parametrize("task", list(KINDS))
def test_every_kind_has_a_question_and_a_key(task: str) -> None:
    made = worked.exercise(task, seed=4)
    question = made.question()
    assert KINDS[task].question.split("$")[0] in question.text(width=500)
    assert "Answer" not in question.text() + question.markdown() + question.latex()
    assert "Answer" in made.text()
    assert made.solution is not None
    assert made["matrix"] == made.given


def test_degenerate_on_request() -> None:
    assert worked.exercise("determinant", seed=2, degenerate=True)["determinant"] == 0
    values = worked.exercise("eigen", seed=2, size=(3, 3), degenerate=True)["eigenvalues"]
    assert len(set(values)) < 3
    assert 0 in worked.exercise("pca", seed=2, degenerate=True)["eigenvalues"]


def test_the_same_seed_gives_the_same_exercise() -> None:
    assert worked.exercise("pca", seed=7, size=(4, 2)).text() == worked.exercise("pca", seed=7, size=(4, 2)).text()


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="did you mean 'eigen'"):
        worked.exercise("eigne")
    with pytest.raises(ParameterError, match="4 to 6 rows"):
        worked.exercise("pca", size=(50, 2))
    with pytest.raises(ParameterError, match="square"):
        worked.exercise("eigen", size=(2, 3))
    with pytest.raises(ParameterError, match="seed"):
        worked.exercise("eigen", seed=-1)


def test_choices_are_a_bijection() -> None:
    radices = [3, 4, 5]
    seen = set()
    for seed in range(120):
        choices = Choices(seed, radices)
        seen.add((choices.block, *choices.numbers(3)))
    assert len(seen) == 120
