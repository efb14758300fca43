"""Supplementary rows: (x - mean) / scale right, and how well the components represent them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from eckart.analysis.labels import component_labels
from eckart.analysis.measures import check_orthogonal, floats, named_lines, nonzero_components, ratio
from eckart.analysis.tables.outliers import new_limits
from eckart.arrays import Array, Floats, astype, from_numpy, namespace
from eckart.components.scores import open_new_rows
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import stored
from eckart.engine.measured import product_and_squares
from eckart.engine.operator import Operator
from eckart.engine.rows import RowBlocks
from eckart.engine.transformed import Centered, Scaled
from eckart.fitted import takes_fitted
from eckart.io.open_matrix import with_columns_of
from eckart.result import Decomposition
from eckart.text import Table


@takes_fitted
def rows(d: Decomposition, data: object) -> Table:
    """Compute scores and outlier statistics of rows that were not used in the fit.

    {Parameters: d [PCA or SVD], data [new rows]; Returns: Table}
        Scores of each row, its distance from the centre, the share of the squared distance that the components explain,
        T2 and Q.

    {Raises: ParameterError [not orthogonal], InputError [columns]; See Also: eckart.project, row_cos2}

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests").values
    >>> d = ek.decompose(arrests[:40], k=2, scale=True)
    >>> found = ek.supplementary.rows(d, arrests[40:])
    >>> found.columns
    ('row', 'PC1', 'PC2', 'distance', 'quality', 'T2', 'Q')
    >>> len(found.rows)
    10
    """
    check_orthogonal(d, "Distances of new rows")
    scores, squares, given = measured(d, data)
    names = given or tuple(str(i + 1) for i in range(len(scores)))
    nonzero = nonzero_components(d)
    inside = (scores**2).sum(axis=1)
    squares = np.maximum(squares, inside)
    t2 = (scores[:, nonzero] ** 2 / floats(d.explained_variance)[nonzero]).sum(axis=1)
    columns = ("row", *component_labels(d), "distance", "quality", "T2", "Q")
    numbers = np.column_stack([scores, np.sqrt(squares), ratio(inside, squares), t2, squares - inside])
    kinds = ("text", *("number",) * (d.k + 1), "percent", "number", "number")
    limits = [f"{limit:.4g}" if math.isfinite(limit) else "none" for limit in new_limits(d)]
    caption = "Rows that were not used in the fit; 'quality' is the share of a row that the components explain. "
    caption += f"Limits for new rows at 95 %: T2 {limits[0]}, Q {limits[1]}."
    return Table("Supplementary rows", columns, named_lines(names, numbers), caption, kinds)


@takes_fitted
def row_cos2(d: Decomposition, data: object) -> Table:
    """Tabulate how well each component represents rows that were not used in the fit.

    {Parameters: d [PCA or SVD], data [new rows]; Returns: Table}
        Squared cosines t_k^2 / ||x||^2 of each row x with scores t_k.

    {Raises: ParameterError [not orthogonal]; See Also: rows}

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests").values
    >>> d = ek.decompose(arrests[:40], k=2, scale=True)
    >>> [round(float(cell), 3) for cell in ek.supplementary.row_cos2(d, arrests[40:]).rows[0][1:]]
    [0.727, 0.223]
    """
    check_orthogonal(d, "Squared cosines")
    scores, squares, given = measured(d, data)
    names = given or tuple(str(i + 1) for i in range(len(scores)))
    cosines = ratio(scores**2, np.maximum(squares, (scores**2).sum(axis=1))[:, None])
    caption = (
        "Squared cosine between each row and each component; 1 means that the component represents the row completely."
    )
    return Table(
        "Squared cosines of supplementary rows", ("row", *component_labels(d)), named_lines(names, cosines), caption
    )


def measured(d: Decomposition, data: object) -> tuple[Floats, Floats, tuple[str, ...] | None]:
    """Scores and squared lengths of rows in one pass, and their names if they have any."""
    opened = open_new_rows(d, with_columns_of(data, d.column_names))
    pieces = [(0, opened.matrix)] if opened.matrix.resident else opened.matrix.pieces()
    with np.errstate(over="ignore", invalid="ignore"):
        found = [_image(d, piece, opened.exponent) for _, piece in pieces]
    scores, squares = (np.concatenate([part[i] for part in found]) for i in range(2))
    if not np.isfinite(squares).all():
        refuse_not_finite(stored(opened), opened.metadata)
    return scores, squares, opened.metadata.row_names


def _image(d: Decomposition, matrix: RowBlocks, exponent: int) -> tuple[Floats, Floats]:
    """(A - mean) / scale right and the squared lengths of its rows, for A stored as 2^exponent A."""
    matrix = matrix.precise()
    if not matrix.sparse:  # coordinates in float64 too, because Q is a difference
        matrix = replace(matrix, matrix=astype(matrix.matrix, namespace(matrix.prototype).float64))

    def outside(numbers: Array | np.ndarray, power: int = 0) -> Array:
        return from_numpy(np.ldexp(floats(numbers), power), matrix.prototype)

    operator: Operator = matrix
    if d.mean is not None and matrix.sparse:
        count = matrix.shape[0]
        operator = Centered(matrix, outside(np.ones(count)), outside(d.mean, exponent), np.zeros(0), float(count))
    elif d.mean is not None:
        operator = matrix.shifted(outside(d.mean, exponent))
    if d.scale is not None or exponent:
        operator = Scaled(operator, outside(np.ones(d.columns) if d.scale is None else d.scale, exponent))
    image, squares = product_and_squares(operator, outside(d.right), across=False)
    return floats(image), squares
