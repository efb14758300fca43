"""Missing and infinite entries: detected by a sum that is not finite, then counted and located."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from eckart.arrays import Matrix, is_sparse, to_numpy
from eckart.engine.blocks.source import Metadata
from eckart.errors import MissingValuesError, NotFiniteError
from eckart.wording import assigned

_ROWS = 65536


def refuse_not_finite(matrix: Matrix, metadata: Metadata) -> NoReturn:
    """Raise with the number of missing or infinite entries and the position of the first.

    `matrix` may be read in blocks.
    """
    missing, infinite, first = _count(matrix)
    column_names = metadata.column_names
    name = "X" if metadata.name == Metadata.name else metadata.name  # the usual word for an array
    if missing:
        raise MissingValuesError(
            f"Input {name} contains NaN: {missing:,} missing value{'s' if missing > 1 else ''}, the "
            f"first in {_place(first, column_names)}. A decomposition needs all values. Leave out these rows or "
            "columns, or impute the missing values with eckart.fill_missing. For PCA and SVD, "
            f"{assigned('missing', 'em')} imputes them too."
        )
    if infinite:
        raise NotFiniteError(
            f"Input {name} contains infinity: {infinite:,} entr{'ies' if infinite > 1 else 'y'}, the "
            f"first in {_place(first, column_names)}. Replace infinite entries with finite numbers, "
            "or leave out their rows."
        )
    raise NotFiniteError(
        f"Sums over {name} overflow float64, although every entry is finite. Divide the data by a large number first."
    )


def _count(matrix: object) -> tuple[int, int, tuple[int, int]]:
    """(missing, infinite, position of the first missing, otherwise of the first infinite)."""
    missing = infinite = 0
    indices: dict[bool, tuple[int, int]] = {}
    for start, piece in _pieces(matrix):
        if is_sparse(piece):
            coordinates = piece.tocoo()
            data, rows, columns = coordinates.data, coordinates.row, coordinates.col
        else:
            data = to_numpy(piece)
            bad = np.nonzero(~np.isfinite(data))
            data, (rows, columns) = data[bad], bad
        for kind, found in ((True, np.isnan(data)), (False, np.isinf(data))):
            if found.any() and kind not in indices:
                index = int(np.flatnonzero(found)[0])
                indices[kind] = (start + int(rows[index]), int(columns[index]))
        missing += int(np.isnan(data).sum())
        infinite += int(np.isinf(data).sum())
    return missing, infinite, indices.get(True, indices.get(False, (0, 0)))


def _pieces(matrix: Matrix) -> Iterator[tuple[int, Matrix]]:
    if hasattr(matrix, "to_host"):
        matrix = matrix.to_host()
    if hasattr(matrix, "edges"):
        for start, stop in itertools.pairwise(matrix.edges):
            yield start, matrix.source.read(start, stop)
        return
    for start in range(0, matrix.shape[0], _ROWS):
        yield start, matrix[start : min(start + _ROWS, matrix.shape[0]), :]


def _place(place: tuple[int, int], column_names: tuple[str, ...] | None) -> str:
    row, column = place
    name = "" if column_names is None else f" ({column_names[column]!r})"
    return f"row {row + 1}, column {column + 1}{name} (counted from 1)"
