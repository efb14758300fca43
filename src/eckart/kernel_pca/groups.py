"""Groups of rows that a kernel may separate: connected parts of the graph of nearest neighbours, such as nested rings.

A sample of one group stays connected with high probability from about log n neighbours on. With fewer, samples of a
curve fall apart.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from eckart.arrays import Matrix, is_sparse
from eckart.kernel_pca.constants import GROUP_RIDGE, SEPARATED_SHARE, SMALLEST_GROUP


def groups_of(rows: Matrix, neighbors: int = 5) -> np.ndarray | None:
    """The connected part of each row, -1 in small parts; None if only one is large."""
    count = rows.shape[0]
    near = min(max(neighbors, int(np.ceil(np.log2(count)))), count - 1)
    nearest = np.argpartition(_distances(rows), near - 1, axis=1)[:, :near]
    graph = csr_array((np.ones(nearest.size), (np.repeat(np.arange(count), near), nearest.ravel())), (count, count))
    _, parts = connected_components(graph, directed=False)
    sizes = np.bincount(parts)
    large = sizes >= max(near + 1, SMALLEST_GROUP * count)
    return np.where(large[parts], parts, -1) if np.count_nonzero(large) > 1 else None


def _distances(rows: Matrix) -> np.ndarray:
    """Squared distances between all rows, infinite from a row to itself."""
    products = np.asarray((rows @ rows.T).toarray() if is_sparse(rows) else rows @ rows.T, np.float64)
    lengths = np.diagonal(products)
    squares = lengths[:, None] + lengths - 2.0 * products
    np.fill_diagonal(squares, np.inf)
    return squares


def separation(scores: np.ndarray, known: np.ndarray, others: np.ndarray, wanted: np.ndarray) -> float:
    """Share of other rows that a linear discriminant of the scores puts into the right group; -1 marks none."""
    fitted, tested = known >= 0, wanted >= 0
    classes, group = np.unique(known[fitted], return_inverse=True)
    if not tested.any() or len(classes) < 2:
        return float("nan")
    size = np.abs(scores).max(axis=0)
    scale = np.where(size > 0, size, 1.0)
    points, targets = (scores / scale)[fitted], (others / scale)[tested]
    counts = np.bincount(group)
    means = np.stack([points[group == place].mean(axis=0) for place in range(len(classes))])
    within = (points - means[group]).T @ (points - means[group]) / len(points)
    within += GROUP_RIDGE * (float(np.trace(within)) + 1e-300) * np.eye(len(within))
    weights = np.linalg.solve(within, means.T)
    offset = np.log(counts / counts.sum()) - 0.5 * np.sum(means.T * weights, axis=0)
    found = classes[np.argmax(targets @ weights + offset, axis=1)]
    return float(np.mean(found == wanted[tested]))


def components_needed(scores: np.ndarray, groups: np.ndarray, least: int = 1) -> int | None:
    """The smallest number of leading components that separates the groups; None if all of them do not."""
    for k in range(least, scores.shape[1] + 1):
        if separation(scores[:, :k], groups, scores[:, :k], groups) >= SEPARATED_SHARE:
            return k
    return None
