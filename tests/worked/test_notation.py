"""Answers in every notation that people use: fractions, roots, Unicode, LaTeX, commas, matrices; and hostile ones."""

from __future__ import annotations

import contextlib

import pytest
import sympy as sp

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises.targets import Target
from eckart.worked.exercises.verdict import judge

HALF = (Target(("x",), "number", sp.Rational(1, 2)),)
ROOT = (Target(("x",), "number", sp.sqrt(2) / 2),)
GOLDEN = (Target(("x",), "number", (1 + sp.sqrt(5)) / 2),)
LARGE = (Target(("det",), "number", sp.Integer(1200)),)
NEGATIVE = (Target(("x",), "number", sp.Integer(-3)),)
CUBE = (Target(("x",), "number", 1 + 2 * sp.cbrt(3)),)
CONJUGATES = (Target(("lambda",), "numbers", [2 + sp.sqrt(3), 2 - sp.sqrt(3)]),)
VECTOR = (Target(("x",), "directions", sp.Matrix([1, 2]) / sp.sqrt(5)),)
MATRIX = (Target(("A",), "matrix", sp.Matrix([[1, 2], [3, 4]]) / 2),)
WIDE = (Target(("A",), "matrix", sp.Matrix([[1, 2, 3], [4, 5, 6]])),)
SET = (Target(("columns",), "set", [1, 3]),)
PAIRS = (
    Target(("lambda", "eigenvalues"), "numbers", [sp.Integer(3), sp.Integer(1)], "eigenpairs"),
    Target(("v", "eigenvectors"), "directions", sp.Matrix([[1, 1], [1, -1]]) / sp.sqrt(2), "eigenpairs"),
)
TRIPLETS = (
    Target(("sigma", "s"), "numbers", [3 * sp.sqrt(5), sp.sqrt(5)], "triplets"),
    Target(("v", "V"), "directions", sp.Matrix([[1, 1], [1, -1]]) / sp.sqrt(2), "triplets", signed=True),
    Target(("u", "U"), "directions", sp.Matrix([[1, 3], [3, -1]]) / sp.sqrt(10), "triplets", signed=True),
)
ROWS = {
    "half": (HALF, (
        "1/2", "0.5", ".5", "0,5", "½", "5e-1", "5·10^-1", "5×10⁻¹", r"\frac{1}{2}", r"$\frac12$", r"\dfrac{1}{2}",
        "2⁻¹", "50 %", r"50\%", "x = 1/2", "x: 0.5", "1⁄2", "1÷2", "≈0.5", "= 1/2", "4^(-1/2)", "1:2",
        "sqrt(0,25)", "1/2.", "the answer is 1/2")),
    "root": (ROOT, (
        "sqrt(2)/2", "√2/2", "1/√2", "2^(-1/2)", "2**(-1/2)", "0.7071", "0,7071", "7.071e-1", r"\frac{\sqrt{2}}{2}",
        r"1/\sqrt2", "√½", "½√2", "1/2 sqrt(2)", "sqrt 2 / 2", "√0.5", "(1/2)^0.5", "SQRT(2)/2", "Sqrt[2]/2",
        "sqrt{2}/2", "0.707106781186547524400844362104849")),
    "golden": (GOLDEN, (
        "(1+√5)/2", "½ (1 + √5)", r"\frac{1+\sqrt{5}}{2}", r"\frac{1}{2}\left(1+\sqrt{5}\right)", "0.5+sqrt(5)/2",
        "2/(sqrt(5)-1)", "(1+5^0.5)/2", "(1 + sqrt 5)/2", "1,618")),
    "large": (LARGE, (
        "1200", "1 200", "1,200", "1\u202f200", "1'200", "1.2e3", "1.2×10³",
        "det A = 1200", "det(A) = 1200", "|A| = 1200")),
    "negative": (NEGATIVE, ("-3", "−3", "–3", "- 3", "-√9", "-3,0", r"-\frac{9}{3}", "0-3")),
    "cube": (CUBE, ("1+2*3^(1/3)", "1 + 2 cbrt(3)", "1+2∛3", r"1+2\sqrt[3]{3}", "1 + ∛24", "3,884")),
    "conjugates": (CONJUGATES, (
        "2±√3", "2 +- √3", "2 +/- sqrt(3)", r"2 \pm \sqrt{3}", "λ₁,₂ = 2 ± √3", "λ_{1,2} = 2 ± √3", "2-√3 e 2+√3",
        "2 + √3 и 2 - √3", "λ = 2+√3 ∨ λ = 2-√3", "lambda1 = 2+√3, lambda2 = 2-√3", "3,732; 0,268", "{2-√3, 2+√3}")),
    "vector": (VECTOR, (
        "(1,2)/√5", "(-1,-2)/√5", "[1;2]/√5", "1/√5 (1, 2)", "1/√5, 2/√5", "(0,447; 0,894)", "⟨1/√5, 2/√5⟩", "<1,2>/√5",
        r"\frac{1}{\sqrt{5}}\begin{pmatrix}1\\2\end{pmatrix}", "x = (1 2)^T/√5", "[[1],[2]]/√5", "(1,2)/2.236",
        "(1,2) / 5^(1/2)")),
    "matrix": (MATRIX, (
        "[1/2 1; 3/2 2]", "½[1 2; 3 4]", "[0,5 1; 1,5 2]", "0.5 1; 1.5 2", "0.5 1\n1.5 2", "(0,5; 1), (1,5; 2)",
        r"\begin{bmatrix}\frac12&1\\\frac32&2\end{bmatrix}", r"\frac{1}{2}\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        "Matrix([[1/2, 1], [3/2, 2]])", "np.array([[0.5,1],[1.5,2]])", "| 1/2 1 |\n| 3/2 2 |", "⎡ 1/2  1 ⎤\n⎣ 3/2  2 ⎦",
        "1/2 1 3/2 2", "{{1/2,1},{3/2,2}}")),
    "wide": (WIDE, ("1 2 3; 4 5 6", "(1,2,3),(4,5,6)", "(1,2,3);(4,5,6)", "1,2,3\n4,5,6")),
    "set": (SET, ("3, 1", "{1,3}", "columns 1 and 3", "colonne 1 e 3", "1 и 3", "x1, x3", "x_1 and x_3")),
    "pairs": (PAIRS, (
        "λ₁=3; λ₂=1; v₁=(1/√2, 1/√2); v₂=(1/√2, −1/√2)", "λ1=3, v1=(1,1)/√2; λ2=1, v2=(1,-1)/√2",
        "1,3; (1,-1)/√2; (1,1)/√2", "3, 1; 1/√2 (1, 1); 1/√2 (1, -1)", "3 and 1; (1,1)/√2 and (1,-1)/√2",
        "lambda = 3; 1; v = (0,7071; 0,7071); (0,7071; -0,7071)",
        "lambda1 = 1; lambda2 = 3; v1 = (1,-1)/√2; v2 = (1,1)/√2",
        r"\lambda = 3, 1; v = \frac{1}{\sqrt{2}}\begin{pmatrix}1 & 1\\1 & -1\end{pmatrix}",
        "eigenvalues 3, 1; eigenvectors (1,1)/√2, (1,-1)/√2", "lambda = 3,1; v1 = 1/√2, 1/√2; v2 = 1/√2, -1/√2")),
    "triplets": (TRIPLETS, (
        "Σ = diag(3√5, √5); V = [1 1; 1 -1]/√2; U = [1 3; 3 -1]/√10",
        "Σ = [3√5 0; 0 √5]; V = [1 1; 1 -1]/√2; U = [1 3; 3 -1]/√10",
        "s = 3√5, √5; v = [-1 1; -1 -1]/√2; u = [-1 3; -3 -1]/√10")),
}  # fmt: skip


