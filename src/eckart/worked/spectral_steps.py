"""Steps that every solution with eigenvalues shares: characteristic polynomial, roots, eigenvectors of unit length."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eckart.worked.numerals import decimal, is_exact, text_number
from eckart.worked.solution import Equation, Step
from eckart.worked.spectrum import LAMBDA, Root, Spectrum

UNSOLVABLE = "The factor {factor} of degree {degree} {why}, so its roots are given as numbers, found to 40 digits."
NUMERIC = "Exact work with such entries would not end, so what follows is computed with 40 digits."


def spectral_steps(m: Any, found: Spectrum, name: str = "M", *, vectors: bool = True) -> tuple[Step, ...]:
    """From M to its eigenpairs."""
    exact_polynomial = not found.polynomial.as_expr().has(sp.Float)
    if not exact_polynomial:
        table = tuple(Equation(f"λ_{i}", value) for i, value in enumerate(found.values, 1))
        steps: tuple[Step, ...] = (Step(f"Eigenvalues of ${name}$.", remark=NUMERIC, numbers=table),)
    else:
        steps = (_polynomial_step(m, found, name), _roots_step(found))
    return steps + (tuple(_vector_step(m, root, found, name) for root in found.roots) if vectors else ())


def _polynomial_step(m: Any, found: Spectrum, name: str) -> Step:
    shifted = m - LAMBDA * sp.eye(m.rows)
    expanded = found.polynomial.as_expr()
    numbers = [Equation(f"{name} - λ I", shifted)] if m.rows <= 4 else []
    numbers.append(Equation("p(λ)", expanded))
    product = sp.Mul(*[factor.as_expr() ** times for factor, times in found.factors], evaluate=False)
    if len(found.factors) > 1 or found.factors[0][1] > 1:
        numbers.append(Equation("p(λ)", product))
    statement = (
        f"λ is an eigenvalue if $({name} - λ I) e = 0$ has a solution other than 0, that is, if the determinant of "
    )
    statement = (
        statement.replace("λ is", "$λ$ is", 1)
        + f"${name} - λ I$ is zero. That determinant is, up to sign, the characteristic polynomial."
    )
    return Step(statement, f"p(λ) = det(λ I - {name}) = 0", tuple(numbers))


def _roots_step(found: Spectrum) -> Step:
    remarks = []
    for factor, times in found.factors:
        roots = [root for root in found.roots if root.factor == factor]
        if not roots[0].exact:
            why = "is irreducible" if factor.degree() < 5 else "is irreducible, and above degree 4 no formula exists"
            remarks.append(
                UNSOLVABLE.format(factor=f"${text_number(factor.as_expr())}$", degree=factor.degree(), why=why)
            )
        if times > 1:
            values = " and ".join(_short(root.value) for root in roots)
            remarks.append(f"{values} {'is a root' if len(roots) == 1 else 'are roots'} {times} times.")
    if any(not root.real for root in found.roots):
        remarks.append("Some roots are not real: no real direction is kept by this matrix there, it turns the plane.")
    numbers = tuple(Equation(f"λ_{i}", value) for i, value in enumerate(found.values, 1))
    return Step("Its roots are the eigenvalues.", _root_formula(found), numbers, " ".join(remarks))


def _root_formula(found: Spectrum) -> str:
    quadratic = any(factor.degree() == 2 for factor, _ in found.factors)
    return "λ = (-b ± sqrt(b^2 - 4 c)) / 2  for  λ^2 + b λ + c = 0" if quadratic else ""


def _vector_step(m: Any, root: Root, found: Spectrum, name: str) -> Step:
    first = 1 + sum(r.multiplicity for r in found.roots[: found.roots.index(root)])
    numbers, several = [], len(root.axes) > 1
    exact = root.exact and is_exact(m)
    if exact and m.rows <= 3:
        numbers.append(Equation(f"{name} - λ I", (m - root.value * sp.eye(m.rows)).applyfunc(sp.expand)))
    for place, axis in enumerate(root.axes):
        number = first + place
        if exact and axis.weights is None and axis.length != 1:
            numbers += [Equation(f"x_{number}", axis.direction), Equation(f"‖x_{number}‖", axis.length)]
        numbers.append(Equation(f"e_{number}", axis.unit))
    statement = f"For $λ = {_short(root.value)}$ solve $({name} - λ I) x = 0$ and divide by the length."
    remark = ""
    if len(root.axes) < root.multiplicity:
        remark = f"The root is {root.multiplicity}-fold but has only {len(root.axes)} independent eigenvector"
        remark += f"{'s' if several else ''}: this matrix cannot be diagonalised."
    elif several:
        remark = f"The solutions fill a space of dimension {len(root.axes)}: any basis of it would do"
        remark += ", and this one is orthogonal." if m.is_symmetric() else "."
    return Step(statement, numbers=tuple(numbers), remark=remark)


def _short(value: Any) -> str:
    shown = text_number(value)
    return shown if len(shown) < 40 else decimal(value)


def columns(vectors: list[Any], rows: int) -> Any:
    """Vectors side by side."""
    return sp.Matrix.hstack(*vectors) if vectors else sp.zeros(rows, 0)
