"""Answers that contain all results among intermediate ones; contradictions, hedges and wrong steps are not accepted."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize(("kind", "difficulty", "answer"), [
    ("power_iteration", 1, "x1 = (1, 12), x2 = (145, 144), x3 = (1873, 3324), ... converges to (2,3)/√13, λ = 19"),
    ("energy", 1, "464/609 = 0.762 > 0.75, σ₁² = 464, σ₂² = 145, so σ₁ = √464, σ₂ = √145, k = 1"),
    ("diagonalize", 1, "λ=5: (2,-1), λ=3: (3,-1), so V=[2 3; -1 -1], D=diag(5,3), A⁴=[-1007 -3264; 544 1713]"),
    ("bounds", 2, "3(1,-1,0)^T(1,1,0) = [3 3 0; -3 -3 0; 0 0 0], the error is √39"),
    ("project", 1, "The score of (3,7) is 0.9487 and its squared distance from the line is 44.1."),
])  # fmt: skip
def test_right_answers_among_steps(kind: str, difficulty: int, answer: str) -> None:
    assert worked.exercise(kind, seed=7100 + difficulty, difficulty=difficulty).check(answer).status == "right"


def test_a_wrong_step_with_a_name_is_wrong_even_if_its_values_occur_elsewhere() -> None:
    made = worked.exercise("query", seed=93074, size=(5, 4))
    asked = "q V V^T = [10/9 20/9 0 20/9], columns 1 and 4"
    assert made.check(f"{asked}, qV = [10/3 0]")
    assert made.check(f"{asked}, qV = [1/3 0]").message == "Right: q V V^T, columns. qV: One entry is wrong: 1."


@pytest.mark.parametrize(("kind", "difficulty", "answer"), [
    ("power_iteration", 1, "x1 = (1, 11), x = (2,3)/√13, λ = 19"),
    ("eigen", 2, "9, 5, 2, 1 with eigenvectors (1,0,-1)/√2, (-1,2,-1)/√6, (1,1,1)/√3"),
    ("determinant", 2, "-6, 3"),
    ("missing", 1, "x(1,2) = 2 or 5"),
    ("pca", 1, "PC1 = (3,-2)/√13, PC2 = (2,3)/√13, T = [√13 -9√13; -√13 9√13; 3√13 3√13; -3√13 -3√13], k = 1"),
    ("svd", 1, "U = [-1 -1; 1 -1]/√2, S = diag(4√17, 2√17), V^T = [5 3; -3 5]/√34"),
    ("select", 2, "columns 2 and 3; column 2: r = 0.224, column 1: r = -0.551, column 3: r = 0.595"),
])  # fmt: skip
def test_wrong_answers_among_steps(kind: str, difficulty: int, answer: str) -> None:
    assert worked.exercise(kind, seed=7100 + difficulty, difficulty=difficulty).check(answer).status != "right"
