"""How many singular values to keep: the smallest k with σ_1^2 + … + σ_k^2 >= share of the whole."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eckart.worked.matrices import matrix
from eckart.worked.pca import enough
from eckart.worked.solution import Equation, Solution, Step, Table
from eckart.worked.svd import factors, settled


def energy(given: Any, share: float = 0.9) -> Solution:
    """The k that carries a share of the energy, by the squares and, beside it, by the plain sum that some notes print.

    >>> found = energy("1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 0 0 4 4; 0 0 0 5 5; 0 0 0 2 2", 0.6)
    >>> found["k"], found["k_by_sum"]
    (1, 2)
    """
    a = matrix(given, "energy", rows=12, columns=8)
    parts = factors(a)
    squares, values = [axis.value for axis in parts.axes], parts.values
    k, by_sum = enough(squares, share) if squares else 0, enough(values, share) if squares else 0
    norm = settled(sum((entry * entry for entry in a), sp.Integer(0)))
    table = Table(("i", "σ_i", "σ_i^2", "share of ∑ σ^2", "share of ∑ σ"), tuple(_rows(values, squares)))
    percent = f"{100 * share:g} %"
    steps = (
        Step("The matrix.", numbers=(Equation("A", a),)),
        Step("The energy of a matrix is the sum of its squared entries, and that is the sum of the squared "
             "singular values.",
             "‖A‖_F^2 = σ_1^2 + … + σ_r^2", (Equation("‖A‖_F^2", norm), table)),
        Step(f"By the squares, {percent} are reached with k = {k}. This is the rule to use: what is dropped is "
             f"the squared "
             f"error.", f"σ_1^2 + … + σ_k^2 ≥ {share:g} (σ_1^2 + … + σ_r^2)", (Equation("k", sp.Integer(k)),)),
        Step(f"By the plain sum {percent} are reached with k = {by_sum}. Some notes print this rule; it keeps "
             f"more, because "
             "small values weigh more in it.", f"σ_1 + … + σ_k ≥ {share:g} (σ_1 + … + σ_r)",
             (Equation("k", sp.Integer(by_sum)),)),
    )  # fmt: skip
    named = {"k": sp.Integer(k), "k_by_sum": sp.Integer(by_sum), "energy": norm, "singular_values": sp.Matrix(values)}
    answer = (Equation("k", sp.Integer(k)), Equation("", f"by energy; {by_sum} by the plain sum of singular values."))
    return Solution(f"How many singular values carry {percent} of the energy", steps, answer, named)


def _rows(values: list[Any], squares: list[Any]) -> list[tuple[Any, ...]]:
    rows, total, whole = [], sum(squares), sum(values)
    for i in range(len(values)):
        part, plain = sum(squares[: i + 1]) / total, sp.N(sum(values[: i + 1]) / whole, 20)
        rows.append((sp.Integer(i + 1), values[i], squares[i], settled(sp.radsimp(part)), plain))
    return rows
