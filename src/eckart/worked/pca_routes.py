"""Three derivations of the same components: maximum variance, minimum reconstruction error, singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from eckart.worked.fields import tidy_root
from eckart.worked.messages import tr
from eckart.worked.pca_data import Prepared
from eckart.worked.solution import Equation, SolutionTable, Step
from eckart.worked.svd import canonical

if TYPE_CHECKING:
    from eckart.worked.fields import Eigenpair
    from eckart.worked.solution import Value

ROUTES = ("variance", "reconstruction", "svd")


def route_steps(data: Prepared, route: str) -> tuple[Step, ...]:
    """The requested derivation for these numbers."""
    return {"variance": _variance, "reconstruction": _reconstruction, "svd": _svd}[route](data)


def opening(route: str) -> Step:
    """The goal, before the eigenvectors are computed."""
    if route == "variance":
        statement = tr(
            "Find the direction along which the rows vary most: the unit vector $w$ that maximises "
            "$‖X w‖$. Setting the derivative of $w^T S w - λ (w^T w - 1)$ to zero gives $S w = λ w$. "
            "So $w$ is an eigenvector, and the maximum of $‖X w‖^2 = w^T S w$ is its eigenvalue."
        )
        return Step(statement, "max w^T S w,  ‖w‖ = 1", check=True)
    if route == "reconstruction":
        statement = tr(
            "Find the line with the smallest error when every row is replaced by its projection onto "
            "the line. By Pythagoras' theorem, the squared error is the squared length of the row "
            "minus the squared length of its projection. Minimising the error therefore means "
            "maximising the projection, so the answer is again the eigenvector of the largest "
            "eigenvalue."
        )
        return Step(
            statement,
            "‖X - X w w^T‖_F^2 = tr(S) - w^T S w",
        )
    statement = tr(
        "Use the singular value decomposition of $X$: its right singular vectors are the components, "
        "and its squared singular values are the eigenvalues of $S = X^T X$."
    )
    return Step(statement, "X = U Σ V^T,  S = V Σ^2 V^T")


def _variance(data: Prepared) -> tuple[Step, ...]:
    """Remove the first component from X, maximise again, and so on."""
    steps, rest = [], data.used
    for i, pair in enumerate(data.eigenpairs[:-1], 1):
        if pair.value == 0 or i > 3:
            break
        rest = (data.working - data.projected(i)).applyfunc(canonical)
        products = (rest.T * rest).applyfunc(canonical)
        follow = data.eigenpairs[i].value
        statement = tr(
            "Remove component {i} from the data and maximise again: the largest remaining eigenvalue "
            "belongs to component {following}.",
            i=i,
            following=i + 1,
        )
        numbers = (
            Equation(f"X_{i + 1}", rest),
            Equation(f"X_{i + 1}^T X_{i + 1}", products),
            Equation(tr("largest $λ$"), follow),
        )
        sums = " + ".join(f"w_{j} w_{j}^T" for j in range(1, i + 1))
        steps.append(Step(statement, f"X_{i + 1} = X - X ({sums})", numbers))
    return tuple(steps)


def _reconstruction(data: Prepared) -> tuple[Step, ...]:
    """The loss of each component alone, and of the coordinate axes for comparison."""
    total = canonical(data.cross_products.trace())
    rows: list[tuple[Value, ...]] = [
        (tr("component {i}", i=i), pair.value, canonical(total - pair.value))
        for i, pair in enumerate(data.eigenpairs, 1)
    ]
    for j in range(data.table.cols):
        kept = data.cross_products[j, j]
        rows.append((tr("column {j} alone", j=j + 1), kept, canonical(total - kept)))
    statement = tr(
        "What each line keeps and loses: no line loses less than component 1. A coordinate axis "
        "loses more, unless it is a component itself."
    )
    return (
        Step(
            statement,
            "‖X - X w w^T‖_F^2 = tr(S) - w^T S w",
            (SolutionTable((tr("line"), tr("kept"), tr("lost")), tuple(rows)),),
        ),
    )


def _svd(data: Prepared) -> tuple[Step, ...]:
    eigenpairs = [pair for pair in data.eigenpairs if pair.value != 0]
    values = [tidy_root(pair.value) for pair in eigenpairs]
    if not eigenpairs:
        return ()
    left = sp.Matrix.hstack(*[_unit_scores(data, pair, value) for pair, value in zip(eigenpairs, values, strict=True)])
    numbers = [Equation(f"σ_{i}", value) for i, value in enumerate(values, 1)]
    statement = tr(
        "Singular values and left singular vectors. The scores are the left singular vectors times the singular values."
    )
    return (Step(statement, "σ_i = sqrt(λ_i),  u_i = X v_i / σ_i,  T = X V = U Σ", (*numbers, Equation("U", left))),)


def _unit_scores(data: Prepared, pair: Eigenpair, value: object) -> sp.Matrix:
    image = pair.image(data.seen_by(pair))
    squares = [y * y for y in image]
    return pair.scaled(image, sum(squares[1:], squares[0]))
