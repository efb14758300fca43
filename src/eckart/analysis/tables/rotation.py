"""Varimax: L R with R orthogonal and the squares of each column of L R as unequal as they can be.

L = V diag(sqrt(lambda)) are the loadings of k axes (for scaled columns: correlations). Turned axes carry together what
the axes carried, but none of them is the best one any more.
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
    living,
    ratio,
    row_weights,
)
from eckart.fitted import takes_fitted
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition

    Matrix = NDArray[np.float64]

_SWEEPS = 500
_STILL = 1e-13
"""Angles below this are no turn."""


@dataclass(frozen=True)
class Rotation:
    """Turned loadings L R, in falling order of what they carry, the largest entry of each positive."""

    matrix: Matrix
    """R, k x k."""
    loadings: Matrix
    """L R, columns x k."""


@takes_fitted
def varimax(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Rotation:
    """Turn the first k axes to simple structure.

    Parameters
    ----------
    d : Decomposition
        Centred.
    k : int, optional
        How many axes to turn: all that were kept unless told. The answer depends on it.
    normalize : bool
        Kaiser's normalisation: every column counts alike while the angles are found.
    """
    check_centred(d)
    check_orthogonal(d, "Rotations")
    k = check_k(d, k)
    loadings = floats(d.right)[:, :k] * np.sqrt(floats(d.explained_variance)[:k])
    lengths = np.sqrt((loadings**2).sum(axis=1))
    turned, matrix = _turn(ratio(loadings, lengths[:, None]) if normalize else loadings)
    turned = turned * lengths[:, None] if normalize else turned
    order = np.argsort(-(turned**2).sum(axis=0), kind="stable")
    turned, matrix = turned[:, order], matrix[:, order]
    signs = np.where(turned[np.abs(turned).argmax(axis=0), np.arange(k)] < 0, -1.0, 1.0)
    return Rotation(matrix * signs, turned * signs)


@takes_fitted
def rotated_loadings(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Table:
    """Loadings V diag(sqrt(lambda)) R after varimax, and the communality of each column: what the k axes show of it."""
    found = varimax(d, k=k, normalize=normalize)
    shown = (found.loadings**2).sum(axis=1)
    lines = zip(column_labels(d), found.loadings.tolist(), shown.tolist(), strict=True)
    caption = "For scaled columns the correlations with the turned axes; squares along a row sum to the communality."
    names = _names(found.loadings.shape[1])
    return Table(
        "Rotated loadings",
        ("column", *names, "communality"),
        tuple((name, *line, part) for name, line, part in lines),
        caption,
    )


@takes_fitted
def rotated_variances(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Table:
    """What each turned axis carries: the sum of its squared loadings."""
    sizes = (varimax(d, k=k, normalize=normalize).loadings ** 2).sum(axis=0)
    shares = sizes / (d.total_variance or 1.0)
    rows = zip(_names(len(sizes)), sizes.tolist(), shares.tolist(), shares.cumsum().tolist(), strict=True)
    caption = "Together they carry what the axes carried before they were turned."
    kinds = ("text", "number", "percent", "percent")
    return Table("Rotated axes", ("component", "variance", "share", "cumulative"), tuple(rows), caption, kinds)


@takes_fitted
def rotated_scores(d: Decomposition, *, k: int | None = None, normalize: bool = True) -> Table:
    """Scores of unit variance on the turned axes: sqrt(w - 1) U R. They stay uncorrelated."""
    found = varimax(d, k=k, normalize=normalize)
    k = found.matrix.shape[0]
    unit = (
        math.sqrt(max(d.weight - 1.0, 1.0)) * left_vectors(d)[:, :k] * living(d)[:k] / np.sqrt(row_weights(d))[:, None]
    )
    rows = tuple((name, *line) for name, line in zip(row_labels(d), (unit @ found.matrix).tolist(), strict=True))
    return Table("Rotated scores", ("row", *_names(k)), rows, "Coordinates on the turned axes, of variance 1 each.")


def _turn(loadings: Matrix) -> tuple[Matrix, Matrix]:
    """Pairs of axes are turned by their best angle until none moves: each turn can only raise the criterion."""
    turned, matrix = loadings.copy(), np.eye(loadings.shape[1])
    for _ in range(_SWEEPS):
        moved = 0.0
        for pair in combinations(range(loadings.shape[1]), 2):
            angle = _best_angle(*turned[:, pair].T)
            moved = max(moved, abs(angle))
            turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            turned[:, pair] = turned[:, pair] @ turn
            matrix[:, pair] = matrix[:, pair] @ turn
        if moved <= _STILL:
            break
    return turned, matrix


def _best_angle(x: Matrix, y: Matrix) -> float:
    """The angle that raises the variance of the squares of x cos + y sin, y cos - x sin most (Kaiser, 1958)."""
    u, v = x**2 - y**2, 2 * x * y
    count = max(len(x), 1)
    above = 2 * (u @ v - u.sum() * v.sum() / count)
    below = (u @ u - v @ v) - (u.sum() ** 2 - v.sum() ** 2) / count
    return math.atan2(float(above), float(below)) / 4


def _names(k: int) -> tuple[str, ...]:
    return tuple(f"RC{i + 1}" for i in range(k))
