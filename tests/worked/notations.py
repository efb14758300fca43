"""Answers as people write them: the key of an exercise in a random notation, right, or wrong in one place.

Values come from the key and notations from here; nothing of the reading code is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from eckart.worked.exercises import Exercise
from eckart.worked.exercises.targets import Target

Random = np.random.Generator
Show = Callable[[Any], str]


def decimals(digits: int) -> Show:
    def show(value: Any) -> str:
        """With `digits` decimals, and more for small numbers, which need as many significant digits."""
        number = 0.0 if abs(float(value)) < 1e-15 else float(value)
        size = 0 if number == 0 else max(0, int(np.ceil(-np.log10(abs(number)))))
        return f"{number:.{digits + size}f}"

    return show


def plain(value: Any) -> str:
    return str(sp.sstr(sp.sympify(value))).replace("**", "^")


def python(value: Any) -> str:
    return str(sp.sstr(sp.sympify(value)))


def latex(value: Any) -> str:
    return str(sp.latex(sp.sympify(value)))


def unicode(value: Any) -> str:
    """√ without a star, and the typographic minus."""
    return plain(value).replace("sqrt", "√").replace("*√", "√").replace("*", "·").replace("-", "−")


def scientific(value: Any) -> str:
    """Rounding errors of the 40 digits that the key has are zeros."""
    return f"{0.0 if abs(float(value)) < 1e-15 else float(value):.6e}"


def powers(value: Any) -> str:
    """7.0711 × 10⁻¹"""
    mantissa, exponent = scientific(value).split("e")
    raised = str(int(exponent)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"{mantissa}×10{raised}"


def comma(value: Any) -> str:
    return decimals(5)(value).replace(".", ",")


@dataclass(frozen=True)
class Notation:
    """How numbers, lists, vectors and matrices are written. Lists and vectors have {} where their numbers go."""

    show: Show
    between: str
    vector: str
    row: str
    rows: str
    matrix: str
    targets: str = "; "
    exact: bool = True
    sides: tuple[str, str] = ("", "")

    def numbers(self, values: Any) -> str:
        return self.between.join(self.show(value) for value in values)

    def grid(self, matrix: Any) -> str:
        lines = [self.row.join(self.show(matrix[i, j]).replace(" ", "") for j in range(matrix.cols))
                 for i in range(matrix.rows)]  # fmt: skip
        return self.matrix.replace("{}", self.rows.join(lines))

    def columns(self, matrix: Any) -> str:
        """Every column as a vector."""
        vectors = [self.vector.replace("{}", self.between.join(self.show(x) for x in matrix[:, j]))
                   for j in range(matrix.cols)]  # fmt: skip
        return (", " if self.targets != "\n" else "; ").join(vectors)


PMATRIX = r"\begin{pmatrix} {} \end{pmatrix}"
BMATRIX = r"\left[\begin{array}{cc} {} \end{array}\right]"
NOTATIONS = (
    Notation(plain, ", ", "({})", " ", "; ", "[{}]"),
    Notation(plain, ", ", "[{}]", ", ", "], [", "[[{}]]"),
    Notation(python, ", ", "[{}]", ", ", "], [", "np.array([[{}]])", "\n"),
    Notation(python, ", ", "Matrix([{}])", ", ", "], [", "Matrix([[{}]])"),
    Notation(latex, ", ", r"\left({}\right)", " & ", r" \\ ", PMATRIX, "\n", sides=("$", "$")),
    Notation(latex, r",\ ", "({})", "&", r"\\", BMATRIX, "\n"),
    Notation(unicode, ", ", "⟨{}⟩", ", ", "; ", "({})"),
    Notation(unicode, ",", "({})", " ", "\n", "[{}]", "\n"),
    Notation(decimals(4), ", ", "({})", " ", "; ", "[{}]", exact=False),
    Notation(decimals(6), "  ", "[{}]", ",  ", " ;  ", "{ {} }", exact=False),
    Notation(scientific, ", ", "({})^T", ", ", "],[", "[[{}]]", exact=False),
    Notation(powers, ", ", "({})", "  ", ";", "[ {} ]", "\n", exact=False),
    Notation(comma, "; ", "({})", " ", "; ", "[{}]", "\n", exact=False),
    Notation(comma, "; ", "[{}]", "; ", "], [", "[[{}]]", "\n", exact=False),
)  # fmt: skip
GREEK = {"lambda": "λ", "sigma": "σ"}
COMMANDS = {"lambda": r"\lambda", "sigma": r"\sigma"}


def write(target: Target, notation: Notation, rng: Random) -> str:
    value = target.value
    if target.form in {"number", "count"}:
        body = notation.show(value)
    elif target.form == "edges":
        body = ", ".join([f"{i}-{j}", f"({i}, {j})", f"{{{j}, {i}}}"][int(rng.integers(3))] for i, j in value)
    elif target.form == "set":
        body = ", ".join(str(int(x)) for x in value)
        body = f"{{{body}}}" if rng.random() < 0.5 else body
    elif isinstance(value, list):
        body = notation.numbers(value)
        body = notation.vector.replace("{}", body) if rng.random() < 0.3 and notation.between != "; " else body
    elif target.form in {"directions", "scores"} and rng.random() < 0.5 and value.rows > 1:
        # The columns, or the scores of each row. One score in parentheses, (9,487), could be two numbers.
        body = notation.columns(value.T if target.by_row and value.cols > 1 else value)
    else:
        body = notation.grid(value)
    name = target.names[int(rng.integers(len(target.names)))]
    if notation.show is latex:
        name = COMMANDS.get(name, name)
    elif notation.show is unicode:
        name = GREEK.get(name, name)
    sign = ": " if rng.random() < 0.2 else " = "
    return notation.sides[0] + name + sign + body + notation.sides[1]


def with_signs(target: Target, signs: np.ndarray) -> Target:
    """The same vectors with other signs: the same ones for all targets that belong together."""
    if target.form not in {"directions", "scores"}:
        return target
    turned = target.value * sp.diag(*[int(s) for s in signs[: target.value.cols]])
    return replace(target, value=turned)


def usable(made: Exercise) -> list[Notation]:
    """Exact notations only if all answers are exact."""
    values = [x for t in made.targets for x in (t.value if hasattr(t.value, "__iter__") else [t.value])]
    exact = not any(sp.sympify(x).has(sp.Float) for x in values)
    return [notation for notation in NOTATIONS if exact or not notation.exact]


def right(made: Exercise, rng: Random, count: int = 3) -> list[str]:
    """Right answers in `count` notations, targets in any order, vectors with any sign."""
    answers = []
    choices = usable(made)
    for _ in range(count):
        notation = choices[int(rng.integers(len(choices)))]
        signs = rng.choice([-1, 1], 8)
        parts = [write(with_signs(t, signs), notation, rng) for t in made.targets]
        answers.append(notation.targets.join(parts[int(i)] for i in rng.permutation(len(parts))))
    return answers


def spoilt(value: Any, rng: Random) -> Any:
    """Another number: neither this one nor its opposite, nor a rounding of it."""
    value = sp.sympify(value)
    changes = [value + 1, 2 * value + 1, value + sp.Rational(1, 2), value - 3, value * sp.Rational(21, 20) + 1]
    chosen = [x for x in changes if abs(abs(float(x)) - abs(float(value))) > 0.04 * max(1.0, abs(float(value)))]
    return chosen[int(rng.integers(len(chosen)))]


def damaged(target: Target, rng: Random) -> Target:
    value = target.value
    if target.form in {"number", "count"}:
        value = spoilt(value, rng)
    elif target.form == "edges":
        (i, j), (_, k) = value[0], value[1]
        value = [(i, k if k not in {i, j} else value[1][0]), *value[1:]]
    elif target.form == "set":
        value = [*value[:-1], max(int(x) for x in value) + 1]
    elif isinstance(value, list):
        place = int(rng.integers(len(value)))
        value = [*value[:place], spoilt(value[place], rng), *value[place + 1 :]]
    else:
        value = value.copy()
        i, j = int(rng.integers(value.rows)), int(rng.integers(value.cols))
        value[i, j] = spoilt(value[i, j], rng)
    return replace(target, value=value)


def wrong(made: Exercise, rng: Random, count: int = 2) -> list[str]:
    """The key with one number changed, in `count` notations."""
    answers = []
    choices = usable(made)
    for _ in range(count):
        notation, place = choices[int(rng.integers(len(choices)))], int(rng.integers(len(made.targets)))
        parts = [write(damaged(t, rng) if i == place else t, notation, rng) for i, t in enumerate(made.targets)]
        answers.append(notation.targets.join(parts))
    return answers
