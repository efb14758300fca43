"""Groups of rows that a kernel may separate: connected parts of the graph of nearest neighbours, such as nested rings.

A sample of one group stays connected with high probability from about log n neighbours on. With fewer, samples of a
curve fall apart.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix

_SMALLEST = 0.05
"""Connected parts with a smaller share of the rows are not groups."""
MOST = 6
"""Number of components within which groups should be separated."""
_SEPARATED = 0.99
"""Share of rows in the right group that counts as separated."""


def groups_of(rows: Matrix, neighbors: int = 5) -> np.ndarray | None:
    """The connected part of each row, -1 in small parts; None if only one is large."""
    from scipy.sparse.csgraph import connected_components
    from sklearn.neighbors import kneighbors_graph

    near = min(max(neighbors, int(np.ceil(np.log2(rows.shape[0])))), rows.shape[0] - 1)
    _, parts = connected_components(kneighbors_graph(rows, near), directed=False)
    counts = np.bincount(parts)
    large = counts >= max(near + 1, _SMALLEST * rows.shape[0])
    return np.where(large[parts], parts, -1) if np.count_nonzero(large) > 1 else None


def separation(scores: np.ndarray, known: np.ndarray, others: np.ndarray, wanted: np.ndarray) -> float:
    """Share of other rows that a linear discriminant of the scores puts into the right group; -1 is no group."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    fitted, tested = known >= 0, wanted >= 0
    if not tested.any() or len(np.unique(known[fitted])) < 2:
        return float("nan")
    size = np.abs(scores).max(axis=0)
    scale = np.where(size > 0, size, 1.0)
    discriminant = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1e-9)
    discriminant.fit((scores / scale)[fitted], known[fitted])
    return float(discriminant.score((others / scale)[tested], wanted[tested]))


def components_needed(scores: np.ndarray, groups: np.ndarray, least: int = 1) -> int | None:
    """The smallest number of leading components that separates the groups; None if all of them do not."""
    for k in range(least, scores.shape[1] + 1):
        if separation(scores[:, :k], groups, scores[:, :k], groups) >= _SEPARATED:
            return k
    return None
