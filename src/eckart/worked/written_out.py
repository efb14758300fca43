"""Additions of full detail below a step: sums of products, steps of another solution, coefficients by traces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import sympy as sp

from eckart.worked.messages import tr
from eckart.worked.numerals import product_text, square_text, text_number
from eckart.worked.solution import Equation, Solution, Step

if TYPE_CHECKING:
    from eckart.worked.solution import Value


def written(lines: Iterable[str]) -> tuple[Step, ...]:
    """Formulas, one below the other."""
    return (Step(tr("Written out."), numbers=tuple(Equation("", f"${line}$") for line in lines)),)


def dot_line(name: str, x: Iterable[Value], y: Iterable[Value]) -> str:
    """An inner product.

    >>> dot_line("x · y", [1, 2], [3, -1])
    'x · y = 1 · 3 + 2 · (-1) = 1'
    """
    pairs = list(zip(x, y, strict=True))
    value = sp.expand(sum(a * b for a, b in pairs))
    return f"{name} = {' + '.join(product_text(a, b) for a, b in pairs)} = {text_number(value)}"


def squares(entries: Iterable[Value]) -> str:
    """A sum of squares; of complex numbers, the squares of their moduli.

    >>> squares([1, -2]), squares([1, sp.I])
    ('1^2 + (-2)^2', '|1|^2 + |i|^2')
    """
    listed = list(entries)
    real = all(sp.sympify(entry).is_real is not False for entry in listed)
    return " + ".join(square_text(entry) if real else f"|{text_number(entry)}|^2" for entry in listed)


def inner_steps(solution: Solution) -> tuple[Step, ...]:
    """The steps of another solution with every detail, without its first, which repeats the matrix."""
    return tuple(step for _, step in solution.at("full").outline()[1:])


def trace_steps(m: sp.Matrix, name: str) -> tuple[Step, ...]:
    """The characteristic polynomial λ^n + c_1 λ^{n-1} + … + c_n by Faddeev and LeVerrier.

    N_1 = M, c_1 = -tr(N_1); N_k = M (N_{k-1} + c_{k-1} I), c_k = -tr(N_k) / k.
    """
    numbers: list[Equation] = []
    chain = m
    for k in range(1, m.rows + 1):
        coefficient = -sp.expand(chain.trace()) / k
        numbers += [Equation(f"N_{k}", chain), Equation(f"c_{k}", coefficient)]
        chain = (m * (chain + coefficient * sp.eye(m.rows))).applyfunc(sp.expand)
        if chain.is_zero_matrix:
            break
    statement = tr(
        "The coefficients by the method of Faddeev and LeVerrier: each coefficient is a trace. Once "
        "a matrix of the sequence is zero, all further coefficients are 0."
    )
    formula = f"N_1 = {name},  N_k = {name} (N_{{k-1}} + c_{{k-1}} I),  c_k = -tr(N_k) / k"
    return (Step(statement, formula, tuple(numbers)),)
