"""Varimax: L R with R orthogonal, which makes the squares of each column of L R as unequal as possible.

L = V diag(sqrt(lambda)) are the loadings of k components (for scaled columns: correlations). Rotated components
together explain as much as before, but none of them is optimal on its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, row_labels
from eckart.analysis.measures import (
    check_centred,
    check_k,
    check_orthogonal,
    floats,
    left_vectors,
    nonzero_components,
    ratio,
    row_weights,
)
from eckart.arrays import Floats
from eckart.documentation import document
from eckart.fitted import takes_fitted
from eckart.text import Table

if TYPE_CHECKING:
    from eckart.result import Decomposition


_SWEEPS = 500
_STILL = 1e-13
"""Rotations by a smaller angle are ignored."""


@document
@dataclass(frozen=True)
class Rotation:
    """Rotated loadings, in decreasing order of the variance that they explain.

    Together, they explain as much as the components before the rotation.

    Attributes
    ----------
    matrix : array of shape (k, k)
        Rotation matrix R.
    loadings : array of shape (n_features, k)
        Rotated loadings L R. In each column, the entry with the largest absolute value is positive.

    {See Also: eckart.tables.varimax}

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose(ek.datasets.load("usarrests").values, k=2, scale=True)
    >>> ek.tables.varimax(d).matrix.shape
    (2, 2)
    """

    matrix: Floats
    loadings: Floats


@takes_fitted
def varimax(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Rotation:
    """Rotate the first k components so that their loadings are easier to interpret.

    Parameters
    ----------
    {d [centred]}
    k : int or None, default None
        Number of components to rotate. None rotates all. The result depends on this number, because all rotated
        components change together.
    {normalize}

    Returns
    -------
    Rotation
        Rotation matrix and rotated loadings.

    {Raises: ParameterError [not centred]; See Also: rotated_loadings, rotated_variances}

    Notes
    -----
    Varimax rotates the scaled loadings L = V diag(sqrt(lambda)). Together, the rotated components explain the same
    variance as before, but none of them is optimal on its own.

    References
    ----------
    .. [1] H. F. Kaiser, "The varimax criterion for analytic rotation in factor analysis", Psychometrika 23, 1958.

    {Examples: arrests}
    >>> ek.tables.varimax(d).loadings.round(2)
    array([[ 0.94, -0.06],
           [ 0.92,  0.18],
           [ 0.07,  0.97],
           [ 0.73,  0.48]])
    """
    check_centred(d)
    check_orthogonal(d, "Rotations")
    k = check_k(d, k)
    loadings = floats(d.right)[:, :k] * np.sqrt(floats(d.explained_variance)[:k])
    lengths = np.sqrt((loadings**2).sum(axis=1))
    rotated, matrix = _turn(ratio(loadings, lengths[:, None]) if normalize else loadings)
    rotated = rotated * lengths[:, None] if normalize else rotated
    order = np.argsort(-(rotated**2).sum(axis=0), kind="stable")
    rotated, matrix = rotated[:, order], matrix[:, order]
    signs = np.where(rotated[np.abs(rotated).argmax(axis=0), np.arange(k)] < 0, -1.0, 1.0)
    return Rotation(matrix * signs, rotated * signs)


@takes_fitted
def rotated_loadings(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Table:
    """Tabulate the loadings after varimax rotation.

    {Parameters: d [centred], k [rotated], normalize; Returns: Table}
        Loadings and communality (sum of squared loadings) of each column.

    {Raises: ParameterError [not centred]; See Also: varimax}

    {Examples: arrests}
    >>> ek.tables.rotated_loadings(d).columns
    ('column', 'RC1', 'RC2', 'communality')
    """
    found = varimax(d, k=k, normalize=normalize)
    shown = (found.loadings**2).sum(axis=1)
    lines = zip(column_labels(d), found.loadings.tolist(), shown.tolist(), strict=True)
    caption = (
        "If the columns are scaled, these are correlations with the rotated components. The squares "
        "in each row sum to the communality of the column."
    )
    names = _names(found.loadings.shape[1])
    return Table(
        "Rotated loadings",
        ("column", *names, "communality"),
        tuple((name, *line, part) for name, line, part in lines),
        caption,
    )


@takes_fitted
def rotated_variances(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Table:
    """Tabulate the variance that each rotated component explains.

    {Parameters: d [centred], k [rotated], normalize; Returns: Table}
        Variance, explained share and cumulative share of each rotated component.

    {Raises: ParameterError [not centred]; See Also: eigenvalues}

    {Examples: arrests}
    >>> [round(float(row[2]), 3) for row in ek.tables.rotated_variances(d).rows]
    [0.565, 0.302]
    """
    sizes = (varimax(d, k=k, normalize=normalize).loadings ** 2).sum(axis=0)
    shares = sizes / (d.total_variance or 1.0)
    rows = zip(_names(len(sizes)), sizes.tolist(), shares.tolist(), shares.cumsum().tolist(), strict=True)
    caption = "The rotated components together explain as much as the original ones."
    kinds = ("text", "number", "percent", "percent")
    return Table("Rotated components", ("component", "variance", "share", "cumulative"), tuple(rows), caption, kinds)


@takes_fitted
def rotated_scores(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Table:
    """Tabulate the scores of the rows on the rotated components.

    Parameters
    ----------
    {d [with rows]}
    {k [rotated]}
    {normalize}

    Returns
    -------
    Table
        Scores sqrt(w - 1) U R, where w is the sum of the row weights, U contains the left vectors and R is the
        rotation. They are uncorrelated and have variance 1.

    {Raises: ParameterError [left vectors]; See Also: scores}

    {Examples: arrests}
    >>> ek.tables.rotated_scores(d).columns
    ('row', 'RC1', 'RC2')
    """
    found = varimax(d, k=k, normalize=normalize)
    k = found.matrix.shape[0]
    scale = math.sqrt(max(d.weight - 1.0, 1.0)) * nonzero_components(d)[:k]
    unit = scale * left_vectors(d)[:, :k] / np.sqrt(row_weights(d))[:, None]
    rows = tuple((name, *line) for name, line in zip(row_labels(d), (unit @ found.matrix).tolist(), strict=True))
    return Table("Rotated scores", ("row", *_names(k)), rows, "Scores on the rotated components, with variance 1.")


def _turn(loadings: Floats) -> tuple[Floats, Floats]:
    """Rotate pairs of components by their best angle until none changes; each rotation can only raise the criterion."""
    rotated, matrix = loadings.copy(), np.eye(loadings.shape[1])
    for _ in range(_SWEEPS):
        moved = 0.0
        for pair in combinations(range(loadings.shape[1]), 2):
            angle = _best_angle(*rotated[:, pair].T)
            moved = max(moved, abs(angle))
            turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            rotated[:, pair] = rotated[:, pair] @ turn
            matrix[:, pair] = matrix[:, pair] @ turn
        if moved <= _STILL:
            break
    return rotated, matrix


def _best_angle(x: Floats, y: Floats) -> float:
    """The angle that maximises the variance of the squares of x cos + y sin, y cos - x sin (Kaiser, 1958)."""
    u, v = x**2 - y**2, 2 * x * y
    count = max(len(x), 1)
    above = 2 * (u @ v - u.sum() * v.sum() / count)
    below = (u @ u - v @ v) - (u.sum() ** 2 - v.sum() ** 2) / count
    return math.atan2(float(above), float(below)) / 4


def _names(k: int) -> tuple[str, ...]:
    return tuple(f"RC{i + 1}" for i in range(k))
