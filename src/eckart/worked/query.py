"""Queries in concept space: q -> q V -> q V V^T, and similar rows by the cosine there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.fields import tidy_root
from eckart.worked.matrices import matrix, vector
from eckart.worked.messages import mark, tr, trn
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.svd import canonical, check_k, details, factors

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def query(given: object, q: object, k: int | None = None) -> Solution:
    """Map a new row to the concepts of a matrix, and find similar rows.

    Parameters
    ----------
    {given [12 x 8]}
    q : str, list or array
        The new row.
    k : int, default None
        Number of concepts. None uses all.

    {Returns: Solution}
        Named parts: concepts, back (the row reconstructed from its concepts), V, cosines.

    {Raises: InputError [exact]; See Also: svd, eckart.concepts}

    Examples
    --------
    >>> ratings = "1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 0 0 4 4; 0 0 0 5 5; 0 0 0 2 2"
    >>> found = query(ratings, "4 0 0 0 0")
    >>> found["concepts"], found["back"]
    (Matrix([[4*sqrt(3)/3, 0]]), Matrix([[4/3, 4/3, 4/3, 0, 0]]))
    """
    a = matrix(given, "query", rows=12, columns=8)
    row = vector(q, mark("The query"), a.cols).T
    parts = factors(a)
    if not parts.eigenpairs:
        raise InputError(tr("The matrix is zero, so it has no concepts. Check the entries."))
    check_k(k, len(parts.eigenpairs))
    eigenpairs = [pair.suited(row) for pair in parts.eigenpairs[:k]]
    concepts = sp.Matrix.hstack(*[pair.through(row) for pair in eigenpairs])
    projector = sum(
        (pair.outer(pair.entries, pair.entries) for pair in eigenpairs), sp.zeros(a.cols, a.cols)
    ).applyfunc(canonical)
    back = (row * projector).applyfunc(canonical)
    v = sp.Matrix.hstack(*[pair.unit for pair in eigenpairs])
    cosines = [cosine(row, a[i, :], projector) for i in range(a.rows)]
    steps = (
        Step(tr("The matrix and the new row."), numbers=(Equation("A", a), Equation("q", row))),
        Step(
            tr(
                "The right singular vectors connect columns with concepts. The singular values are the "
                "strengths of the concepts."
            ),
            "A = U Σ V^T",
            (
                *[Equation(f"σ_{i}", value) for i, value in enumerate(parts.values[: len(eigenpairs)], 1)],
                Equation("V", v),
            ),
            more=partial(details, a),
        ),
        Step(
            tr("Map the new row to concept space."),
            "q V",
            (Equation("q V", concepts),),
            more=partial(product_steps, row, v, "c", concepts),
        ),
        Step(
            tr("Map it back to the columns: this is the row that these concepts predict."),
            "q V V^T",
            (Equation("q V V^T", back),),
            _suggestion(row, back),
            more=partial(product_steps, concepts, v.T, "b", back),
        ),
        Step(
            tr(
                "Similar rows: the cosine of the angle between two rows in concept space. 1 means "
                "the same direction. The cosine distance is 1 minus the cosine."
            ),
            "cos = (q V) · (a V) / (‖q V‖ ‖a V‖)",
            (_table(cosines),),
        ),
    )
    named = {"concepts": concepts, "back": back, "V": v, "cosines": sp.Matrix([0 if c is None else c for c in cosines])}
    answer = (Equation("q V", concepts), Equation("q V V^T", back), Equation("", _suggestion(row, back)))
    return Solution(tr("A query in concept space"), steps, answer, named)


def cosine(first: sp.Matrix, second: sp.Matrix, projector: sp.Matrix) -> sp.Expr | None:
    """The cosine between two rows in concept space, where V V^T is the projector; None if one of them is 0 there.

    >>> cosine(sp.Matrix([[4, 0]]), sp.Matrix([[3, 0]]), sp.eye(2))
    1
    """
    product = canonical((first * projector * second.T)[0])
    lengths = [canonical((row * projector * row.T)[0]) for row in (first, second)]
    if any(length == 0 or abs(sp.N(length)) < 1e-25 for length in lengths):
        return None
    return canonical(sp.radsimp(product / tidy_root(canonical(lengths[0] * lengths[1]))))


def _suggestion(row: sp.Matrix, back: sp.Matrix) -> str:
    open_places = [j for j in range(row.cols) if row[j] == 0 and sp.N(back[j]) > 1e-9]
    if not open_places:
        return tr("No column that is 0 in the query becomes positive, so there is nothing to suggest.")
    order = sorted(open_places, key=lambda j: -float(sp.N(back[j])))
    words = ", ".join(str(j + 1) for j in order)
    return trn("Of the columns that are 0 in the query, suggest column {words}.",
               "Of the columns that are 0 in the query, suggest columns {words}.", len(order), words=words)  # fmt: skip


def _table(cosines: list[Value]) -> SolutionTable:
    rows = [
        (sp.Integer(i), *((tr("none"), tr("none")) if c is None else (c, canonical(1 - c))))
        for i, c in enumerate(cosines, 1)
    ]
    return SolutionTable((tr("row"), tr("cosine"), tr("distance")), tuple(rows))
