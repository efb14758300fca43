"""Details of Isomap beyond its coordinates: the rows, their graph, and how to place new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eckart.arrays import Matrix
from eckart.engine.blocks.csr_check import csr_fault
from eckart.result import Details


@dataclass(frozen=True)
class IsomapDetails(Details):
    """The neighbourhood graph, the embedding of its sources, and figures of merit."""

    shapes: ClassVar = {
        "points": ("rows", "columns"), "sources": ("sources",), "weights": ("sources", "k"), "means": ("sources",),
        "shift": ("k",), "residual_variance": ("k",),
    }  # fmt: skip
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

    def fault(self, rows: int) -> str | None:
        fault = csr_fault(self.weight, self.index, self.first, (rows, rows))
        if fault is not None:
            return f"the neighbourhood graph is damaged: {fault}"
        if not (self.weight >= 0).all():  # Dijkstra's algorithm would never end
            return "the neighbourhood graph is damaged: an edge has a negative length or none"
        sources = self.sources
        if sources.ndim != 1 or sources.dtype.kind not in "iu" or not len(sources):
            return f"its sources should be row numbers, but they have shape {sources.shape} and type {sources.dtype}"
        if sources.min() < 0 or sources.max() >= rows:
            return f"its sources lie outside the {rows} rows"
        return None
