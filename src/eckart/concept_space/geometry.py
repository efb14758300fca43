"""The space of the concepts: the way from coordinates back to the columns, and what alike means in it.

row ~ (coordinates right^T) scale + mean. Two rows are compared as the concepts see them, by the rows made from their
coordinates: their dot product is (c R^T)(d R^T)^T with right = Q R, and R = 1 where right is orthonormal (PCA, SVD).
Two columns likewise: right (C^T C) right^T for the coordinates C of the rows, and right diag(values^2) right^T there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eckart.array_api import to_numpy
from eckart.concept_space.best import Numbers
from eckart.decomposition import Decomposition
from eckart.errors import InputError
from eckart.operators.open_matrix import Opened


@dataclass(frozen=True)
class Geometry:
    """What a decomposition says of coordinates, on the host."""

    d: Decomposition

    @property
    def k(self) -> int:
        return self.d.k

    @property
    def orthonormal(self) -> bool:
        """Whether the concepts are at right angles and of length 1."""
        return self.d.method in ("pca", "svd")

    @property
    def linear(self) -> bool:
        """Whether coordinates become a row by a product with `right`."""
        return int(self.d.right.shape[1]) == self.d.k

    @cached_property
    def right(self) -> Numbers:
        return to_numpy(self.d.right)

    @cached_property
    def mean(self) -> Numbers | None:
        return None if self.d.mean is None else to_numpy(self.d.mean).astype(np.float64)

    @cached_property
    def scale(self) -> Numbers | None:
        return None if self.d.scale is None else to_numpy(self.d.scale).astype(np.float64)

    def need_linear(self, what: str) -> None:
        if not self.linear:
            raise InputError(
                f"{what} needs the way from coordinates back to columns, and {self.d.method!r} has none that is "
                "linear. Use 'svd', 'pca', 'nmf' or 'cur'; similar_rows works for every method."
            )

    # Scores of columns

    @cached_property
    def back(self) -> Numbers:
        """One row per column; its product with `forth(coordinates)` is the entry of the row made from them."""
        self.need_linear("A score of columns")
        back = self.right if self.scale is None else (self.right * self.scale[:, None]).astype(self.right.dtype)
        return back if self.mean is None else np.column_stack([back, self.mean.astype(back.dtype)])

    def forth(self, coordinates: Numbers) -> Numbers:
        """The coordinates, with a 1 for the mean where there is one."""
        if self.mean is None:
            return coordinates
        return np.column_stack([coordinates, np.ones(len(coordinates), coordinates.dtype)])

    # Rows and columns alike

    @cached_property
    def _metric(self) -> Numbers | None:
        """R^T, or None where coordinates can be compared as they are."""
        if self.orthonormal or not self.linear:
            return None
        return np.asarray(np.linalg.qr(self.right, mode="r")).T

    def compared(self, coordinates: Numbers) -> Numbers:
        """Coordinates whose dot products are those of the rows made from them."""
        return coordinates if self._metric is None else coordinates @ self._metric

    def columns(self, coordinates: Numbers | None) -> Numbers:
        """One row per column, whose dot products are those of the columns made from the concepts."""
        self.need_linear("Comparing columns")
        if self.orthonormal:
            return self.right * to_numpy(self.d.values)
        if coordinates is None:
            raise InputError(
                f"Concepts of {self.d.method!r} are not at right angles, so comparing columns needs the rows. Give "
                "the data, concepts(model, rows=...)."
            )
        return self.right @ np.asarray(np.linalg.qr(coordinates, mode="r")).T

    def rounding(self, dtype: Any, squares: Numbers | float) -> Any:
        """Coordinates of rows of these squared lengths that are no longer than this may be nothing but rounding."""
        if not self.linear:
            return 0.0  # coordinates have units of their own
        return 4 * float(np.finfo(dtype).eps) * np.sqrt(self.d.columns * np.nan_to_num(squares))

    def column_rounding(self, vectors: Numbers) -> Any:
        """The same for vectors of columns: of the whole column where its length is known, else of the longest."""
        unit = 4 * float(np.finfo(vectors.dtype).eps)
        norms = self.d.parts.get("column_norms")
        longest = float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0.0)))
        if norms is None or not self.orthonormal:
            return unit * longest
        return unit * np.maximum(to_numpy(norms).astype(np.float64), 0.25 * longest)

    # The part of a row that the concepts do not see

    def standard(self, row: Numbers) -> Numbers:
        """(row - mean) / scale."""
        row = row if self.mean is None else row - self.mean
        return row if self.scale is None else row / self.scale

    def squares(self, opened: Opened) -> Numbers:
        """||(row - mean) / scale||^2 of each row, in one read."""
        factor = np.ones(opened.matrix.shape[1]) if self.scale is None else 1.0 / self.scale
        shift = np.zeros_like(factor) if self.mean is None else self.mean * factor
        if opened.matrix.sparse:
            return _sparse_squares(opened, factor, shift)
        result = np.empty(opened.matrix.shape[0])
        for start, block in opened.matrix.blocks(0, len(result)):
            numbers = np.ldexp(to_numpy(block).astype(np.float64), -opened.exponent)
            standard = numbers * factor - shift
            result[start : start + len(numbers)] = np.einsum("ij,ij->i", standard, standard)
        return result

    def unseen(self, coordinates: Numbers, opened: Opened, squares: Numbers) -> Numbers:
        """||row - row made from its coordinates||^2 of each row, by Pythagoras; at least 0.

        With z the standardized row and c its coordinates: z z^T - 2 (z right) c^T + c R^T R c^T.
        """
        c = coordinates.astype(np.float64)
        seen = np.einsum("ij,ij->i", self.compared(c), self.compared(c))
        if self.orthonormal:
            return np.maximum(squares - seen, 0.0)
        product = to_numpy(opened.matrix.matmat(self.right)).astype(np.float64)
        along = np.einsum("ij,ij->i", np.ldexp(product, -opened.exponent), c)
        return np.maximum(squares - 2 * along + seen, 0.0)


def _sparse_squares(opened: Opened, factor: Numbers, shift: Numbers) -> Numbers:
    """sum (a f - s)^2 over all columns = sum over the stored ones of (a f)(a f - 2 s), and sum s^2."""
    matrix = opened.matrix.matrix
    scaled = np.ldexp(matrix.data.astype(np.float64), -opened.exponent) * factor[matrix.indices]
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    sums = np.bincount(rows, scaled * (scaled - 2 * shift[matrix.indices]), matrix.shape[0])
    return np.maximum(sums + float(shift @ shift), 0.0)
