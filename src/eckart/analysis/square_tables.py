"""Tables that are not rows of measurements: distances, correlations and other values of pairs.

A matrix D of distances becomes B = -1/2 J D^2 J with J = I - 1 1^T / n, the inner products of points with these
distances (Gower, 1966). Kernel PCA of B gives their principal coordinates (classical multidimensional scaling).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from eckart.arrays import Floats
from eckart.components.pairs import OF_PAIRS, Pairs, has_shape_of_pairs, pairs_of
from eckart.engine.blocks.source import DataSource, MemorySource, Metadata
from eckart.errors import DataWarning, InputError
from eckart.formatting import counted, percent
from eckart.forwarding import forwarded
from eckart.notes import Note, code_of
from eckart.result import Decomposition

_COMPLETED = "Only one of its triangles was given; the other one was filled in by symmetry."
NO_DIAGONAL = (
    "The table is one triangle of a square matrix without its diagonal. All values lie between 0 and 1, so they may be "
    "distances or correlations. Fill in the diagonal: 0 for distances, 1 for correlations or similarities."
)
"""Why a table for which `lacks_diagonal` is true cannot be analysed."""
_OF_GAPS = ("missing_values", "empty_rows", "empty_columns")
"""Codes of notes that do not hold for the completed table."""
_MOST_EIGENVALUES = 1000
"""Rows of a correlation matrix whose eigenvalues take less than a second."""
_LEAST_NEGATIVE, _ROUNDED = 1e-6, 0.01
"""Sums of negative eigenvalues, relative to that of the positive ones: below the first, they are rounding errors."""
_TARGET = 0.9
"""Explained share that the answer counts components for."""


@dataclass(frozen=True)
class SquareTable:
    """A square table with both of its triangles."""

    pairs: Pairs
    source: DataSource
    completed: bool
    """Whether only one triangle was given, so that `source` differs from the table."""

    kind: ClassVar[forwarded[str]] = forwarded("pairs.kind")
    what: ClassVar[forwarded[str]] = forwarded("pairs.what")
    """What the table is, in sentences."""

    def note(self, method: str) -> Note:
        """What the table is, and what that means for the results of a method."""
        return self.pairs.note(method)


def recognise(source: DataSource) -> SquareTable | None:
    """Detect whether a table in memory has distances, correlations or other values of pairs.

    Of such a table, often only one triangle is printed. The entries of the other one are then missing.
    """
    matrix = getattr(source, "matrix", source)
    if not has_shape_of_pairs(matrix):
        return None
    whole = _completed(matrix, source) if np.isnan(matrix[0, -1]) or np.isnan(matrix[-1, 0]) else source
    if whole is None or (pairs := pairs_of(getattr(whole, "matrix", whole))) is None:
        return None
    completed = whole is not source
    return SquareTable(replace(pairs, what=f"{pairs.what} {_COMPLETED}") if completed else pairs, whole, completed)


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


def recognise_for(method: str, source: DataSource) -> SquareTable | None:
    """The square table that a method treats in a special way; None for other tables."""
    if method not in ("pca", "svd", "isomap"):
        return None
    square = recognise(source)
    if method == "isomap" and square is not None and (square.kind != "distances" or square.completed):
        return None
    as_it_is = method == "svd" and square is not None and square.kind == "distances" and not square.completed
    return None if as_it_is else square


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
    if not has_shape_of_pairs(matrix):
        return False
    square, _ = _squared(matrix, getattr(source, "metadata", Metadata()))
    if square is None or not _is_triangle(~np.isnan(square)):
        return False
    return not _known_diagonal(square) and _implied_diagonal(np.nan_to_num(square)) is None


def refuse_triangle(table: DataSource, method: str, options: Mapping[str, object]) -> None:
    """Refuse one triangle of a square matrix without its diagonal, unless its gaps are to be imputed."""
    if method in ("pca", "svd") and options.get("missing", "error") == "error" and lacks_diagonal(table):
        raise InputError(NO_DIAGONAL)


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


@contextmanager
def negative_eigenvalues_noted(notes: Sequence[Note]) -> Iterator[None]:
    """Without the warning of kernel PCA about an indefinite kernel, if it is computed from distances."""
    with warnings.catch_warnings():
        if _of_distances(notes):
            warnings.filterwarnings("ignore", "The kernel is indefinite", DataWarning)
        yield


def _of_distances(notes: Sequence[Note]) -> bool:
    return any(code_of(note) == "distances" for note in notes)


def not_euclidean(d: Decomposition, notes: Sequence[Note]) -> tuple[Note, ...]:
    """A note on principal coordinates of distances that no points have exactly."""
    share = getattr(d.details, "negative_share", 0.0)
    if not _of_distances(notes) or share < _LEAST_NEGATIVE:
        return ()
    cause = "Distances that are rounded have such small shares." if share < _ROUNDED else "Compare distances with care."
    text = (
        "These are not exactly the distances between points: negative eigenvalues sum to "
        f"{percent(share, 2)} of the positive ones, and the coordinates leave them out. {cause}"
    )
    return (Note("not_euclidean", text, {"share": share}),)


def inner_products(source: DataSource) -> MemorySource:
    """B = -1/2 J D^2 J of a matrix of distances, with the names of its rows."""
    squares = np.asarray(getattr(source, "matrix", source), np.float64) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    metadata = source.metadata
    names = metadata.row_names or metadata.column_names
    return MemorySource(-0.5 * centred, replace(metadata, row_names=names))
