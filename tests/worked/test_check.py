"""Answers as people type them, right and wrong: 200 of each, and the reasons given."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import sympy as sp

from eckart import worked
from eckart.errors import InputError
from eckart.worked.exercises import Exercise
from eckart.worked.exercises.answers import Target
from eckart.worked.exercises.verdict import judge

KINDS = ("rank", "determinant", "gram_schmidt", "eigen", "svd", "pseudo_inverse", "bounds", "energy", "query", "pca",
         "project", "select", "correlation", "isomap", "missing", "diagonalize", "cur", "nmf", "kernel_pca",
         "power_iteration")  # fmt: skip
SEEDS = (11, 12)


@cache
def made(kind: str, seed: int) -> Exercise:
    return worked.exercise(kind, seed=seed)


def exact(value: Any) -> str:
    return sp.sstr(sp.sympify(value)).replace("**", "^") if not sp.sympify(value).has(sp.Float) else rounded(value, 6)


def rounded(value: Any, digits: int = 4) -> str:
    return f"{float(value):.{digits}f}"


def comma(value: Any) -> str:
    return rounded(value).replace(".", ",")


def radical(value: Any) -> str:
    """With the sign √ and without the star, as on paper."""
    return exact(value).replace("sqrt", "√").replace("*√", "√")


def write(target: Target, show: Callable[[Any], str], style: int) -> str:
    """One target in one of several notations."""
    value, between = target.value, ("; " if show is comma else ", ")
    if target.form == "number":
        return show(value)
    if isinstance(value, list):
        listed = [str(x) for x in value] if target.form == "set" else [show(x) for x in value]
        return between.join(listed) if style % 2 == 0 or show is comma else f"[{between.join(listed)}]"
    rows = [[show(value[i, j]) for j in range(value.cols)] for i in range(value.rows)]
    if style % 3 == 0 or show is comma:
        return "[" + "; ".join(" ".join(cell.replace(" ", "") for cell in row) for row in rows) + "]"
    if style % 3 == 1:
        return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
    return "(" + "; ".join(", ".join(row) for row in rows) + ")"


def flipped(target: Target) -> Target:
    """The same vectors with other signs."""
    if target.form not in {"directions", "scores"}:
        return target
    signs = sp.diag(*[-1 if j % 2 == 0 else 1 for j in range(target.value.cols)])
    return Target(target.names, target.form, target.value * signs)


def right_answers() -> list[tuple[str, int, str]]:
    found = []
    shows = (exact, rounded, comma, radical, exact)
    for place, (kind, seed) in enumerate(itertools.product(KINDS, SEEDS)):
        targets = made(kind, seed).targets
        for style, show in enumerate(shows):
            own = [flipped(t) if style == 4 and kind != "gram_schmidt" else t for t in targets]
            named = [f"{t.names[place % len(t.names)]} = {write(t, show, style)}" for t in own]
            found.append((kind, seed, "; ".join(named) if show is not comma else "\n".join(named)))
    return found


def spoilt(value: Any, how: int) -> Any:
    """A value that is wrong for certain."""
    value = sp.sympify(value)
    return (value + 1, value * 2 + 1, -value - sp.Rational(1, 3), value + sp.Rational(1, 2), value - 3)[how % 5]


def wrong_answers() -> list[tuple[str, int, str]]:
    found = []
    for kind, seed in itertools.product(KINDS, SEEDS):
        for how in range(5):
            parts = []
            targets = made(kind, seed).targets
            for number, target in enumerate(targets):
                value = target.value
                if number == how % len(targets):
                    if target.form == "number":
                        value = spoilt(value, how)
                    elif target.form == "set":
                        value = [int(x) + 7 for x in value]
                    elif isinstance(value, list):
                        value = [spoilt(value[0], how), *value[1:]]
                    else:
                        value = value.copy()
                        value[how % value.rows, how % value.cols] = spoilt(
                            value[how % value.rows, how % value.cols], how
                        )
                parts.append(f"{target.names[0]} = {write(Target(target.names, target.form, value), exact, how)}")
            found.append((kind, seed, "; ".join(parts)))
    return found


def test_two_hundred_right_answers() -> None:
    answers = right_answers()
    assert len(answers) == 200
    refused = [(answer, made(kind, seed).check(answer).message) for kind, seed, answer in answers
               if made(kind, seed).check(answer).status != "right"]  # fmt: skip
    assert not refused, refused[:3]


def test_two_hundred_wrong_answers() -> None:
    answers = wrong_answers()
    assert len(answers) == 200
    accepted = [
        (kind, seed, answer) for kind, seed, answer in answers if made(kind, seed).check(answer).status == "right"
    ]
    assert not accepted, accepted[:3]


PAIR = (
    Target(("lambda",), "numbers", [sp.Integer(3), sp.Integer(1)]),
    Target(("v",), "directions", sp.Matrix([[1, 1], [1, -1]]) / sp.sqrt(2)),
)


@pytest.mark.parametrize(("answer", "status", "words"), [
    ("3, 1", "partial", "Still to be found: v"),
    ("1; 3; (1, 1)/sqrt(2); (1, -1)/sqrt(2)", "right", "Right"),
    ("3, 1; (1, 1)/sqrt(2); 7; 8", "wrong", "do not belong"),
    ("lambda = 3, 1; v = [1 1; 1 -1]/√2", "right", "Right"),
    ("lambda = 3, 1; v = [1 1; 1 -1]", "almost", "not normalised"),
    ("λ1 = 3; λ2 = 1; v1 = (1, 1)/sqrt2; v2 = (-1, 1)/sqrt2", "right", "Right"),
    ("lambda = 3; v = [1 1; 1 -1]/√2", "partial", "1 number is missing"),
    ("lambda = 9, 1; v = [1 1; 1 -1]/√2", "wrong", "1 of 2 numbers are right. This is the square"),
    ("lambda = -3, -1; v = [1 1; 1 -1]/√2", "wrong", "sign"),
    ("lambda = 3, 1; v = [1 1; 2 -1]/√2", "wrong", "vectors are right"),
    ("v = (0.71, 0.71)", "partial", "1 vector is missing"),
])  # fmt: skip
def test_what_is_wrong_is_said(answer: str, status: str, words: str) -> None:
    verdict = judge(answer, PAIR)
    assert (verdict.status, words in verdict.message) == (status, True), verdict


@pytest.mark.parametrize(("answer", "words"), [
    ("-3", "sign"), ("9", "square of"), ("1/3", "reciprocal"), ("sqrt(3)", "square root"), ("3.05", "more digits"),
    ("6", "factor 2"), ("17", "not the right number"), ("3, 1", "One number"),
])  # fmt: skip
def test_slips_of_one_number(answer: str, words: str) -> None:
    verdict = judge(answer, (Target(("x",), "number", sp.Integer(3)),))
    assert verdict.status == "wrong"
    assert words in verdict.message


@pytest.mark.parametrize(("answer", "status", "words"), [
    ("[1 3; 2 4]", "almost", "transpose"), ("[1 2; 3 5]", "wrong", "(2,2)"), ("[2 4; 6 8]", "wrong", "factor 2"),
    ("[-1 -2; -3 -4]", "wrong", "signs"), ("[1 2 3]", "wrong", "1 x 3"), ("1 2 3 4", "right", "Right"),
])  # fmt: skip
def test_slips_of_a_matrix(answer: str, status: str, words: str) -> None:
    verdict = judge(answer, (Target(("A",), "matrix", sp.Matrix([[1, 2], [3, 4]])),))
    assert (verdict.status, words in verdict.message) == (status, True), verdict


def test_decimals_need_enough_digits() -> None:
    target = (Target(("x",), "number", sp.sqrt(2) / 2),)
    assert [judge(text, target).status for text in ("0.7071", "0.71", "0.7", "0.72", "0,707")] == [
        "right", "right", "wrong", "wrong", "right"]  # fmt: skip


@pytest.mark.parametrize("answer", ["", "what?", "[1 2; 3]", "__import__('os')", "9" * 5000])
def test_nonsense_is_refused(answer: str) -> None:
    with pytest.raises(InputError):
        judge(answer, PAIR)