@pytest.mark.parametrize("name", list(ROWS))
def test_right_answers_in_many_notations(name: str) -> None:
    targets, answers = ROWS[name]
    refused = [(answer, judge(answer, targets).message) for answer in answers if not judge(answer, targets)]
    assert not refused


@pytest.mark.parametrize(("targets", "answer", "status", "words"), [
    (HALF, "0.51", "wrong", "more digits"), (HALF, "½ + 1", "wrong", "factor 3"), (ROOT, "0.70711678", "wrong", ""),
    (LARGE, "1.2", "wrong", ""), (NEGATIVE, "--3", "wrong", "sign"), (CUBE, "1+2√3", "wrong", ""),
    (CONJUGATES, "2±√2", "wrong", ""), (CONJUGATES, "2+√3", "partial", "1 number is missing"),
    (VECTOR, "(1,2)", "almost", "not normalised"), (VECTOR, "(2,1)/√5", "wrong", ""),
    (VECTOR, "(1,2,0)/√5", "wrong", ""),
    (MATRIX, "[1/2 3/2; 1 2]", "almost", "transpose"), (MATRIX, "[1/2 1; 3/2 -2]", "wrong", "(2,2)"),
    (WIDE, "[4 5 6; 1 2 3]", "wrong", ""), (WIDE, "(1,4),(2,5),(3,6)", "almost", "transpose"),
    (SET, "1, 2", "wrong", ""), (SET, "1", "partial", ""), (SET, "1, 3, 3", "wrong", ""),
    # Some parts right is not everything right.
    (PAIRS, "lambda=3,1; v1=(1,1)/√2", "partial", "1 vector is missing"),
    (PAIRS, "3, 1; (1,1); (1,-1)", "almost", "Right: lambda. v: The directions are right"),
    (PAIRS, "lambda = 3, 1; v = (1,1)/√2, (1,1)/√2", "wrong", "1 of 2 vectors"),
    # Eigenvectors must stand in the order of the eigenvalues, and u and v must agree in sign.
    (PAIRS, "lambda = 1, 3; v = [1 1; 1 -1]/√2", "almost", "not in the same order"),
    (PAIRS, "λ1=3; λ2=1; v1=(1,-1)/√2; v2=(1,1)/√2", "almost", "not in the same order"),
    (TRIPLETS, "s = 3√5, √5; v = [1 1; 1 -1]/√2; u = [1 -3; 3 1]/√10", "almost", "signs of v, u"),
    (TRIPLETS, "s = 3√5, √5; u = [1 1; 1 -1]/√2; v = [1 3; 3 -1]/√10", "wrong", ""),
])  # fmt: skip
def test_wrong_answers_are_not_accepted(targets: tuple[Target, ...], answer: str, status: str, words: str) -> None:
    verdict = judge(answer, targets)
    assert verdict.status == status
    assert words in verdict.message


