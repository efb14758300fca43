"""What people type: accepted, or refused with a sentence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import sympy as sp

from eckart import worked
from eckart.errors import InputError, MissingValuesError, NotFiniteError, ParameterError
from eckart.worked.grammar import number
from eckart.worked.matrices import matrix, text_cells


def read(given: object) -> sp.Matrix:
    return matrix(given, "svd", rows=9, columns=9)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("--3", 3),
        ("0.1", sp.Rational(1, 10)),
        (".5", sp.Rational(1, 2)),
        ("1e-2", sp.Rational(1, 100)),
        ("1/3", sp.Rational(1, 3)),
        ("-1/3", sp.Rational(-1, 3)),
        ("sqrt(8)", 2 * sp.sqrt(2)),
        ("√2", sp.sqrt(2)),
        ("√(2)", sp.sqrt(2)),
        ("1/sqrt(2)", sp.sqrt(2) / 2),
        ("2*3 - 4/2", 4),
        ("2^3", 8),
        ("2**3", 8),
        ("-2^2", -4),
        ("(1+sqrt(5))/2", sp.Rational(1, 2) + sp.sqrt(5) / 2),
        ("sqrt(sqrt(16))", 2),
        ("2 / 4 / 2", sp.Rational(1, 4)),
        ("−3√2/2", -3 * sp.sqrt(2) / 2),
        ("2(1+√3)", 2 + 2 * sp.sqrt(3)),
        ("1/2sqrt(2)", sp.sqrt(2) / 2),
    ],
)
def test_numbers(text: str, value: object) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "exec('1')",
        "x",
        "1 2",
        "2**2**2**2",
        "9**9**9",
        "2^99",
        "sqrt",
        "sqrt 2",
        "(1",
        "1)",
        "1/0",
        "1/(2-2)",
        "sqrt(-1)",
        "",
        "1,2",
        "0x10",
        "1_000",
        "nan",
        "inf",
        "1e999",
        "9" * 31,
        "(" * 20 + "1" + ")" * 20,
        "1j",
        "1;",
        "lambda: 0",
        "a.b",
        "'1'",
        "1" * 100,
        "sin(1)",
        "\\sqrt{2}",
        "1..2",
        "*",
        "١",
    ],
)
def test_hostile_or_wrong_numbers_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"(not a number|characters)"):
        number(text)


@pytest.mark.parametrize(
    "given",
    [
        "1 2; 3 4",
        "1,2;3,4",
        "1, 2; 3, 4",
        "1 2\n3 4",
        "1\t2\n3\t4",
        "[[1, 2], [3, 4]]",
        "[1 2; 3 4]",
        " 1  2 ;3 4; ",
        "a,b\n1,2\n3,4\n",
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [["1", "2"], ["3", "4"]],
        np.array([[1, 2], [3, 4]]),
        [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        sp.Matrix([[1, 2], [3, 4]]),
        [[Fraction(1), 2], [3.0, sp.Integer(4)]],
        scipy.sparse.csr_array(np.array([[1, 2], [3, 4]])),
    ],
)
def test_the_same_matrix_in_many_forms(given: object) -> None:
    assert read(given) == sp.Matrix([[1, 2], [3, 4]])


def test_a_typed_decimal_is_what_was_typed() -> None:
    assert read([[0.1, 0.2]]) == sp.Matrix([[sp.Rational(1, 10), sp.Rational(1, 5)]])


def test_entries_may_hold_spaces_in_parentheses_or_between_commas() -> None:
    assert text_cells("(1 + 2) 3") == [["(1 + 2)", "3"]]
    assert read("1 + 2, 3 - 1") == sp.Matrix([[3, 2]])


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ("1 2; 3", InputError, "Row 2 has 1 entry, but row 1 has 2"),
        ("1 a; 3 4", InputError, "'a' is not a number"),
        ("", InputError, "empty"),
        ([], InputError, "empty"),
        ([[1, 2], 3], InputError, "Some rows"),
        ("1,,2; 1,2,3", MissingValuesError, "empty"),
        ([[float("nan"), 1]], MissingValuesError, "nan"),
        ([[float("inf"), 1]], NotFiniteError, "inf"),
        ([[None, 1]], InputError, "None"),
        ([[sp.Symbol("x"), 1]], InputError, "not a real number"),
        ([[1j, 1]], InputError, "not a number"),
        ("1 " * 30_000, InputError, "characters"),
    ],
)
def test_refused(given: object, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        read(given)


def test_determinant_of_a_rectangle() -> None:
    with pytest.raises(InputError, match=r"3 x 2, but only square matrices have determinants"):
        worked.determinant("1 2; 3 4; 5 6")


@pytest.mark.parametrize(("task", "word"), [("pca", "eckart report"), ("eigen", "numpy"), ("determinant", "slogdet")])
def test_too_large_for_exact_work_names_what_to_use(task: str, word: str) -> None:
    with pytest.raises(InputError, match=rf"The matrix is 50 x 50.*{word}"):
        getattr(worked, task)(np.eye(50))


@pytest.mark.parametrize("k", [0, 3, 1.5, True, "1"])
def test_impossible_k(k: object) -> None:
    with pytest.raises(ParameterError, match="k="):
        worked.pca("1 2; 2 1; 3 4", k)  # type: ignore[arg-type]


def test_other_parameters() -> None:
    with pytest.raises(ParameterError, match="route"):
        worked.pca("1 2; 2 1", route="magic")
    with pytest.raises(ParameterError, match="divide"):
        worked.pca("1 2; 2 1", divide="m")
    with pytest.raises(ParameterError, match="share"):
        worked.pca("1 2; 2 1", share=2)
    with pytest.raises(ParameterError, match="flip"):
        worked.pca("1 2; 2 1", flip=[3])
    with pytest.raises(InputError, match="is constant"):
        worked.pca("1 2; 1 3", scale=True)
    with pytest.raises(InputError, match="one row"):
        worked.pca("1 2")


@pytest.mark.parametrize(("text", "rows"), [
    ("0,5 1; 1 2", [["1/2", 1], [1, 2]]),
    ("-0,5 -1,25", [["-1/2", "-5/4"]]),
    ("1,5;2\n3;4,5", [["3/2", 2], [3, "9/2"]]),
    ("x;y\n1;2\n3;4", [[1, 2], [3, 4]]),
    ("1,2; 3,4", [[1, 2], [3, 4]]),
    ("1 2; 3 4;\n5 6; 7 8", [[1, 2], [3, 4], [5, 6], [7, 8]]),
    ("1 2;\n3 4;", [[1, 2], [3, 4]]),
])  # fmt: skip
def test_decimal_commas_and_semicolons_between_columns(text: str, rows: list[list[object]]) -> None:
    assert read(text) == sp.Matrix(rows)


@pytest.mark.parametrize(("name", "words"), [("it", "quadrate"), ("es", "cuadradas"), ("ru", "квадратных")])
def test_refusals_speak_the_language(name: str, words: str) -> None:
    with worked.language(name), pytest.raises(InputError, match=words):
        worked.eigen("1 2 3")
