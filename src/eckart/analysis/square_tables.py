"""Tables that are not rows of measurements: distances between rows, correlations between columns.

A matrix D of distances becomes B = -1/2 J D^2 J with J = I - 1 1^T / n, the inner products of points with these
distances (Gower, 1966). Kernel PCA of B gives their principal coordinates (classical multidimensional scaling).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eckart.engine.blocks.source import DataSource, MemorySource
from eckart.wording import either

_CLOSE = 1e-8
_SVD = either("method='svd'", "--method svd")
_FEWEST = 4
_MOST = 5000


@dataclass(frozen=True)
class SquareTable:
    """The type of a square table, "distances" or "correlations", and a message for the user."""

    kind: str
    note: str


def recognise(source: DataSource) -> SquareTable | None:
    """Detect whether a table in memory is a distance matrix or a correlation matrix."""
    matrix = getattr(source, "matrix", source)
    rows, columns = source.shape
    if rows != columns or not _FEWEST <= rows <= _MOST or not isinstance(matrix, np.ndarray) or not _symmetric(matrix):
        return None
    size, diagonal = float(np.abs(matrix).max()), np.diagonal(matrix)
    if np.abs(diagonal).max() <= _CLOSE * size and matrix.min() >= 0 and np.count_nonzero(matrix) >= rows:
        return SquareTable(
            "distances", "The table is a distance matrix: it is symmetric and non-negative, with a zero diagonal."
        )
    if np.allclose(diagonal, 1.0, rtol=0, atol=1e-6) and size <= 1 + 1e-6:
        note = (
            "The table is a correlation matrix: it is symmetric with ones on its diagonal. Its rows "
            "are not observations, so explained variance and unusual rows do not describe the "
            f"original data. Analyse the original data, or use {_SVD} to compute the eigenvalues of "
            "this matrix."
        )
        return SquareTable("correlations", note)
    return None


def _symmetric(matrix: np.ndarray) -> bool:
    """Whether all numbers are finite, not all zero, and the matrix is symmetric."""
    if not np.isfinite(matrix).all():
        return False
    size = float(np.abs(matrix).max())
    return size > 0 and np.allclose(matrix, matrix.T, rtol=0, atol=_CLOSE * size)


def inner_products(source: DataSource) -> MemorySource:
    """B = -1/2 J D^2 J of a matrix of distances, with the names of its rows."""
    squares = np.asarray(getattr(source, "matrix", source), np.float64) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    metadata = source.metadata
    names = metadata.row_names or metadata.column_names
    return MemorySource(-0.5 * centred, replace(metadata, row_names=names))
