"""Parts of an answer go to what they are meant for, so that the reason of a verdict is true."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError

T = "T = [3√13 -√13; -3√13 -√13; -9√13 √13; 9√13 √13]"
PCA = f"v1 = (3,-2)/√13, v2 = (2,3)/√13; {T}"
PATHS = "[0 3 6 1; 3 0 3 2; 6 3 0 5; 1 2 5 0]; -2.5, 0.5, 3.5, -1.5"
CASES = [
    ("pca", 1, f"{PCA}; k=1", "Right."),
    ("pca", 1, f"{PCA}; k=1 (97.8 %)", "Right."),
    ("pca", 1, f"{PCA}; k=1 (87.8 %)", "Right: t, k, v. share: This is not the right number."),
    ("pca", 1, f"{PCA}; k=2", "Right: t, v. k: This is not the right number."),
    ("pca", 1, f"{PCA}; k=1; λ = 781, 17.33", "Right: t, k, v. lambda: 1 of 2 numbers is right."),
    ("pca", 1, f"(3,-2)/√13, (2,3)/√13; {T[4:]}; 4", "Right: v, t. k: This is not the right number."),
    ("isomap", 1, f"1-4, 4-2, 3-2; {PATHS}", "Right."),
    ("isomap", 1, f"(1,4), (2,3), (2,4); {PATHS}", "Right."),
    ("isomap", 1, f"edges: {{1,4}}, {{1,3}}, {{2,4}}; {PATHS}",
     "Right: D, y. edges: These are not part of the solution: 1-3."),
    ("isomap", 1, PATHS, "Right so far. Still to be found: edges."),
    ("select", 2, "2, 3; -0.25, 0.46, -0.61", "Right."),
    ("select", 2, "2, 3; -0.25, 0.46, 0.61", "Right: columns. r: One entry is wrong: 3. The sign is wrong."),
    ("select", 2, "1, 3; -0.25, 0.46, -0.61", "Right: r. columns: These are not the right ones."),
    ("diagonalize", 1, "[1 3; 4 -2]; [9 0; 0 -5]; 1/14*[2 3; 4 -1]; [1473 1272; 3392 5713]", "Right."),
    ("diagonalize", 1, "V=[1 3; 4 -2]; D=diag(9,-5); V^-1 = [2 3; 4 -1]; A^4 = [1473 1272; 3392 5713]",
     "V^-1 is not the inverse of the V that you give: their product is not the identity."),
    ("diagonalize", 1, "V: [1 3; 4 -2]; D: diag(9,-5); V^-1: 1/14*[2 3; 4 -1]; A^4: [1473 1272; 3392 5713]", "Right."),
    ("bounds", 1, "[-3 -9; -3 -9]; 2√5; 2√5", "Right."),
    ("project", 2, "(2,3)/√13; -√13, -7/√13; 13, 484/13", "Right."),
    ("project", 2, "(2,3)/√13; √13, 7/√13; 13, 484/13",
     "Each part is right, but the signs of v, Z' do not match each other."),
    ("query", 1, "back = [2 0 4] 1", "Right."),
    ("query", 1, "back = (2, 0, 4), 3", "Right: q V V^T. columns: These are not the right ones."),
    ("rank", 2, "3; 1, 2, 4; [1 0 0; 0 1 0; 0 0 1; -1 1 1]", "Right: rank, C. basis: These are not the right ones."),
    ("rank", 2, "3; [0 0 4 -2; -2 -4 4 -6; 0 4 0 5]; [1 0 0; 0 1 0; 0 0 1; -1 1 1]",
     "Right: rank, C. basis: One entry is wrong: (3,4)."),
    ("eigen", 2, "-3, -5, -8; 1/√2, -1/√2, 0; 1/√6, 1/√6, -2/√6; 1/√3, 1/√3, 1/√3", "Right."),
    ("eigen", 2, "lambda=-3 (1,-1,0)/sqrt2 lambda=-5 (1,1,-2)/sqrt6 lambda=-8 (1,1,1)/sqrt3", "Right."),
    ("eigen", 2, "-3: 0.707 -0.707 0\n-5: 0.408 0.408 -0.816\n-8: 0.577 0.577 0.577", "Right."),
    ("eigen", 1, "-6; (0.7071; -0.7071); 1; (0.6; 0.8)", "Right."),
    ("eigen", 1, "lambda=1 (1,-1)/sqrt2 lambda=-6 (3,4)/5",
     "Each part is right, but lambda, e are not in the same order."),
    ("eigen", 1, "-6, 1; (1,-1)/√2, (3,4)",
     "Right: lambda. e: The directions are right, but 1 vector is not normalised."),
    ("eigen", 1, "-6 0.70711 -0.70711\n1 0.6 0.8", "Right."),
    ("eigen", 1, "λ₁ = −6: v₁ = ±(1, −1)/√2; λ₂ = 1: v₂ = ±(3, 4)/5", "Right."),
    ("select", 2, "columns 2 and 3 (r = -0.25, 0.46, -0.61)", "Right."),
    ("rank", 2, "1) rank = 3\n2) basis = {a_1, a_2, a_3}\n3) [1 0 0; 0 1 0; 0 0 1; -1 1 1]", "Right."),
    ("eigen", 1, "D = [-6 0; 0 1]; V = [1/√2 3/5; -1/√2 4/5]", "Right."),
    ("bounds", 1, "[-3 -9; -3 -9]; 4 1/2", "Right: A_1. error: This is not the right number."),
    ("cur", 2, "[0 -3 3; -3 -3 1; -3 -1 -1; -3 1 -3]; 17; p = 10/31, 19/31, 14/31, 19/31",
     "Right: CUR, error. p: Probabilities add up to 1, but these add up to 2."),
    ("power_iteration", 1, "29; 0.971, 0.243",
     "Right: lambda. x: Close, but not all digits are right: compute with more digits."),
    ("energy", 1, "20, √5; 2 components", "Right: sigma. k: This is not the right number."),
    ("determinant", 1, "trace = -12", "Still to be found: det. Not asked for, so not checked: trace."),
    ("determinant", 1, "-12; 13",
     "Right: det. The question does not ask for 13. If this is an intermediate result, give it a name."),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_reasons(case: tuple[str, int, str, str]) -> None:
    kind, difficulty, answer, message = case
    made = worked.exercise(kind, seed=41 if difficulty == 1 else 52, difficulty=difficulty)
    assert str(made.check(answer)) == message


@pytest.mark.parametrize("answer", ["not -12", "det is not -12", "det = not -12", "at least -12", "-12 perhaps"])
def test_words_are_never_dropped(answer: str) -> None:
    with pytest.raises(InputError):
        worked.exercise("determinant", seed=41).check(answer)


@pytest.mark.parametrize(("lang", "answer"), [("it", "non è -12"), ("es", "no es -12"), ("ru", "не равен -12")])
def test_negations_of_other_languages(lang: str, answer: str) -> None:
    with worked.language(lang), pytest.raises(InputError):
        worked.exercise("determinant", seed=41).check(answer)


def test_long_prose_is_read_at_once() -> None:
    """Patterns that backtrack would take hours."""
    made = worked.exercise("determinant", seed=41)
    assert made.check("-12 " + "word " * 500 + "!")
    assert not made.check("-13 " + "word " * 500 + "!")


@pytest.mark.parametrize("difficulty", [1, 2, 3])
def test_queries_have_clean_answers(difficulty: int) -> None:
    """No root inside a root: the squares of the row in concept space are fractions."""
    for seed in range(6):
        made = worked.exercise("query", seed=seed, difficulty=difficulty)
        assert all((x * x).expand().is_Rational for x in made["concepts"])
