"""Tables that are not rows of measurements: distances, correlations and other values of pairs.

A matrix D of distances becomes B = -1/2 J D^2 J with J = I - 1 1^T / n, the inner products of points with these
distances (Gower, 1966). Kernel PCA of B gives their principal coordinates (classical multidimensional scaling).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from eckart.arrays import Floats
from eckart.engine.blocks.source import DataSource, MemorySource, Metadata
from eckart.formatting import counted, percent
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
_LINKS = (
    "The table is symmetric with a zero diagonal, like a matrix of links or of shared counts. Its numbers are not "
    "distances, because rows with a 0 between them differ."
)
_COMPLETED = "Only one of its triangles was given; the other one was filled in by symmetry."
NO_DIAGONAL = (
    "The table is one triangle of a square matrix without its diagonal. All values lie between 0 and 1, so they may be "
    "distances or correlations. Fill in the diagonal: 0 for distances, 1 for correlations or similarities."
)
"""Why a table for which `lacks_diagonal` is true cannot be analysed."""
OF_PAIRS = ("correlations", "symmetric")
"""Kinds of tables whose rows are not observations. Principal coordinates of distances describe observations."""
_OF_GAPS = ("missing_values", "empty_rows", "empty_columns")
"""Codes of notes that do not hold for the completed table."""
_FEWEST, _MOST = 4, 5000
"""Rows of the tables that are examined."""
_MOST_EIGENVALUES = 1000
"""Rows of a correlation matrix whose eigenvalues take less than a second."""
_TARGET = 0.9
"""Explained share that the answer counts components for."""
_SAMPLE = 200
"""Rows that are compared with all others."""
_DIFFERENT = 0.1
"""Squared distance of two rows, relative to the sum of their squared norms, above which they are not equal."""
_CONTRADICTED = 0.05
"""Share of the pairs that may be 0 although their rows differ: dissimilarities that people judge are not exact."""


@dataclass(frozen=True)
class SquareTable:
    """The type of a square table, "distances", "correlations" or "symmetric", with both of its triangles."""

    kind: str
    what: str
    """What the table is, in sentences."""
    source: DataSource
    completed: bool
    """Whether only one triangle was given, so that `source` differs from the table."""

    def note(self, method: str) -> Note:
        """What the table is, and what that means for the results of PCA or SVD."""
        if method == "svd":
            return Note(self.kind, f"{self.what} Its singular values are the absolute values of its eigenvalues.")
        meaning = _NOT_ROWS if self.kind in OF_PAIRS else _ROWS_ONLY.get(method, "")
        return Note(self.kind, f"{self.what} {meaning}".rstrip())


def recognise(source: DataSource) -> SquareTable | None:
    """Detect whether a table in memory has distances, correlations or other values of pairs.

    Of such a table, often only one triangle is printed. The entries of the other one are then missing.
    """
    matrix = getattr(source, "matrix", source)
    if not _has_shape_of_pairs(matrix):
        return None
    whole = _completed(matrix, source) if np.isnan(matrix[0, -1]) or np.isnan(matrix[-1, 0]) else source
    return None if whole is None else _kind(whole, completed=whole is not source)


def answer_for_pairs(codes: Iterable[str | None], matrix: object) -> str:
    """What a report answers if the rows of a table are not observations; "" for other tables.

    The eigenvalues of a correlation matrix are the variances of the components of the scaled data.
    """
    kind = next((code for code in codes if code in OF_PAIRS), None)
    if kind is None:
        return ""
    first = "The rows of this table are not observations, so Eckart does not recommend a number of components."
    if kind != "correlations" or not isinstance(matrix, np.ndarray) or len(matrix) > _MOST_EIGENVALUES:
        return first
    values = np.linalg.eigvalsh(np.asarray(matrix, np.float64))[::-1]
    shares = np.cumsum(values) / values.sum()
    enough = int(np.argmax(shares >= _TARGET)) + 1
    return (
        f"{first} If they are the correlations of columns, the first component of the scaled data explains "
        f"{percent(float(shares[0]))} of the variance. To explain at least {percent(_TARGET, 0)} takes "
        f"{counted(enough, 'component')}."
    )


def _has_shape_of_pairs(matrix: object) -> TypeGuard[np.ndarray]:
    """Whether a table in memory is square, or lacks only an empty column."""
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        return False
    rows, columns = matrix.shape
    return bool(0 <= rows - columns <= 1 and _FEWEST <= rows <= _MOST)


def recognise_for(method: str, source: DataSource) -> SquareTable | None:
    """The square table that a method treats in a special way; None for other tables."""
    if method not in ("pca", "svd", "isomap"):
        return None
    square = recognise(source)
    if method == "isomap" and square is not None and (square.kind != "distances" or square.completed):
        return None
    as_it_is = method == "svd" and square is not None and square.kind == "distances" and not square.completed
    return None if as_it_is else square


def _kind(source: DataSource, *, completed: bool) -> SquareTable | None:
    """What a square table contains; None if it is not symmetric."""
    matrix = np.asarray(getattr(source, "matrix", source), np.float64)
    if matrix.shape[0] != matrix.shape[1] or not _symmetric(matrix):
        return None
    one = f" {_COMPLETED}" if completed else ""
    size, diagonal = float(np.abs(matrix).max()), np.diagonal(matrix)
    if np.abs(diagonal).max() <= _CLOSE * size and matrix.min() >= 0 and np.count_nonzero(matrix) >= len(matrix):
        if not _may_be_distances(matrix):
            return SquareTable("symmetric", f"{_LINKS}{one}", source, completed)
        text = f"The table is a distance matrix: it is symmetric and non-negative, with a zero diagonal.{one}"
        return SquareTable("distances", text, source, completed)
    if np.allclose(diagonal, 1.0, rtol=0, atol=1e-6) and size <= 1 + 1e-6:
        text = f"The table contains correlations or similarities: it is symmetric with ones on its diagonal.{one}"
        return SquareTable("correlations", text, source, completed)
    text = f"The table is symmetric, like a matrix of covariances or similarities.{one}"
    return SquareTable("symmetric", text, source, completed)


def _may_be_distances(matrix: Floats) -> bool:
    """Whether points at a distance of 0 have the same distances to all others, as the triangle inequality demands.

    In a matrix of links or counts, a 0 means the opposite: nothing in common.
    """
    rows = np.unique(np.linspace(0, len(matrix) - 1, min(len(matrix), _SAMPLE)).astype(np.intp))
    matrix = matrix / matrix.max()
    sample, norms = matrix[rows], (matrix**2).sum(axis=1)
    both = norms[rows, None] + norms
    different = both - 2 * (sample @ matrix.T) > _DIFFERENT * both
    return int(np.count_nonzero(different & (sample == 0))) <= _CONTRADICTED * sample.size


def _symmetric(matrix: Floats) -> bool:
    """Whether all numbers are finite, not all zero, and the matrix is symmetric."""
    if not np.isfinite(matrix).all():
        return False
    size = float(np.abs(matrix).max())
    return bool(np.ptp(matrix) > 0) and np.allclose(matrix, matrix.T, rtol=0, atol=_CLOSE * size)


def _is_triangle(known: np.ndarray) -> bool:
    """Whether the known entries are one triangle, with all of its diagonal or none of it."""
    lower, upper = known[np.tril_indices_from(known, -1)], known[np.triu_indices_from(known, 1)]
    diagonal = known.diagonal()
    if diagonal.any() != diagonal.all():
        return False
    return bool((lower.all() and not upper.any()) or (upper.all() and not lower.any()))


def _implied_diagonal(filled: Floats) -> float | None:
    """Distances to themselves are 0, and correlations 1; None if the values may be either."""
    if filled.min() >= 0 and filled.max() <= 1:
        return None
    return 1.0 if np.abs(filled).max() <= 1 else 0.0


def lacks_diagonal(source: DataSource) -> bool:
    """Whether only one triangle is known, and its values do not tell whether the diagonal is 0 or 1."""
    matrix = getattr(source, "matrix", source)
    if not _has_shape_of_pairs(matrix):
        return False
    square, _ = _squared(matrix, getattr(source, "metadata", Metadata()))
    if square is None or not _is_triangle(~np.isnan(square)):
        return False
    return not _known_diagonal(square) and _implied_diagonal(np.nan_to_num(square)) is None


def _known_diagonal(square: Floats) -> bool:
    return not np.isnan(square.diagonal()).any()


def _completed(matrix: Floats, source: DataSource) -> MemorySource | None:
    """A table of which only one triangle is known, with both; None if other entries are missing."""
    metadata = getattr(source, "metadata", Metadata())
    square, names = _squared(matrix, metadata)
    if square is None or not _is_triangle(~np.isnan(square)):
        return None
    filled = np.nan_to_num(square)
    filled = filled + filled.T - np.diag(filled.diagonal())
    if not _known_diagonal(square):
        diagonal = _implied_diagonal(filled)
        if diagonal is None:
            return None
        np.fill_diagonal(filled, diagonal)
    notes, parsing = (
        tuple(note for note in some if note.code not in _OF_GAPS) for some in (metadata.notes, metadata.parsing_notes)
    )
    return MemorySource(
        filled, replace(metadata, row_names=names, column_names=names, notes=notes, parsing_notes=parsing)
    )


def _squared(matrix: Floats, metadata: Metadata) -> tuple[Floats | None, tuple[str, ...] | None]:
    """The table with the rows and columns that were left out because they have no numbers, and its names.

    Without the diagonal, the last column below it is empty, and so is the first one above it. A reader drops it, and R
    prints neither this column nor the empty row. The names tell what is left out.
    """
    matrix = np.array(matrix, np.float64)
    rows, columns = metadata.row_names or (), metadata.column_names or ()
    if matrix.shape[0] != matrix.shape[1]:
        return _with_missing_column(matrix, rows, columns), rows
    if rows and columns and rows != columns:
        if rows[:-1] == columns[1:]:
            return _bordered(matrix, 1, 0), (columns[0], *rows)
        if rows[1:] == columns[:-1]:
            return _bordered(matrix, 0, 1), (rows[0], *columns)
    return matrix, rows or columns or None


def _with_missing_column(matrix: Floats, rows: tuple[str, ...], columns: tuple[str, ...]) -> Floats | None:
    """The matrix with an empty last or first column; None if the names do not tell that one of them is missing."""
    missing = np.full((len(matrix), 1), np.nan)
    if columns == rows[:-1]:
        return np.hstack([matrix, missing])
    return np.hstack([missing, matrix]) if columns == rows[1:] else None


def _bordered(matrix: Floats, above: int, left: int) -> Floats:
    """The matrix with an empty row above or below it, and an empty column to its left or right."""
    return np.pad(matrix, ((above, 1 - above), (left, 1 - left)), constant_values=np.nan)


def inner_products(source: DataSource) -> MemorySource:
    """B = -1/2 J D^2 J of a matrix of distances, with the names of its rows."""
    squares = np.asarray(getattr(source, "matrix", source), np.float64) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    metadata = source.metadata
    names = metadata.row_names or metadata.column_names
    return MemorySource(-0.5 * centred, replace(metadata, row_names=names))
