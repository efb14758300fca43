"""Equations, products of factors and whole sentences as answers: right ones are accepted, wrong ones diagnosed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises import KINDS
from eckart.worked.messages import language

SENTENCES = Path(__file__).with_name("sentences.tsv").read_text(encoding="utf-8").splitlines()[1:]
"""Kind, difficulty, seed, language, verdict and answer; ⏎ is a line break."""


@cache
def _exercise(kind: str, difficulty: int, seed: int, code: str) -> worked.Exercise:
    size = (4, 4) if (kind, difficulty) == ("rank", 2) else None
    with language(code):
        return worked.exercise(kind, seed=seed, difficulty=difficulty, size=size)


def _status(kind: str, difficulty: int, seed: int, code: str, answer: str) -> str:
    with language(code):
        try:
            return _exercise(kind, difficulty, seed, code).check(answer).status
        except InputError:
            return "unread"


@pytest.mark.parametrize("combination", [
    "r1 + r2 - r3 = 0", "2 r1 + 2 r2 = 2 r3", "r3 - r1 = r2", "r2 = r3 - r1", "-r3 + r1 + r2 = 0",
])  # fmt: skip
def test_combinations_are_solved_for_the_other_row(combination: str) -> None:
    made = worked.exercise("rank", seed=11)
    assert made.check(f"rank 2; basis r1, r2; {combination}")
    assert not made.check(f"rank 2; basis r1, r2; {combination.replace('r2', '3 r2')}")


@pytest.mark.parametrize("kind", list(KINDS))
def test_sentences(kind: str) -> None:
    cases = [line.split("\t") for line in SENTENCES if line.startswith(f"{kind}\t")]
    assert cases
    for _, difficulty, seed, code, verdict, answer in cases:
        status = _status(kind, int(difficulty), int(seed), code, answer.replace(" ⏎ ", "\n"))
        assert (status == "right") == (verdict == "right"), (answer, status)


@pytest.mark.parametrize(("kind", "difficulty", "answer", "said"), [
    ("rank", 1, "rank 2; basis r1, r2; r3 = 4/3 r1 + 2/3 r2", "Right: rank, basis. C: One entry is wrong: (3,2)."),
    ("eigen", 2, "A v = -18 v with v = (1,-1,1)/√3; A v = -21 v with v = (-1,1,2)/√6; A v = -26 v with v = (1,1,0)/√2",
     "Each part is right, but lambda, e are not in the same order."),
    ("select", 2, "column 1 with r = 0.705 and column 2 with r = 0.718; column 3 has r = -0.314",
     "Right: columns. r: The numbers are right, but in another order."),
    ("energy", 1, "21.54, 12.04; two of them", "Right: sigma. k: This is not the right number."),
    ("missing", 1, "replace it with -4", "The sign is wrong."),
    ("project", 1, "d^2 = -7.273; z = 36.1", "d: This is the right value of Z'. Z': This is the right value of d."),
    ("minor_components", 2, "-12.5; (2,-1)/√5", "Right: w. lambda: The sign is wrong."),
    ("nmf", 2, "W = [0.4 0.75; 0.533 0.583; 0.667 0.222], H = [1.108 1.577 2.102; 3.129 1.012 0.306]",
     "Right: W. H: One entry is wrong: (2,3)."),
])  # fmt: skip
def test_diagnosis(kind: str, difficulty: int, answer: str, said: str) -> None:
    assert str(worked.exercise(kind, seed=4711, difficulty=difficulty).check(answer)) == said


@pytest.mark.parametrize(("kind", "difficulty", "seed", "answer", "said"), [
    ("svd", 1, 5171, "A = 10*[-0.447; 0.894]*[0.894 0.447] + 5*[0.894; 0.447]*[0.447 0.894]",
     "Right: sigma, u. v: 1 of 2 vectors is right."),
    ("gram_schmidt", 3, 29, "u1=(-2,1,-3,2)/sqrt(18), u2=(-5,-2,-12,-22)/sqrt(657), u3=(-2,-1,1,0)/sqrt(6)",
     "Right so far. Still to be found: R."),
    ("isomap", 1, 3, "1-4, 3-4, 2-3; D = [0 6 5 3; 6 0 1 3; 5 1 0 2; 3 3 2 0]; y = 0, 6, 5, 3",
     "Right: D, edges. y: Off by a constant: subtract the mean."),
    ("pca", 1, 3, "v = (1, -2)/√5, (2, 1)/√5; k = 1; t = (30, -10, 10, -30)/√5, (0, 10, 10, 0)/√5",
     "Right: v, k. t: Off by a constant: subtract the mean of each column."),
    ("pca", 1, 3, "v = (1, -2)/√5, (2, 1)/√5; k = 1; t = (30, -10, 10, -30)/√5, (0, 10, 0, 10)/√5",
     "Right: v, k. t: 1 of 2 vectors is right."),
    ("svd", 1, 5171, "A = 5*(-1,2)'/√5*(2,-1)/√5 + 10*(2,1)'/√5*(1,2)/√5",
     "Each part is right, but sigma, u, v are not in the same order."),
    ("select", 1, 5271, "col 1: 0.41 (selected), col 2: 0.68", "Right: r. columns: These are not the right ones."),
    ("project", 3, 5243, "row 1: scores (-1.155, 8.165), squared distance 2",
     "d: Right so far, but 1 number is missing. Z': Right so far, but 2 numbers are missing."),
    ("bounds", 3, 5193, "A_2 = [2 -10 11; -14 -2 -5; -14 -2 -5; 2 10 11] with error 6*5^(1/2)",
     "Right: error. A_2: One entry is wrong: (4,2)."),
    ("diagonalize", 1, 5161, "V = [1 -1; 1 -2]; D = diag(7, -1); A^4 = [4801 2400; -4800 -2399]",
     "Right: D, A^4. V: This is the transpose of the right matrix."),
])  # fmt: skip
def test_diagnosis_of_parts(kind: str, difficulty: int, seed: int, answer: str, said: str) -> None:
    assert str(worked.exercise(kind, seed=seed, difficulty=difficulty).check(answer)) == said


@pytest.mark.parametrize("answer", ["r1 = " + "1 " * 300, "r3 = " + "2 r1 + " * 100, "A v = " + "2*" * 40 + "w"])
def test_long_equations_are_read_in_polynomial_time(answer: str) -> None:
    assert _status("rank", 1, 4711, "en", answer) != "right"  # exponential backtracking would never end
