"""Eigenvalues and eigenvectors: p(λ) = det(λ I - M) = 0, then (M - λ I) e = 0 with ‖e‖ = 1."""

from __future__ import annotations

import sympy as sp

from eckart.documentation import document
from eckart.worked.matrices import square
from eckart.worked.messages import tr
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.spectrum import Spectrum, spectrum


@document
def eigen(given: object) -> Solution:
    """Find all eigenvalues and eigenvectors of a square matrix.

    {Parameters: given [square]; Returns: Solution}
        Named parts: eigenvalues, eigenvectors, characteristic_polynomial, exact.

    {Raises: InputError [exact]; See Also: diagonalize, power_iteration}

    Examples
    --------
    >>> found = eigen("2 1; 3 2")
    >>> found["characteristic_polynomial"], found["eigenvalues"]
    (lambda**2 - 4*lambda + 1, Matrix([
    [sqrt(3) + 2],
    [2 - sqrt(3)]]))
    """
    m = square(given, "eigen", side=8)
    found = spectrum(m)
    remark = tr(
        "The matrix is not symmetric, so its eigenvalues may be complex, and there may be fewer "
        "eigenvectors than columns."
    )
    if m.is_symmetric():
        remark = tr(
            "The matrix is symmetric, so its eigenvalues are real, and eigenvectors of different "
            "eigenvalues are orthogonal."
        )
    steps = (
        Step(tr("The matrix."), numbers=(Equation("M", m),), remark=remark),
        *spectral_steps(m, found),
        check_step(m, found),
    )
    values = sp.Matrix(found.values)
    answer = [Equation(f"λ_{i}", value) for i, value in enumerate(found.values, 1)]
    vectors = columns([pair.unit for pair in found.eigenpairs], m.rows)
    answer.append(Equation("E", vectors))
    parts = {"eigenvalues": values, "eigenvectors": vectors, "characteristic_polynomial": found.polynomial.as_expr(),
             "exact": found.exact}  # fmt: skip
    return Solution(
        tr("Eigenvalues and eigenvectors of a {rows} x {rows} matrix", rows=m.rows), steps, tuple(answer), parts
    )


def check_step(m: sp.Matrix, found: Spectrum) -> Step:
    """Sum and product of the eigenvalues against trace and determinant."""
    numbers = (Equation("tr(M)", m.trace()), Equation("det(M)", sp.expand(m.det())))
    statement = tr("Check: the eigenvalues add up to the trace, and their product is the determinant.")
    total, product = sp.expand(sum(found.values)), sp.expand(sp.prod(found.values))
    remark = (
        tr("0 is an eigenvalue, so the matrix is not invertible.") if any(value == 0 for value in found.values) else ""
    )
    return Step(
        statement,
        "λ_1 + … + λ_n = tr(M),  λ_1 · … · λ_n = det(M)",
        (Equation("λ_1 + … + λ_n", total), Equation("λ_1 · … · λ_n", product), *numbers),
        remark,
        check=True,
    )
