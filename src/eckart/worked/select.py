"""Choosing columns by their correlation with a target: r = s_xy / sqrt(s_xx s_yy)."""

from __future__ import annotations

from functools import partial
from itertools import repeat

import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError, ParameterError
from eckart.wording import either
from eckart.worked.checks import whole
from eckart.worked.matrices import matrix, vector
from eckart.worked.messages import mark, tr, trn
from eckart.worked.numerals import figure
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.written_out import dot_line, written


@document
def select(given: object, target: object, *, count: int | None = None, threshold: float | None = None) -> Solution:
    """Select the columns that correlate most with a target.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The table, at most 40 rows and 12 columns; rows are observations.
    target : str, list or array
        The target: one number per row.
    count : int, default None
        Number of columns to keep.
    threshold : float, default None
        Keep the columns whose absolute correlation with the target is at least this. None means 0.5 if `count` is not
        given.

    {Returns: Solution}
        Named parts: correlations, chosen (columns counted from 1).

    Raises
    ------
    {InputError [exact]}
    ParameterError
        If both `count` and `threshold` are given.

    {See Also: eckart.CorrelationFilter}

    Examples
    --------
    >>> select("1 2; 2 1; 3 5; 4 2", "1 2 3 4", count=1)["chosen"]
    [1]
    """
    table = matrix(given, "select", rows=40, columns=12)
    y = vector(target, mark("The target"), table.rows, per_row=True)
    _check_limits(count, threshold, table.cols)
    centred = [_centred(table[:, j]) for j in range(table.cols)]
    goal = _centred(y)
    if goal.is_zero_matrix:
        raise InputError(tr("The target is constant, so no column is correlated with it. Use another target."))
    products, squares = [x.dot(goal) for x in centred], [x.dot(x) for x in centred]
    own = goal.dot(goal)
    found = list(map(_correlation, products, squares, repeat(own)))
    limit = 0.5 if threshold is None else threshold
    order, chosen = _ranked(found, count, limit)
    compared = _comparison(order, squares, products, found, chosen)
    values = [Equation(f"r_{j}", r) for j, r in enumerate(found, 1)]
    remark = tr("A constant column has no correlation, which counts as 0.") if 0 in squares else ""
    steps = (
        Step(tr("The columns and the target."), numbers=(Equation("X", table), Equation("y", y))),
        Step(
            tr("Subtract the means. From here on, $X$ and $y$ are the centred values."),
            numbers=(Equation("X", sp.Matrix.hstack(*centred)), Equation("y", goal)),
        ),
        Step(
            _rule(count, limit),
            "r_j = x_j^T y / sqrt(x_j^T x_j · y^T y)",
            (Equation("y^T y", own), *values, compared),
            remark,
            more=partial(_products, centred, goal),
        ),
        Step(
            tr(
                "This filter judges each column separately. It keeps both of two redundant columns, "
                "and drops a column that helps only together with another column."
            )
        ),
    )
    numbers = [sp.Integer(j + 1) for j in chosen]
    words = ", ".join(map(str, numbers)) or tr("none")
    parts = {"correlations": sp.Matrix(found), "chosen": numbers}
    return Solution(
        tr("Columns selected by their correlation with a target"),
        steps,
        (Equation("", tr("Keep columns: {words}.", words=words)),),
        parts,
    )


def _check_limits(count: int | None, threshold: float | None, columns: int) -> None:
    if count is not None and threshold is not None:
        raise ParameterError(
            tr("{first} and {second} each determine the number of columns. Use only one of "
            "them.", first=either("count", "--count"),
               second=either("threshold", "--threshold"))
        )  # fmt: skip
    if count is not None:
        whole("count", count, 1, columns)


def _ranked(correlations: list[sp.Expr], count: int | None, limit: float) -> tuple[list[int], list[int]]:
    """Columns by |r|, largest first, and the chosen ones in the order of the table."""
    sizes = [abs(float(sp.N(r))) for r in correlations]
    order = sorted(range(len(sizes)), key=lambda j: -sizes[j])
    return order, sorted(order[:count] if count else [j for j in order if sizes[j] >= limit])


def _comparison(
    order: list[int], squares: list[sp.Expr], products: list[sp.Expr], correlations: list[sp.Expr], chosen: list[int]
) -> SolutionTable:
    """The columns by |r|, and whether they are kept.

    The table has decimals for comparison; the exact values are above it.
    """
    choices = {True: tr("keep"), False: tr("drop")}
    rounded = [r if r.is_Rational else sp.N(r, 6) for r in correlations]
    rows = tuple((sp.Integer(j + 1), squares[j], products[j], rounded[j], choices[j in chosen]) for j in order)
    return SolutionTable((tr("column"), "x^T x", "x^T y", "r", tr("choice")), rows)


def _products(centred: list[sp.Matrix], goal: sp.Matrix) -> tuple[Step, ...]:
    """The inner products, written out."""
    return written(
        line
        for j, x in enumerate(centred, 1)
        for line in (dot_line(f"x_{j}^T x_{j}", x, x), dot_line(f"x_{j}^T y", x, goal))
    )


def _rule(count: int | None, limit: float) -> str:
    if count:
        return trn(
            "Correlate each column with the target and keep the column with the largest $|r|$.",
            "Correlate each column with the target and keep the {n} columns with the largest $|r|$.",
            count,
        )
    return tr("Correlate each column with the target and keep the columns with $|r| ≥ {limit}$.", limit=figure(limit))


def _centred(column: sp.Matrix) -> sp.Matrix:
    return (column - sp.ones(column.rows, 1) * (sum(column) / column.rows)).applyfunc(sp.expand)


def _correlation(product: sp.Expr, square: sp.Expr, own: sp.Expr) -> sp.Expr:
    return sp.Integer(0) if square == 0 else sp.radsimp(product / sp.sqrt(sp.expand(square * own)))
