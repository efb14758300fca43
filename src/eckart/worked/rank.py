"""Rank by row reduction, a basis taken from the rows, and the coordinates of every row in it."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eckart.worked.matrices import matrix
from eckart.worked.solution import Equation, Solution, Step


def rank(given: Any) -> Solution:
    """The rank, rows that form a basis, and each row as a combination of them.

    >>> found = rank("1 2 1; -2 -3 1; 3 5 0")
    >>> found["rank"], found["coordinates"].tolist()
    (2, [[1, 0], [0, 1], [1, -1]])
    """
    a = matrix(given, "rank", rows=12, columns=12)
    steps, echelon, pivots = _elimination(a)
    reduced, chosen = a.T.rref(simplify=True)
    coordinates = reduced[: len(chosen), :].T
    basis = a.extract(list(chosen), list(range(a.cols)))
    words = ", ".join(str(i + 1) for i in chosen) or "none"
    count = len(pivots)
    steps = (Step("The matrix.", numbers=(Equation("A", a),)), *steps, *_closing(a, echelon, count))
    if count:
        statement = (
            "Which rows form a basis? Write the rows as columns and reduce fully: columns with a leading 1 belong to "
        )
        statement += f"basis rows (here {words}), and every column of the result holds the coordinates of its row."
        steps += (Step(statement, "a_i = ∑ c_{ij} b_j", (Equation("R", reduced), Equation("B", basis))),
                  Step("Check: coordinates times basis give the rows back.", "A = C B",
                       (Equation("C", coordinates), Equation("C B", coordinates * basis))))  # fmt: skip
    answer = [Equation("rank(A)", sp.Integer(count))]
    if count:
        answer += [Equation("", f"Rows {words} are a basis of the space of rows."), Equation("C", coordinates)]
    parts = {"rank": sp.Integer(count), "basis": basis, "basis_rows": [sp.Integer(i + 1) for i in chosen],
             "coordinates": coordinates, "echelon": echelon}  # fmt: skip
    return Solution(f"Rank of a {a.rows} x {a.cols} matrix", steps, tuple(answer), parts)


def _elimination(a: Any) -> tuple[tuple[Step, ...], Any, list[int]]:
    """Row echelon form, one step for each pivot."""
    work, steps, pivots, row = a.copy(), [], [], 0
    for column in range(a.cols):
        below = [i for i in range(row, a.rows) if work[i, column] != 0]
        if not below:
            continue
        words = []
        if below[0] != row:
            work.row_swap(row, below[0])
            words.append(f"swap rows {row + 1} and {below[0] + 1}")
        pivot = work[row, column]
        cleared = False
        for i in range(row + 1, a.rows):
            if work[i, column] != 0:
                factor = sp.radsimp(work[i, column] / pivot)
                work[i, :] = (work[i, :] - factor * work[row, :]).applyfunc(lambda x: sp.expand(sp.radsimp(x)))
                cleared = True
        if cleared:
            words.append(f"take multiples of row {row + 1} from the rows below, so that column {column + 1} is 0 there")
        pivots.append(column)
        row += 1
        if words:
            text = "; then ".join(words)
            steps.append(Step(f"{text[0].upper()}{text[1:]}.", numbers=(Equation("A", work.copy()),)))
        if row == a.rows:
            break
    return tuple(steps), work, pivots


def _closing(a: Any, echelon: Any, count: int) -> tuple[Step, ...]:
    zero = a.rows - count
    remark = f"{zero} row{'s are' if zero != 1 else ' is'} zero: that many rows depend on the others." if zero else ""
    statement = f"In this form {count} row{'s are' if count != 1 else ' is'} not zero, so the rank is {count}."
    return (Step(statement, remark=remark),)
