"""CUR: A ~ C U R with real columns C and real rows R, drawn with probability proportional to their squared norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError
from eckart.options import check_choice
from eckart.worked.cur_draw import Drawn, draw_steps, drawn
from eckart.worked.fields import tidy_root
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.numerals import text_number
from eckart.worked.pseudo_inverse import core as unscaled_core
from eckart.worked.row_reduction import inverse_steps
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.svd import factors
from eckart.worked.written_out import squares, written

if TYPE_CHECKING:
    from eckart.worked.solution import Value

CORES = ("intersection", "best")


@document
def cur(
    given: object,
    r: int = 2,
    *,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    seed: int = 0,
    core: str = "intersection",
) -> Solution:
    """Compute a CUR decomposition from sampled columns and rows.

    Parameters
    ----------
    {given [8 x 8]}
    r : int, default 2
        Number of columns and of rows to draw.
    rows : sequence of int, default None
        Rows to use, counted from 1. None draws them at random with `seed`.
    columns : sequence of int, default None
        Columns to use, counted from 1. None draws them at random with `seed`.
    seed : int, default 0
        Seed of the random draws.
    core : {'intersection', 'best'}, default 'intersection'
        How the core U is computed. 'intersection' inverts the submatrix in which the rows and columns intersect. 'best'
        minimises the error.

    {Returns: Solution}
        Named parts: C, U, R, W, p, q, product, error_squared, columns, rows.

    {Raises: InputError [exact]; See Also: svd, eckart.CUR}

    Examples
    --------
    >>> cur("1 1 0; 2 2 0; 0 0 3", rows=[2, 3], columns=[1, 3])["error_squared"]
    0
    """
    check_choice("core", core, CORES)
    a = matrix(given, "cur", rows=8, columns=8)
    total = _squared(a)
    if total == 0:
        raise InputError(tr("The matrix is zero, so all probabilities would be 0 / 0. Check the entries."))
    q = [sp.radsimp(_squared(a[:, j]) / total) for j in range(a.cols)]
    p = [sp.radsimp(_squared(a[i, :]) / total) for i in range(a.rows)]
    generator = np.random.Generator(np.random.Philox(seed))
    taken, kept = drawn(q, columns, r, generator, "columns"), drawn(p, rows, r, generator, "rows")
    c = a.extract(list(range(a.rows)), taken.indices) * sp.diag(*taken.scales)
    bottom = sp.diag(*kept.scales) * a.extract(kept.indices, list(range(a.cols)))
    w = a.extract(kept.indices, taken.indices)
    middle, product = cores(a, w, taken, kept, core)
    error = _squared(a - product)
    steps = (
        Step(tr("The matrix and its squared norm."), numbers=(Equation("A", a), Equation("‖A‖_F^2", total))),
        *_probability_steps(a, q, p),
        *draw_steps(taken, kept, seed),
        _scale_step(c, bottom, taken, kept),
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
        "column_numbers": [sp.Float(u, 17) for u in taken.numbers or ()],
        "row_numbers": [sp.Float(u, 17) for u in kept.numbers or ()],
    }
    answer = (
        Equation("C", c),
        Equation("U", middle),
        Equation("R", bottom),
        Equation("‖A - C U R‖_F", tidy_root(error)),
    )
    return Solution(tr("CUR of a {rows} x {cols} matrix", rows=a.rows, cols=a.cols), steps, answer, parts)


def _squared(entries: sp.Matrix) -> sp.Expr:
    """Sum of the squares of all entries."""
    return sp.expand(sum(entry * entry for entry in entries))


def _probability_steps(a: sp.Matrix, q: list[Value], p: list[Value]) -> tuple[Step, Step]:
    def lines(name: str, vectors: list[Value], shares: list[Value]) -> tuple[Step, ...]:
        size = _squared(a)
        total = text_number(size) if size.is_Integer else f"({text_number(size)})"
        return written(
            f"{name}_{i} = ({squares(vector)}) / {total} = {text_number(share)}"
            for i, (vector, share) in enumerate(zip(vectors, shares, strict=True), 1)
        )

    return (
        Step(
            tr("The probability of each column: its squared norm divided by the squared norm of the matrix."),
            "q_j = ‖A e_j‖^2 / ‖A‖_F^2",
            (Equation("q", sp.Matrix([q])),),
            more=partial(lines, "q", [a[:, j] for j in range(a.cols)], q),
        ),
        Step(
            tr("The probability of each row: its squared norm divided by the squared norm of the matrix."),
            "p_i = ‖e_i^T A‖^2 / ‖A‖_F^2",
            (Equation("p", sp.Matrix([p])),),
            more=partial(lines, "p", [a[i, :] for i in range(a.rows)], p),
        ),
    )


def cores(a: sp.Matrix, w: object, taken: Drawn, kept: Drawn, kind: str) -> tuple[Value, Value]:
    """U and C U R. The scales cancel in the product, so it contains only fractions."""
    right, left = sp.diag(*taken.scales), sp.diag(*kept.scales)
    some_columns = a.extract(list(range(a.rows)), taken.indices)
    some_rows = a.extract(kept.indices, list(range(a.cols)))
    if kind == "intersection":
        plain = unscaled_core(w, kept.squares, taken.squares)
    else:
        plain = unscaled_core(some_columns, None, taken.squares) * a * unscaled_core(some_rows, kept.squares, None)
    product = some_columns * sp.diag(*taken.squares) * plain * sp.diag(*kept.squares) * some_rows
    return (right * plain * left).applyfunc(sp.radsimp), product.applyfunc(lambda value: sp.expand(sp.radsimp(value)))


def _scale_step(c: object, bottom: object, taken: Drawn, kept: Drawn) -> Step:
    statement = tr(
        "Divide each drawn column by $sqrt(c q_j)$ and each drawn row by $sqrt(r p_i)$, where $c$"
        " and $r$ are the numbers of draws. A row or column drawn $m$ times is kept once and multiplied by "
        "$sqrt(m)$."
    )
    formula = "C e_j = A e_j / sqrt(c q_j),  e_i^T R = e_i^T A / sqrt(r p_i)"
    more = partial(_scales_written_out, taken, kept)
    return Step(statement, formula, (Equation("C", c), Equation("R", bottom)), more=more)


def _scales_written_out(taken: Drawn, kept: Drawn) -> tuple[Step, ...]:
    """The factor of every drawn column and row."""
    lines = []
    for own, left, right in ((taken, "C e_{}", "A e_{}"), (kept, "e_{}^T R", "e_{}^T A")):
        count = len(own.draws)
        for place, (index, times, scale) in enumerate(zip(own.indices, own.times, own.scales, strict=True), 1):
            vector = right.format(index + 1)
            factor = f"sqrt({times}) / sqrt({count} ({text_number(own.chances[index])}))"
            lines.append(f"{left.format(place)} = {factor} {vector} = ({text_number(scale)}) {vector}")
    return written(lines)


def _core_step(w: object, taken: Drawn, kept: Drawn, middle: object, kind: str) -> Step:
    scaled = sp.diag(*kept.scales) * w * sp.diag(*taken.scales)
    if kind == "best":
        statement = tr("The best core $U$ for these rows and columns: no other core leaves a smaller error.")
        return Step(statement, "U = C^+ A R^+", (Equation("U", middle),))
    statement = tr(
        "The core: $W$ is the intersection of the drawn rows and columns, scaled by both factors. "
        "$U$ is the pseudo-inverse of $W$, computed from the SVD; zero singular values stay zero."
    )
    remark = tr("Some lecture notes square $Σ^+$ here. Then $10 A$ would have the same product $C U R$ as $A$.")
    return Step(statement, "W = X Σ Y^T,  U = W^+ = Y Σ^+ X^T", (Equation("W", scaled), Equation("U", middle)), remark,
                _inverse_details(scaled))  # fmt: skip


def _inverse_details(w: sp.Matrix) -> Callable[[], tuple[Step, ...]] | None:
    """An invertible W: its pseudo-inverse is the inverse, found by row reduction of (W | I)."""
    if w.rows != w.cols or w.rows > 3 or w.rank() < w.rows:
        return None
    reason = Step(tr("$W$ is invertible, so its pseudo-inverse is its inverse."))
    return lambda: (reason, *inverse_steps(w))


def _error_steps(a: object, product: sp.Matrix, error: object) -> tuple[Step, ...]:
    found = factors(a)
    k = product.rank()
    best = found.error_squared(k)
    numbers = (
        Equation("C U R", product),
        Equation("‖A - C U R‖_F", tidy_root(error)),
        Equation(f"‖A - A_{k}‖_F", tidy_root(best)),
    )
    statement = tr(
        "The error of CUR, and the smallest possible error at rank {k}. CUR cannot be better than "
        "that, but $C$ and $R$ are actual columns and rows of the matrix and keep its zeros.",
        k=k,
    )
    remark = tr(
        "In practice, $4 k$ rows and columns are drawn. With probabilities from squared norms and "
        "enough draws, the theory guarantees an additive error with high probability: "
        "$‖A - C U R‖_F ≤ ‖A - A_k‖_F + ε ‖A‖_F$. Some lecture notes state the bound "
        "$(2 + ε) ‖A - A_k‖_F$ here, but that bound needs "
        "leverage scores as probabilities."
    )
    return (Step(statement, "‖A - C U R‖_F ≥ ‖A - A_k‖_F", numbers, remark),)
