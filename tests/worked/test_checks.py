"""Answers as people type them, right and wrong: 200 of each, and the reasons given."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import sympy as sp

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises import Exercise
from eckart.worked.exercises.targets import Target
from eckart.worked.exercises.verdict import judge
from tests.worked import notations

KINDS = ("rank", "determinant", "gram_schmidt", "eigen", "svd", "pseudo_inverse", "bounds", "energy", "query", "pca",
         "project", "select", "correlation", "isomap", "missing", "diagonalize", "cur", "nmf", "kernel_pca",
         "power_iteration")  # fmt: skip
SEEDS = (11, 12)


@cache
def made(kind: str, seed: int) -> Exercise:
    return worked.exercise(kind, seed=seed)


def answers(write: Callable[..., list[str]]) -> list[tuple[str, int, str]]:
    """Five answers to each of 40 exercises, in random notations."""
    return [
        (kind, seed, answer)
        for place, (kind, seed) in enumerate(itertools.product(KINDS, SEEDS))
        for answer in write(made(kind, seed), np.random.default_rng([21, place]), 5)
    ]


def test_two_hundred_right_answers() -> None:
    given = answers(notations.right)
    assert len(given) == 200
    refused = [(answer, made(kind, seed).check(answer).message) for kind, seed, answer in given
               if made(kind, seed).check(answer).status != "right"]  # fmt: skip
    assert not refused, refused[:3]


def test_two_hundred_wrong_answers() -> None:
    given = answers(notations.wrong)
    assert len(given) == 200
    accepted = [(kind, seed, answer) for kind, seed, answer in given
                if made(kind, seed).check(answer).status == "right"]  # fmt: skip
    assert not accepted, accepted[:3]


PAIR = (
    Target(("lambda",), "numbers", [sp.Integer(3), sp.Integer(1)]),
    Target(("v",), "directions", sp.Matrix([[1, 1], [1, -1]]) / sp.sqrt(2)),
)


@pytest.mark.parametrize(("answer", "status", "words"), [
    ("3, 1", "partial", "Still to be found: v"),
    ("1; 3; (1, 1)/sqrt(2); (1, -1)/sqrt(2)", "right", "Right"),
    ("lambda = 3, 1; v = [1 1; 1 -1]/√2", "right", "Right"),
    ("lambda = 3, 1; v = [1 1; 1 -1]", "almost", "not normalised"),
    ("λ1 = 3; λ2 = 1; v1 = (1, 1)/sqrt2; v2 = (-1, 1)/sqrt2", "right", "Right"),
    ("lambda = 3; v = [1 1; 1 -1]/√2", "partial", "1 number is missing"),
    ("lambda = 9, 1; v = [1 1; 1 -1]/√2", "wrong", "1 of 2 numbers is right. This is the square"),
    ("lambda = -3, -1; v = [1 1; 1 -1]/√2", "wrong", "sign"),
    ("lambda = 3, 1; v = [1 1; 2 -1]/√2", "wrong", "1 of 2 vectors is right"),
    ("v = (0.71, 0.71)", "partial", "1 vector is missing"),
    ("3, 5, 7, 9", "wrong", "1 of 2 numbers is right"),
    ("3, 1; (1, 1)/sqrt(2); 7; 8", "wrong", "Right: lambda. v: Right so far, but 1 vector is missing. The"),
])  # fmt: skip
def test_what_is_wrong_is_said(answer: str, status: str, words: str) -> None:
    verdict = judge(answer, PAIR)
    assert (verdict.status, words in verdict.message) == (status, True), verdict


@pytest.mark.parametrize(("answer", "words"), [
    ("-3", "sign"), ("9", "square of"), ("1/3", "reciprocal"), ("sqrt(3)", "square root"), ("3.05", "more digits"),
    ("6", "not the right number"), ("17", "not the right number"), ("3, 1", "asks for one number"),
])  # fmt: skip
def test_slips_of_one_number(answer: str, words: str) -> None:
    verdict = judge(answer, (Target(("x",), "number", sp.Integer(3)),))
    assert verdict.status == "wrong"
    assert words in verdict.message


def test_the_factor_of_a_fraction_is_said() -> None:
    verdict = judge("3", (Target(("x",), "number", sp.Rational(3, 2)),))
    assert "factor 2" in verdict.message


TWELVE = (Target(("det", "determinant"), "number", sp.Integer(12)),)


@pytest.mark.parametrize("name", [
    "det(2A)", "det(-A)", "det(A^-1)", "det(A^T)", "2 det A", "-det", "1/det", "det(A)/2", "det^2", "det^3", "trace",
    "rank", "tr(A)", "k", "A", "|det A|", "sum", "sum of the eigenvalues", "det of 2A", "determinant of the inverse",
])  # fmt: skip
def test_another_quantity_is_never_read_as_the_one_asked_for(name: str) -> None:
    verdict = judge(f"{name} = 12", TWELVE)
    assert verdict.status == "wrong"
    assert "Still to be found: det. Not asked for, so not checked: " in verdict.message
    assert judge(f"{name} = 5; det = 12", TWELVE).status == "right"


@pytest.mark.parametrize("answer", [
    "~12", "~ 12", "ca. 12", "12 (exact)", "12 (by Chio)", "det -> 12", "det → 12", "⇒ det = 12", "det(A) => 12",
    "det(A)=12", "|A| = 12", "Det[A] = 12", "det A = 12 ≠ 0", "the determinant of A is 12", "1. det = 12", "d = 12",
    "determinante di A = 12", "определитель матрицы A: 12", "determinant of A by Chio's rule = 12", r"\boxed{12}",
    r"\begin{vmatrix} 3 & 0 \\ 0 & 4 \end{vmatrix} = 12", "det = |A| = 12", "12 = det(A)", "det = 12 ✓",
])  # fmt: skip
def test_one_number_in_the_words_of_a_student(answer: str) -> None:
    assert judge(answer, TWELVE).status == "right"


def test_a_square_does_not_tell_the_sign() -> None:
    assert judge("det^2 = -12", (Target(("det",), "number", sp.Integer(-12)),)).status == "wrong"
    sigma = (Target(("sigma",), "numbers", [sp.Integer(3), sp.Integer(2)], unsigned=True),)
    assert judge("sigma^2 = 9, 4", sigma).status == "right"
    assert "sign" in judge("sigma^2 = -9, 4", sigma).message


def test_a_share_is_not_a_count() -> None:
    targets = (Target(("k",), "count", 1), Target(("share",), "number", sp.Rational(9, 13), optional=True))
    assert "This is a percentage" in judge("k = 100 %", targets).message
    assert [judge(answer, targets).status for answer in ("k = 1 (69.2 %)", "k = 1: 69.2 %")] == ["right", "right"]
    assert "This is a percentage" in judge("1200 %", TWELVE).message


EIGENPAIRS = (
    Target(("lambda", "eigenvalues"), "numbers", [sp.Integer(3), sp.Integer(-6)], "eigenpairs"),
    Target(("e", "v", "eigenvectors"), "directions", sp.Matrix([[1, -2], [2, 1]]) / sp.sqrt(5), "eigenpairs"),
)


@pytest.mark.parametrize(("answer", "status", "words"), [
    ("E(-6) = (-2, 1)/√5; E(3) = (1, 2)/√5", "right", "Right"),
    ("E_{-6} = span{(-2, 1)/√5}; E_3 = span{(1, 2)/√5}", "right", "Right"),
    ("lambda = 3, -6; E(-6) = (-2, 1)/√5; E(3) = (1, 2)/√5", "right", "Right"),
    ("v_{λ=3} = (1, 2)/√5; v_{λ=-6} = (-2, 1)/√5", "right", "Right"),
    ("λ1 = 3; λ2 = -6; λ1 -> (1, 2)/√5; λ2 -> (-2, 1)/√5", "right", "Right"),
    ("E(3) = (-2, 1)/√5; E(-6) = (1, 2)/√5", "almost", "not in the same order"),
    ("E(3) = (1, 2)/√5", "partial", "1 vector is missing"),
    ("3, -6; v = [[1, 2], [-2, 1]]/√5", "right", "Right"),
    ("3, -6; [[1, 2], [-2, 1]]/√5", "right", "Right"),
    ("3, -6; V = [1 2; -2 1]/√5", "almost", "are written as rows"),
    ("3, -6; v1 = (1, -2)/√5, v2 = (2, 1)/√5", "wrong", "The vectors are not right"),
    ("mu = 3, -6; w1 = (1, 2)/√5; w2 = (-2, 1)/√5", "right", "Right"),
    ("spectrum: 3, -6; unit eigenvectors: (1, 2)/√5, (-2, 1)/√5", "right", "Right"),
    ("sigma = 3, -6; v = (1, 2)/√5, (-2, 1)/√5", "partial", "Not asked for, so not checked: sigma"),
    (r"\lambda_1 = 3, \vec{v}_1 = \frac{1}{\sqrt5}(1, 2); \lambda_2 = -6, \vec v_2 = (-2, 1)/\sqrt5", "right", "Right"),
    ("3, -6, 1; (1, 2)/√5, (-2, 1)/√5", "wrong", "lambda: The answer contains numbers that are not part"),
])  # fmt: skip
def test_eigenvectors_by_eigenvalue_and_in_rows(answer: str, status: str, words: str) -> None:
    verdict = judge(answer, EIGENPAIRS)
    assert (verdict.status, words in verdict.message) == (status, True), verdict


@pytest.mark.parametrize(("answer", "words"), [
    ("1-4, 2-3; [0 1 2; 1 0 1; 2 1 0]; 3, -1, 2, 1", "edges: Right so far, but something is missing"),
    ("1-4 2-3 3-4; [0 1 2; 1 0 1; 2 1 0]; 3, -1, 2, 5", "y: One entry is wrong: 4"),
    ("1-4,2-3,3-4; [0 1 2; 1 0 1; 2 1 0]; 3, -1, 2, 1", "Right."),
])  # fmt: skip
def test_edges_next_to_a_matrix(answer: str, words: str) -> None:
    paths = sp.Matrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    targets = (Target(("edges",), "edges", [(1, 4), (2, 3), (3, 4)]), Target(("D",), "matrix", paths),
               Target(("y",), "scores", sp.Matrix([3, -1, 2, 1])))  # fmt: skip
    assert words in judge(answer, targets).message


@pytest.mark.parametrize(("answer", "status"), [
    ("x_{5,2} = 14", "right"), ("x52 = 14", "right"), ("x[5,2] = 14", "right"), ("x₅₂ = 14", "right"),
    ("x = 14", "right"), ("x_{2,5} = 14", "wrong"), ("x42 = 14", "wrong"), ("x1 = 14", "wrong"),
])  # fmt: skip
def test_the_place_of_an_entry(answer: str, status: str) -> None:
    assert judge(answer, (Target(("x",), "list", [sp.Integer(14)], label="x_{5,2}"),)).status == status


@pytest.mark.parametrize(("answer", "status", "words"), [
    ("[1 3; 2 4]", "almost", "transpose"), ("[1 2; 3 5]", "wrong", "(2,2)"), ("[2 4; 6 8]", "wrong", "factor 2"),
    ("[-1 -2; -3 -4]", "wrong", "signs"), ("[1 2 3]", "wrong", "1 x 3"), ("1 2 3 4", "right", "Right"),
])  # fmt: skip
def test_slips_of_a_matrix(answer: str, status: str, words: str) -> None:
    verdict = judge(answer, (Target(("A",), "matrix", sp.Matrix([[1, 2], [3, 4]])),))
    assert (verdict.status, words in verdict.message) == (status, True), verdict


@pytest.mark.parametrize(("answer", "status"), [
    ("0.7071", "right"), ("0.71", "right"), ("0.7", "wrong"), ("0.72", "wrong"), ("0,707", "right"),
    ("0.70710", "right"), ("0.708", "wrong"), ("$0{,}7071$", "right"), ("\\frac{\\sqrt 2}2", "right"), ("½√2", "right"),
])  # fmt: skip
def test_decimals_are_rounded_or_cut_off_with_enough_digits(answer: str, status: str) -> None:
    assert judge(answer, (Target(("x",), "number", sp.sqrt(2) / 2),)).status == status


@pytest.mark.parametrize(("answer", "value"), [
    ("-2 1/3", sp.Rational(-7, 3)), ("12 000,5", sp.Rational(24001, 2)), ("12.000,5", sp.Rational(24001, 2)),
    ("12,000.5", sp.Rational(24001, 2)), ("1.2·10⁴", 12000), ("12'000", 12000), ("2⅓", sp.Rational(7, 3)),
])  # fmt: skip
def test_mixed_and_grouped_numbers(answer: str, value: sp.Rational) -> None:
    assert judge(answer, (Target(("x",), "number", sp.sympify(value)),)).status == "right"


@pytest.mark.parametrize("answer", [
    "[1 2\n 3 4]", "[[1, 2],\n [3, 4]]", "⎡ 1  2 ⎤\n⎣ 3  4 ⎦", "1 2\n3 4", "A³ = [\n1 2\n3 4\n]", "| 1 2 |\n| 3 4 |",
    r"A^{3} = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
])  # fmt: skip
def test_matrices_on_several_lines(answer: str) -> None:
    assert judge(answer, (Target(("A^3",), "scores", sp.Matrix([[1, 2], [3, 4]])),)).status == "right"


@pytest.mark.parametrize("answer", ["", "what?", "[1 2; 3]", "__import__('os')", "9" * 5000, "\\frac" * 700,
                                    "\\sqrt{" * 700, "9**9**9", "10^10^10", "(" * 3000, "a " * 1999])  # fmt: skip
def test_nonsense_is_refused(answer: str) -> None:
    with pytest.raises(InputError):
        judge(answer, PAIR)


@pytest.mark.parametrize(("answer", "status", "words"), [
    ("lambda = 2,5; 1\nv = [0,6 0,8; 0,8 -0,6]", "right", "Right"),
    ("2,5; 1\n(0,6; 0,8), (0,8; -0,6)", "right", "Right"),
    ("2,5, 1\n[0,6 0,8; 0,8 -0,6]", "right", "Right"),
    (r"\lambda = 2{,}5, 1; v = \begin{pmatrix} 0,6 & 0,8 \\ 0,8 & -0,6 \end{pmatrix}", "right", "Right"),
    (r"\frac{5 \cdot 1}{2}, 1; [\frac{3}{5} \frac{4}{5}; \frac{4}{5} -\frac{3}{5}]", "right", "Right"),
    ("[5/2 0; 0 1]; [(3/5) (4/5); (4/5) (-3/5)]", "right", "Right"),
    ("lambda = 2,7; 1\nv = [0,6 0,8; 0,8 -0,6]", "wrong", "lambda: 1 of 2 numbers is right"),
    ("lambda = 2,5; 1\nv = [0,6 0,9; 0,8 -0,6]", "wrong", "v: 1 of 2 vectors"),
])  # fmt: skip
def test_answers_with_commas_and_fractions(answer: str, status: str, words: str) -> None:
    """The reading that fits the question is judged, also where a wrong answer could be read in another way."""
    targets = (Target(("lambda",), "numbers", [sp.Rational(5, 2), sp.Integer(1)], "pairs"),
               Target(("v",), "directions", sp.Matrix([[3, 4], [4, -3]]) / 5, "pairs"))  # fmt: skip
    verdict = judge(answer, targets)
    assert (verdict.status, words in verdict.message) == (status, True), verdict


@pytest.mark.parametrize(("answer", "words"), [("-2,7", "not the right number"), ("2,55", "more digits")])
def test_one_number_with_a_comma(answer: str, words: str) -> None:
    assert words in judge(answer, (Target(("x",), "number", sp.Rational(5, 2)),)).message


def test_variances_are_accepted_for_eigenvalues() -> None:
    """The question leaves the divisor of the covariance matrix open; numpy.cov divides by n - 1."""
    exercise = made("pca", 11)
    table = np.array(exercise.given.tolist(), dtype=float)
    values = np.linalg.eigvalsh(np.cov(table.T))
    for factor, status in ((1.0, "partial"), ((len(table) - 1) / len(table), "partial"), (0.9, "wrong")):
        answer = ", ".join(f"{factor * value:.6f}" for value in values[::-1])
        assert exercise.check(f"lambda = {answer}").status == status
