"""All eigenpairs, one after another: Hotelling's B = A - λ v v^T, Wielandt's B = A - λ v x^T with x.v = 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError, ParameterError
from eckart.options import check_choice
from eckart.worked.matrices import square
from eckart.worked.messages import tr
from eckart.worked.numerals import GUARD, is_exact
from eckart.worked.power_iteration import iterate, iteration_table
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns
from eckart.worked.spectrum import Spectrum, spectrum
from eckart.worked.svd import canonical

if TYPE_CHECKING:
    from eckart.worked.solution import Value

METHODS = ("auto", "hotelling", "wielandt")


@document
def deflation(given: object, *, method: str = "auto") -> Solution:
    """Find all eigenpairs one after another by deflation.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        A square matrix, at most 5 x 5. In text, semicolons separate the rows: "1 2; 2 1".
    method : {'auto', 'hotelling', 'wielandt'}, default 'auto'
        Hotelling's deflation for symmetric matrices, Wielandt's for others. 'auto' chooses by symmetry.

    {Returns: Solution}
        Named parts: eigenvalues, eigenvectors.

    Raises
    ------
    {InputError [exact]}
    ParameterError
        If Hotelling's deflation is requested for a matrix that is not symmetric.

    {See Also: power_iteration, eigen}

    Examples
    --------
    >>> deflation("2 1; 1 2")["eigenvalues"].T
    Matrix([[3, 1]])
    """
    check_choice("method", method, METHODS)
    a = square(given, "deflation", side=5)
    symmetric = bool(a.is_symmetric())
    if method == "hotelling" and not symmetric:
        raise ParameterError(
            "The matrix is not symmetric, so A - λ v v^T keeps the other eigenvalues but not their "
            "eigenvectors. Use method='wielandt', which recovers the eigenvectors."
        )
    found = spectrum(a, symmetric=False) if not symmetric else _by_modulus(spectrum(a))
    hotelling = symmetric and method != "wielandt"
    steps, values, vectors = _hotelling(a, found) if hotelling else _wielandt(a, found)
    opening = Step(
        tr("The matrix."),
        numbers=(Equation("A", a),),
        remark=tr("The matrix is symmetric.") if symmetric else tr("The matrix is not symmetric."),
    )
    name = tr("Hotelling") if hotelling else tr("Wielandt")
    answer = (*[Equation(f"λ_{i}", value) for i, value in enumerate(values, 1)], Equation("V", vectors))
    parts = {"eigenvalues": sp.Matrix(values), "eigenvectors": vectors}
    return Solution(tr("All eigenpairs by {name}'s deflation", name=name), (opening, *steps), answer, parts)


def _by_modulus(found: Spectrum) -> Spectrum:
    return Spectrum(
        found.polynomial, found.factors, tuple(sorted(found.roots, key=lambda root: -abs(float(sp.N(root.value)))))
    )


def _hotelling(a: sp.Matrix, found: Spectrum) -> tuple[list[Step], list[Value], sp.Matrix]:
    steps, rest = [], a
    for i, pair in enumerate(found.eigenpairs, 1):
        before, name = rest, "A" if i == 1 else f"B_{i - 1}"
        rest = (rest - pair.outer(pair.entries, pair.entries) * pair.value).applyfunc(canonical)
        last = i == len(found.eigenpairs)
        statement = tr(
            "Pair {i}: the dominant eigenvalue of the remaining matrix and its unit eigenvector. "
            "Subtract the term of this pair.",
            i=i,
        )
        numbers = (Equation(f"λ_{i}", pair.value), Equation(f"v_{i}", pair.unit), Equation(f"B_{i}", rest))
        remark = tr("The remaining matrix is zero, so $A$ is the sum of the subtracted terms.") if last else ""
        remark = remark or tr(
            "$v_{i}$ is still an eigenvector of the remaining matrix, but now for the eigenvalue 0. "
            "The other pairs are unchanged.",
            i=i,
        )
        steps.append(
            Step(
                statement, f"B_{i} = {name} - λ_{i} v_{i} v_{i}^T", numbers, remark, _iterates(before, pair.value, name)
            )
        )
    return steps, [pair.value for pair in found.eigenpairs], columns([pair.unit for pair in found.eigenpairs], a.rows)


def _wielandt(a: sp.Matrix, found: Spectrum) -> tuple[list[Step], list[Value], sp.Matrix]:
    if any(not root.real for root in found.roots):
        raise InputError(
            tr(
                "The matrix has complex eigenvalues, but deflation is worked out only for real "
                "eigenvalues. Use eigen instead."
            )
        )
    if len(found.eigenpairs) < a.rows:
        raise InputError(
            tr(
                "An eigenvalue has fewer eigenvectors than its multiplicity, so some eigenpairs do not "
                "exist. Use eigen to list the eigenpairs that exist."
            )
        )
    exact = all(root.value.is_Rational for root in found.roots)
    work = a if exact else sp.N(a, GUARD)
    chain: list[tuple[Value, Value, Value]] = []
    steps, values, vectors = [], [], []
    for i, pair in enumerate(found.eigenpairs, 1):
        vector = pair.direction if exact else sp.N(pair.unit, GUARD)
        if pair.value == 0:
            steps.append(
                Step(
                    tr("The remaining matrix has only the eigenvalue 0. Solve $A v = 0$ for pair {i}.", i=i),
                    numbers=(Equation(f"v_{i}", vector),),
                )
            )
        else:
            step, work = _round(i, pair.value, vector, work, chain)
            steps.append(step)
        values.append(pair.value)
        vectors.append(pair.unit)
    unit = columns(vectors, a.rows)
    steps.append(Step(tr("Divide each vector by its length."), numbers=(Equation("V", unit),)))
    return steps, values, unit


def _iterates(matrix: object, value: object, name: str) -> Callable[[], tuple[Step, ...]] | None:
    """Power iteration from the first start that leads to the pair."""
    a = np.array(sp.N(matrix).tolist(), dtype=float)
    for start in (np.ones(len(a)), np.arange(1.0, len(a) + 1), np.eye(len(a))[0]):
        run = iterate(a, start, 1e-9, 500)
        if run.converged and abs(run.quotients[-1] - float(sp.N(value))) < 1e-6 * max(1.0, abs(run.quotients[-1])):
            statement = tr("Find the pair by power iteration on ${name}$, starting from $x_0$.", name=name)
            remark = "" if (start == 1).all() else tr(
                "From the vector of ones, the iteration does not find this pair, so another start vector is used."
            )  # fmt: skip
            first = Equation("x_0", sp.Matrix([sp.Integer(int(x)) for x in start]))
            formula = f"x_{{t+1}} = {name} x_t / ‖{name} x_t‖,  λ ≈ x^T {name} x"
            steps = (Step(statement, formula, (first, iteration_table(run, name)), remark),)
            return lambda: steps
    return None


def _lifted(value: sp.Expr, u: sp.Matrix, chain: list[tuple[Value, Value, Value]], down: list[sp.Matrix]) -> sp.Matrix:
    """The eigenvector of A from that of the deflated matrix, one deflation at a time."""
    back = u
    for (earlier, other, weight), above in zip(reversed(chain), reversed(down[:-1]), strict=True):
        moved = ((value - earlier) * back + earlier * (weight.T * back)[0] * other).applyfunc(_clean)
        back = above if all(abs(sp.N(entry)) < 1e-20 for entry in moved) else moved
    return back


def _remark_on_lifting(i: int, value: sp.Expr, chain: list[tuple[Value, Value, Value]]) -> str:
    if not chain:
        return tr(
            "Any $x$ with $x · v = 1$ is valid. Here, it is a multiple of the row of the matrix in which the "
            "eigenvector has its largest entry."
        )
    remark = tr(
        "Transform the eigenvector back to $A$, one deflation at a time: $v = (λ_{i} - λ_j) u + λ_j "
        "(x_j · u) v_j$. With the opposite sign of the difference, the result is not an eigenvector.",
        i=i,
    )
    if any(earlier == value for earlier, _, _ in chain):
        equal = tr("If the two eigenvalues are equal, this vector is 0, and $u$ itself is the eigenvector.")
        remark = f"{remark} {equal}"
    return remark


def _round(
    i: int, value: sp.Expr, vector: sp.Matrix, work: sp.Matrix, chain: list[tuple[Value, Value, Value]]
) -> tuple[Step, Value]:
    """One round: the eigenvector u of the deflated matrix, the eigenvector v recovered from it, and the next matrix."""
    down = [vector]
    for earlier, u, x in chain:
        down.append((down[-1] - (earlier / value) * (x.T * down[-1])[0] * u).applyfunc(_clean))
    u = down[-1] if is_exact(down[-1]) else down[-1] / sp.sqrt(sum(x * x for x in down[-1]))
    place = max(range(u.rows), key=lambda j: abs(sp.N(u[j])))
    x = (work[place, :].T / (value * u[place])).applyfunc(_clean)
    name, own = ("A", "v_1") if i == 1 else (f"B_{i - 1}", f"u_{i}")
    numbers = [Equation(f"λ_{i}", value), Equation(own, u)]
    row = f"e_{place + 1}^T"
    formula = f"B_{i} = {name} - λ_{i} {own} x^T,  x^T = {row} {name} / (λ_{i} {row} {own})"
    if chain:
        numbers.append(Equation(f"v_{i}", _lifted(value, u, chain, down)))
    remark = _remark_on_lifting(i, value, chain)
    before, work = work, (work - value * u * x.T).applyfunc(_clean)
    chain.append((value, u, x))
    numbers += [Equation("x", x), Equation(f"B_{i}", work)]
    more = _iterates(before, value, name)
    return Step(
        tr(
            "Pair {i}: the dominant pair of ${name}$. Choose $x$ with $x · v = 1$ and subtract the term of the pair.",
            i=i,
            name=name,
        ),
        formula,
        tuple(numbers),
        remark,
        more,
    ), work


def _clean(entry: sp.Expr) -> sp.Expr:
    entry = sp.expand(entry)
    return sp.Integer(0) if entry.has(sp.Float) and abs(entry) < sp.Float("1e-30") else entry
