"""Row reduction with every operation named: R_i ↔ R_j, R_i ← c R_i, R_i ← R_i - c R_j."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from eckart.worked.fields import rationalised
from eckart.worked.messages import tr
from eckart.worked.numerals import text_number
from eckart.worked.solution import Equation, Step

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@dataclass(frozen=True)
class Reduction:
    """The operations of one pivot, and the matrix after them."""

    operations: tuple[str, ...]
    matrix: sp.Matrix


def _clear(
    rows: list[list[Value]], row: int, column: int, plain: Callable[[Value], Value], shown: Callable[[Value], Value]
) -> list[str]:
    """Subtract multiples of the pivot row, in place, until the column is 0 in all other rows.

    Returns the operations.
    """
    operations = []
    for i, other in enumerate(rows):
        factor = other[column]
        if i != row and factor:
            rows[i] = [plain(x - factor * y) for x, y in zip(other, rows[row], strict=True)]
            operations.append(f"R_{i + 1} ← R_{i + 1} {minus(shown(factor))}R_{row + 1}")
    return operations


def reduced(a: sp.Matrix) -> tuple[list[Reduction], sp.Matrix, list[int]]:
    """Reduced row echelon form, its pivot columns, and the operations.

    >>> steps, form, pivots = reduced(sp.Matrix([[2, 4], [1, 3]]))
    >>> [step.operations for step in steps], pivots
    ([('R_1 ← (1/2) R_1', 'R_2 ← R_2 - R_1'), ('R_1 ← R_1 - 2 R_2',)], [0, 1])
    """
    rows, plain, shown = _entries(a)
    found, pivots, row = [], [], 0
    for column in range(a.cols):
        below = [i for i in range(row, a.rows) if rows[i][column]]
        if not below:
            continue
        operations = []
        if below[0] != row:
            rows[row], rows[below[0]] = rows[below[0]], rows[row]
            operations.append(f"R_{row + 1} ↔ R_{below[0] + 1}")
        pivot = rows[row][column]
        if shown(pivot) != 1:
            rows[row] = [plain(x / pivot) for x in rows[row]]
            operations.append(f"R_{row + 1} ← {_times(shown(plain(pivot**-1)))}R_{row + 1}")
        operations += _clear(rows, row, column, plain, shown)
        pivots.append(column)
        row += 1
        if operations:
            found.append(Reduction(tuple(operations), _as_matrix(rows, shown)))
        if row == a.rows:
            break
    work = _as_matrix(rows, shown)
    return found, work, pivots


def reduction_steps(a: object) -> tuple[Step, ...]:
    """One step for each pivot."""
    steps, _, _ = reduced(a)
    return tuple(
        Step(tr("Row operations."), ",  ".join(step.operations), (Equation(f"M_{place}", step.matrix),))
        for place, step in enumerate(steps, 1)
    )


def inverse_steps(a: sp.Matrix) -> tuple[Step, ...]:
    """The reduction of (A | I) to (I | A^-1)."""
    statement = tr(
        "Inverse by row reduction: append the identity. When the left half is $I$, the right half is the inverse."
    )
    return (Step(statement), *reduction_steps(sp.Matrix.hstack(a, sp.eye(a.rows))))


def null_space_steps(shifted: sp.Matrix) -> tuple[Step, ...]:
    """(M - λ I) x = 0 as equations, reduced, with the free unknowns named and the general solution."""
    system = Step(tr("The same as a system of equations."), numbers=tuple(_equations(shifted)))
    _, form, pivots = reduced(shifted)
    free = [j for j in range(shifted.cols) if j not in pivots]
    names = ", ".join(f"$x_{j + 1}$" for j in free)
    lines = []
    for i, pivot in enumerate(pivots):
        right = [_term(rationalised(-form[i, j]), f"x_{j + 1}") for j in free if form[i, j] != 0]
        lines.append(f"x_{pivot + 1} = " + (_sum(right) if right else "0"))
    words = tr("Free unknowns: {names}. They determine the other unknowns.", names=names)
    solved = Step(words if pivots else tr("Free unknowns: {names}.", names=names), ",  ".join(lines))
    return (system, *reduction_steps(shifted), solved)


def _equations(a: sp.Matrix) -> list[Equation]:
    lines = []
    for i in range(a.rows):
        terms = [_term(a[i, j], f"x_{j + 1}") for j in range(a.cols) if a[i, j] != 0]
        lines.append(Equation("", f"${_sum(terms) if terms else '0'} = 0$"))
    return lines


def _term(factor: sp.Expr, name: str) -> tuple[bool, str]:
    """Whether the term is subtracted, and the term without its sign."""
    real, imaginary = sp.sympify(factor).as_real_imag() if not factor.free_symbols else (0, 0)
    negative = bool(sp.N(real) < 0) or (real == 0 and bool(sp.N(imaginary) < 0))
    negative = negative and all(_is_negative(part) for part in sp.Add.make_args(sp.sympify(factor)))
    size = -factor if negative else factor
    shown = text_number(size)
    if size == 1:
        return negative, name
    simple = len(sp.Add.make_args(size)) == 1 and "/" not in shown
    return negative, f"{shown} {name}" if simple else f"({shown}) {name}"


def _is_negative(part: sp.Expr) -> bool:
    """Whether a term has a minus sign in front; the minus of a sum is not taken out of its brackets."""
    return bool(part.could_extract_minus_sign())


def _sum(terms: list[tuple[bool, str]]) -> str:
    first, *rest = terms
    text = ("-" if first[0] else "") + first[1]
    return text + "".join(f" {'-' if negative else '+'} {term}" for negative, term in rest)


def _times(factor: object) -> str:
    return "-" if factor == -1 else f"({text_number(factor)}) "


def minus(factor: object) -> str:
    """A subtracted multiple: -3 is written + 3."""
    negative, term = _term(factor, "")
    return f"{'+' if negative else '-'} {term.strip()} ".replace("-  ", "- ").replace("+  ", "+ ")


def _entries(a: sp.Matrix) -> tuple[list[list[Value]], Callable[[Value], Value], Callable[[Value], Value]]:
    """The rows of a matrix, a function that simplifies results, and one that converts an entry to a SymPy number.

    With more than one root SymPy's `radsimp` may take minutes. In the field spanned by the roots, every number has a
    unique form.
    """
    roots = sorted({root for entry in a for root in sp.sympify(entry).atoms(sp.Pow)}, key=str)
    if len(roots) <= 1 or a.free_symbols:
        return a.applyfunc(rationalised).tolist(), rationalised, lambda value: value
    field = sp.QQ.algebraic_field(*roots)
    over = DomainMatrix.from_Matrix(a, field=True).convert_to(field)
    return over.to_list(), lambda value: value, lambda value: sp.expand(field.to_sympy(value))


def _as_matrix(rows: list[list[Value]], shown: Callable[[Value], Value]) -> sp.Matrix:
    return sp.Matrix([[shown(entry) for entry in row] for row in rows])
