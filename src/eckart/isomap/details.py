"""Details of Isomap beyond its coordinates: the rows, their graph, and how to place new rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Matrix
from eckart.result import Details


@dataclass(frozen=True)
class IsomapDetails(Details):
    """The neighbourhood graph, the embedding of its sources, and figures of merit."""

    points: Matrix | None
    """The fitted rows times 2^exponent; None if distances were given instead of rows."""
    n_neighbors: int | None
    radius: float | None
    connected_components: int
    """Number of connected components of the graph before they were joined."""
    first: np.ndarray
    index: np.ndarray
    weight: np.ndarray
    """Edges of row i: `index[first[i]:first[i + 1]]`, of length `weight[...]`."""
    sources: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    shift: np.ndarray
    """Coordinates of a point at distances d from the sources: -1/2 (d^2 - means) weights - shift."""
    negative_share: float
    residual_variance: np.ndarray
    """With 1, ..., k coordinates."""
    reconstruction_error: float
    eigenvalues: np.ndarray | None = None
    exponent: int = 0
