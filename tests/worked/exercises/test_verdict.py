"""Answers as people write them: pairs, norms, transposes, results on the way, words of four languages."""

from __future__ import annotations

import re

import numpy as np
import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises import KINDS
from eckart.worked.messages import tr

D = "[0 7 6 4 9; 7 0 1 3 2; 6 1 0 2 3; 4 3 2 0 5; 9 2 3 5 0]"
CASES = [
    ("eigen", "en", "λ₁ = 39: (1, 2, -2)/3; λ₂ = 12: (2, -2, -1)/3; λ₃ = -24: (2, 1, 2)/3", "right"),
    ("eigen", "en", "39 -> (1,2,-2)/3, 12 -> (2,-2,-1)/3, -24 -> (2,1,2)/3", "right"),
    ("eigen", "en", "39 => (1,2,-2)/3, 12 => (2,-2,-1)/3, minus 24 => (2,1,2)/3", "right"),
    ("eigen", "it", "meno 39: (1,2,-2)/3; 12: (2,-2,-1)/3; -24: (2,1,2)/3", "wrong"),
    ("eigen", "en", "39 -> (1,2,-2)/3, 12 -> (2,1,2)/3, -24 -> (2,-2,-1)/3", "almost"),
    ("eigen", "en", "(39, [1/3, 2/3, -2/3]), (12, [2/3, -2/3, -1/3]), (-24, [2/3, 1/3, 2/3])", "right"),
    ("eigen", "en", "39: (1/3, 2/3, -2/3)^T\n12: (2/3, -2/3, -1/3)^T\n-24: (2/3, 1/3, 2/3)^T", "right"),
    ("eigen", "en", "{39, 12, -24}, {(1/3,2/3,-2/3), (2/3,-2/3,-1/3), (2/3,1/3,2/3)}", "right"),
    ("eigen", "ru",
     "собственные значения 39; 12; -24, собственные векторы (1;2;-2)/3, (2;-2;-1)/3, (2;1;2)/3", "right"),
    ("rank", "it",
     "rango(A) = 3; base: righe 1, 2, 3; coordinate: (1,0,0), (0,1,0), (0,0,1), (-2/3, 2/3, 2/3)", "right"),
    ("rank", "it",
     "rango(A) = 3; base: righe 1, 2, 4; coordinate: (1,0,0), (0,1,0), (0,0,1), (-2/3, 2/3, 2/3)", "wrong"),
    ("rank", "en", "rank 3\nbasis 1 2 3\nrow1: (1,0,0)\nrow2: (0,1,0)\nrow3: (0,0,1)\nrow4: (-2/3,2/3,2/3)", "right"),
    ("rank", "en", "3; B = [2 3 3 -4; -3 -4 2 -1; 2 4 7 -6]; C = [1 0 0; 0 1 0; 0 0 1; -2/3 2/3 2/3]", "right"),
    ("power_iteration", "en", "-6, [2/sqrt5, -1/sqrt5]", "right"),
    ("power_iteration", "it", "λ = -6; x1 = 0,894; x2 = -0,447", "right"),
    ("svd", "en",
     "U = [-2/√5 0 1/√5; -1/√5 0 -2/√5; 0 -1 0]; Σ = [15√5 0; 0 5; 0 0]; V = [0.6 0.8; 0.8 -0.6]", "right"),
    ("svd", "en",
     "U = [-2/√5 0 1/√5; -1/√5 0 2/√5; 0 -1 0]; Σ = [15√5 0; 0 5; 0 0]; V = [0.6 0.8; 0.8 -0.6]", "wrong"),
    ("pseudo_inverse", "en", "A⁺ = 1/27 * [[-2,-4,5],[16,5,-13],[14,1,-8]]", "right"),
    ("pseudo_inverse", "en", r"A^\dagger = \frac1{27}\begin{pmatrix}-2&-4&5\\16&5&-13\\14&1&-8\end{pmatrix}", "right"),
    ("pseudo_inverse", "en", "[-2 16 14; -4 5 1; 5 -13 -8]^T/27", "right"),
    ("bounds", "en", "A1 = [0 0 0; 6 3 6; -6 -3 -6]; ||A - A1||_F = 14.70", "right"),
    ("bounds", "es", "A_1 = [0 0 0; 6 3 6; -6 -3 -6]; ‖A - A_1‖_F = 6√6 ≈ 14,697", "right"),
    ("bounds", "en", "A_1 = [0 0 0; 6 3 6; -6 -3 -6]; error = 6√6 ≈ 15.9", "almost"),
    ("diagonalize", "en",
     "V = [0 2 1; 3 1 -1; 3 -1 1]; D = diag(1,-1,-10); A^3 = V D^3 V^-1 = [-334 333 -333; 333 -333 334; -333 334 -333]",
     "right"),
    ("diagonalize", "en",
     "V = [0 2 1; 3 1 -1; 3 -1 1]; D = diag(1,-1,-10); A^3: \n-334 333 -333\n333 -333 334\n-333 334 -333",
     "right"),
    ("diagonalize", "en",
     "V = [2 0 1; 1 3 -1; -1 3 1]; D = diag(1,-1,-10); A^3 = [-334 333 -333; 333 -333 334; -333 334 -333]",
     "almost"),
    ("project", "en", "z1 = -4.992; z2 = -3.328; d1^2 = 56.08; d2^2 = 73.92", "right"),
    ("project", "ru", "z' = -4,992 ; -3,328 \n d² = 56,08 ; 73,92", "right"),
    ("correlation", "en", "r = 0.794; v = (2,1)/√5, (-1,2)/√5; w = (1,1)/√2, (1,-1)/√2", "right"),
    ("missing", "en", "x(1,1) = 13", "right"),
    ("cur", "en",
     "C U R = [1 -3 1; -2 0 -3; -20/9 2 -3; 1/3 -3 0]; ||A-CUR||^2 = 15.83; p = 1/4, 1/4, 1/4, 1/4", "wrong"),
    ("isomap", "en", f"1-4, 2-3, 2-5, 3-4; D = {D}; y1 = 5.2, y2 = -1.8, y3= -0.8, y4= 1.2, y5 = -3.8", "right"),
    ("isomap", "en", f"edges: (1,4), (2,3), (2,5), (3,4); D = {D}; y = 5.2, -1.8, -0.8, 1.2, -3.8", "right"),
    ("determinant", "en", "det A = -36 + 48 = 12", "right"),
    ("determinant", "en", "12 .", "right"),
    ("select", "en", "r1=-0.632 r2=0.159 r3=0.553 columns 1 and 3", "right"),
    ("gram_schmidt", "en",
     "q1=(-1,-1,1)/√3, q2=(-1,-1,-2)/√6, q3=(-1,1,0)/√2; R=[√3 5/√3 -2/√3; 0 2/√6 -8/√6; 0 0 √2]", "right"),
    ("gram_schmidt", "en",
     "q1=(-1,-1,1)/√3, q2=(1,1,2)/√6, q3=(-1,1,0)/√2; R=[√3 5/√3 -2/√3; 0 2/√6 -8/√6; 0 0 √2]", "wrong"),
    ("determinant", "en", "det A = 12 = 11", "almost"),
    ("determinant", "en", "np.float64(12.000000000000004)", "right"),
    ("determinant", "en", "12.00000004", "wrong"),
    ("determinant", "en", "det^2 = 12", "wrong"),
    ("determinant", "en", "det^2 = 144", "wrong"),
    ("eigen", "en", "λ² = 39, 12, -24; (1,2,-2)/3; (2,-2,-1)/3; (2,1,2)/3", "partial"),
    ("project", "en", "z1 = -4.992; z2 = -3.328; d1^2 = 56.09; d2^2 = 73.92", "wrong"),
    ("power_iteration", "en", "-6.000000000000001; [[0.8944271909999159], [-0.4472135954999579]]", "right"),
    ("power_iteration", "en", "-6.000000000000001; [[0.8944271909999159], [-0.4472145954999579]]", "almost"),
    ("isomap", "en", f"1-4, 2-3, 2-5, 3-4; D = {D}; y = [ 5.2 -1.8 -0.8\n  1.2 -3.8]", "right"),
    ("isomap", "en", f"1-4, 2-3, 2-5, 3-4; D = {D}; y = [ 5.2 -1.8 -0.8\n -3.8  1.2]", "wrong"),
    ("determinant", "en", "detA = 12", "right"),
    ("power_iteration", "en", "lambda1 is -6 and e1 is (2, -1)/√5", "right"),
    ("power_iteration", "en", "lambda1 is 6 and e1 is (2, -1)/√5", "wrong"),
    ("diagonalize", "en",
     "V is [0 2 1; 3 1 -1; 3 -1 1] and D is diag(1,-1,-10) and A^3 is [-334 333 -333; 333 -333 334; -333 334 -333]",
     "right"),
    ("select", "en", "r1=-0.632 r2=0.159 r3=0.553, so keep the first and third columns", "right"),
    ("select", "en", "r1=-0.632 r2=0.159 r3=0.553, so keep the first and second columns", "wrong"),
    ("select", "it", "prima e terza colonna; r = (-0,632; 0,159; 0,553)", "right"),
    ("select", "es", "primera y tercera columnas; r = (-0,632; 0,159; 0,553)", "right"),
    ("select", "ru", "первый и третий столбцы; r = (-0,632; 0,159; 0,553)", "right"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_notations(case: tuple[str, str, str, str]) -> None:
    kind, language, answer, status = case
    with worked.language(language):
        verdict = worked.exercise(kind, seed=777, difficulty=2).check(answer)
    assert verdict.status == status, verdict.message


@pytest.mark.parametrize("name", ["V^T", "Vt", "VT", "Vh"])
def test_output_of_numpy_is_an_answer(name: str) -> None:
    """All digits of double precision, and 1e-17 for 0."""
    made = worked.exercise("svd", seed=31, difficulty=3)
    u, s, vt = np.linalg.svd(np.array(made.given.tolist(), dtype=float), full_matrices=False)
    for show in (str, repr, lambda x: repr(x.tolist())):
        assert made.check(f"U = {show(u)}; s = {show(s)}; {name} = {show(vt)}")
        assert not made.check(f"U = {show(u)}; s = {show(s * (1 + 1e-8))}; {name} = {show(vt)}")


def test_named_results_of_numpy_are_answers() -> None:
    """EigResult(eigenvalues=..., eigenvectors=...) and SVDResult(U=..., S=..., Vh=...), as NumPy prints them."""
    for kind, solve in (("eigen", np.linalg.eig), ("svd", np.linalg.svd), ("gram_schmidt", np.linalg.qr)):
        made = worked.exercise(kind, seed=31, difficulty=1, size=(2, 2))
        result = solve(np.array(made.given.tolist(), dtype=float))
        assert re.match(r"\w+Result\(", repr(result))
        if kind != "gram_schmidt" or (np.diag(result[1]) > 0).all():
            assert made.check(repr(result))
        assert not made.check(repr(result).replace("0.", "0.1"))


def test_one_number_in_parentheses_may_have_a_decimal_comma() -> None:
    with worked.language("it"):
        made = worked.exercise("project", seed=20)
        assert made.check("Z' = (2,7735); d = (105,3077)")
        assert not made.check("Z' = (2,7835); d = (105,3077)")


@pytest.mark.parametrize(("kind", "text", "right"), [
    ("rank", "rk A = 2\nbasis: rows 1, 2\nrow 1: (1, 0)\nrow 2: (0, 1)\nrow 3: (2, 3)", True),
    ("rank", "rk A = 2\nbasis: rows 1, 2\nrow 1: (1, 0)\nrow 2: (0, 1)\nrow 3: (3, 2)", False),
    ("eigen", "singular values 4, 1; (3/5, 4/5), (1, 1)/√2", False),
    ("power_iteration", "λ → -28, x → (3, -2)/√13", True),
    ("power_iteration", "λ → 28, x → (3, -2)/√13", False),
    ("select", "x2, r = 0.2481 and 0.9810", True),
    ("select", "x1, r = 0.2481 and 0.9810", False),
    ("select", "r(x1, y) = 0.248, r(x2, y) = 0.981, column 2", True),
    ("select", "r(x2, y) = 0.248, r(x1, y) = 0.981, column 2", False),
    ("gram_schmidt", "q1 = (2,0,1)/√5, q2 = (1,1,-2)/√6; r11 = √5, r12 = √5, r22 = √6", True),
    ("gram_schmidt", "q1 = (2,0,1)/√5, q2 = (1,1,-2)/√6; r11 = √5, r12 = √6, r22 = √5", False),
    ("gram_schmidt", "q1 = (2,0,1)/√5, q2 = (1,1,-2)/√6; r11 = √5, r21 = √5, r22 = √6", False),
    ("rank", "2; the first two rows; [1 0; 0 1; 2 3]", True),
    ("rank", "2; las dos primeras filas; [1 0; 0 1; 2 3]", True),
    ("rank", "2; rows one and two; [1 0; 0 1; 2 3]", True),
    ("rank", "2; rows one and three; [1 0; 0 1; 2 3]", False),
    ("rank", "2; rows 1-2; [1 0; 0 1; 2 3]", True),
    ("rank", "2; rows 2-3; [1 0; 0 1; 2 3]", False),
    ("eigen", "eigenvalue 4: eigenvector (3, 4)/5; eigenvalue 1: eigenvector (1, 1)/√2", True),
    ("eigen", "eigenvalue 1: eigenvector (3, 4)/5; eigenvalue 4: eigenvector (1, 1)/√2", False),
    ("eigen", "eigenvalue 1: 4, eigenvalue 2: 1; eigenvector 1: (3, 4)/5, eigenvector 2: (1, 1)/√2", True),
    ("eigen", "eigenvalue 1: 1, eigenvalue 2: 4; eigenvector 1: (3, 4)/5, eigenvector 2: (1, 1)/√2", False),
    ("bounds", "A_1 = [12 -3; 12 -3]; the error is 2√34 in the Frobenius norm", True),
    ("bounds", "A_1 = [12 -3; 12 -3]; the error is 136 in the Frobenius norm", False),
    ("bounds", "A_1 = σ_1 u_1 v_1^T = [12 -3; 12 -3]; error = 11.66", True),
    ("bounds", "A_1 = σ_1 u_1 v_1^T = [12 12; -3 -3]; error = 11.66", False),
    ("bounds", "A_1 = [12 -3; 12 -3]; Frobenius error = 2√34; spectral error = 34", False),
    ("select", "r_{1y} = 0.248, r_{2y} = 0.981; column 2", True),
    ("select", "r = 0.248, 0.981, so x_2", True),
    ("select", "r = 0.248, 0.981, so x_1", False),
    ("isomap", "1-4\n2-3\n3-4\nD = [0 6 5 3; 6 0 1 3; 5 1 0 2; 3 3 2 0]\ny = 3.5 -2.5 -1.5 0.5", True),
    ("isomap", "1-4\n2-3\n2-4\nD = [0 6 5 3; 6 0 1 3; 5 1 0 2; 3 3 2 0]\ny = 3.5 -2.5 -1.5 0.5", False),
    ("missing", "the hole becomes 9", True),
    ("missing", "il buco diventa 9", True),
    ("missing", "il buco diventa 8", False),
    ("missing", "M[2,2] = 9", True),
    ("missing", "M[1,2] = 9", False),
])  # fmt: skip
def test_names_and_words(kind: str, text: str, right: bool) -> None:
    verdict = worked.exercise(kind, seed=3).check(text)
    assert bool(verdict) == right, verdict.message


def test_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="'not'"):
        worked.exercise("power_iteration", seed=777, difficulty=2).check("lambda1 is not -6 and e1 is (2, -1)/√5")


def test_values_before_a_name_are_values() -> None:
    made = worked.exercise("energy", seed=5)
    assert made.check("28.8444 7.2111 k=1")
    assert not made.check("28.8444 7.2111 k=2")


def test_a_squared_norm_is_not_the_norm() -> None:
    made = worked.exercise("bounds", seed=11, difficulty=2)
    best = "[16 -16 -8; 8 -8 -4; 0 0 0]"
    assert made.check(f"A_1 = {best}; ‖A - A_1‖_F = 3√21")
    assert made.check(f"A_1 = {best}; ‖A - A_1‖_F^2 = 189")
    assert not made.check(f"A_1 = {best}; ‖A - A_1‖_F^2 = 3√21")


def test_one_column_in_brackets_is_a_column() -> None:
    made = worked.exercise("rank", seed=777, difficulty=2)
    message = str(made.check("rank = 3; basis = 1, 2, 3; C = [[1], [0], [0], [-2/3]]"))
    assert "The answer is 4 x 1" in message


def test_parts_that_nobody_asked_for_are_named() -> None:
    made = worked.exercise("determinant", seed=777, difficulty=2)
    assert str(made.check("det = 12; trace = 5")) == "Right. Not asked for, so not checked: trace."
    assert made.check("det = 13; trace = 5").status == "wrong"


def test_messages_name_targets_in_the_language() -> None:
    with worked.language("it"):
        made = worked.exercise("query", seed=777, difficulty=2)
        verdict = made.check(str(list(made["back"])))
    assert str(verdict) == "Giusto fin qui. Ancora da trovare: colonne."


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_printed_answer_is_right(kind: str) -> None:
    """The last lines of the key, as Markdown and as LaTeX, pasted as an answer."""
    with worked.language("ru"):
        made = worked.exercise(kind, seed=20261)
        for text in (made.markdown(), made.latex()):
            answer = text[text.rindex(tr("Answer")) + len(tr("Answer")) :].lstrip("*}\n").replace("$$", "")
            assert made.check(answer.replace(r"\[\fit{", "").replace(r"}\]", "").replace(r"\end{document}", ""))


@pytest.mark.parametrize(("kind", "seed", "difficulty", "answer", "message"), [
    ("nmf", 9373, 1, "H = (3.6, 4), W = (1.699, 1.602)",
     "H: This is the right value of W. W: This is the right value of H."),
    ("nmf", 9373, 1, "W = (4, 3.6), H = (1.699, 1.602)",
     "Right: H. W: The numbers are right, but some are in the wrong places: (1,1), (2,1)."),
    ("correlation", 9324, 2, "V = [3 -1; 1 3]/√10; W = [1 1; 1 -1]/√2; R = [205 60; 60 45]",
     "Right: v, w. R: This is the right value of C."),
    ("pseudo_inverse", 9219, 1, "[-1/2 -1/2 0; -2/3 -1/3 -1/3]", "One entry is wrong: (2,3)."),
    ("power_iteration", 9163, 1, "-29; (3, 2)",
     "Right: lambda. x: The direction is right, but the vector is not normalised."),
    ("svd", 9212, 2, "σ = 4√10, √30; U = [-1/√2 -1/√6; 1/√2 -1/√6; 0 -2/√6]; V^T = [2 1; -1 2]/√5",
     "Right: sigma, u. v: This is the transpose of the right matrix."),
])  # fmt: skip
def test_the_explanation_names_the_error(kind: str, seed: int, difficulty: int, answer: str, message: str) -> None:
    assert worked.exercise(kind, seed=seed, difficulty=difficulty).check(answer).message == message


def test_factors_have_the_decimal_sign_of_the_language() -> None:
    with worked.language("es"):
        verdict = worked.exercise("pseudo_inverse", seed=9226, difficulty=2).check("[2 -10 1; 11 8 -26; -13 2 25]/36")
    assert verdict.message == "Todos los elementos están multiplicados por 1,75."


@pytest.mark.parametrize(("edge", "right"), [("3--4", True), ("3--5", False)])
def test_edges_with_two_dashes(edge: str, right: bool) -> None:
    paths = "[0 1 7 3 4; 1 0 8 4 3; 7 8 0 4 11; 3 4 4 0 7; 4 3 11 7 0]"
    answer = f"edges 1--2, 1--4, 2--5 and {edge}; D = {paths}; y = (-1, -2, 6, 2, -5)"
    assert bool(worked.exercise("isomap", seed=9408, difficulty=2).check(answer)) is right


def test_ordinals_with_prepositions() -> None:
    with worked.language("it"):
        made = worked.exercise("rank", seed=9107)
    rest = "La base è formata dalla prima e dalla {} riga. r3 = 0,5*r1 - 0,5*r2. Il rango è 2"
    assert made.check(rest.format("seconda")).status == "right"
    assert made.check(rest.format("terza")).status != "right"


@pytest.mark.parametrize(("words", "status"), [
    ("4-я строка = 2·(1-я строка) − (2-я строка)", "right"),
    ("4-я строка = 2·(1-я строка) + (2-я строка)", "wrong"),
    ("4th row = 2 * 1st row - 2nd row", "right"),
])  # fmt: skip
def test_ordinals_in_equations(words: str, status: str) -> None:
    made = worked.exercise("rank", seed=55013, difficulty=2)
    assert made.check(f"Ранг: 3\nБазис: 1-я, 2-я и 3-я строки\n{words}").status == status


@pytest.mark.parametrize("answer", ["λ1 = 3, λ2 = 11, v1 = (1,-1)/√2, v2 = (1,1)/√2", "3, 11; (1,-1)/√2, (1,1)/√2",
                                    "v1 = (1,-1)/√2, v2 = (1,1)/√2, λ = 3, 11",
                                    "A = 3 v_1 v_1^T + 11 v_2 v_2^T, v_1 = (1,-1)/√2, v_2 = (1,1)/√2"])  # fmt: skip
def test_vectors_one_by_one_are_not_the_rows_of_a_matrix_in_another_order(answer: str) -> None:
    """(1, -1) and (1, 1), read as rows, would have the columns (1, 1) and (-1, 1)."""
    verdict = worked.exercise("deflation", seed=5).check(answer)
    assert str(verdict) == "Each part is right, but lambda, e are not in the same order."


def test_a_sum_of_outer_products_states_the_eigenvalues() -> None:
    made = worked.exercise("deflation", seed=5)
    assert made.check("A = 11 v_1 v_1^T + 3 v_2 v_2^T, v_1 = (1,-1)/√2, v_2 = (1,1)/√2")


SCORES = "T = [-12.65 6.32; -12.65 -6.32; 12.65 0; 6.32 -3.16; 6.32 3.16]; k = 1"


@pytest.mark.parametrize("answer", ["PC1 = 0.316 x1 + 0.949 x2, PC2 = 0.949 x1 - 0.316 x2",
                                    "v1 = (x1 + 3 x2)/sqrt(10), v2 = (3x_1 - x_2)/sqrt(10)"])  # fmt: skip
def test_components_may_be_sums_of_the_columns(answer: str) -> None:
    made = worked.exercise("pca", seed=6, difficulty=2)
    assert made.check(f"{answer}; {SCORES}")
    assert not made.check(f"{answer.replace(' - ', ' + ')}; {SCORES}")


def test_shares_of_all_components_are_a_remark() -> None:
    made = worked.exercise("pca", seed=6, difficulty=2)
    assert made.check(f"λ = 560, 100 (84.8 % and 15.2 %), v1 = (1,3)/√10, v2 = (3,-1)/√10; {SCORES}")


def test_the_norm_of_the_error_matrix_is_the_error() -> None:
    assert worked.exercise("bounds", seed=5).check("A1 = [8 -8; 4 -4], ||E||_F = 3√10")


def test_complex_numbers_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="'i' was not expected"):
        worked.exercise("eigen", seed=5).check("-2 ± 3i")


def test_a_verdict_shows_only_its_status_and_message() -> None:
    assert repr(worked.exercise("determinant", seed=5).check("-18")) == "Verdict(status='right', message='Right.')"
