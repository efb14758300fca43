"""Irreducible cubics: Cardano's formula if it needs only real roots, and intervals proved by exact arithmetic."""

from __future__ import annotations

import sympy as sp

from eckart.worked.messages import tr
from eckart.worked.numerals import text_number
from eckart.worked.solution import Equation, SolutionTable, Step

_WIDTH = sp.Rational(1, 1000)


def root_steps(factor: sp.Poly) -> tuple[Step, ...]:
    """How the roots of an irreducible factor without square-root formulas can be written or enclosed."""
    steps = [_interval_step(factor)] if factor.count_roots() else []
    if factor.degree() == 3:
        steps.insert(0, cardano_step(factor))
    return tuple(steps)


def cardano_step(factor: sp.Poly) -> Step:
    """λ = t - b/3 turns the cubic into t^3 + p t + q = 0; the sign of Δ = (q/2)^2 + (p/3)^3 decides.

    >>> x = sp.Symbol("lambda")
    >>> cardano_step(sp.Poly(x**3 - 3 * x**2 + 3 * x - 25, x)).numbers[-1].value
    1 + 2*3**(1/3)
    """
    _, b, c, d = factor.monic().all_coeffs()
    p, q = c - b * b / 3, 2 * b**3 / 27 - b * c / 3 + d
    delta = (q / 2) ** 2 + (p / 3) ** 3
    numbers = [Equation("p", p), Equation("q", q), Equation("Δ", delta)]
    formula = "λ = t - b / 3,  t^3 + p t + q = 0,  Δ = (q / 2)^2 + (p / 3)^3"
    if delta > 0:
        root = _real_cube_root(-q / 2 + sp.sqrt(delta)) + _real_cube_root(-q / 2 - sp.sqrt(delta)) - b / 3
        numbers.append(Equation("λ", root))
        statement = tr("Cardano's formula: $Δ > 0$, so exactly one root is real. It is a sum of two cube roots.")
        return Step(statement, formula + ",  t = cbrt(-q/2 + sqrt(Δ)) + cbrt(-q/2 - sqrt(Δ))", tuple(numbers))
    angle = "t_k = 2 sqrt(-p/3) cos((φ - 2 π k) / 3),  cos φ = (-q/2) / sqrt(-(p/3)^3)"
    size, cosine = sp.sqrt(-p / 3), (-q / 2) / sp.sqrt(-((p / 3) ** 3))
    phi = sp.acos(cosine)
    roots = [sp.N(2 * size * sp.cos((phi - 2 * sp.pi * k) / 3) - b / 3, 40) for k in range(3)]
    numbers += [
        Equation("cos φ", sp.radsimp(cosine)),
        *[Equation(f"t_{k} - b / 3", value) for k, value in enumerate(roots)],  # λ_1, λ_2, ... are sorted by modulus
    ]
    statement = tr(
        "Cardano's formula: $Δ < 0$, so all three roots are real. Real radicals cannot express them, but cosines can."
    )
    return Step(statement, f"{formula},  {angle}", tuple(numbers))


def _real_cube_root(value: sp.Expr) -> sp.Expr:
    """The real cube root, without complex powers of negative numbers."""
    value = sp.radsimp(sp.expand(value))
    return -sp.cbrt(-value) if sp.N(value) < 0 else sp.cbrt(value)


def _interval_step(factor: sp.Poly) -> Step:
    """Isolating intervals; the exact values at both ends have opposite signs, so a root lies between."""
    rows = []
    for (low, high), _ in factor.intervals(eps=_WIDTH):
        rows.append((low, high, factor.eval(low), factor.eval(high)))
    statement = tr("Each real root lies in an interval of width at most 1/1000, because the polynomial has opposite "
    "signs at the ends of the interval.")  # fmt: skip
    table = SolutionTable(("a", "b", "p(a)", "p(b)"), tuple(reversed(rows)))
    return Step(statement, f"p(λ) = {text_number(factor.as_expr())}", (table,))
