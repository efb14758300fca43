"""Roots in words, and factored characteristic polynomials."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.worked.exercises.formulas import roots_as_signs, roots_of_factors

ROOTS = [
    "[[8, -8], [4, -4]] y el error es 3 raíz de 10",
    "[8 -8; 4 -4]; 3 radice di 10",
    "((8, -8), (4, -4)), ошибка корень из 90",
    "[8 -8; 4 -4], error 3 times the square root of 10",
    "[8 -8; 4 -4], ошибка 3 корня из 10",
]


@pytest.mark.parametrize("answer", ROOTS)
def test_roots_in_words_are_read(answer: str) -> None:
    assert worked.exercise("bounds", seed=5).check(answer)


def test_a_wrong_root_in_words_is_wrong() -> None:
    assert not worked.exercise("bounds", seed=5).check("[8 -8; 4 -4]; radice di 30")


def test_roots_of_a_polynomial_are_not_roots_of_numbers() -> None:
    assert roots_as_signs("le radici di p sono 3 e 1") == "le radici di p sono 3 e 1"
    assert roots_as_signs("the cube root of 8") == "cbrt(8)"


VECTORS = "e1 = (√2/2, √2/2), e2 = (√17/17, 4√17/17)"


SWAPPED = "e1 = (√17/17, 4√17/17), e2 = (√2/2, √2/2)"


@pytest.mark.parametrize(
    "answer",
    [f"p(λ) = (λ+5)(λ-1); {VECTORS}", f"(λ + 5)(λ − 1) = 0; {VECTORS}", f"det(M - λI) = (1 - λ)(-5 - λ); {SWAPPED}",
     f"p(λ) = (-1 + λ)(5 + λ); {SWAPPED}", f"(-λ - 5)(1 - λ) = 0; {VECTORS}"],
)  # fmt: skip
def test_a_factored_polynomial_states_the_eigenvalues(answer: str) -> None:
    assert worked.exercise("eigen", seed=5).check(answer)


def test_wrong_factors_are_wrong_eigenvalues() -> None:
    made = worked.exercise("eigen", seed=5)
    assert made.check(f"p(λ) = (λ-5)(λ+1); {VECTORS}").message == "Right: e. lambda: All signs are wrong."
    assert made.check("(λ+5)(λ-1) = 0").message == "Right so far. Still to be found: e."


@pytest.mark.parametrize(
    "text", ["(lambda - 3)(lambda - 1) = 0, lambda = 3, 1", "(lambda - 3)(lambda - 1) = 2", "(M - lambda I) x = 0",
             "lambda^2 - 4lambda + 3 = 0", "lambda = 3"]
)  # fmt: skip
def test_other_formulas_stay_as_they_are(text: str) -> None:
    assert roots_of_factors(text) == text
