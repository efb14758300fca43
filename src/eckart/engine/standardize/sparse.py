"""CSR rows, in memory or read in blocks. They are not shifted, except for columns without a zero if necessary.

For a column with a share p of stored entries, mean^2 <= p E[x^2] by Cauchy-Schwarz, so the sum of squares exceeds that
about the mean by at most 1 / (1 - p). Without weights, only columns in which every entry is stored may hide a small
spread behind a large mean; their mean is subtracted from the entries. p is a share of the weights, so columns with
zeros in rows of tiny weight may hide it as well. Bounds account for that, and scaling is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.arrays import Array, to_numpy
from eckart.engine.backends.tall import gram, gram_additions
from eckart.engine.operator import MomentsAndProduct
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.case import Case
from eckart.engine.standardize.moments import Moments
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.standardize.streamed import StreamedWide
from eckart.engine.standardize.tall import Tall
from eckart.errors import InputError
from eckart.wording import SCALE

_HIDDEN = 4.0
"""Columns whose sum of squares exceeds that about the mean by more than this are shifted if they are full."""


class Stored(Case):
    """What tall and wide CSR rows share."""

    _offset: np.ndarray | None = None
    _unshifted: Any = None
    """The rows as given, if full columns have been shifted (and rounded to float32)."""
    _first_pass: MomentsAndProduct | None = None

    def first(self, right: Array | None = None, *, gram: bool = False) -> Array | None:
        product = self._first(right, gram=gram)
        while self._offset is None and self._arriving is None and self._change_units():
            product = self._first(right, gram=gram)
        if self.center and self._offset is None and self._shift_full_columns():
            product = self._first(right, gram=gram)
        if self.center and self.scale and self._arriving is None:
            _refuse_unknown(self.moments)
        return product

    def sharpen(self) -> None:
        if self._unshifted is not None:
            self._given, self._unshifted = self._unshifted, None
        self._offset = None
        super().sharpen()

    def _after_first_pass(self, moments_and_product: MomentsAndProduct) -> Any:
        self._first_pass = moments_and_product
        return super()._after_first_pass(moments_and_product)

    @property
    def _host_shift(self) -> np.ndarray | None:
        return self._offset

    def _shift_full_columns(self) -> bool:
        moments, moments_and_product = self.moments, self._first_pass
        assert moments_and_product is not None
        self._offset = np.zeros(self._given.shape[1])
        hidden = np.flatnonzero(moments.raw > _HIDDEN * moments.squares)
        full = np.intersect1d(hidden, self._full_columns(moments_and_product)) if hidden.size else hidden
        if not full.size:
            return False
        self._offset[full] = to_numpy(moments_and_product.sums / moments_and_product.weight)[full]
        self._unshifted = self._given
        self._given = self._given.full_columns_shifted(self._offset)
        return True

    def _full_columns(self, moments_and_product: MomentsAndProduct) -> np.ndarray:
        """Columns of which every entry is stored."""
        given = self._given
        if isinstance(given, RowBlocks):
            return np.flatnonzero(given.backend.csr.stored_counts(given.matrix) == given.shape[0])
        if given.weights is None:
            return np.flatnonzero(moments_and_product.stored == moments_and_product.weight)
        # Sums of weights are rounded; rows of weight 0 do not count.
        return np.flatnonzero(given.reading.stored == np.count_nonzero(given.weights))

    def _centred_squares(self, moments_and_product: MomentsAndProduct, sums: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """In memory by a second sweep, without cancellation."""
        if moments_and_product.stored is None or not isinstance(self._given, RowBlocks):
            return super()._centred_squares(moments_and_product, sums, raw)
        metadata: np.ndarray = self._given.backend.csr.squares_about_mean(self._given, moments_and_product)
        return metadata

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        if not isinstance(self._given, RowBlocks):
            return Case.recentred_gram(self, right)
        return gram(to_numpy(self.exact().matmat(right))), self._error_of_means()

    def recentred_growth(self) -> float:
        """B Q is dense: its columns have more terms than those of the data."""
        resident = isinstance(self._given, RowBlocks)
        return gamma(gram_additions(self.shape[0]) + ENTRY) if resident else super().recentred_growth()


def _refuse_unknown(moments: Moments) -> None:
    """Raise if the spread is not known, because rows without an entry weigh almost nothing."""
    unknown = moments.unknown
    if unknown.size:
        others = "" if unknown.size == 1 else f" {unknown.size} columns are affected."
        raise InputError(
            f"The standard deviation of column {int(unknown[0]) + 1} (counted from 1) cannot be "
            "computed accurately from sparse data: almost all of the weight is on rows in which the "
            f"column is constant.{others}",
            argument="scale",
            remedy=f"Pass the data as a dense array, increase the smallest weights, or leave out {SCALE}.",
        )


class SparseTall(Stored, Tall):
    """At least as many rows as columns."""

    def _later(self, moments_and_product: MomentsAndProduct) -> Any:
        return lambda: self._after_first_pass(moments_and_product)


class SparseWide(Stored, StreamedWide):
    """More columns than rows."""
