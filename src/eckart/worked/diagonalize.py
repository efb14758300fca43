"""Diagonalisation: A = V D V^-1, for symmetric A = V D V^T, and powers through it: A^m = V D^m V^-1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.worked.checks import whole
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.matrices import square
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import is_exact
from eckart.worked.row_reduction import inverse_steps
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.spectrum import Root, Spectrum, spectrum
from eckart.worked.svd import canonical

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def diagonalize(given: object, power: int = 3) -> Solution:
    """Diagonalise a matrix as V D V^-1 and compute a power of it.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        A square matrix, at most 6 x 6. In text, semicolons separate the rows: "1 2; 2 1".
    power : int, default 3
        Exponent, 0 to 50, of the power to compute.

    {Returns: Solution}
        Named parts: V, D, V_inverse, power, diagonalizable. If the matrix cannot be diagonalised, the solution explains
        why.

    {Raises: InputError [exact]; See Also: eigen}

    Examples
    --------
    >>> found = diagonalize("1 2; 0 3", power=2)
    >>> found["D"], found["power"]
    (Matrix([
    [3, 0],
    [0, 1]]), Matrix([
    [1, 8],
    [0, 9]]))
    """
    a = square(given, "diagonalize", side=6)
    whole("power", power, 0, 50)
    symmetric = bool(a.is_symmetric())
    found = spectrum(a)
    title = tr("Diagonalisation of a {rows} x {rows} matrix", rows=a.rows)
    steps = (Step(tr("The matrix."), numbers=(Equation("A", a),)), *spectral_steps(a, found, "A"))
    if len(found.eigenpairs) < a.rows:
        statement = trn(
            "$V$ needs {rows} independent eigenvectors, but there is only {n}, so the matrix cannot be diagonalised.",
            "$V$ needs {rows} independent eigenvectors, but there are only {n}, so the matrix cannot be diagonalised.",
            len(found.eigenpairs),
            rows=a.rows,
        )
        step = Step(statement)
        return Solution(
            title, (*steps, step), (Equation("", tr("The matrix cannot be diagonalised.")),), {"diagonalizable": False}
        )
    v, d, inverse = factors_of(a, found, symmetric)
    raised = raised_to(a, found, power, d, v, inverse)
    left = (v * d**power).applyfunc(_plain)
    last = _power_step(a, raised, power, partial(product_steps, left, inverse, f"(A^{power})", raised))
    steps += (_factor_step(v, d, inverse, symmetric), last, *_invertible(a, found, v, d, inverse))
    answer = (
        Equation("V", v),
        Equation("D", d),
        Equation("V^T" if symmetric else "V^{-1}", inverse),
        Equation(f"A^{power}", raised),
    )
    parts = {"V": v, "D": d, "V_inverse": inverse, "power": raised, "diagonalizable": True}
    return Solution(title, steps, answer, parts)


def factors_of(a: sp.Matrix, found: Spectrum, symmetric: bool) -> tuple[Value, Value, Value]:
    """V, D and V^-1; V has unit columns if A is symmetric, whole numbers where possible if not."""
    d = sp.diag(*[pair.value for pair in found.eigenpairs])
    if symmetric:
        v = columns([pair.unit for pair in found.eigenpairs], a.rows)
        return v, d, v.T
    v = columns([pair.direction for pair in found.eigenpairs], a.rows)
    left = {root.value: root for root in spectrum(a.T, symmetric=False).roots}
    return v, d, sp.Matrix.vstack(*[_inverse_rows(root, left[root.value]) for root in found.roots])


def _inverse_rows(right: Root, left: Root) -> sp.Matrix:
    """The rows of V^-1 for one eigenvalue: left eigenvectors Y with Y X = I."""
    x = columns([pair.direction for pair in right.eigenpairs], 0)
    y = columns([pair.direction for pair in left.eigenpairs], 0).T
    return ((y * x).applyfunc(_plain).inv() * y).applyfunc(_plain)


def _plain(value: object) -> sp.Expr:
    value = sp.expand(value)
    return sp.expand(sp.radsimp(value)) if is_exact(value) else value


def raised_to(a: sp.Matrix, found: Spectrum, power: int, d: sp.Matrix, v: sp.Matrix, inverse: sp.Matrix) -> sp.Matrix:
    """A^m as ∑ λ^m v y^T; for a symmetric matrix with the squared length of v inside, so that no root is left."""
    if a.is_symmetric():
        terms = [pair.outer(pair.entries, pair.entries) * pair.value**power for pair in found.eigenpairs]
    else:
        terms = [v[:, i] * inverse[i, :] * d[i, i] ** power for i in range(a.rows)]
    return sum(terms, sp.zeros(*a.shape)).applyfunc(lambda value: canonical(_plain(value)))


def _factor_step(v: sp.Matrix, d: object, inverse: object, symmetric: bool) -> Step:
    if symmetric:
        statement = tr(
            "Put the unit eigenvectors into the columns of $V$. They are orthogonal, so the inverse "
            "of $V$ is its transpose."
        )
        return Step(statement, "A = V D V^T,  V^T V = I", (Equation("V", v), Equation("D", d)))
    statement = tr(
        "Put the eigenvectors into the columns of $V$ and invert $V$. The eigenvectors may have any "
        "length, because the inverse compensates for it."
    )
    more = partial(inverse_steps, v) if is_exact(v) and v.rows <= 3 else None
    numbers = (Equation("V", v), Equation("D", d), Equation("V^{-1}", inverse))
    return Step(statement, "A V = V D,  A = V D V^{-1}", numbers, more=more)


def _power_step(a: sp.Matrix, raised: object, power: int, more: Callable[[], tuple[Step, ...]]) -> Step:
    name = "V^T" if a.is_symmetric() else "V^{-1}"
    statement = tr(
        "Powers of $A$ are now easy to compute, because the inner factors cancel: raise the "
        "eigenvalues to the power {power}.",
        power=power,
    )
    return Step(statement, f"A^{power} = V D^{power} {name}", (Equation(f"A^{power}", raised),), more=more)


def _invertible(a: sp.Matrix, found: Spectrum, v: sp.Matrix, d: sp.Matrix, inverse: sp.Matrix) -> tuple[Step, ...]:
    if any(value == 0 for value in found.values):
        return (Step(tr("An eigenvalue is 0, so $D$ has no inverse and $A$ is not invertible.")),)
    statement = tr("No eigenvalue is 0, so $A$ is invertible: replace the entries of $D$ by their reciprocals.")
    name, result = "V^T" if a.is_symmetric() else "V^{-1}", raised_to(a, found, -1, d, v, inverse)
    left = (v * sp.diag(*[1 / value for value in d.diagonal()])).applyfunc(_plain)
    more = partial(product_steps, left, inverse, "(A^{-1})", result)
    return (Step(statement, f"A^{{-1}} = V D^{{-1}} {name}", (Equation("A^{-1}", result),), more=more),)
