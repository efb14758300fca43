"""Matrices as R, MATLAB, NumPy and SymPy build them, and letters that an answer defines, in right and wrong answers."""

from __future__ import annotations

import pytest

from eckart import worked

_PSEUDO_INVERSE = [
    "rbind(c(-1/2, -1/2, 0), c(-2/3, -1/3, {}))",
    "cbind(c(-1/2, -2/3), c(-1/2, -1/3), c(0, {}))",
    "matrix(c(-1/2, -2/3, -1/2, -1/3, 0, {}), nrow = 2)",
    "matrix(c(-1/2, -1/2, 0, -2/3, -1/3, {}), 2, 3, byrow = TRUE)",
    "reshape([-1/2 -2/3 -1/2 -1/3 0 {}], 2, 3)",
    "np.array([-1/2, -1/2, 0, -2/3, -1/3, {}]).reshape(2, -1)",
    "np.vstack([[-1/2, -1/2, 0], [-2/3, -1/3, {}]])",
    "np.column_stack(([-1/2, -2/3], [-1/2, -1/3], [0, {}]))",
    "Matrix(2, 3, [-1/2, -1/2, 0, -2/3, -1/3, {}])",
    "t = 1/3; A+ = [-1/2 -1/2 0; -2/3 -t {}]",
]


@pytest.mark.parametrize("answer", _PSEUDO_INVERSE)
def test_matrices_of_programs(answer: str) -> None:
    exercise = worked.exercise("pseudo_inverse", seed=9219)
    assert exercise.check(answer.format("1/3")).status == "right"
    assert exercise.check(answer.format("-1/3")).status == "wrong"


@pytest.mark.parametrize("answer", [
    "matrix(c(-1/2, -1/2, 0, -2/3, -1/3, 1/3), nrow = 2)",
    "cbind(c(-1/2, -1/2, 0), c(-2/3, -1/3, 1/3))",
    "t = -1/3; A+ = [-1/2 -1/2 0; -2/3 -t t]",
])  # fmt: skip
def test_matrices_in_another_order(answer: str) -> None:
    assert worked.exercise("pseudo_inverse", seed=9219).check(answer).status != "right"


@pytest.mark.parametrize(("s", "right"), [("12.6491, 5.4772", True), ("160, 30", False)])
@pytest.mark.parametrize("form", ["({}, {}, {})", "{}, {}, {}"])
def test_values_assigned_to_several_names(form: str, s: str, right: bool) -> None:
    u = "array([[0.7071, 0.4082],\n [-0.7071, 0.4082],\n [0., 0.8165]])"
    answer = "u, s, vt = " + form.format(u, f"array([{s}])", "array([[-0.8944, 0.4472], [-0.4472, -0.8944]])")
    assert bool(worked.exercise("svd", seed=9212, difficulty=2).check(answer)) is right


@pytest.mark.parametrize(("letter", "right"), [("4/sqrt(41)", True), ("0.6247", True), ("0.6427", False)])
def test_letters_with_values(letter: str, right: bool) -> None:
    answer = f"V = [3 -1; 1 3]/sqrt(10); W = [s s; s -s]; R = [1 r; r 1]; r = {letter}, s = 1/sqrt(2)"
    assert bool(worked.exercise("correlation", seed=9324, difficulty=2).check(answer)) is right


def test_words_are_no_letters_with_values() -> None:
    exercise = worked.exercise("energy", seed=9247)
    assert exercise.check("k = 1 (k is enough), sigma = 4*sqrt(10), sqrt(10)").status == "right"
    assert exercise.check("k = 2 (k is enough), sigma = 4*sqrt(10), sqrt(10)").status == "wrong"


@pytest.mark.parametrize(("values", "right"), [("7, 4, 1", True), ("4, 7, 1", False)])
def test_a_diagonal_matrix_of_r(values: str, right: bool) -> None:
    power = "rbind(c(79, -78, -93), c(-78, 79, 93), c(-93, 93, 250))"
    answer = f"P = cbind(c(-1, 1, 2), c(1, -1, 1), c(1, 1, 0)); D = diag(c({values})); A3 = {power}"
    assert bool(worked.exercise("diagonalize", seed=55091, difficulty=2).check(answer)) is right


@pytest.mark.parametrize(("vector", "right"), [
    ("[2;-3]/norm([2;-3])", True), ("(2,-3)/‖(2,-3)‖", True), ("np.array([2,-3])/np.linalg.norm([2,-3])", True),
    ("np.array([2,-3])/np.linalg.norm(np.array([2,-3]))", True), ("{2,-3}/Norm[{2,-3}]", True),
    ("[2;-3]/norm([2;3;1])", False), ("[2;-3]/norm([2;-2])", False),
])  # fmt: skip
def test_vectors_divided_by_their_length(vector: str, right: bool) -> None:
    assert bool(worked.exercise("power_iteration", seed=11, difficulty=2).check(f"lambda = 8; x = {vector}")) == right


@pytest.mark.parametrize("columns", [
    "cbind(c(-3, -1, 0)/sqrt(10), c(-2, 6, {})/sqrt(65))",
    "cbind(1/sqrt(10)*c(-3, -1, 0), 1/sqrt(65)*c(-2, 6, {}))",
    "np.column_stack([np.array([-3, -1, 0])/np.sqrt(10), np.array([-2, 6, {}])/np.sqrt(65)])",
])  # fmt: skip
def test_vectors_with_a_factor_in_a_matrix(columns: str) -> None:
    exercise = worked.exercise("gram_schmidt", seed=6121)
    triangular = "; R <- rbind(c(sqrt(10), 2/sqrt(10)), c(0, sqrt(65)/5))"
    assert exercise.check("Q <- " + columns.format(-5) + triangular).status == "right"
    assert exercise.check("Q <- " + columns.format(5) + triangular).status == "wrong"


@pytest.mark.parametrize("answer", [
    "<<-3, 14>|<10, -8>|<-6, {}>>/29",
    "Matrix(2, 3, [[-3/29, 10/29, -6/29], [14/29, -8/29, {}/29]])",
    "2×3 Matrix{{Float64}}:\n -0.103448   0.344828  -0.206897\n  0.482759  -0.275862  {}*0.0344828",
])  # fmt: skip
def test_matrices_of_maple_and_julia(answer: str) -> None:
    exercise = worked.exercise("pseudo_inverse", seed=6181)
    assert exercise.check(answer.format(-1)).status == "right"
    assert exercise.check(answer.format(1)).status == "wrong"


@pytest.mark.parametrize(("last", "right"), [("-0.9487, -0.3162", True), ("0.9487, 0.3162", False)])
def test_a_transpose_among_several_names(last: str, right: bool) -> None:
    answer = f"U, S, V^T = [[-0.7071, -0.7071], [0.7071, -0.7071]], [13.4164, 4.4721], [[-0.3162, 0.9487], [{last}]]"
    assert bool(worked.exercise("svd", seed=6171).check(answer)) is right


@pytest.mark.parametrize(("values", "status"), [((-9, -4), "right"), ((-4, -9), "almost")])
def test_eigenvects_of_sympy(values: tuple[int, int], status: str) -> None:
    # A = [-24 -30; 10 11]
    first, second = values
    answer = (f"[({first}, 1, [Matrix([\n[2],\n[-1]])]), ({second}, 1, [Matrix([\n[-3/2],\n[1]])])]; "
              "A^3 = [-2724 -3990; 1330 1931]")  # fmt: skip
    assert worked.exercise("diagonalize", seed=314).check(answer).status == status
