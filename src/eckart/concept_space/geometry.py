"""Geometry of the concept space: the map from coordinates back to the columns, and similarity.

row ~ (coordinates right^T) scale + mean. Two rows are compared by the rows reconstructed from their coordinates. Their
dot product is (c R^T)(d R^T)^T with right = Q R, and R = 1 if right is orthonormal (PCA, SVD). Columns are compared
likewise: right (C^T C) right^T for the coordinates C of the rows, which is right diag(values^2) right^T for PCA and
SVD.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from eckart.arrays import Array, astype, from_numpy, is_numpy, namespace, to_numpy
from eckart.concept_space.best import Numbers
from eckart.concept_space.vectors import in_float64, on_device_of, row_squares, times, triangle, unit_of
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.gather import squares_about
from eckart.engine.exponent import times_power_of_two
from eckart.engine.matrix import Opened
from eckart.engine.rows import RowBlocks
from eckart.errors import InputError
from eckart.forwarding import forwarded
from eckart.registry import method_of
from eckart.result import Decomposition, SVDDetails
from eckart.wording import DATA


@dataclass(frozen=True)
class Geometry:
    """Coordinates of a decomposition. Its factors stay on their device; means and scales are on the host."""

    d: Decomposition

    k: ClassVar[forwarded[int]] = forwarded("d.k")
    right: ClassVar[forwarded[Array]] = forwarded("d.right")

    @property
    def orthonormal(self) -> bool:
        """Whether the concepts are orthonormal."""
        return method_of(self.d).orthogonal

    @property
    def linear(self) -> bool:
        """Whether a row is reconstructed by a product of its coordinates with `right`."""
        return int(self.d.right.shape[1]) == self.d.k

    @cached_property
    def unit(self) -> float:
        """Unit of lengths, a power of two: 1 unless squares would be out of range."""
        usual = self.d.norm == 0.0 or 1e-100 < self.d.norm < 1e100
        return 1.0 if usual else float(np.ldexp(1.0, int(np.frexp(self.d.norm)[1]) - 1))

    @cached_property
    def mean(self) -> Numbers | None:
        return None if self.d.mean is None else to_numpy(self.d.mean).astype(np.float64)

    @cached_property
    def scale(self) -> Numbers | None:
        return None if self.d.scale is None else to_numpy(self.d.scale).astype(np.float64)

    @cached_property
    def mean_length(self) -> float:
        """|mean / scale|, in the unit of lengths."""
        return 0.0 if self.mean is None else float(np.linalg.norm(self.standard(np.zeros(self.d.columns))))

    def need_linear(self, what: str) -> None:
        if not self.linear:
            raise InputError(
                f"{what} needs a linear map from coordinates back to columns, but {self.d.method!r} "
                "does not have such a map. Use 'svd', 'pca', 'nmf' or 'cur'; similar_rows works for "
                "every method."
            )

    # Scores of columns

    @cached_property
    def back(self) -> Array:
        """One row per column; its product with `forth(coordinates)` is the entry of the reconstructed row."""
        self.need_linear("A score of columns")
        back = self.right
        if self.scale is not None:
            scale = from_numpy(self.scale, back)
            back = astype(in_float64(back) * scale[:, None], back.dtype)
        if self.mean is None:
            return back
        mean = astype(from_numpy(self.mean, back), back.dtype)
        return namespace(back).concat([back, mean[:, None]], axis=1)

    def forth(self, coordinates: Array) -> Array:
        """The coordinates, with a 1 appended for the mean if there is one."""
        if self.mean is None:
            return coordinates
        xp = namespace(coordinates)
        return xp.concat([coordinates, xp.ones_like(coordinates[:, :1])], axis=1)

    # Rows and columns alike

    @cached_property
    def _metric(self) -> Numbers | None:
        """R^T, or None if coordinates can be compared as they are."""
        if self.orthonormal or not self.linear:
            return None
        return triangle(self.right).T

    def compared(self, coordinates: Array) -> Array:
        """Coordinates whose dot products are those of the reconstructed rows."""
        if self.unit != 1.0:
            coordinates = coordinates / _number(self.unit, coordinates)
        return coordinates if self._metric is None else coordinates @ on_device_of(self._metric, coordinates)

    def columns(self, coordinates: Array | None) -> Array:
        """One row per column, whose dot products are those of the reconstructed columns."""
        self.need_linear("Comparing columns")
        if self.orthonormal:
            return self.right * (self.d.values / _number(self.unit, self.right))
        if coordinates is None:
            raise InputError(
                f"The concepts of {self.d.method!r} are not orthogonal, so comparing columns requires the "
                f"rows of the data. {DATA}."
            )
        return self.right @ on_device_of(triangle(coordinates / self.unit).T, self.right)

    def rounding(self, vectors: Array, squares: Numbers | float) -> Array:
        """Coordinates no longer than this may be only rounding, for rows of these squared lengths."""
        if not self.linear:
            return 0.0  # coordinates have units of their own
        return 4 * unit_of(vectors) * np.sqrt(self.d.columns * np.nan_to_num(squares))

    def column_rounding(self, vectors: Array) -> Array:
        """The same for vectors of columns: relative to the whole column if its length is known, else to the longest."""
        unit = 4 * unit_of(vectors)
        longest = float(np.sqrt(row_squares(vectors).max(initial=0.0)))
        if self.column_norms is None or not self.orthonormal:
            return unit * longest
        return unit * np.maximum(self.column_norms, 0.25 * longest)

    @cached_property
    def column_norms(self) -> Numbers | None:
        """Lengths of the columns, if the decomposition contains them."""
        norms = self.d.details.column_norms if isinstance(self.d.details, SVDDetails) else None
        return None if norms is None else to_numpy(norms).astype(np.float64) / self.unit

    # A row, and the part of it outside the concepts

    def filled(self, columns: Numbers, values: Numbers, *, whole: bool) -> Numbers:
        """The row with these entries. The others are 0, or the mean (which is uninformative) if unknown."""
        row = np.zeros(self.d.columns) if whole or self.mean is None else self.mean.copy()
        row[columns] = values
        return row

    def standard(self, row: Numbers) -> Numbers:
        """(row - mean) / scale, in the unit of lengths."""
        row = row if self.mean is None else row - self.mean
        return row / self.unit if self.scale is None else row / self.scale / self.unit

    def squares(self, opened: Opened) -> Numbers:
        """||(row - mean) / scale||^2 of each row, in one pass."""
        factor = (np.ones(opened.matrix.shape[1]) if self.scale is None else 1.0 / self.scale) / self.unit
        shift = np.zeros_like(factor) if self.mean is None else self.mean * factor
        pieces = [(0, opened.matrix)] if opened.matrix.resident else opened.matrix.pieces()
        return np.concatenate([_squares(piece, opened.exponent, factor, shift) for _, piece in pieces])

    def along(self, coordinates: Numbers) -> Numbers:
        """The row reconstructed from the coordinates, before scale and mean are applied, on the host."""
        return times(self.right, coordinates)

    def unseen(self, coordinates: Array, opened: Opened, squares: Numbers) -> Numbers:
        """||row - reconstructed row||^2 of each row, by Pythagoras; at least 0.

        With z the standardized row and c its coordinates: z z^T - 2 (z right) c^T + c R^T R c^T.
        """
        c = in_float64(coordinates)
        seen = row_squares(self.compared(c))
        c = c / self.unit
        if self.orthonormal:
            return np.maximum(squares - seen, 0.0)
        product = in_float64(opened.matrix.matmat(self.right))
        product = times_power_of_two(product, -opened.exponent) / self.unit
        along = np.einsum("ij,ij->i", product, c) if is_numpy(c) else to_numpy(namespace(c).sum(product * c, axis=1))
        return np.maximum(squares - 2 * along + seen, 0.0)


def _number(value: float, prototype: Array) -> Array:
    """A number that does not widen the dtype."""
    return prototype.dtype.type(value) if is_numpy(prototype) else value


def _squares(matrix: RowBlocks, exponent: int, factor: Numbers, shift: Numbers) -> Numbers:
    """sum (a f - s)^2 over the columns of each row; for sparse rows sum (a f)(a f - 2 s) where stored, and sum s^2."""
    rows = matrix.shape[0]
    if not matrix.sparse:
        scale, offset = (from_numpy(numbers, matrix.prototype) for numbers in (factor, shift))
        blocks = (times_power_of_two(in_float64(block), -exponent) for _, block in matrix.blocks(0, rows))
        return np.concatenate([row_squares(block * scale - offset) for block in blocks])
    if isinstance(matrix.matrix, DeviceCsr):
        return squares_about(matrix.matrix, exponent, factor, shift)
    stored = matrix.matrix
    scaled = np.ldexp(stored.data.astype(np.float64), -exponent) * factor[stored.indices]
    indices = np.repeat(np.arange(rows), np.diff(stored.indptr))
    sums = np.bincount(indices, scaled * (scaled - 2 * shift[stored.indices]), rows)
    return np.maximum(sums + float(shift @ shift), 0.0)
