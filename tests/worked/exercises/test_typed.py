"""Spellings of answers: LaTeX environments and fonts, modules of programs, absolute values."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises.typed import plain

FIRST = r"\frac{1}{\sqrt{2}}\begin{pmatrix}1\\1\end{pmatrix}"
SECOND = r"\frac{1}{\sqrt{17}}\begin{pmatrix}1\\4\end{pmatrix}"
EIGENPAIRS = [
    rf"\lambda_1=-5,\ \mathbf{{e}}_1={FIRST},\ \lambda_2=1,\ \mathbf{{e}}_2={SECOND}",
    rf"\begin{{align*}}\lambda_1&=-5, & e_1&={FIRST}\\ \lambda_2&=1, & e_2&={SECOND}\end{{align*}}",
    rf"\lambda = -5, 1; \mathbf v_1 = {FIRST}, \mathbf v_2 = \tfrac{{1}}{{\sqrt{{17}}}}(1, 4)^{{\mathsf T}}",
    "sp.Matrix([1,1])/sp.sqrt(2) for -5, sp.Matrix([1,4])/sp.sqrt(17) for 1",
    "for -5: sqrt(2)/2*[1,1]; for 1: 1/math.sqrt(17)*[1,4]",
]


@pytest.mark.parametrize("answer", EIGENPAIRS)
def test_eigenpairs_in_latex_and_programs_are_right(answer: str) -> None:
    assert worked.exercise("eigen", seed=5).check(answer)


def test_rows_with_a_distance_stay_rows() -> None:
    assert plain(r"\begin{pmatrix}1&3\\[2pt]-1&-1\end{pmatrix}") == "[1, 3;-1, -1]"
    assert plain(r"\left[\begin{array}{rr}1&2\\3&4\end{array}\right]") == "[[1, 2;3, 4]]"


def test_matrices_in_aligned_equations() -> None:
    answer = (r"\begin{aligned}V&=\begin{pmatrix}1&3\\-1&-1\end{pmatrix}\\ D&=\operatorname{diag}(8,-4)\\"
              r"A^3&=\begin{bmatrix}-352&-864\\288&800\end{bmatrix}\end{aligned}")  # fmt: skip
    assert worked.exercise("diagonalize", seed=5).check(answer)


def test_bars_around_a_negative_number_are_its_absolute_value() -> None:
    made = worked.exercise("determinant", seed=5)
    assert made.check("|A| = -18")
    assert not made.check("|-18|")


@pytest.mark.parametrize("answer", ["(\n)", "[\n\n]", "1\\frac{1}\n"])
def test_a_bracket_of_line_breaks_is_refused(answer: str) -> None:
    with pytest.raises(InputError, match="could not be read"):
        worked.exercise("determinant", seed=5).check(answer)


@pytest.mark.parametrize(("first", "second", "right"), [("26", "2", True), ("2", "26", False)])
@pytest.mark.parametrize("name", ["score", "t"])
def test_the_index_of_a_value_in_parentheses(name: str, first: str, second: str, right: bool) -> None:
    answer = f"{name}(1) = {first}/√5, {name}(2) = {second}/√5; d²(1) = 9/5, d(2)^2 = 441/5"
    assert bool(worked.exercise("project", seed=6242, difficulty=2).check(answer)) is right


@pytest.mark.parametrize(("root", "right"), [("radice(13)", True), ("raíz(13)", True), ("radice(10)", False)])
def test_roots_of_programs_in_other_languages(root: str, right: bool) -> None:
    answer = f"-2: (-2/{root}, 3/{root}); 7: (1/√10, 3/√10)"
    assert bool(worked.exercise("eigen", seed=6131).check(answer)) is right
