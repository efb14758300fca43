"""Contribution of a block of rows to the parts, given its coordinates: sums over blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Matrix
from eckart.errors import InputError
from eckart.nmf.constants import FLOOR, LEAST_SQUARES, SQUARES_SHARE, STATISTICS_SWEEPS
from eckart.nmf.entries import given_values, pieces_of
from eckart.nmf.problem import Penalty
from eckart.nmf.quadratic import pairwise_products
from eckart.nmf.squares import solve_given
from eckart.nmf.table import NonnegativeTable, open_nonnegative
from eckart.nmf.tiles import Stored, tiles_of


@dataclass(frozen=True)
class SufficientStatistics:
    """Sums over all rows seen."""

    gram: np.ndarray
    """W^T W."""
    cross: np.ndarray
    """W^T X for squares, H * (W^T (X / W H)) for Kullback-Leibler; k x columns."""
    sums: np.ndarray
    rows: int
    norm: float
    own: float
    """Sum of x log x - x."""
    fitted: float
    """Kullback-Leibler: sum of x log(w h), with the parts at the time of each block."""

    def __add__(self, other: SufficientStatistics) -> SufficientStatistics:
        names = ("gram", "cross", "sums", "rows", "norm", "own", "fitted")
        return SufficientStatistics(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def squares(self) -> np.ndarray:
        """Squared lengths of the columns of W."""
        return np.diag(self.gram)

    def loss(self, parts: np.ndarray, beta: float) -> float:
        """Squares: of all rows seen, with the new parts. Kullback-Leibler: each block with the parts at that time."""
        if beta == 2.0:
            return float(0.5 * self.norm - np.vdot(self.cross, parts) + 0.5 * np.vdot(self.gram @ parts, parts))
        return float(self.own - self.fitted + self.sums @ parts.sum(axis=1))


def statistics_of(data: object, rows: np.ndarray, parts: np.ndarray, beta: float) -> SufficientStatistics:
    """The sums of one block."""
    return statistics_of_table(open_nonnegative(data, missing="error").on_host(), rows, parts, beta)


def statistics_of_table(
    table: NonnegativeTable, rows: np.ndarray, parts: np.ndarray, beta: float
) -> SufficientStatistics:
    """The sums of one opened block."""
    return derivatives_of_table(table, rows, parts, beta, hessians=False)[0]


def derivatives_of_table(
    table: NonnegativeTable, rows: np.ndarray, parts: np.ndarray, beta: float, *, hessians: bool
) -> tuple[SufficientStatistics, np.ndarray | None]:
    """(the sums of one block, columns x k(k+1)/2 upper triangles of the Kullback-Leibler Hessians of the parts).

    For fixed W, the divergence of column j has the Hessian sum_i (x_ij / (W H)_ij^2) w_i w_i^T: a sum over rows.
    """
    norm = squares_of(table)
    matrix = table.matrix if not table.exponent else table.matrix * 2.0**-table.exponent
    gram, sums = rows.T @ rows, rows.sum(axis=0)
    if beta == 2.0:
        cross = np.asarray((matrix.T @ rows).T, dtype=np.float64)
        return SufficientStatistics(gram, cross, sums, rows.shape[0], norm, 0.0, 0.0), None
    cross, fitted, triangles = _divergence_sums(matrix, rows, parts, hessians=hessians)
    own = sum(float(np.sum(v * np.log(np.where(v > 0, v, 1.0)) - v)) for v in given_values(matrix))
    return SufficientStatistics(gram, cross, sums, rows.shape[0], norm, own, fitted), triangles


def squares_of(table: NonnegativeTable) -> float:
    """Sum of squares in the units of the data; infinite beyond the range."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(table.squared_norm, -2 * table.exponent))


def check_squares(squares: float, *, zeros: bool) -> None:
    """Refuse rows whose sums of squares leave the range of float64; `zeros` if all entries are zero."""
    if not zeros and not LEAST_SQUARES < squares < 1.0 / LEAST_SQUARES:
        raise InputError(
            "NMF in blocks adds up the squares of the data, but these are "
            f"{'below' if squares <= LEAST_SQUARES else 'above'} the range of float64. Multiply the "
            "data by a constant first, or fit all rows in memory."
        )


def updated_parts(seen: SufficientStatistics, parts: np.ndarray, beta: float) -> np.ndarray:
    """H from the sums."""
    if beta == 2.0:
        begin = np.ascontiguousarray(parts.T)
        products = np.ascontiguousarray(seen.cross.T)
        gram = np.ascontiguousarray(seen.gram)
        half = solve_given(products, gram, Penalty(), begin, begin, 0.0, STATISTICS_SWEEPS, SQUARES_SHARE)
        return np.ascontiguousarray(half.new.T)
    sums = seen.sums[:, None]
    return np.where(sums > 0.0, seen.cross / np.where(sums > 0.0, sums, 1.0), parts)


def _divergence_sums(
    matrix: Matrix, rows: np.ndarray, parts: np.ndarray, *, hessians: bool
) -> tuple[np.ndarray, float, np.ndarray | None]:
    """(H * (W^T (X / W H)), sum of x log(w h), Hessians) over the stored entries, a tile at a time."""
    k, columns = parts.shape
    dense = isinstance(matrix, np.ndarray)
    entries = matrix if dense else Stored(matrix.data, matrix.indices, matrix.indptr, matrix.shape)
    least = FLOOR * max(float(rows.mean() * parts.mean() * k), np.finfo(float).tiny)
    total, fitted = np.zeros(parts.shape), 0.0
    triangles = np.zeros((k * (k + 1) // 2, columns)) if hessians else None
    for part, tile in tiles_of(entries, pieces_of(matrix), least):
        own = np.ascontiguousarray(rows[part].T)
        model = tile.model(rows[part], parts)
        ratio = tile.ratio(model)
        total += tile.transposed_times(ratio, own)
        if triangles is not None:
            ratio /= model
            triangles += tile.transposed_times(ratio, pairwise_products(own))
        fitted += tile.logarithms(model)
    return parts * total, fitted, None if triangles is None else np.ascontiguousarray(triangles.T)
