"""CUR: A ~ C U R with real columns C and real rows R, drawn with probability proportional to their squared norms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from eckart.errors import InputError, ParameterError
from eckart.options import check_choice
from eckart.worked.checks import whole
from eckart.worked.fields import tidy_root
from eckart.worked.matrices import matrix
from eckart.worked.pseudo_inverse import core as unscaled_core
from eckart.worked.solution import Equation, Solution, Step, Table
from eckart.worked.svd import factors

CORES = ("intersection", "best")


@dataclass(frozen=True)
class Drawn:
    """Rows or columns that were drawn, each once: where, how often, and the square of what multiplies it."""

    draws: list[int]
    places: list[int]
    times: list[int]
    squares: list[Any]

    @property
    def scales(self) -> list[Any]:
        return [sp.sqrt(square) for square in self.squares]


def cur(
    given: Any,
    r: int = 2,
    *,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    seed: int = 0,
    core: str = "intersection",
) -> Solution:
    """C, U and R from r draws each: by the seed, or as the reader drew them (`rows`, `columns`, counted from 1).

    >>> cur("1 1 0; 2 2 0; 0 0 3", rows=[2, 3], columns=[1, 3])["error_squared"]
    0
    """
    check_choice("core", core, CORES)
    a = matrix(given, "cur", rows=8, columns=8)
    total = sum(entry * entry for entry in a)
    if total == 0:
        raise InputError("The matrix is zero, so no row or column is more likely than another. Check the entries.")
    q = [sum(x * x for x in a[:, j]) / total for j in range(a.cols)]
    p = [sum(x * x for x in a[i, :]) / total for i in range(a.rows)]
    generator = np.random.Generator(np.random.Philox(seed))
    taken, kept = drawn(q, columns, r, generator, "columns"), drawn(p, rows, r, generator, "rows")
    c = a.extract(list(range(a.rows)), taken.places) * sp.diag(*taken.scales)
    bottom = sp.diag(*kept.scales) * a.extract(kept.places, list(range(a.cols)))
    w = a.extract(kept.places, taken.places)
    middle, product = cores(a, w, taken, kept, core)
    error = sp.expand(sum(entry * entry for entry in a - product))
    steps = (
        Step("The matrix and its squared norm.", numbers=(Equation("A", a), Equation("‖A‖_F^2", total))),
        _probability_step("column", "q", q),
        _probability_step("row", "p", p),
        _draw_step(taken, kept, seed, columns, rows),
        _scale_step(c, bottom),
        _core_step(w, taken, kept, middle, core),
        *_error_steps(a, product, error),
    )
    parts = {
        "C": c,
        "U": middle,
        "R": bottom,
        "W": w,
        "p": sp.Matrix(p),
        "q": sp.Matrix(q),
        "product": product,
        "error_squared": error,
        "columns": [sp.Integer(j) for j in taken.draws],
        "rows": [sp.Integer(i) for i in kept.draws],
    }
    answer = (
        Equation("C", c),
        Equation("U", middle),
        Equation("R", bottom),
        Equation("‖A - C U R‖_F", tidy_root(error)),
    )
    return Solution(f"CUR of a {a.rows} x {a.cols} matrix", steps, answer, parts)


def drawn(chances: list[Any], given: Sequence[int] | None, r: int, generator: Any, name: str) -> Drawn:
    """Draws with replacement, merged: column j drawn m times is multiplied by sqrt(m / (r q_j))."""
    if given is None:
        whole("r", r, 1, 20)
        weights = np.array([float(sp.N(chance)) for chance in chances])
        draws = [int(j) + 1 for j in generator.choice(len(chances), size=r, p=weights / weights.sum())]
    else:
        draws = [int(j) for j in given]
    if not draws or any(not 1 <= j <= len(chances) for j in draws):
        raise ParameterError(f"{name}={draws!r}: give numbers from 1 to {len(chances)}, at least one.")
    if any(chances[j - 1] == 0 for j in draws):
        raise ParameterError(f"{name}={draws!r} holds one that is all zeros, which is never drawn. Take another.")
    places = sorted(set(draws))
    times = [draws.count(j) for j in places]
    squares = [sp.radsimp(sp.Integer(m) / (len(draws) * chances[j - 1])) for j, m in zip(places, times, strict=True)]
    return Drawn(draws, [j - 1 for j in places], times, squares)


def cores(a: Any, w: Any, taken: Drawn, kept: Drawn, kind: str) -> tuple[Any, Any]:
    """U and C U R. In the product every scale meets itself again, so it holds fractions only."""
    right, left = sp.diag(*taken.scales), sp.diag(*kept.scales)
    some_columns = a.extract(list(range(a.rows)), taken.places)
    some_rows = a.extract(kept.places, list(range(a.cols)))
    if kind == "intersection":
        plain = unscaled_core(w, kept.squares, taken.squares)
    else:
        plain = unscaled_core(some_columns, None, taken.squares) * a * unscaled_core(some_rows, kept.squares, None)
    product = some_columns * sp.diag(*taken.squares) * plain * sp.diag(*kept.squares) * some_rows
    return (right * plain * left).applyfunc(sp.radsimp), product.applyfunc(lambda value: sp.expand(sp.radsimp(value)))


def _probability_step(word: str, name: str, chances: list[Any]) -> Step:
    statement = f"The chance of each {word}: its squared norm over that of the matrix."
    index = "j" if word == "column" else "i"
    formula = f"{name}_{index} = ‖{word} {index}‖^2 / ‖A‖_F^2"
    return Step(statement, formula, (Equation(name, sp.Matrix([chances])),))


def _draw_step(taken: Drawn, kept: Drawn, seed: int, columns: Any, rows: Any) -> Step:
    how = "as given" if columns is not None and rows is not None else f"with seed {seed}, with replacement"
    table = Table(
        ("drawn", "which", "times each"),
        tuple(
            (
                word,
                ", ".join(map(str, side.draws)),
                ", ".join(f"{j + 1}: {m}" for j, m in zip(side.places, side.times, strict=True)),
            )
            for word, side in (("columns", taken), ("rows", kept))
        ),
    )
    return Step(f"Draw {how}.", numbers=(table,))


def _scale_step(c: Any, bottom: Any) -> Step:
    statement = (
        "Divide each drawn column by $sqrt(c q_j)$ and each row by $sqrt(r p_i)$, where $c$ and $r$ count the "
        "draws; one "
        "drawn several times is kept once, times the root of how often."
    )
    formula = "C = columns / sqrt(c q),  R = rows / sqrt(r p)"
    return Step(statement, formula, (Equation("C", c), Equation("R", bottom)))


def _core_step(w: Any, taken: Drawn, kept: Drawn, middle: Any, kind: str) -> Step:
    scaled = sp.diag(*kept.scales) * w * sp.diag(*taken.scales)
    if kind == "best":
        statement = "The best core for these rows and columns: no other $U$ leaves a smaller error."
        return Step(statement, "U = C^+ A R^+", (Equation("U", middle),))
    statement = (
        "The core: the rows and columns meet in $W$, scaled like both, and $U$ is its pseudo-inverse, "
        "from the SVD with "
    )
    statement += "zeros left zero."
    remark = "Not with the squares of $Σ^+$, as some notes have it: then $10 A$ would get the same $C U R$ as $A$."
    return Step(statement, "W = X Σ Y^T,  U = W^+ = Y Σ^+ X^T", (Equation("W", scaled), Equation("U", middle)), remark)


def _error_steps(a: Any, product: Any, error: Any) -> tuple[Step, ...]:
    found = factors(a)
    k = product.rank()
    best = found.error_squared(k)
    numbers = (
        Equation("C U R", product),
        Equation("‖A - C U R‖_F", tidy_root(error)),
        Equation(f"‖A - A_{k}‖_F", tidy_root(best)),
    )
    statement = (
        f"What is lost, beside the least that rank {k} can lose. CUR loses at least as much; in return "
        f"its columns and rows "
    )
    statement += "are real ones, and zeros stay zeros."
    remark = (
        "In practice $4 k$ rows and columns are drawn for an error near the best; theory promises, with "
        "many more draws, "
    )
    remark += "an error of at most $(2 + ε) ‖A - A_k‖_F$ nearly always."
    return (Step(statement, "‖A - C U R‖_F ≥ ‖A - A_k‖_F", numbers, remark),)
