"""Minor components: the components of least variance first, which are the principal ones in reverse order."""

from __future__ import annotations

import sympy as sp

from eckart.documentation import document
from eckart.options import check_choice
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.pca import data_steps, variance_step
from eckart.worked.pca_data import DIVISORS, prepared
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.svd import canonical, check_k


@document
def minor_components(
    given: object, k: int = 1, *, center: bool = True, scale: bool = False, divide: str = "n-1"
) -> Solution:
    """Find the components along which the rows vary least.

    Parameters
    ----------
    {given [table], k [1]}
    center : bool, default True
        Subtract the column means.
    scale : bool, default False
        Divide each column by its standard deviation.
    {divide}

    {Returns: Solution}
        Named parts: eigenvalues, components, scores, variances.

    {Raises: InputError [exact]; See Also: pca}

    Examples
    --------
    >>> minor_components("1 3; 0 2; 0 0; 3 3")["eigenvalues"]
    Matrix([[2]])
    """
    check_choice("divide", divide, DIVISORS)
    table = matrix(given, "minor_components", rows=40, columns=6)
    check_k(k, table.cols)
    data = prepared(table, center=center, scale=scale, divide=divide)
    eigenpairs = tuple(reversed(data.eigenpairs))[:k]
    vectors = columns([pair.unit for pair in eigenpairs], table.cols)
    scores = columns([pair.through(data.seen_by(pair)) for pair in eigenpairs], table.rows)
    statement = tr(
        "Read the list of principal components from its end: the last principal component is the "
        "first minor component. Among all unit vectors, it makes $‖X w‖$ smallest. If the value is "
        "zero, every row satisfies the same linear relation between the columns."
    )
    numbers = [Equation(f"λ_{i}", pair.value) for i, pair in enumerate(eigenpairs, 1)]
    step = Step(statement, "min w^T S w,  ‖w‖ = 1", (*numbers, Equation("W", vectors), Equation("X W", scores)))
    steps = (*data_steps(data, divide), *spectral_steps(data.cross_products, data.found, "S"),
             variance_step(data, divide), step)  # fmt: skip
    values = sp.Matrix([pair.value for pair in eigenpairs])
    parts = {"eigenvalues": values, "components": vectors, "scores": scores,
             "variances": values.applyfunc(lambda value: canonical(value / data.divisor))}  # fmt: skip
    answer = (*numbers, Equation("W", vectors))
    return Solution(
        tr("Minor components of a {rows} x {cols} table", rows=table.rows, cols=table.cols), steps, answer, parts
    )
