"""Square matrices with one value for each pair of things: distances, correlations, covariances, links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from eckart.arrays import Floats
from eckart.notes import Note
from eckart.wording import either

_CLOSE = 1e-8
_SVD = either("method='svd'", "--method svd")
_NOT_ROWS = (
    "Its rows are not observations, so a report has no section on unusual rows, and the explained variance does not "
    f"describe the original data. Analyse the original data, or use {_SVD} to compute the eigenvalues of this matrix."
)
_ROWS_ONLY = {
    "pca": "PCA treats its rows as observations. For the principal coordinates of these distances, use "
    f"{either('eckart.report without method=', 'eckart report without --method')}.",
    "isomap": "Isomap compares the rows of this table and does not use its distances. To use them, fit "
    "eckart.Isomap(metric='precomputed') in Python.",
}
"""What other methods than principal coordinates do with a table of distances."""
_DISTANCES = "The table is a distance matrix: it is symmetric and non-negative, with a zero diagonal."
_CORRELATIONS = "The table contains correlations or similarities: it is symmetric with ones on its diagonal."
_SYMMETRIC = "The table is symmetric, like a matrix of covariances or similarities."
_LINKS = (
    "The table is symmetric with a zero diagonal, like a matrix of links or of shared counts. Its numbers are not "
    "distances, because rows with a 0 between them differ."
)
OF_PAIRS = ("correlations", "symmetric")
"""Kinds of matrices whose rows are not observations. Principal coordinates of distances describe observations."""
_FEWEST, _MOST = 4, 5000
"""Rows of the matrices that are examined."""
_SAMPLE = 200
"""Rows that are compared with all others."""
_DIFFERENT = 0.1
"""Squared distance of two rows, relative to the sum of their squared norms, above which they are not equal."""
_BLOCK = 256
"""Rows that are compared at once."""
_CONTRADICTED = 0.05
"""Share of the pairs that may be 0 although their rows differ: dissimilarities that people judge are not exact."""


@dataclass(frozen=True)
class Pairs:
    """The values of a symmetric matrix."""

    kind: str
    """ "distances", "correlations" or "symmetric"; also the code of the note."""
    what: str
    """What the matrix is, in sentences."""

    def note(self, method: str) -> Note:
        """What the matrix is, and what that means for the results of a method."""
        if method == "svd":
            return Note(self.kind, f"{self.what} Its singular values are the absolute values of its eigenvalues.")
        meaning = _NOT_ROWS if self.kind in OF_PAIRS else _ROWS_ONLY.get(method, "")
        return Note(self.kind, f"{self.what} {meaning}".rstrip())


def has_shape_of_pairs(matrix: object) -> TypeGuard[np.ndarray]:
    """Whether a matrix in memory is square, or lacks only an empty column."""
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        return False
    rows, columns = matrix.shape
    return bool(0 <= rows - columns <= 1 and _FEWEST <= rows <= _MOST)


def pairs_of(matrix: object) -> Pairs | None:
    """What a square matrix contains; None if it is not symmetric. Blocks of rows are compared, without other copies."""
    if not has_shape_of_pairs(matrix) or not _may_be_symmetric(matrix):
        return None
    low, high = float(matrix.min()), float(matrix.max())  # NaN if an entry is
    size = max(high, -low)
    if not (np.isfinite(size) and low < high and _symmetric(matrix, size)):
        return None
    return _by_diagonal(matrix, np.diagonal(matrix).astype(np.float64), low, size)


def _by_diagonal(matrix: np.ndarray, diagonal: Floats, low: float, size: float) -> Pairs:
    """What a symmetric matrix contains, from its diagonal and its smallest and largest value."""
    if np.abs(diagonal).max() <= _CLOSE * size and low >= 0 and np.count_nonzero(matrix) >= len(matrix):
        return Pairs("distances", _DISTANCES) if _may_be_distances(matrix, size) else Pairs("symmetric", _LINKS)
    if np.allclose(diagonal, 1.0, rtol=0, atol=1e-6) and size <= 1 + 1e-6:
        return Pairs("correlations", _CORRELATIONS)
    return Pairs("symmetric", _SYMMETRIC)


def note_on_pairs(matrix: object, method: str) -> tuple[Note, ...]:
    """A note if the rows of a matrix are not observations. An SVD needs none for distances, as it assumes no rows."""
    pairs = pairs_of(matrix)
    return () if pairs is None or (method, pairs.kind) == ("svd", "distances") else (pairs.note(method),)


def _may_be_symmetric(matrix: np.ndarray) -> bool:
    """Whether the first row is similar to the first column: most other square matrices are ruled out without copies."""
    return matrix.shape[0] == matrix.shape[1] and bool(
        np.allclose(matrix[0], matrix[:, 0], rtol=1e-3, atol=_CLOSE * float(np.abs(matrix[0]).max()))
    )


def _blocks(matrix: np.ndarray) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, len(matrix), _BLOCK))


def _may_be_distances(matrix: np.ndarray, size: float) -> bool:
    """Whether points at a distance of 0 have the same distances to all others, as the triangle inequality demands.

    In a matrix of links or counts, a 0 means the opposite: nothing in common.
    """
    rows = np.unique(np.linspace(0, len(matrix) - 1, min(len(matrix), _SAMPLE)).astype(np.intp))
    sample, contradicted = matrix[rows] / size, 0
    own = (sample**2).sum(axis=1)
    for part in _blocks(matrix):
        block = matrix[part] / size
        both = own[:, None] + (block**2).sum(axis=1)
        different = both - 2 * (sample @ block.T) > _DIFFERENT * both
        contradicted += int(np.count_nonzero(different & (sample[:, part] == 0)))
    return contradicted <= _CONTRADICTED * sample.size


def _symmetric(matrix: np.ndarray, size: float) -> bool:
    """Whether the blocks above the diagonal are those below it."""
    for part in _blocks(matrix):
        rest = slice(part.start, None)
        apart = matrix[part, rest] / size - matrix[rest, part].T / size
        if np.abs(apart, out=apart).max() > _CLOSE:
            return False
    return True
