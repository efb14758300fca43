"""The theorem of Eckart and Young on an example: no matrix of rank k is closer to A than A_k.

‖A - A_k‖_F^2 = σ_{k+1}^2 + ... + σ_r^2 and ‖A - A_k‖_2 = σ_{k+1}. The proof of the lower bound is Weyl's inequality:
for B of rank k, σ_{i+k}(A) ≤ σ_i(A - B), so that ‖A - B‖_F^2 = ∑ σ_i(A - B)^2 ≥ ∑ σ_{i+k}(A)^2.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError
from eckart.worked.checks import whole
from eckart.worked.fields import tidy_root
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.spectral_steps import spectral_steps
from eckart.worked.svd import canonical, details, factors, gram_step, truncation_step

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def bounds(given: object, k: int = 1, *, other: object = None) -> Solution:
    """Compare the best approximation of rank k with another approximation of the same rank.

    Parameters
    ----------
    {given [8 x 6]}
    k : int, default 1
        Rank of the approximations, below the rank of the matrix.
    other : str, list, array or sympy.Matrix, default None
        Another matrix of rank at most k. None uses the projection onto the k longest columns.

    {Returns: Solution}
        Named parts: approximation, error_squared, spectral_error, other, other_error_squared, singular_values.

    {Raises: InputError [exact]; See Also: svd}

    Examples
    --------
    >>> found = bounds("2 1; 1 2", 1)
    >>> found["error_squared"], found["other_error_squared"]
    (1, 9/5)
    """
    a = matrix(given, "bounds", rows=8, columns=6)
    parts = factors(a)
    rank = len(parts.eigenpairs)
    if rank < 2:
        raise InputError(
            tr(
                "The rank of the matrix is less than 2, but only a matrix of rank 2 or more has approximations "
                "to compare. Use another matrix."
            )
        )
    whole("k", k, 1, rank - 1)
    b = _projected(a, k) if other is None else matrix(other, "bounds", rows=8, columns=6)
    if b.shape != a.shape or b.rank() > k:
        raise InputError(
            tr("The other matrix must be {rows} x {cols} with rank at most {k}, but it is {shape} with "
            "rank {rank}.",
               rows=a.rows, cols=a.cols, k=k, shape="{} x {}".format(*b.shape), rank=b.rank())
        )  # fmt: skip
    rest = (a - b).applyfunc(canonical)
    error = canonical(sum((x * x for x in rest), sp.Integer(0)))
    gaps = factors(rest)
    first = (
        gram_step(a),
        *spectral_steps(a.T * a, parts.found, "A^T A", vectors=False),
        Step(
            tr("The singular values of $A$ are the square roots of these eigenvalues."),
            "σ_i = sqrt(λ_i)",
            tuple(Equation(f"σ_{i}", value) for i, value in enumerate(parts.values, 1)),
        ),
    )
    steps = (
        Step(tr("The matrix."), numbers=(Equation("A", a),)),
        *first,
        replace(truncation_step(parts, k), more=partial(_further_details, a, first)),
        _levels_step(parts.values, [pair.value for pair in parts.eigenpairs]),
        _other_step(a, b, error, other is None, k),
        _weyl_step(parts.values, gaps.values, k, a),
    )
    best = parts.error_squared(k)
    named = {
        "approximation": parts.approximation(k),
        "error_squared": best,
        "spectral_error": parts.values[k],
        "other": b,
        "other_error_squared": error,
        "singular_values": sp.Matrix(parts.values),
    }
    answer = (
        Equation(f"A_{k}", named["approximation"]),
        Equation(f"‖A - A_{k}‖_F", tidy_root(best)),
        Equation(f"‖A - A_{k}‖_2", parts.values[k]),
    )
    return Solution(
        tr("Eckart-Young bounds for a {rows} x {cols} matrix", rows=a.rows, cols=a.cols), steps, answer, named
    )


def _further_details(a: sp.Matrix, shown: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps of the SVD, without those that the solution shows itself."""
    known = [_content(one) for step in shown for one in (step, *(step.more() if step.more else ()))]
    return tuple(one for one in details(a) if _content(one) not in known)


def _content(step: Step) -> tuple[str, str, str]:
    return step.statement, step.formula, repr(step.numbers)


def _projected(a: sp.Matrix, k: int) -> sp.Matrix:
    """A projected on its k independent columns of largest norm: the best approximation from original columns."""
    order = sorted(range(a.cols), key=lambda j: (-sp.N(a[:, j].dot(a[:, j])), j))
    chosen: list[int] = []
    for j in order:
        if len(chosen) < k and a.extract(list(range(a.rows)), [*chosen, j]).rank() == len(chosen) + 1:
            chosen.append(j)
    c = a.extract(list(range(a.rows)), chosen)
    return (c * (c.T * c).inv() * c.T * a).applyfunc(canonical)


def _levels_step(values: list[Value], squares: list[Value]) -> Step:
    rows = []
    for k in range(1, len(values) + 1):
        rest = canonical(sum(squares[k:], sp.Integer(0)))
        rows.append((sp.Integer(k), rest, tidy_root(rest), values[k] if k < len(values) else sp.Integer(0)))
    table = SolutionTable(("k", "‖A - A_k‖_F^2", "‖A - A_k‖_F", "‖A - A_k‖_2"), tuple(rows))
    statement = tr("The smallest possible error for every rank, in the Frobenius and in the spectral norm.")
    return Step(statement, "‖A - A_k‖_F^2 = σ_{k+1}^2 + … + σ_r^2,  ‖A - A_k‖_2 = σ_{k+1}", (table,))


def _other_step(a: object, b: object, error: object, own: bool, k: int) -> Step:
    numbers = (Equation("B", b), Equation("‖A - B‖_F^2", error), Equation("‖A - B‖_F", tidy_root(error)))
    statement = tr("Another matrix of the same rank, as specified.")
    if own:
        statement = tr("Another matrix of the same rank: the projection of $A$ on its columns of largest norm.")
    return Step(statement, f"rank(B) ≤ {k}", numbers, tr("This matrix cannot be closer to $A$ than $A_k$."))


def _weyl_step(values: list[Value], gaps: list[Value], k: int, a: sp.Matrix) -> Step:
    rows = []
    for i in range(min(a.shape)):
        ahead = values[i + k] if i + k < len(values) else sp.Integer(0)
        rows.append((sp.Integer(i + 1), ahead, gaps[i] if i < len(gaps) else sp.Integer(0)))
    statement = tr("Proof: by Weyl's inequality, each singular value of $A - B$ is at least as large as the "
    "singular value of $A$ that comes $k$ places later. Squaring and adding preserve the inequality.")  # fmt: skip
    table = SolutionTable(("i", f"σ_{{i+{k}}}(A)", "σ_i(A - B)"), tuple(rows))
    return Step(statement, "σ_{i+k}(A) ≤ σ_i(A - B)  ⇒  ‖A - A_k‖_F ≤ ‖A - B‖_F", (table,), check=True)
