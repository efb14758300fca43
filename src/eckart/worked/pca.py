"""Principal component analysis by hand: S = X^T X, S v = λ v, scores T = X V, error = sum of the dropped λ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.errors import ParameterError
from eckart.options import check_choice
from eckart.worked.checks import argument
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.fields import tidy_root
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr, trn
from eckart.worked.pca_data import DIVISORS, Prepared, prepared
from eckart.worked.pca_routes import ROUTES, opening, route_steps
from eckart.worked.pictures import drops, scree
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.spectral_steps import spectral_steps
from eckart.worked.svd import canonical, check_k

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def pca(
    given: object,
    k: int | None = None,
    *,
    center: bool = True,
    scale: bool = False,
    divide: str = "n-1",
    share: float = 0.9,
    route: str = "variance",
    flip: Sequence[int] = (),
) -> Solution:
    """Compute principal components, their variances and the scores of the rows.

    Parameters
    ----------
    {given [table]}
    k : int, default None
        Number of components to keep. None keeps the smallest number that explains `share`.
    center : bool, default True
        Subtract the column means.
    scale : bool, default False
        Divide each column by its standard deviation.
    {divide}
    share : float, default 0.9
        Share of the variance to explain if `k` is None.
    route : {'variance', 'reconstruction', 'svd'}, default 'variance'
        Derivation to show: maximal variance, minimal reconstruction error, or singular value decomposition.
    flip : sequence of int, default ()
        Components, counted from 1, whose sign is reversed, for example to match your notes.

    {Returns: Solution}
        Named parts: means, centred, cross_products, covariance, eigenvalues, variances, components, scores, k, pve
        (proportions of variance explained), reconstruction, error_squared, error.

    {Raises: InputError [exact]; See Also: minor_components, svd, eckart.PCA}

    Examples
    --------
    >>> import sympy as sp
    >>> found = pca([[1, 2], [2, 1], [3, 4], [4, 3]], center=False, flip=[2])
    >>> found["eigenvalues"].T, found["scores"] * sp.sqrt(2)
    (Matrix([[58, 2]]), Matrix([
    [3,  1],
    [3, -1],
    [7,  1],
    [7, -1]]))
    """
    check_choice("divide", divide, DIVISORS)
    check_choice("route", route, ROUTES)
    table = matrix(given, "pca", rows=40, columns=6)
    data = prepared(table, center=center, scale=scale, divide=divide, flip=_flips(flip, table.cols))
    check_k(k, table.cols)
    k = k or enough([pair.value for pair in data.eigenpairs], share)
    steps = (*data_steps(data, divide), opening(route), *spectral_steps(data.cross_products, data.found, "S"),
             *route_steps(data, route), variance_step(data, divide), _score_step(data),
             *_reduction(data, k))  # fmt: skip
    varies = not data.cross_products.is_zero_matrix
    figures = (*((partial(drops, table, center=center),) if table.cols == 2 and not scale else ()),
               *((partial(scree, table, center=center, scale=scale),) if varies else ()))  # fmt: skip
    return Solution(_title(table, center, scale), steps, tuple(_answer(data, k)), _parts(data, k), figures=figures)


def _title(table: sp.Matrix, center: bool, scale: bool) -> str:
    size = {"rows": table.rows, "cols": table.cols}
    if scale:
        return tr("Principal components of a {rows} x {cols} table, scaled", **size)
    if not center:
        return tr("Principal components of a {rows} x {cols} table, not centred", **size)
    return tr("Principal components of a {rows} x {cols} table", **size)


def data_steps(data: Prepared, divide: str) -> tuple[Step, ...]:
    """The table, its means, its spread, its cross-products."""
    steps = [Step(tr("The table: rows are observations, columns are variables."), numbers=(Equation("M", data.table),))]
    if data.centered:
        numbers = (Equation("μ", data.means), Equation("X", data.centred))
        steps.append(Step(tr("Subtract the mean of each column."), "X = M - 1 μ", numbers))
    else:
        remark = tr(
            "Without centring, the components pass through the origin and not through the mean, so "
            "the first one mostly points towards the data."
        )
        steps.append(Step(tr("The data are not centred: $X$ is the table itself."), remark=remark))
    if data.variances is not None:
        spread = sp.Matrix([[sp.sqrt(v) for v in data.variances]])
        statement = tr("Divide each column by its standard deviation, so that the units of the columns do not matter.")
        steps.append(Step(statement, "x_{ij} / s_j", (Equation("s", spread), Equation("X", data.used))))
    return (*steps, _products_step(data, divide))


def _products_step(data: Prepared, divide: str) -> Step:
    more = partial(product_steps, data.used.T, data.used, "s") if table_is_small(data) else None
    products = Equation("S", data.cross_products)
    if divide == "1":
        return Step(tr("Cross-products of the columns."), "S = X^T X", (products,), more=more)
    formula = {"n-1": "S = X^T X,  C = S / (n - 1)", "n": "S = X^T X,  C = S / n"}[divide]
    statement = tr(
        "Cross-products of the columns, and the same divided by the number of rows (mean squares and mean products)."
    )
    if data.centered:
        statement = tr("Cross-products of the columns, and the covariance matrix.")
    remark = tr("Both matrices have the same eigenvectors. Their eigenvalues differ by the divisor.")
    if data.variances is not None and data.centered:
        remark = f"{tr('$C$ is the correlation matrix.')} {remark}"
    divided = Equation("C", (data.cross_products / data.divisor).applyfunc(sp.expand))
    return Step(statement, formula, (products, divided), remark, more)


def table_is_small(data: Prepared) -> bool:
    """Whether sums of products can be written out."""
    return bool(data.table.rows <= 8)


def variance_step(data: Prepared, divide: str) -> Step:
    """Variances, shares and their running total."""
    total = canonical(sum(pair.value for pair in data.eigenpairs))
    rows, running = [], sp.Integer(0)
    for i, pair in enumerate(data.eigenpairs, 1):
        running = canonical(running + pair.value)
        part = [canonical(sp.radsimp(p / total)) for p in (pair.value, running)] if total != 0 else ["-", "-"]
        rows.append((sp.Integer(i), pair.value, canonical(pair.value / data.divisor), *part))
    below = {"n-1": "λ_i / (n - 1)", "n": "λ_i / n", "1": "λ_i"}[divide]
    table = SolutionTable(
        (tr("component"), "λ", tr("variance") if data.centered else below, "PVE", tr("total")), tuple(rows)
    )
    remark = tr(
        "The variances of the components add up to the total variance of the columns, because a rotation "
        "preserves the total."
    )
    if not data.centered:
        remark = tr("Without centring, these are mean squares about the origin and not variances.")
    if total == 0:
        remark = tr("All rows are equal, so the total is 0 and shares of it are not defined.")
        if not data.centered:
            remark = tr("All entries are 0, so the total is 0 and shares of it are not defined.")
    return Step(
        tr("The variance of each component and its share of the total (proportion of variance explained, PVE)."),
        f"{below},  λ_i / (λ_1 + … + λ_p)",
        (table,),
        remark,
    )


def enough(values: Sequence[Value], share: float) -> int:
    """The smallest number of leading values that explain the share of the sum."""
    if not 0 < share <= 1:
        raise ParameterError(
            tr("{given} is not a share. Use a number greater than 0 and at most 1, such as 0.9.",
               given=argument("share", share))
        )  # fmt: skip
    total, running = sp.N(sum(values), 30), sp.Float(0, 30)
    for place, value in enumerate(values, 1):
        running += sp.N(value, 30)
        if running >= total * (sp.Rational(str(share)) - sp.Float("1e-20")):
            return place
    return len(values)


def _score_step(data: Prepared) -> Step:
    remark = tr(
        "The columns of $T$ are orthogonal, and the squared length of column $i$ is $λ_i$. An "
        "eigenvector may be multiplied by -1; its scores then change sign as well."
    )
    numbers = (Equation("V", data.vectors), Equation("T", data.scores))
    more = partial(product_steps, data.used, data.vectors, "t", data.scores) if table_is_small(data) else None
    statement = tr("Scores: the coordinates of the rows along the components.")
    return Step(statement, "T = X V", numbers, remark, more)


def _reduction(data: Prepared, k: int) -> tuple[Step, ...]:
    near = data.projected(k)
    rest = (data.working - near).applyfunc(canonical)
    direct = canonical(sum((entry * entry for entry in rest), sp.Integer(0)))
    dropped = canonical(sum((pair.value for pair in data.eigenpairs[k:]), sp.Integer(0)))
    statement = trn(
        "Keep {n} component and return to the original columns: each row is projected onto the line of this component.",
        "Keep {n} components and return to the original columns: each row is projected onto the span "
        "of these components.",
        k,
    )
    numbers = [Equation(f"X_{k}", near)]
    if data.centered or data.variances is not None:
        numbers.append(Equation(tr("in the units of $M$"), data.reconstruction(k)))
    more = (
        partial(product_steps, data.scores[:, :k], data.vectors[:, :k].T, "x", near) if table_is_small(data) else None
    )
    first = Step(statement, "X_k = X V_k V_k^T", tuple(numbers), more=more)
    statement = tr(
        "The squared error, computed in two ways: entry by entry, and as the sum of the dropped eigenvalues."
    )
    both = (Equation(f"‖X - X_{k}‖_F^2", direct), Equation(tr("dropped $λ$"), dropped))
    return first, Step(statement, "‖X - X_k‖_F^2 = λ_{k+1} + … + λ_p", both, check=True)


def _answer(data: Prepared, k: int) -> list[Equation]:
    values = [Equation(f"λ_{i}", pair.value) for i, pair in enumerate(data.eigenpairs, 1)]
    return [*values, Equation("V", data.vectors), Equation("T", data.scores), Equation("k", sp.Integer(k))]


def _parts(data: Prepared, k: int) -> dict[str, Value]:
    values = [pair.value for pair in data.eigenpairs]
    total = canonical(sum(values))
    dropped = canonical(sum(values[k:], sp.Integer(0)))
    return {
        "means": data.means, "centred": data.used, "cross_products": data.cross_products,
        "covariance": (data.cross_products / data.divisor).applyfunc(sp.expand), "eigenvalues": sp.Matrix(values),
        "variances": sp.Matrix([canonical(v / data.divisor) for v in values]), "components": data.vectors,
        "scores": data.scores, "k": sp.Integer(k),
        "pve": sp.Matrix([canonical(sp.radsimp(v / total)) if total != 0 else sp.Integer(0) for v in values]),
        "reconstruction": data.reconstruction(k), "error_squared": dropped, "error": tidy_root(dropped),
    }  # fmt: skip


def _flips(flip: Sequence[int], most: int) -> tuple[int, ...]:
    if not set(flip) <= set(range(1, most + 1)):
        raise ParameterError(
            tr(
                "{given} contains the number of a component that does not exist. Use numbers from 1 to {most}.",
                given=argument("flip", list(flip)),
                most=most,
            )
        )
    return tuple(flip)
