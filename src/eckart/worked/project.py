"""New rows on existing components: Z' = (X' - μ) V_k, with the mean and the components of the fitted rows."""

from __future__ import annotations

from functools import partial

import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.numerals import is_exact, text_number
from eckart.worked.pca import data_steps
from eckart.worked.pca_data import prepared
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.svd import canonical, check_k
from eckart.worked.written_out import squares, written


@document
def project(given: object, new: object, k: int = 1) -> Solution:
    """Project new rows onto the components of a table.

    Parameters
    ----------
    {given [table]}
    new : str, list, array or sympy.Matrix
        New rows with the same columns, at most 20 rows.
    {k [1]}

    {Returns: Solution}
        Named parts: scores, reconstruction, distances (squared distances from the subspace of the components),
        components.

    {Raises: InputError [exact]; See Also: pca}

    Examples
    --------
    >>> found = project("1 3; 0 2; 0 0; 3 3", "3 4")
    >>> found["scores"], found["distances"]
    (Matrix([[2*sqrt(2)]]), Matrix([[0]]))
    """
    table = matrix(given, "project", rows=40, columns=6)
    rows = matrix(new, "project", rows=20, columns=6)
    if rows.cols != table.cols:
        raise InputError(
            tr(
                "Each new row has {given} entries, but the table has {needed} columns. Enter one "
                "value for each column.",
                given=rows.cols,
                needed=table.cols,
            )
        )
    check_k(k, table.cols)
    data = prepared(table, center=True, scale=False, divide="n-1")
    centred = (rows - sp.ones(rows.rows, 1) * data.means).applyfunc(sp.expand)
    eigenpairs = [pair.suited(centred) for pair in data.eigenpairs[:k]]
    scores = columns([pair.through(centred) for pair in eigenpairs], rows.rows)
    near = sum((pair.outer(pair.image(centred), pair.entries) for pair in eigenpairs), sp.zeros(*rows.shape))
    near = near.applyfunc(canonical)
    rest = (centred - near).applyfunc(canonical)
    sign = "=" if is_exact(rest) else "≈"
    distances = sp.Matrix([canonical(sum(x * x for x in rest[i, :])) for i in range(rows.rows)])
    back = (near + sp.ones(rows.rows, 1) * data.means).applyfunc(canonical)
    vectors = columns([pair.unit for pair in eigenpairs], table.cols)
    steps = (
        *data_steps(data, "1"),
        *spectral_steps(data.cross_products, data.found, "S"),
        Step(
            tr("Centre the new rows: subtract the means of the old rows, not the means of the new rows."),
            "X' - μ",
            (Equation("X'", rows), Equation("X' - μ", centred)),
        ),
        Step(
            tr("Scores of the new rows on the components of the old rows."),
            "Z' = (X' - μ) V_k",
            (Equation("V_k", vectors), Equation("Z'", scores)),
            tr("Centring the new rows with their own means would move them to the centre of the old rows."),
            more=partial(product_steps, centred, vectors, "z", scores),
        ),
        Step(
            tr("Reconstruct the new rows, and compute the squared distance of each new row from its reconstruction."),
            "X'_k = Z' V_k^T + μ,  d_i = ‖x'_i - x'_{k,i}‖^2",
            (Equation("X'_k", back), Equation("d", distances)),
            more=lambda: written(
                f"d_{i + 1} {sign} {squares(rest[i, :])} {sign} {text_number(distances[i])}" for i in range(rows.rows)
            ),
        ),
    )
    parts = {"scores": scores, "reconstruction": back, "distances": distances, "components": vectors}
    answer = (Equation("Z'", scores), Equation("X'_k", back), Equation("d", distances))
    return Solution(tr("New rows projected on the components of a table"), steps, answer, parts)
