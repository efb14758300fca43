"""Three ways to the same axes: most variance, least reconstruction error, singular values."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eckart.worked.fields import tidy_root
from eckart.worked.pca_data import Prepared
from eckart.worked.solution import Equation, Step, Table
from eckart.worked.svd import settled

ROUTES = ("variance", "reconstruction", "svd")


def route_steps(data: Prepared, route: str) -> tuple[Step, ...]:
    """The derivation that was asked for, on these numbers."""
    return {"variance": _variance, "reconstruction": _reconstruction, "svd": _svd}[route](data)


def opening(route: str) -> Step:
    """What is looked for, before the eigenvectors are found."""
    if route == "variance":
        statement = (
            "Look for the direction along which the rows vary most: the unit vector $w$ for which $‖X w‖$ is largest. "
        )
        statement += (
            "Setting the derivative of $w^T S w - λ (w^T w - 1)$ to zero gives $S w = λ w$: $w$ is an eigenvector, and "
        )
        return Step(statement + "the value reached is its eigenvalue.", "max w^T S w  for  ‖w‖ = 1")
    if route == "reconstruction":
        statement = (
            "Look for the line that loses least when every row is replaced by its foot on the line. By Pythagoras the "
        )
        statement += "squared loss is what the row has less what the line keeps, so losing least is keeping most: "
        return Step(
            statement + "the answer is again the eigenvector of the largest eigenvalue.",
            "‖X - X w w^T‖_F^2 = tr(S) - w^T S w",
        )
    statement = (
        "Use the singular value decomposition of $X$: its right vectors are the axes, and the squares of its singular "
    )
    return Step(statement + "values are the eigenvalues of $S = X^T X$.", "X = U Σ V^T,  S = V Σ^2 V^T")


def _variance(data: Prepared) -> tuple[Step, ...]:
    """Take the first axis out of X, look again, and so on."""
    steps, rest = [], data.used
    for i, axis in enumerate(data.axes[:-1], 1):
        if axis.value == 0 or i > 3:
            break
        rest = (data.used - data.projected(i)).applyfunc(settled)
        products = (rest.T * rest).applyfunc(settled)
        follow = data.axes[i].value
        statement = (
            f"Take axis {i} out of the data and look again: the largest eigenvalue left belongs to axis {i + 1}."
        )
        numbers = (
            Equation(f"X_{i + 1}", rest),
            Equation(f"X_{i + 1}^T X_{i + 1}", products),
            Equation("largest λ", follow),
        )
        sums = " + ".join(f"w_{j} w_{j}^T" for j in range(1, i + 1))
        steps.append(Step(statement, f"X_{i + 1} = X - X ({sums})", numbers))
    return tuple(steps)


def _reconstruction(data: Prepared) -> tuple[Step, ...]:
    """The loss of each axis alone, and of the coordinate axes for comparison."""
    total = settled(data.cross_products.trace())
    rows: list[tuple[Any, ...]] = [
        (f"axis {i}", axis.value, settled(total - axis.value)) for i, axis in enumerate(data.axes, 1)
    ]
    for j in range(data.table.cols):
        kept = data.cross_products[j, j]
        rows.append((f"column {j + 1} alone", kept, settled(total - kept)))
    statement = (
        "What one line keeps and loses: no line loses less than axis 1, and a coordinate axis loses more unless "
    )
    return (
        Step(
            statement + "it is an axis itself.",
            "loss = tr(S) - w^T S w",
            (Table(("line", "kept", "lost"), tuple(rows)),),
        ),
    )


def _svd(data: Prepared) -> tuple[Step, ...]:
    axes = [axis for axis in data.axes if axis.value != 0]
    values = [tidy_root(axis.value) for axis in axes]
    if not axes:
        return ()
    left = sp.Matrix.hstack(*[_unit_scores(data, axis, value) for axis, value in zip(axes, values, strict=True)])
    numbers = [Equation(f"σ_{i}", value) for i, value in enumerate(values, 1)]
    statement = "Singular values and left vectors. The scores are the left vectors times the singular values."
    return (Step(statement, "σ_i = sqrt(λ_i),  u_i = X v_i / σ_i,  T = X V = U Σ", (*numbers, Equation("U", left))),)


def _unit_scores(data: Prepared, axis: Any, value: Any) -> Any:
    image = axis.image(data.seen_by(axis))
    squares = [y * y for y in image]
    return axis.scaled(image, sum(squares[1:], squares[0]))
