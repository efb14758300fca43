"""What a block of rows contributes to the parts, once its coordinates are known: sums that add up over blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import Floats
from eckart.nmf.entries import entry_blocks, given_values, pieces_of
from eckart.nmf.problem import Penalty
from eckart.nmf.squares import SHARE, solve_given
from eckart.nmf.table import NonnegativeTable, open_nonnegative

if TYPE_CHECKING:
    from eckart.arrays import Matrix

_SWEEPS = 10


@dataclass(frozen=True)
class SufficientStatistics:
    """Sums over all rows seen."""

    gram: Floats
    """W^T W."""
    cross: Floats
    """W^T X for squares, H * (W^T (X / W H)) for Kullback-Leibler; k x columns."""
    sums: Floats
    rows: int
    norm: float
    own: float
    """Sum of x log x - x."""
    fitted: float
    """Kullback-Leibler: sum of x log(w h), with the parts that each block met."""

    def __add__(self, other: SufficientStatistics) -> SufficientStatistics:
        names = ("gram", "cross", "sums", "rows", "norm", "own", "fitted")
        return SufficientStatistics(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def squares(self) -> np.ndarray:
        """Squared lengths of the columns of W."""
        return np.diag(self.gram)

    def loss(self, parts: np.ndarray, beta: float) -> float:
        """Squares: of all rows seen, with the new parts. Kullback-Leibler: each block with the parts that it met."""
        if beta == 2.0:
            return float(0.5 * self.norm - np.vdot(self.cross, parts) + 0.5 * np.vdot(self.gram @ parts, parts))
        return float(self.own - self.fitted + self.sums @ parts.sum(axis=1))


def statistics_of(data: object, rows: np.ndarray, parts: np.ndarray, beta: float) -> SufficientStatistics:
    """The sums of one block."""
    return statistics_of_table(open_nonnegative(data, missing="error").on_host(), rows, parts, beta)


def statistics_of_table(
    table: NonnegativeTable, rows: np.ndarray, parts: np.ndarray, beta: float
) -> SufficientStatistics:
    """The sums of one block that is open."""
    scale = 2.0**-table.exponent
    matrix = table.matrix if not table.exponent else table.matrix * scale
    gram, sums = rows.T @ rows, rows.sum(axis=0)
    norm = table.squared_norm * scale * scale
    if beta == 2.0:
        cross = np.asarray((matrix.T @ rows).T, dtype=np.float64)
        return SufficientStatistics(gram, cross, sums, rows.shape[0], norm, 0.0, 0.0)
    cross, fitted = _numerators(matrix, rows, parts)
    own = sum(float(np.sum(v * np.log(np.where(v > 0, v, 1.0)) - v)) for v in given_values(matrix))
    return SufficientStatistics(gram, cross, sums, rows.shape[0], norm, own, fitted)


def updated_parts(seen: SufficientStatistics, parts: np.ndarray, beta: float) -> np.ndarray:
    """H from the sums."""
    if beta == 2.0:
        begin = np.ascontiguousarray(parts.T)
        products = np.ascontiguousarray(seen.cross.T)
        gram = np.ascontiguousarray(seen.gram)
        half = solve_given(products, gram, Penalty(), begin, begin, 0.0, _SWEEPS, SHARE)
        return np.ascontiguousarray(half.new.T)
    sums = seen.sums[:, None]
    return np.where(sums > 0.0, seen.cross / np.where(sums > 0.0, sums, 1.0), parts)


def fitted_entries(matrix: Matrix, rows: np.ndarray, parts: np.ndarray) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """(the stored entries as a CSR array of its own, w h at each, rows of W), a piece of rows at a time."""
    from scipy import sparse

    least = 1e-12 * max(float(rows.mean() * parts.mean() * parts.shape[0]), np.finfo(float).tiny)
    for piece in pieces_of(matrix):
        for indptr, indices, data, start, stop, offset in entry_blocks(matrix, piece, observed=False):
            columns = indices[indptr[start] : indptr[stop]]
            x = data[indptr[start] : indptr[stop]].astype(np.float64)
            index = np.repeat(np.arange(offset + start, offset + stop), np.diff(indptr[start : stop + 1]))
            model = np.full(x.shape, least)
            for t in range(parts.shape[0]):
                model += rows[index, t] * parts[t, columns]
            inside = indptr[start : stop + 1] - indptr[start]
            entries = sparse.csr_array((x, columns, inside), shape=(stop - start, matrix.shape[1]))
            yield entries, model, rows[offset + start : offset + stop]


def _numerators(matrix: object, rows: np.ndarray, parts: np.ndarray) -> tuple[np.ndarray, float]:
    """(H * (W^T (X / W H)), sum of x log(w h)) over the stored entries."""
    total, fitted = np.zeros(parts.shape), 0.0
    for entries, model, own in fitted_entries(matrix, rows, parts):
        fitted += float(entries.data @ np.log(model))
        entries.data = entries.data / model
        total += (entries.T @ own).T
    return parts * total, fitted
