"""Rank by row reduction, a basis from the rows, and the coordinates of every row in it."""

from __future__ import annotations

from functools import partial

import sympy as sp

from eckart.documentation import document
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr, trn
from eckart.worked.row_reduction import minus, reduction_steps
from eckart.worked.solution import Equation, Solution, Step


@document
def rank(given: object) -> Solution:
    """Find the rank of a matrix and rows that form a basis.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The matrix, at most 12 x 12. In text, semicolons separate the rows: "1 2; 2 1".

    {Returns: Solution}
        Named parts: rank, basis, basis_rows (counted from 1), coordinates (of each row in the basis), echelon.

    {Raises: InputError [exact]; See Also: determinant, gram_schmidt}

    Examples
    --------
    >>> found = rank("1 2 1; -2 -3 1; 3 5 0")
    >>> found["rank"], found["coordinates"].tolist()
    (2, [[1, 0], [0, 1], [1, -1]])
    """
    a = matrix(given, "rank", rows=12, columns=12)
    steps, echelon, pivots = _elimination(a)
    reduced, chosen = a.T.rref(simplify=True)
    coordinates = reduced[: len(chosen), :].T
    basis = a.extract(list(chosen), list(range(a.cols)))
    words = ", ".join(str(i + 1) for i in chosen) or tr("none")
    count = len(pivots)
    steps = (Step(tr("The matrix."), numbers=(Equation("A", a),)), *steps, *_closing(a, echelon, count))
    if count:
        statement = tr(
            "Which rows form a basis? Write the rows as columns and reduce the matrix fully. Columns "
            "with a leading 1 belong to basis rows (here: {words}). Each column of the result "
            "contains the coordinates of its row.",
            words=words,
        )
        steps += (
            Step(
                statement,
                "a_i = ∑ c_{ij} b_j",
                (Equation("R", reduced), Equation("B", basis)),
                more=partial(reduction_steps, a.T),
            ),
            Step(
                tr("Check: the coordinates times the basis give the original rows."),
                "A = C B",
                (Equation("C", coordinates), Equation("C B", coordinates * basis)),
                check=True,
            ),
        )
    answer = [Equation("rank(A)", sp.Integer(count))]
    if count:
        answer += [
            Equation("", tr("Rows that form a basis of the row space: {words}.", words=words)),
            Equation("C", coordinates),
        ]
    parts = {
        "rank": sp.Integer(count),
        "basis": basis,
        "basis_rows": [sp.Integer(i + 1) for i in chosen],
        "coordinates": coordinates,
        "echelon": echelon,
    }
    return Solution(tr("Rank of a {rows} x {cols} matrix", rows=a.rows, cols=a.cols), steps, tuple(answer), parts)


def _clear_below(work: sp.Matrix, row: int, column: int) -> list[str]:
    """Subtract multiples of the pivot row, in place, until the column is 0 below it; returns the operations."""
    operations = []
    for i in range(row + 1, work.rows):
        if work[i, column] != 0:
            factor = sp.radsimp(work[i, column] / work[row, column])
            operations.append(f"R_{i + 1} ← R_{i + 1} {minus(factor)}R_{row + 1}")
            work[i, :] = (work[i, :] - factor * work[row, :]).applyfunc(lambda x: sp.expand(sp.radsimp(x)))
    return operations


def _elimination(a: sp.Matrix) -> tuple[tuple[Step, ...], sp.Matrix, list[int]]:
    """Row echelon form, one step for each pivot."""
    work, row = a.copy(), 0
    steps: list[Step] = []
    pivots: list[int] = []
    for column in range(a.cols):
        below = [i for i in range(row, a.rows) if work[i, column] != 0]
        if not below:
            continue
        words = []
        if below[0] != row:
            work.row_swap(row, below[0])
            words.append(tr("Swap rows {first} and {second}.", first=row + 1, second=below[0] + 1))
        operations = _clear_below(work, row, column)
        if operations:
            words.append(
                tr(
                    "Subtract multiples of row {row} from the rows below, so that column {column} is 0 there.",
                    row=row + 1,
                    column=column + 1,
                )
            )
        pivots.append(column)
        row += 1
        if words:
            steps.append(Step(" ".join(words), ",  ".join(operations), (Equation(f"A_{len(steps) + 1}", work.copy()),)))
        if row == a.rows:
            break
    return tuple(steps), work, pivots


def _closing(a: sp.Matrix, echelon: object, count: int) -> tuple[Step, ...]:
    zero = a.rows - count
    if not count:
        return (Step(tr("Every row is zero, so the rank is 0.")),)
    remark = ""
    if zero:
        remark = trn(
            "{n} row is zero, because it depends on the other rows.",
            "{n} rows are zero, because they depend on the other rows.",
            zero,
        )
    statement = trn(
        "In this form, {n} row is not zero, so the rank is {n}.",
        "In this form, {n} rows are not zero, so the rank is {n}.",
        count,
    )
    return (Step(statement, remark=remark),)
