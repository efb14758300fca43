"""Gram-Schmidt and QR: q_j = (a_j - ∑ (q_i · a_j) q_i) / ‖...‖, so that A = Q R with R upper triangular."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.fields import tidy_root
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.numerals import text_number
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns
from eckart.worked.svd import canonical
from eckart.worked.written_out import dot_line, squares, written

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def gram_schmidt(given: object) -> Solution:
    """Orthonormalise the columns of a matrix: A = Q R.

    {Parameters: given [8 x 6]; Returns: Solution}
        Named parts: Q, R, rank, orthogonal. A column that depends on earlier ones adds no vector to Q.

    {Raises: InputError [exact]; See Also: rank}

    Examples
    --------
    >>> found = gram_schmidt("3 1; 4 2")
    >>> found["Q"], found["R"]
    (Matrix([
    [3/5, -4/5],
    [4/5,  3/5]]), Matrix([
    [5, 11/5],
    [0,  2/5]]))
    """
    a = matrix(given, "gram_schmidt", rows=8, columns=6)
    orthogonal: dict[int, Value] = {}  # without roots: w_j by j, and q_j = w_j / ‖w_j‖
    steps = [Step(tr("The matrix."), numbers=(Equation("A", a),))]
    for j in range(a.cols):
        rest = a[:, j]
        for w in orthogonal.values():
            rest = (rest - w * (w.dot(a[:, j]) / w.dot(w))).applyfunc(canonical)
        steps.append(_column_step(a, dict(orthogonal), rest, j))
        if not rest.is_zero_matrix:
            orthogonal[j + 1] = rest
    q = columns([_unit(w) for w in orthogonal.values()], a.rows)
    r = (q.T * a).applyfunc(lambda value: sp.expand(sp.radsimp(value)))
    steps.append(
        Step(
            tr(
                "The unit vectors are the columns of $Q$, and the coefficients are the entries of $R$, "
                "which is upper triangular."
            ),
            "A = Q R,  R = Q^T A,  r_{ij} = q_i · a_j",
            (Equation("Q", q), Equation("R", r)),
            more=partial(product_steps, q.T, a, "r", r),
        )
    )
    steps.append(
        Step(
            tr("Check: the columns of $Q$ are orthonormal, and the product $Q R$ equals the matrix."),
            "Q^T Q = I",
            (Equation("Q^T Q", (q.T * q).applyfunc(sp.radsimp)), Equation("Q R", (q * r).applyfunc(sp.radsimp))),
            check=True,
        )
    )
    parts = {
        "Q": q,
        "R": r,
        "rank": sp.Integer(len(orthogonal)),
        "orthogonal": columns(list(orthogonal.values()), a.rows),
    }
    title = tr("Gram-Schmidt and QR of a {rows} x {cols} matrix", rows=a.rows, cols=a.cols)
    return Solution(title, tuple(steps), (Equation("Q", q), Equation("R", r)), parts)


def _unit(w: sp.Matrix) -> sp.Matrix:
    length = tidy_root(canonical(w.dot(w)))
    return w.applyfunc(lambda value: sp.radsimp(value / length))


def _column_step(a: sp.Matrix, before: dict[int, Value], rest: sp.Matrix, j: int) -> Step:
    """One column; `before` contains the earlier vectors by column number."""
    column = a[:, j]
    numbers = [Equation(f"a_{j + 1}", column)]
    terms = []
    for i, w in before.items():
        share = canonical(w.dot(column) / w.dot(w))
        terms.append(f"w_{i}" if share == 1 else f"({text_number(share)}) w_{i}")
        numbers.append(Equation(f"(w_{i} · a_{j + 1}) / (w_{i} · w_{i})", share))
    formula = f"w_{j + 1} = a_{j + 1}" + "".join(f" - {term}" for term in terms)
    numbers.append(Equation(f"w_{j + 1}", rest))
    if rest.is_zero_matrix:
        remark = tr("The result is the zero vector, so this column depends on the earlier columns and adds no vector.")
        if column.is_zero_matrix:
            remark = tr("This column is zero and adds no vector.")
        more = partial(_products, column, before, rest, j + 1) if before else None
        return Step(tr("Column {j}: subtract its projections.", j=j + 1), formula, tuple(numbers), remark, more)
    numbers += [Equation(f"‖w_{j + 1}‖", tidy_root(canonical(rest.dot(rest)))), Equation(f"q_{j + 1}", _unit(rest))]
    statement = tr("Column {j}: divide by its length.", j=j + 1)
    if before:
        statement = tr(
            "Column {j}: subtract its projections on the earlier vectors, then divide by the length.", j=j + 1
        )
    return Step(statement, formula, tuple(numbers), more=partial(_products, column, before, rest, j + 1))


def _products(column: sp.Matrix, before: dict[int, Value], rest: sp.Matrix, j: int) -> tuple[Step, ...]:
    """Every inner product of one column written out."""
    lines = []
    for i, w in before.items():
        lines += [dot_line(f"w_{i} · a_{j}", w, column), dot_line(f"w_{i} · w_{i}", w, w)]
    length = [] if rest.is_zero_matrix else [f"‖w_{j}‖ = sqrt({squares(rest)})"]
    return written([*lines, *length])
