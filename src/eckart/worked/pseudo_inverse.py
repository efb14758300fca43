"""The pseudo-inverse: A = X Σ Y^T gives A^+ = Y Σ^+ X^T, where zeros of Σ stay zero.

Without roots: A = F G with F the pivot columns of A and G its reduced rows, and for A scaled by diagonal matrices

    (L A R)^+ = R P L,   P = G^T (G R^2 G^T)^-1 (F^T L^2 F)^-1 F^T

so only the squares of L and R are needed, which are fractions if L and R are roots.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.svd import details, factors

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def pseudo_inverse(given: object) -> Solution:
    """Compute the pseudo-inverse through the singular value decomposition.

    {Parameters: given [8 x 8]; Returns: Solution}
        Named parts: pseudo_inverse, singular_values.

    {Raises: InputError [exact]; See Also: svd}

    Examples
    --------
    >>> pseudo_inverse("2 0 0 0; 0 0 0 0; 0 0 3 0")["pseudo_inverse"]
    Matrix([
    [1/2, 0,   0],
    [  0, 0,   0],
    [  0, 0, 1/3],
    [  0, 0,   0]])
    """
    a = matrix(given, "svd", rows=8, columns=8)
    found = factors(a)
    inverse = core(a)
    values = [Equation(f"σ_{i}", value) for i, value in enumerate(found.values, 1)]
    negated = [Equation(f"1/σ_{i}", sp.radsimp(1 / value)) for i, value in enumerate(found.values, 1)]
    scaled = (found.right * sp.diag(*[1 / value for value in found.values])).applyfunc(sp.radsimp)
    steps = (
        Step(tr("The matrix."), numbers=(Equation("A", a),)),
        Step(
            tr("The singular value decomposition of the matrix, with its non-zero singular values."),
            "A = X Σ Y^T",
            (*values, Equation("X", found.left), Equation("Y", found.right)),
            more=partial(details, a),
        ),
        Step(
            tr("Replace the singular values by their reciprocals. Zeros stay zero, and the shape is transposed."),
            "A^+ = Y Σ^+ X^T",
            (*negated, Equation("A^+", inverse)),
            more=partial(product_steps, scaled, found.left.T, "(A^+)", inverse),
        ),
        Step(
            tr(
                "Check the four Penrose conditions, which define the pseudo-inverse. The last two say that "
                "$A A^+$ and $A^+ A$ are symmetric."
            ),
            "A A^+ A = A,  A^+ A A^+ = A^+,  (A A^+)^T = A A^+,  (A^+ A)^T = A^+ A",
            tuple(
                Equation(name, value.applyfunc(sp.expand))
                for name, value in (
                    ("A A^+ A", a * inverse * a),
                    ("A^+ A A^+", inverse * a * inverse),
                    ("A A^+", a * inverse),
                    ("A^+ A", inverse * a),
                )
            ),
        ),
    )
    parts = {"pseudo_inverse": inverse, "singular_values": sp.Matrix(found.values)}
    return Solution(
        tr("Pseudo-inverse of a {rows} x {cols} matrix", rows=a.rows, cols=a.cols),
        steps,
        (Equation("A^+", inverse),),
        parts,
    )


def core(a: sp.Matrix, left: list[Value] | None = None, right: list[Value] | None = None) -> sp.Matrix:
    """P of the formula above; without scaling it is A^+. `left` and `right` contain the squares of the diagonals."""
    reduced, pivots = a.rref(simplify=True)
    if not pivots:
        return sp.zeros(a.cols, a.rows)
    f, g = a.extract(list(range(a.rows)), list(pivots)), reduced[: len(pivots), :]
    left_squared = sp.diag(*left) if left is not None else sp.eye(a.rows)
    right_squared = sp.diag(*right) if right is not None else sp.eye(a.cols)
    inner = (g * right_squared * g.T).inv() * (f.T * left_squared * f).inv()
    return (g.T * inner * f.T).applyfunc(lambda value: sp.expand(sp.radsimp(value)))
