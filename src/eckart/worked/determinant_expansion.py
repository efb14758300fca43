"""Determinants written out: two products, the rule of Sarrus, cofactors, Chio's determinants of order two."""

from __future__ import annotations

import sympy as sp

from eckart.worked.messages import tr
from eckart.worked.numerals import is_exact, product_text, text_number
from eckart.worked.solution import Equation, Step

_DEEPEST = 4


def expansion_steps(m: sp.Matrix, name: str = "det") -> tuple[Step, ...]:
    """The determinant by the rule for its size."""
    if m.rows == 1:
        return ()
    if m.rows == 2:
        return (_two(m, name),)
    if m.rows == 3:
        return (_sarrus(m, name),)
    return _cofactors(m, name) if m.rows <= _DEEPEST else ()


def _two(m: sp.Matrix, name: str) -> Step:
    line = f"{product_text(m[0, 0], m[1, 1])} - {product_text(m[0, 1], m[1, 0])}"
    value = sp.expand(m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
    return Step(
        tr("The product along one diagonal minus the product along the other."),
        f"{name} = {line}",
        (Equation(name, value),),
    )


def _sarrus(m: sp.Matrix, name: str) -> Step:
    """a11 a22 a33 + a12 a23 a31 + a13 a21 a32 - a13 a22 a31 - a11 a23 a32 - a12 a21 a33."""
    plus, minus = [(0, 1, 2), (1, 2, 0), (2, 0, 1)], [(2, 1, 0), (0, 2, 1), (1, 0, 2)]
    terms = []
    for sign, orders in (("+", plus), ("-", minus)):
        for order in orders:
            entries = [m[i, j] for i, j in enumerate(order)]
            if 0 not in entries:
                terms.append(f"{sign} {product_text(*entries)}")
    line = " ".join(terms).removeprefix("+ ") or "0"
    statement = tr("Rule of Sarrus: three products along the falling diagonals minus three along the rising ones.")
    remark = tr("Products with a factor 0 are left out.") if 0 < len(terms) < 6 else ""
    return Step(statement, f"{name} = {line}", (Equation(name, sp.expand(m.det(method="berkowitz"))),), remark)


def _cofactors(m: sp.Matrix, name: str) -> tuple[Step, ...]:
    """Along the row with most zeros; the minors by Sarrus."""
    row = max(range(m.rows), key=lambda i: (sum(entry == 0 for entry in m[i, :]), -i))
    terms, steps = [], []
    for j in range(m.cols):
        if m[row, j] == 0:
            continue
        sign = "+" if (row + j) % 2 == 0 else "-"
        terms.append(f"{sign} {product_text(m[row, j])} · M_{{{row + 1},{j + 1}}}")
        minor = m.minor_submatrix(row, j)
        steps.append(_sarrus(minor, f"M_{{{row + 1},{j + 1}}}"))
    line = " ".join(terms).removeprefix("+ ") or "0"
    statement = tr(
        "Expansion by cofactors along row {row}: each entry times the determinant without its row "
        "and column, with alternating signs.",
        row=row + 1,
    )
    remark = tr("Products with a factor 0 are left out.") if 0 < len(terms) < m.cols else ""
    first = Step(statement, f"{name} = {line}", remark=remark)
    return (first, *steps, Step(tr("Add the terms."), numbers=(Equation(name, sp.expand(m.det(method="berkowitz"))),)))


def chio_steps(a: sp.Matrix) -> tuple[Step, ...]:
    """Every entry of Chio's matrix B as a 2 x 2 determinant with the pivot."""
    lines = []
    for i in range(a.rows - 1):
        for j in range(a.cols - 1):
            parts = (a[0, 0], a[i + 1, j + 1], a[0, j + 1], a[i + 1, 0])
            shown = f"{product_text(*parts[:2])} - {product_text(*parts[2:])}"
            value = text_number(sp.expand(parts[0] * parts[1] - parts[2] * parts[3]))
            lines.append(Equation("", f"$b_{{{i + 1},{j + 1}}} = {shown} = {value}$"))
    return (Step(tr("Each entry of $B$ is a 2 x 2 determinant that contains the pivot."), numbers=tuple(lines)),)


def product_steps(left: sp.Matrix, right: sp.Matrix, name: str, result: sp.Matrix | None = None) -> tuple[Step, ...]:
    """Every entry of a product of two matrices as a sum of products.

    `result` is the product in its simplest form, if known. Factors printed as decimals are rounded, so their product is
    too.
    """
    if 0 in (*left.shape, *right.shape):
        return ()
    lines = []
    for i in range(left.rows):
        for j in range(right.cols):
            shown = " + ".join(product_text(left[i, m], right[m, j]) for m in range(left.cols))
            value = sp.expand((left[i, :] * right[:, j])[0]) if result is None else result[i, j]
            sign = "=" if is_exact(left[i, :]) and is_exact(right[:, j]) else "≈"
            lines.append(Equation("", f"${name}_{{{i + 1},{j + 1}}} {sign} {shown} {sign} {text_number(value)}$"))
    return (Step(tr("Multiply each row of the first factor by each column of the second."), numbers=tuple(lines)),)
