"""How many singular values to keep: the smallest k with σ_1^2 + … + σ_k^2 >= share of the whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.numerals import figure
from eckart.worked.pca import enough
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.svd import canonical, details, factors

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def energy(given: object, share: float = 0.9) -> Solution:
    """Find the smallest rank that reaches a given share of the energy.

    Parameters
    ----------
    {given [12 x 8]}
    share : float, default 0.9
        Share of the energy, which is the sum of squared singular values.

    {Returns: Solution}
        Named parts: k, k_by_sum, energy, singular_values. `k_by_sum` uses singular values that are not squared, as some
        lecture notes do.

    {Raises: InputError [exact]; See Also: svd, eckart.choose_rank}

    Examples
    --------
    >>> found = energy("1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 0 0 4 4; 0 0 0 5 5; 0 0 0 2 2", 0.6)
    >>> found["k"], found["k_by_sum"]
    (1, 2)
    """
    a = matrix(given, "energy", rows=12, columns=8)
    parts = factors(a)
    squares, values = [pair.value for pair in parts.eigenpairs], parts.values
    k, by_sum = enough(squares, share) if squares else 0, enough(values, share) if squares else 0
    norm = canonical(sum((entry * entry for entry in a), sp.Integer(0)))
    table = SolutionTable(
        ("i", "σ_i", "σ_i^2", tr("cumulative share of $∑ σ^2$"), tr("cumulative share of $∑ σ$")),
        tuple(_rows(values, squares)),
    )
    percent = f"{figure(100 * share)} %"
    steps = (
        Step(tr("The matrix."), numbers=(Equation("A", a),)),
        Step(
            tr(
                "The energy of a matrix is the sum of its squared entries, which equals the sum of "
                "its squared singular values."
            ),
            "‖A‖_F^2 = σ_1^2 + … + σ_r^2",
            (Equation("‖A‖_F^2", norm), table),
            more=partial(details, a),
        ),
        _smallest(
            "^2",
            share,
            tr(
                "The smallest $k$ that reaches {percent} of the sum of squares is ${k}$. Use this rule, because the "
                "squares that are dropped add up to the squared error.",
                percent=percent,
                k=k,
            ),
            k,
        ),
        _smallest(
            "",
            share,
            tr(
                "Some lecture notes add up the singular values without squaring them. The smallest $k$ that reaches "
                "{percent} of that sum is ${by_sum}$. Small singular values then have more weight, so this rule never "
                "keeps fewer.",
                percent=percent,
                by_sum=by_sum,
            ),
            by_sum,
        ),
    )
    named = {"k": sp.Integer(k), "k_by_sum": sp.Integer(by_sum), "energy": norm, "singular_values": sp.Matrix(values)}
    answer = (
        Equation("k", sp.Integer(k)),
        Equation(
            "",
            tr(
                "This number is based on the squared singular values. Without squaring them, it would be {by_sum}.",
                by_sum=by_sum,
            ),
        ),
    )
    return Solution(
        tr(("How many singular values explain {percent} of the energy"), percent=percent), steps, answer, named
    )


def _smallest(power: str, share: float, statement: str, found: int) -> Step:
    """The step that finds the smallest k of one sum."""
    formula = f"σ_1{power} + … + σ_k{power} ≥ {figure(share)} (σ_1{power} + … + σ_r{power})"
    return Step(statement, formula, (Equation("k", sp.Integer(found)),))


def _rows(values: list[Value], squares: list[Value]) -> list[tuple[Value, ...]]:
    rows, total, whole = [], sum(squares), sum(values)
    for i in range(len(values)):
        part, plain = sum(squares[: i + 1]) / total, sp.N(sum(values[: i + 1]) / whole, 20)
        rows.append((sp.Integer(i + 1), values[i], squares[i], canonical(sp.radsimp(part)), plain))
    return rows
