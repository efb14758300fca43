"""Determinants by Chio's pivotal condensation.

det A = det B / a_11^(n-2),   b_ij = a_11 a_(i+1)(j+1) - a_1(j+1) a_(i+1)1
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.worked.determinant_expansion import chio_steps, expansion_steps
from eckart.worked.matrices import square
from eckart.worked.messages import tr
from eckart.worked.numerals import divisor_text, factor_text, text_number
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.written_out import written

if TYPE_CHECKING:
    from eckart.worked.solution import Value

RULE = "det(A) = det(B) / a_11^{n-2},  b_{ij} = a_11 a_{i+1,j+1} - a_{1,j+1} a_{i+1,1}"


@document
def determinant(given: object) -> Solution:
    """Compute a determinant by Chio's condensation, showing every matrix and every row swap.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        A square matrix, at most 7 x 7. In text, semicolons separate the rows: "1 2; 2 1".

    {Returns: Solution}
        Named parts: determinant.

    {Raises: InputError [exact]; See Also: rank, eigen}

    Examples
    --------
    >>> determinant("2 1 3; 1 4 2; 0 5 6")["determinant"]
    37
    """
    a = square(given, "determinant", side=7)
    steps = [Step(tr("The matrix."), numbers=(Equation("A", a),))]
    sign, divisor, work = 1, sp.Integer(1), a.copy()
    while work.rows > 2:
        first = next((i for i in range(work.rows) if work[i, 0] != 0), None)
        if first is None:
            remark = tr(
                "Each product in the expansion of the determinant has a factor from this column, so the "
                "determinant is 0."
            )
            steps.append(Step(tr("The first column is zero."), "det = 0", remark=remark))
            return _solution(a, steps, sp.Integer(0), work)
        if first:
            work = work.elementary_row_op("n<->m", row1=0, row2=first)  # a new matrix: earlier steps show the old one
            sign = -sign
            statement = tr(
                "The pivot is 0: swap rows 1 and {row}, which changes the sign of the determinant.", row=first + 1
            )
            steps.append(Step(statement, numbers=(Equation("A'" if work.shape == a.shape else "B'", work),)))
        pivot, power = work[0, 0], work.rows - 2
        more = partial(chio_steps, work)
        work = condensed(work)
        divisor = sp.expand(divisor * pivot**power)
        statement = tr(
            "Condense around the pivot ${pivot}$: from {before} x {before} to {after} x {after}.",
            pivot=text_number(pivot),
            before=power + 2,
            after=power + 1,
        )
        steps.append(Step(statement, RULE, (Equation("B", work), Equation("a_11^{n-2}", pivot**power)), more=more))
    value, step = _last(work, sign, divisor, whole=work.shape == a.shape)
    steps.append(step)
    return _solution(a, steps, value, work)


def condensed(a: sp.Matrix) -> sp.Matrix:
    """Chio's matrix B, one row and one column smaller: 2 x 2 determinants that all contain the pivot.

    >>> condensed(sp.Matrix([[1, 2], [3, 4]]))
    Matrix([[-2]])
    """
    n = a.rows - 1
    return sp.Matrix(n, n, lambda i, j: sp.expand(a[0, 0] * a[i + 1, j + 1] - a[0, j + 1] * a[i + 1, 0]))


def _last(work: sp.Matrix, sign: int, divisor: object, *, whole: bool) -> tuple[Value, Step]:
    """The determinant of the condensed matrix; `whole` if nothing was condensed."""
    if work.rows == 1:
        small, formula = work[0, 0], "det(a) = a"
    else:
        small, formula = sp.expand(work[0, 0] * work[1, 1] - work[0, 1] * work[1, 0]), "det = a_11 a_22 - a_12 a_21"
    value = sp.expand(sp.radsimp(sign * small / divisor))
    numbers = [Equation("det(B)" if divisor != 1 or sign < 0 else "det(A)", small)]
    if divisor != 1 or sign < 0:
        numbers += [Equation(tr("divisor"), divisor), Equation(tr("sign"), sp.Integer(sign)), Equation("det(A)", value)]
    rest = tr("The remaining determinant is small enough to compute directly. Divide it by the powers of the pivots.")
    return value, Step(
        tr("The matrix is small enough to compute the determinant directly.") if whole else rest,
        formula,
        tuple(numbers),
        more=partial(_last_written_out, work, sign, divisor, value),
    )


def _last_written_out(work: sp.Matrix, sign: int, divisor: sp.Expr, value: sp.Expr) -> tuple[Step, ...]:
    """The two products, and the division by the powers of the pivots with its sign."""
    if divisor == 1 and sign > 0:
        return expansion_steps(work, "det(A)")
    small, minus = sp.expand(work.det()), "-" if sign < 0 else ""
    line = f"det(A) = {minus}{factor_text(small)} / {divisor_text(divisor)} = {text_number(value)}"
    return (*expansion_steps(work, "det(B)"), *written([line]))


def _solution(a: sp.Matrix, steps: list[Step], value: object, last: object) -> Solution:
    if 3 <= a.rows <= 4:
        statement = tr("Check: the rule of Sarrus or cofactor expansion gives the same determinant.")
        more = partial(expansion_steps, a, "det(A)")
        steps.append(Step(statement, numbers=(Equation("det(A)", value),), more=more, check=True))
    if value == 0:
        steps.append(
            Step(tr("The determinant is 0, so the matrix has no inverse and its rows are linearly dependent."))
        )
    title = tr("Determinant of a {rows} x {rows} matrix by Chio's condensation", rows=a.rows)
    return Solution(title, tuple(steps), (Equation("det(A)", value),), {"determinant": value, "last": last})