def test_signs_of_a_matrix_that_are_given() -> None:
    target = (Target(("Q",), "matrix", sp.Matrix([[3, -4], [4, 3]]) / 5),)
    assert "except for their signs" in judge("[3/5 4/5; 4/5 -3/5]", target).message


HOSTILE = (
    "", "   ", ";", "()", "[]", "=", "__import__('os').system('ls')", "exec('1')", "9**9**9**9", "((((9^9)^9)^9)^9)^9",
    "2^(10^10)", "10^(10^(10^10))", "(" * 1900 + "1" + ")" * 1900, "[" * 1900 + "1" + "]" * 1900, "+" * 3900 + "x",
    "1" * 3999 + "^9", "sqrt(" * 30 + "2" + ")" * 30, "1e999999999", "1/0", "0/0", "sqrt(-1)", "0^0", "0^(-1)", "nan",
    "1+i", "5!", "\x00", "\u202e1", "1..2..3", "((1)", "(1))", "]1[", "[1 2; 3]", r"\frac{1}", r"\frac{1}{0}",
    r"\begin{pmatrix}", r"\input{/etc/passwd}", "${IFS}", "{0.__class__}", "a" * 4000, "😀", "±" * 9, "9" * 5000,
    "(" * 10**6,
)  # fmt: skip


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_answers_are_refused(answer: str) -> None:
    for targets in (PAIRS, ROOT, MATRIX):
        with contextlib.suppress(InputError):
            assert judge(answer, targets).status not in {"right", "almost"}


AMBIGUOUS = {
    "0,5; 1,5": (("numbers", [sp.Rational(1, 2), sp.Rational(3, 2)]), ("matrix", sp.Matrix([[0, 5], [1, 5]]))),
    "2 √3": (("number", 2 * sp.sqrt(3)), ("numbers", [sp.Integer(2), sp.sqrt(3)])),
}


@pytest.mark.parametrize("answer", AMBIGUOUS)
def test_what_can_be_read_in_two_ways_is(answer: str) -> None:
    for kind, value in AMBIGUOUS[answer]:
        assert judge(answer, (Target(("x",), kind, value),)).status == "right"


def test_a_comma_with_a_space_is_no_decimal_comma() -> None:
    assert judge("3, 1", (Target(("x",), "numbers", [sp.Integer(3), sp.Integer(1)]),)).status == "right"
    with contextlib.suppress(InputError):
        assert judge("3, 1", (Target(("x",), "number", sp.Rational(31, 10)),)).status != "right"


def test_reasons_are_in_the_language_of_the_exercise() -> None:
    with worked.language("it"):
        made = worked.exercise("determinant", seed=5)
    with pytest.raises(InputError, match="La risposta non è leggibile"):
        made.check("boh?")
    assert "segno" in made.check(str(-made["determinant"])).message
